// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A proper prior of any scale is sampled, or the scale is named, and is never called improper.
func TestScalesOfPriors(t *testing.T) {
	for name, prior := range map[string]func(scale float64) dist.Dist{
		"normal":      func(s float64) dist.Dist { return dist.Normal(0, s) },
		"studentt":    func(s float64) dist.Dist { return dist.StudentT(4, 0, s) },
		"cauchy":      func(s float64) dist.Dist { return dist.Cauchy(0, s) },
		"laplace":     func(s float64) dist.Dist { return dist.Laplace(0, s) },
		"logistic":    func(s float64) dist.Dist { return dist.Logistic(0, s) },
		"halfnormal":  func(s float64) dist.Dist { return dist.HalfNormal(s) },
		"exponential": func(s float64) dist.Dist { return dist.Exponential(1 / s) },
		"uniform":     func(s float64) dist.Dist { return dist.Uniform(-s, s) },
	} {
		for _, scale := range tier.Of([]float64{1e-320, 1e-160, 1e12, 1e201}, []float64{1e-320, 1e-299, 1e-160, 1e-12, 1, 1e12, 1e150, 1e201, 1e300}) {
			m := NewModel(name)
			m.Param("b", dist.Normal(0, 1))
			m.Param("a", prior(scale))
			p, err := m.Compile()
			if err != nil {
				continue // out of the range of the family, which Compile tells
			}
			fit, err := Sample(t.Context(), p, Settings{Warmup: tier.Of(100, 200), Draws: tier.Of(50, 100), Chains: 2})
			where := fmt.Sprintf("%s of scale %g", name, scale)
			switch {
			case errors.Is(err, ErrImproper), err != nil && strings.Contains(err.Error(), "improper"):
				t.Errorf("%s is called improper: %v", where, err)
			case err != nil && !strings.Contains(err.Error(), "choose units"):
				t.Errorf("%s: %v: want an error that names the scale", where, err)
			case err == nil && scale > 1e-300 && fit.Diagnose().OK() && fit.Summary().Rows[1].SD == 0:
				t.Errorf("%s: draws do not move and pass", where)
			}
		}
	}
	m := NewModel("a flat parameter")
	a := m.Flat("a", dist.IdentityTransform())
	m.AddLogProb("nothing", ad.Scale(0, a))
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sample(t.Context(), p, Settings{}); !errors.Is(err, ErrImproper) {
		t.Errorf("a parameter without a prior or data: error %v, want ErrImproper", err)
	}
}
