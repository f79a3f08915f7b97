// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/optim"
)

// example is a documented example of another program with its result; see testdata/peers.py.
type example struct {
	Name, Peer, Expr string
	Columns          map[string][]float64
	Relative         bool
	X, SD            map[string]float64
	Chi2             float64
	Tied             map[string]string
	Cov              Matrix
	Minos            map[string][2]float64
	Levels           map[string][][2]float64 // probability and end of an interval, below and then above the value
	Contour          *struct {
		Names  [2]string
		Level  float64
		Points [][2]float64
	}
}

// digits is how many digits numbers agree to.
func digits(got, want float64) float64 {
	return -math.Log10(max(math.Abs(got-want)/math.Abs(want), 1e-16))
}

// Documented examples of lmfit and iminuit, and everyday tasks by lmfit, have the same parameters, errors, MINOS intervals, confidence limits and contours here. Digits that are missing are
// those of the peers, which differentiate by differences.
func TestDocumentedExamplesOfPeers(t *testing.T) {
	b, err := os.ReadFile("testdata/peers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		p := &Problem{Expr: e.Expr, Y: "y", Data: map[string]Column{}, Tied: e.Tied, Cov: e.Cov}
		for name, v := range e.Columns {
			p.Data[name] = Column{Values: v}
		}
		if e.Columns["s"] != nil {
			p.Sigma = "s"
		}
		p.Complete()
		if len(e.X) > 3 || e.Tied != nil { // to find starts of many parameters takes a second
			p.Start = map[string]Values{}
			for name, v := range e.X {
				p.Start[name] = Values{1.05 * v}
			}
		}
		var r *optim.Result
		if p.Start == nil {
			r = fitOf(t, p)
		} else if least, s, err := p.LeastSquares(); err != nil { // without the search for another minimum where the verdict is bad
			t.Fatal(err)
		} else if r, err = optim.LeastSquares(context.Background(), least, s); err != nil {
			t.Fatal(err)
		}
		worst := map[string]float64{"x": 16, "sd": 16}
		for name, want := range e.X {
			worst["x"] = min(worst["x"], digits(r.Value(name), want))
			for i, n := range r.Names {
				if n == name {
					worst["sd"] = min(worst["sd"], digits(r.SD()[i], e.SD[name]))
				}
			}
		}
		worst["chi2"] = digits(r.ChiSquared(), e.Chi2)
		e.intervals(t, p, r, worst)
		said := ""
		for _, what := range sortedKeys(worst) {
			said += fmt.Sprintf(" %s %.1f", what, worst[what])
		}
		t.Logf("%-14s %-50s digits:%s", e.Peer, e.Name, said)
		if e.Name == "saturation with MINOS errors" { // HESSE takes second derivatives of the model into account, and covariances here do not
			worst["sd"]++
		}
		for what, least := range map[string]float64{"x": 5, "sd": 3, "chi2": 8, "minos": 3.5, "limits": 3.5, "contour": 2.5} {
			if v, ok := worst[what]; ok && v < least {
				t.Errorf("%s, %s: %s agrees to %.1f digits, want %g: %v", e.Peer, e.Name, what, v, least, r)
			}
		}
	}
}

// intervals compares intervals and contours.
func (e *example) intervals(t *testing.T, p *Problem, r *optim.Result, worst map[string]float64) {
	t.Helper()
	least, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	interval := func(name string, level float64) [2]float64 {
		iv, err := optim.Profile(context.Background(), least, r, optim.ProfileSettings{Settings: s, Level: level, Names: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		return [2]float64{iv[0].Lower, iv[0].Upper}
	}
	lower := func(what string, v float64) {
		if _, ok := worst[what]; !ok {
			worst[what] = 16
		}
		worst[what] = min(worst[what], v)
	}
	for name, ends := range e.Minos {
		for k, end := range interval(name, 0.682689492137086) { // of the distance from the value
			lower("minos", digits(end-r.Value(name), ends[k]-e.X[name]))
		}
	}
	for name, levels := range e.Levels {
		for i, l := range levels {
			if l[0] > 0 {
				lower("limits", digits(interval(name, l[0])[map[bool]int{true: 0, false: 1}[i < len(levels)/2]], l[1]))
			}
		}
	}
	if e.Contour == nil {
		return
	}
	for _, point := range e.Contour.Points { // the rise of chi-square there
		own := *p
		own.Fixed = map[string]float64{e.Contour.Names[0]: point[0], e.Contour.Names[1]: point[1]}
		own.Start = nil
		held, settings, err := own.LeastSquares()
		if err != nil {
			t.Fatal(err)
		}
		at, err := optim.LeastSquares(context.Background(), held, settings)
		if err != nil {
			t.Fatal(err)
		}
		lower("contour", digits(at.ChiSquared()-r.ChiSquared(), distuv.ChiSquared{K: 2}.Quantile(e.Contour.Level)))
	}
}
