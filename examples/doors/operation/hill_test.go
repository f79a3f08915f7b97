// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hill

import (
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/cli/clitest"
)

// The checks that every operation of Euryale passes: first and second derivatives against differences, and the C text
// and the kernel against the Go function.
func TestHill(t *testing.T) {
	gradtest.Op(t, Op)
	t.Run("C text", func(t *testing.T) { gradtest.HostC(t, []*ad.Op{Op}) })
	gradtest.Kernel(t, Op, 1e-14, 1e-6)
}

// The command line fits and samples formulas with the function.
func TestCommand(t *testing.T) {
	var x, y []string
	for i := range 20 {
		dose := 0.1 * math.Pow(1.4, float64(i))
		x = append(x, fmt.Sprint(dose))
		y = append(y, fmt.Sprint(3/(1+math.Pow(2/dose, 1.7))+0.05*math.Sin(float64(5*i*i))))
	}
	s := clitest.New(t)
	s.Write("dose.json", fmt.Sprintf(`{"expr": "top*hill(dose, k, n)", "data": {"dose": [%s], "y": [%s]}, "sigma": "s",
		"priors": {"top": "lognormal(1, 1)", "k": "lognormal(0, 1)", "n": "lognormal(0, 0.5)", "s": "halfnormal(0.2)"}}`,
		strings.Join(x, ","), strings.Join(y, ",")))
	s.Write("fit.json", fmt.Sprintf(`{"expr": "top*hill(dose, k, n)", "data": {"dose": [%s], "y": [%s]}, "start": {"top": 2, "k": 1, "n": 1}}`,
		strings.Join(x, ","), strings.Join(y, ",")))
	var fit struct{ X map[string]float64 }
	s.JSON(&fit, "fit", "nlsq", "--problem", "fit.json")
	if math.Abs(fit.X["k"]-2) > 0.15 || math.Abs(fit.X["n"]-1.7) > 0.15 {
		t.Errorf("%v, want k = 2 and n = 1.7", fit.X)
	}
	s.Run("sample", "expr", "--problem", "dose.json", "--out", "run", "--quiet")
	if table := s.Run("summary", "run"); !strings.Contains(table, "top") {
		t.Error(table)
	}
	s.Write("dose.stan", `data { int N; vector[N] dose; vector[N] y; }
parameters { real<lower=0> top; real<lower=0> k; real<lower=0> n; real<lower=0> s; }
model { top ~ lognormal(1, 1); k ~ lognormal(0, 1); n ~ lognormal(0, 0.5); s ~ normal(0, 0.2); y ~ normal(top * hill(dose, k, n), s); }`)
	s.Write("dose.csv", "dose,y\n"+rows(x, y))
	var mode struct{ X map[string]float64 }
	s.JSON(&mode, "fit", "stan", "dose.stan", "--data", "dose.csv")
	if math.Abs(mode.X["k"]-2) > 0.15 {
		t.Errorf("%v, want k = 2", mode.X)
	}
	s.Run("plot", "pair", "run", "pair.svg")
	s.Picture("pair.svg")
}

// rows are the lines of a table.
func rows(x, y []string) (text string) {
	for i := range x {
		text += x[i] + "," + y[i] + "\n"
	}
	return text
}

func ExampleHill() {
	y, err := ad.Eval(Hill(ad.Const([]float64{1, 2, 4}, 3), ad.Scalar(2), ad.Scalar(2)))
	fmt.Println(y[0].Float64s(), err)
	// Output: [0.2 0.5 0.8] <nil>
}
