// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
	"gonum.org/v1/gonum/stat/distuv"
)

// Every distribution that gonum has goes there and comes back, with the same density.
func TestGonumBothWays(t *testing.T) {
	found := 0
	families := dist.All()
	for _, l := range families {
		for _, p := range l.At {
			d := l.New(p...)
			theirs, err := d.Gonum()
			if err != nil {
				continue
			}
			found++
			back, err := dist.FromGonum(theirs)
			if err != nil || back.Name != d.Name {
				t.Errorf("%s: %v, %v", l.Name, back, err)
				continue
			}
			g := theirs.(interface{ Prob(x float64) float64 }) // Logistic.LogProb of v0.17 ignores its scale
			for _, u := range []float64{0.1, 0.4, 0.8} {
				x := d.Quantile(u, p)
				if math.IsNaN(x) {
					x = 1
				}
				ours := value(t, back.LogProb(ad.Scalar(x)))[0]
				if want := math.Log(g.Prob(x)); !disttest.Near(ours, want, 1e-9) {
					t.Errorf("%s%v at %g: %.12g, gonum %.12g", l.Name, p, x, ours, want)
				}
				if c, ok := theirs.(interface{ CDF(x float64) float64 }); ok && !disttest.Near(d.CDF(x, p), c.CDF(x), 1e-8) {
					t.Errorf("%s%v: CDF(%g) = %.12g, gonum %.12g", l.Name, p, x, d.CDF(x, p), c.CDF(x))
				}
			}
		}
	}
	if found < 22 {
		t.Errorf("%d distributions were found in gonum", found)
	}
	pointer := distuv.Normal{Mu: 1, Sigma: 2}
	if d, err := dist.FromGonum(&pointer); err != nil || d.Name != "normal" {
		t.Errorf("a pointer: %v, %v", d, err)
	}
	for _, v := range []any{distuv.AlphaStable{Alpha: 1}, 3, nil, (*distuv.Normal)(nil), distuv.Normal{Sigma: -1}} {
		if _, err := dist.FromGonum(v); err == nil {
			t.Errorf("%T %v: no error", v, v)
		}
	}
	if _, err := dist.Normal(ad.Input("mu"), 1).Gonum(); err == nil {
		t.Error("an unknown parameter: no error")
	}
	if _, err := dist.Gumbel(0, 1).Gonum(0, -1); err == nil {
		t.Error("an impossible parameter: no error")
	}
	if _, err := dist.Moyal(0, 1).Gonum(); err == nil {
		t.Error("a distribution that gonum does not have: no error")
	}
}
