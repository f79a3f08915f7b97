// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command sbc checks a model and the sampler against each other by simulation. It draws
// from the prior, simulates data from each draw, and ranks the draw among those of the
// posterior given its data. Then it repeats this with a deliberate mistake, a prior that
// the density counts three times, which the ranks reveal.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

func main() {
	if err := report(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// line is a linear regression of five points with errors of standard deviation 1.
func line(mistaken bool) (*infer.Posterior, error) {
	m := infer.NewModel("line")
	x := m.Data("x", []float64{-2, -1, 0, 1, 2})
	a := m.Param("a", dist.Normal(0, 1))
	b := m.Param("b", dist.Normal(0, 1))
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, x)), 1), make([]float64, 5))
	if mistaken {
		m.AddLogProb("prior of a, again", ad.Scale(2, dist.Normal(0, 1).LogProb(a)))
	}
	return m.Compile()
}

func report(w io.Writer) error {
	for _, mistaken := range []bool{false, true} {
		post, err := line(mistaken)
		if err != nil {
			return err
		}
		r, err := infer.SBC(context.Background(), post, infer.SBCSettings{Fits: 300, Seed: 1, Sample: infer.Settings{Warmup: 300, Draws: 500}})
		if err != nil {
			return err
		}
		test, err := r.Report()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", map[bool]string{false: "as it should be", true: "the prior of a counted three times"}[mistaken])
		for i, name := range test.Names {
			fmt.Fprintf(w, "%s: ranks are so uneven by chance in %.2g of cases; %+.1f standard errors too many at the ends\n", name, test.Rows[i].PECDF, test.Rows[i].Spread)
		}
		fmt.Fprintf(w, "%s\n\n", test.Diagnose().Verdict())
	}
	return nil
}
