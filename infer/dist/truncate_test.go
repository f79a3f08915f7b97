// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// An end at infinity is none: density and gradient are those without it.
func TestEndsAtInfinity(t *testing.T) {
	mu, sigma, inf := ad.Input("mu"), ad.Input("sigma"), math.Inf(1)
	n := dist.Normal(mu, sigma)
	x := ad.Const([]float64{0.3, 1.2})
	for name, pair := range map[string][2]dist.Dist{
		"above":            {dist.Truncate(n, 0.0, inf), dist.Truncate(n, 0.0, nil)},
		"below":            {dist.Truncate(n, -inf, 2.0), dist.Truncate(n, nil, 2.0)},
		"censored":         {dist.Censored(n, -inf, 1.0), dist.Censored(n, nil, 1.0)},
		"truncated normal": {dist.TruncatedNormal(mu, sigma, 0.0, inf), dist.Truncate(n, 0.0, nil)},
		"both":             {dist.Truncate(n, -inf, inf), n},
	} {
		var got [2][][]float64
		for k, d := range pair {
			lp := ad.Sum(d.LogProb(x))
			g := ad.Grad(lp, mu, sigma)
			p, err := ad.Compile([]*ad.Node{lp, g[0], g[1]}, ad.Settings{Inputs: []*ad.Node{mu, sigma}})
			if err != nil {
				t.Fatal(name, err)
			}
			s := p.NewState()
			s.Input(0)[0], s.Input(1)[0] = 0.5, 1.3
			if err := s.Run(); err != nil {
				t.Fatal(name, err)
			}
			for i := range 3 {
				got[k] = append(got[k], append([]float64{}, s.Output(i)...))
			}
		}
		for i := range 3 {
			if a, b := got[0][i][0], got[1][i][0]; math.IsNaN(a) || math.Abs(a-b) > 1e-12 {
				t.Errorf("%s: output %d is %g, want %g", name, i, a, b)
			}
		}
	}
}
