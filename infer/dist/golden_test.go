// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
	"github.com/euryale-dev/euryale/internal/golden"
)

type univariate struct {
	Discrete bool
	Cases    []struct {
		Params  []golden.Float
		X       golden.Float
		LogPDF  golden.Float    `json:"logpdf"`
		DX      *golden.Float   `json:"dlogpdf_dx"`
		DP      []*golden.Float `json:"dlogpdf_dparams"`
		CDF     *golden.Float   `json:"cdf"`
		LogCDF  *golden.Float   `json:"logcdf"`
		LogCCDF *golden.Float   `json:"logccdf"`
	}
}

func TestUnivariateGoldens(t *testing.T) {
	var all map[string]univariate
	golden.JSON(t, &all, "inference", "distributions", "univariate.json")
	families := map[string]dist.Family{}
	for _, l := range dist.All() {
		families[l.Name] = l
	}
	for name, g := range all {
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if name == "PERT_Beta4" {
			key = "pert"
		}
		l, ok := families[key]
		if !ok {
			t.Errorf("%s has no distribution", name)
			continue
		}
		t.Run(l.Name, func(t *testing.T) { g.check(t, l) })
	}
}

func (g univariate) check(t *testing.T, l dist.Family) {
	if d := l.New(l.At[0]...); d.Discrete != g.Discrete {
		t.Errorf("Discrete is %v", d.Discrete)
	}
	f := disttest.Evaluator(t, l, logProb)
	for _, c := range g.Cases {
		p, x := make([]float64, len(c.Params)), float64(c.X)
		for i, v := range c.Params {
			p[i] = float64(v)
		}
		d := l.New(p...)
		if err := d.Err(); err != nil {
			t.Error(err)
		}
		got := f(x, p)
		want := append([]*golden.Float{&c.LogPDF, c.DX}, c.DP...)
		for i, w := range want {
			if tol := map[bool]float64{true: 1e-12, false: 1e-9}[i == 0]; w != nil && !disttest.Near(got[i], float64(*w), tol) {
				t.Errorf("%v at %g: log density or derivative %d is %.17g, want %.17g", p, x, i, got[i], float64(*w))
			}
		}
		if lp := value(t, d.LogProb(ad.Scalar(x)))[0]; !disttest.Near(lp, float64(c.LogPDF), 1e-12) { // with parameters that are known
			t.Errorf("%v at %g: log density of constants is %.17g, want %.17g", p, x, lp, float64(c.LogPDF))
		}
		if c.CDF != nil {
			if got, w := d.CDF(x, p), float64(*c.CDF); !(math.Abs(got-w) <= 1e-10*w+1e-300) {
				t.Errorf("%v: CDF(%g) = %.17g, want %.17g", p, x, got, w)
			}
		}
		if c.LogCDF != nil {
			if got, w := disttest.Evaluator(t, l, logCDF)(x, p)[0], float64(*c.LogCDF); !close(got, w, 1e-11) {
				t.Errorf("%v: LogCDF(%g) = %.17g, want %.17g", p, x, got, w)
			}
		}
		if c.LogCCDF != nil {
			if got, w := disttest.Evaluator(t, l, logCCDF)(x, p)[0], float64(*c.LogCCDF); !close(got, w, 1e-11) {
				t.Errorf("%v: LogCCDF(%g) = %.17g, want %.17g", p, x, got, w)
			}
		}
	}
}

// close is relative however small want is.
func close(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*math.Abs(want)+1e-60
}
