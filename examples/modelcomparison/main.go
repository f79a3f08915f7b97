// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command modelcomparison determines which of three models predicts synthetic data best:
// a line, a line whose errors have long tails, or a parabola. The data are a line with
// two outliers. Each observation is predicted from the others by Pareto-smoothed
// importance sampling (PSIS-LOO), and stacking gives the weights for averaging the
// models.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

func main() {
	if err := report(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// measured returns y = 1 + 2x with errors of standard deviation 0.5 and two outliers.
func measured() (x, y []float64) {
	rng := tensor.NewStream(4, 0, 0)
	for i := range 30 {
		x = append(x, float64(i)/10)
		y = append(y, 1+2*x[i]+0.5*rng.Normal())
	}
	y[6], y[21] = y[6]+5, y[21]-4
	return x, y
}

func report(w io.Writer) error {
	xs, ys := measured()
	var names []string
	var models []diag.ELPD
	for _, model := range []string{"line", "line, long tails", "parabola"} {
		m := infer.NewModel(model)
		x := m.Data("x", xs)
		a, b, s := m.Param("a", dist.Normal(0, 10)), m.Param("b", dist.Normal(0, 10)), m.Param("sigma", dist.HalfNormal(2))
		mean := ad.Add(a, ad.Mul(b, x))
		distribution := dist.Normal(mean, s)
		switch model {
		case "line, long tails":
			distribution = dist.StudentT(3, mean, s)
		case "parabola":
			c := m.Param("c", dist.Normal(0, 10))
			distribution = dist.Normal(ad.Add(mean, ad.Mul(c, ad.Square(x))), s)
		}
		m.Observe("y", distribution, ys)
		e, err := elpd(m)
		if err != nil {
			return err
		}
		names, models = append(names, model), append(models, e)
	}
	r, err := diag.Compare(names, models, diag.CompareSettings{})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, r)
	return nil
}

// elpd samples a model and estimates how well it predicts.
func elpd(m *infer.Model) (diag.ELPD, error) {
	post, err := m.Compile()
	if err != nil {
		return diag.ELPD{}, err
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 2})
	if err != nil {
		return diag.ELPD{}, err
	}
	ll, err := fit.LogLik("y")
	if err != nil {
		return diag.ELPD{}, err
	}
	return diag.LOO(ll, diag.LOOSettings{})
}
