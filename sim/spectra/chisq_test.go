// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// numbers are floats that may be written as NaN or Inf.
type numbers []float64

func (n *numbers) UnmarshalJSON(b []byte) error {
	var f []golden.Float
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	for _, v := range f {
		*n = append(*n, float64(v))
	}
	return nil
}

// covering returns a template grid around wavelengths.
func covering(lam []float64, n int) []float64 {
	lo, hi := lam[0]*0.995, lam[len(lam)-1]*1.005
	out := make([]float64, n)
	for i := range out {
		out[i] = lo * math.Pow(hi/lo, float64(i)/float64(n-1))
	}
	return out
}

func TestChiSquareGolden(t *testing.T) {
	var f struct {
		Cases []struct {
			Name                    string
			NPoly                   int
			RBF                     bool
			Lam, Spec, Templ, ESpec numbers
			Exact                   struct {
				ChiSq, LogDet float64
				Residual      float64 `json:"resid2"`
				Coeffs        numbers
				Templ         numbers `json:"grad_templ"`
				ESpec         numbers `json:"grad_espec"`
				Spec          numbers `json:"grad_spec"`
			}
		}
	}
	golden.JSON(t, &f, "spectra", "chisq/chisq_cases.json")
	for _, c := range f.Cases {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_%d_%v_%v", c.Name, c.NPoly, c.RBF, plain), func(t *testing.T) {
				arm, err := spectra.NewArm(spectra.ArmSettings{Template: covering(c.Lam, 200), Observed: c.Lam, Continuum: c.NPoly, Chebyshev: !c.RBF, PlainBasis: plain,
					MinVel: -1, MaxVel: 1})
				if err != nil {
					t.Fatal(err)
				}
				n := len(c.Lam)
				templ, err64, spec := ad.Input("templ", n), ad.Input("e", n), ad.Input("spec", n)
				s := spectra.Exposure{Arm: arm, Flux: spec, Err: err64}.Compare(templ)
				inputs := []*ad.Node{templ, err64, spec}
				p, err := ad.Compile(append([]*ad.Node{s.ChiSquare, s.Coefficients, ad.Sum(ad.Square(s.Residuals))}, ad.Grad(s.ChiSquare, inputs...)...), ad.Settings{Inputs: inputs})
				if err != nil {
					t.Fatal(err)
				}
				st := p.NewState()
				for i, v := range []numbers{c.Templ, c.ESpec, c.Spec} {
					copy(st.Input(i), v)
				}
				if err := st.Run(); err != nil {
					t.Fatal(err)
				}
				if d := math.Abs(st.Output(0)[0] - c.Exact.ChiSq); d > 1e-9+1e-12*math.Abs(c.Exact.ChiSq) {
					t.Errorf("chi-square %.15g, want %.15g: off by %g", st.Output(0)[0], c.Exact.ChiSq, d)
				}
				near(t, "coefficients", st.Output(1), c.Exact.Coeffs, 1e-9)
				near(t, "residuals", st.Output(2), []float64{c.Exact.Residual}, 1e-11)
				if c.Exact.Templ == nil {
					return // the reference has the value alone
				}
				near(t, "gradient by the template", st.Output(3), c.Exact.Templ, 1e-9)
				near(t, "gradient by the errors", st.Output(4), c.Exact.ESpec, 1e-9)
				near(t, "gradient by the spectrum", st.Output(5), c.Exact.Spec, 1e-9)
			})
		}
	}
}
