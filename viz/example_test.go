// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/viz"
)

// waves is two chains of an antithetic quantity, in place of a fit's.
func waves() viz.Draws {
	d := viz.Draws{Names: []string{"tau", "contrast"}, Units: map[string]string{"tau": "s"}, X: make([][][]float64, 2)}
	for c := range 2 {
		var a, b []float64
		for i := range 300 {
			t := float64(i*(c+7)) * 0.618
			a, b = append(a, 0.01+0.001*math.Sin(t)), append(b, 0.3+0.02*math.Cos(1.7*t))
		}
		d.X[0], d.X[1] = append(d.X[0], a), append(d.X[1], b)
	}
	return d
}

func ExampleTrace() {
	f, err := viz.Trace(waves())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Title, strings.Contains(f.SVG(), "tau (s)"), len(f.PNG()) > 1000)
	// Output: Trace true true
}

func ExampleDraws() {
	_, err := viz.Pair(waves(), "tau", "contrats")
	fmt.Println(err)
	// Output: viz: pair plot: there is no quantity "contrats": choose from contrast, tau
}

func ExampleFit() {
	c := viz.Curve{Title: "g2 of bin 7", XLabel: "delay (s)", YLabel: "g_{2}", LogX: true}
	for k := range 30 {
		t := 1e-4 * math.Pow(1.3, float64(k))
		c.X, c.Y, c.Err = append(c.X, t), append(c.Y, 1+0.2*math.Exp(-t/0.005)), append(c.Err, 0.01)
	}
	c.Y[3] = math.NaN()
	c.Line = append([]float64(nil), c.Y...)
	f, err := viz.Fit(c)
	fmt.Println(f.Note, err)
	// Output: 1 point is left out because it is not finite, or not positive as a logarithm needs. <nil>
}

func ExampleReport() {
	trace, _ := viz.Trace(waves())
	page := viz.Report{
		Title:    "Two chains",
		Facts:    []viz.Fact{{Name: "draws", Value: "2 × 300"}, {Name: "divergences", Value: "0", Verdict: viz.Good}},
		Sections: []viz.Section{{Title: "Sampling", Text: "The chains agree.", Figures: []*viz.Figure{trace}}},
	}.HTML()
	fmt.Println(strings.Contains(page, "Figure 1."), strings.Contains(page, "http"))
	// Output: true false
}
