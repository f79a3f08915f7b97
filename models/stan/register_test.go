// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan"
)

func init() {
	stan.Register(stan.Function{Name: "own_norm", Args: []string{"vector"}, Result: "real", Node: func(in []*ad.Node) *ad.Node { return ad.Sqrt(ad.Sum(ad.Square(in[0]))) }})
	stan.Register(stan.Function{Name: "own_lpdf", Args: []string{"real", "real"}, Result: "real", Node: func(in []*ad.Node) *ad.Node { return ad.Neg(ad.Abs(ad.Sub(in[0], in[1]))) }})
	stan.Register(stan.Function{Name: "own_wrong", Args: []string{"real"}, Result: "real", Node: func(in []*ad.Node) *ad.Node { return ad.Stack(0, in[0], in[0]) }})
}

// TestRegister calls functions that were added: of data, of parameters and as a density.
func TestRegister(t *testing.T) {
	post, err := compileText("m.stan", `transformed data { real five = own_norm([3, 4]'); }
parameters { vector[2] x; real y; }
model { target += -own_norm(x) * five; y ~ own(1); for (i in 1:2) x[i] ~ own(y); }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 3)
	lp, err := post.LogProbGrad([]float64{0.6, 0.8, 3}, g)
	if want := -5 - 2 - 2.4 - 2.2; err != nil || math.Abs(lp-want) > 1e-12 || math.Abs(g[0]-(-3+1)) > 1e-12 || math.Abs(g[2]-(-1-2)) > 1e-12 {
		t.Errorf("%g %v %v, want %g", lp, g, err, want)
	}
	for code, says := range map[string]string{
		"parameters { real x; } model { target += own_wrong(x); }":      "returned the shape [2]: want 0 axes, as real has",
		"parameters { real x; } model { target += own_norm(x); }":       "own_norm",
		"parameters { real x; } model { target += own_nrom([x, x]'); }": `"own_norm"`,
	} {
		if _, err := compileText("m.stan", code, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", code, err, says)
		}
	}
	for says, f := range map[string]stan.Function{
		"exists already": {Name: "exp", Args: []string{"real"}, Result: "real", Node: func(in []*ad.Node) *ad.Node { return in[0] }},
		"cannot name":    {Name: "1a", Args: []string{"real"}, Result: "real"},
		"given nil":      {Name: "own_none", Args: []string{"real"}, Result: "real"},
		"no type":        {Name: "own_type", Args: []string{"float"}, Result: "real", Node: func(in []*ad.Node) *ad.Node { return in[0] }},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, says) {
					t.Errorf("%s: %q, want %q", f.Name, got, says)
				}
			}()
			stan.Register(f)
		}()
	}
}
