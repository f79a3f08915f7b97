// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gompertz

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
	"github.com/euryale-dev/euryale/tensor"
)

// The checks that every distribution of Euryale passes.
func TestGompertz(t *testing.T) { disttest.Family(t, Family) }

// It is found by its name, and a model finds its parameters again.
func TestGompertzInAModel(t *testing.T) {
	d, err := dist.Parse("gompertz(0.1, 0.5)")
	if err != nil {
		t.Fatal(err)
	}
	src, ages := tensor.NewStream(1, 2, 3), make([]float64, 400)
	if err := d.Fill(&src, ages, []int{len(ages)}, [][]float64{{0.1}, {0.5}}); err != nil {
		t.Fatal(err)
	}
	m := infer.NewModel("ages")
	b := m.Param("b", dist.HalfNormal(1))
	eta := m.Param("eta", dist.HalfNormal(1))
	m.Observe("age", Gompertz(b, eta), ages)
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"b": 0.1, "eta": 0.5} {
		mean, sd := 0.0, 0.0
		all := []float64{}
		for _, chain := range fit.Draws(name) {
			all = append(all, chain...)
		}
		for _, v := range all {
			mean += v / float64(len(all))
		}
		for _, v := range all {
			sd += (v - mean) * (v - mean) / float64(len(all))
		}
		if sd = math.Sqrt(sd); math.Abs(mean-want) > 3.5*sd {
			t.Errorf("%s is %g +- %g, want %g", name, mean, sd, want)
		}
	}
}

// The command line takes the distribution as a likelihood and as a prior.
func TestCommand(t *testing.T) {
	var ages []string
	for i := range 200 {
		ages = append(ages, fmt.Sprint(quantile((float64(i)+0.5)/200, []float64{0.1, 0.5})))
	}
	s := clitest.New(t)
	s.Write("ages.json", fmt.Sprintf(`{"expr": "b", "data": {"y": [%s]}, "likelihood": "gompertz(mu, eta)",
		"priors": {"b": "halfnormal(1)", "eta": "gompertz(1, 1)"}}`, strings.Join(ages, ",")))
	var run struct {
		Summary map[string]struct{ Mean float64 }
	}
	s.JSON(&run, "sample", "expr", "--problem", "ages.json", "--out", "run", "--quiet")
	if b := run.Summary["b"].Mean; math.Abs(b-0.1) > 0.03 {
		t.Errorf("b is %g: want 0.1", b)
	}
	if table := s.Run("summary", "run"); !strings.Contains(table, "eta") {
		t.Error(table)
	}
	s.Run("plot", "density", "run", "density.png")
	s.Picture("density.png")
}
