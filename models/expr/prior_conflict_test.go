// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/tensor"
)

// levels are 40 observations of 5 with errors of 0.05 along t.
func levels() map[string]Column {
	random := tensor.NewStream(41, 0, 0)
	t, y := make([]float64, 40), make([]float64, 40)
	for i := range y {
		t[i], y[i] = float64(i), 5+0.05*random.Normal()
	}
	return map[string]Column{"t": {Values: t}, "y": {Values: y}}
}

// A prior far from the data is told as such, with the distance from what the data alone give, also where the errors of the data are not known and grow until prior and data seem close; and a prior
// near the data has the weight of its width beside the errors that the data show, whatever their unit: mean and error are those of two measurements.
func TestPriorsBesideErrorsThatAreFitted(t *testing.T) {
	for _, unit := range []float64{1, 1e-3, 1e6} {
		data := levels()
		for i := range data["y"].Values {
			data["y"].Values[i] *= unit
		}
		fit := func(prior string) (x, sd float64, v check.Verdict) {
			p := &Problem{Expr: "u*b + 0*t", Y: "y", Data: data, Fixed: map[string]float64{"u": unit}, Start: map[string]Values{"b": {4}}, Priors: map[string]string{}}
			if prior != "" {
				p.Priors["b"] = prior
			}
			least, s, err := p.LeastSquares()
			if err != nil {
				t.Fatal(err)
			}
			r, v, err := p.Fit(context.Background(), least, s)
			if err != nil {
				t.Fatal(err)
			}
			return r.Value("b"), r.SD()[0], v
		}
		alone, own, _ := fit("")
		near, sd, v := fit("normal(5.01, 0.01)")
		a, b := 1/(own*own), 1/(0.01*0.01)
		if want := (a*alone + b*5.01) / (a + b); !v.OK || math.Abs(near-want) > 1e-6 || math.Abs(sd*math.Sqrt(a+b)-1) > 0.03 {
			t.Errorf("in units of %g: %.6g +- %.3g, want %.6g +- %.3g: %s", unit, near, sd, want, 1/math.Sqrt(a+b), v)
		}
		if _, _, v := fit(fmt.Sprintf("normal(%.6g, %.6g)", alone+1.5*own, own)); !v.OK { // it moves the fit, which is where it should be all the same
			t.Errorf("in units of %g: %s", unit, v)
		}
		if _, _, v := fit("normal(5.5, 0.005)"); v.OK || v.Flags[0].Kind != check.KindPrior || !strings.Contains(v.Flags[0].Text, "standard deviations (of both together) from 5.0") || v.Has(check.KindSize) {
			t.Errorf("in units of %g: %s", unit, v)
		}
	}
	p := &Problem{Expr: "b + 0*t", Y: "y", Data: levels(), Priors: map[string]string{"b": "normal(5.3, 0.005)", "sigma": "halfnormal(1)"}}
	fit, err := infer.Sample(context.Background(), compiled(t, p), infer.Settings{Chains: 2, Warmup: 200, Draws: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.CheckSample(fit)
	if err != nil || v.OK || !strings.Contains(v.Flags[0].Text, "the prior of b, normal(5.3, 0.005), lies") || v.Has(check.KindSize) {
		t.Errorf("%v %s", err, v)
	}
}

// compiled is the posterior of a problem, nil after an error that it reports.
func compiled(t *testing.T, p *Problem) *infer.Posterior {
	m, err := p.Model()
	if err != nil {
		t.Error(err)
		return nil
	}
	post, err := m.Compile()
	if err != nil {
		t.Error(err)
		return nil
	}
	return post
}
