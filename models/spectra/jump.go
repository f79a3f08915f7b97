// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/check"
)

// KindJump is the flag of a flux that steps from one pixel to the next, as where orders are joined or the response of the detector is
// wrong.
const KindJump = "step of the flux"

// jumpEdge is the smallest number of pixels on either side of a step that is sought: nearer to an end it is a fault of the edge.
const jumpEdge = 10

// jump is the step that explains most of the residuals.
type jump struct {
	fall       float64
	spectrum   int
	pixel      int     // first pixel after the step, in Lam
	wavelength float64 // between the pixels on either side, in Angstrom
	column     []float64
	tried      int
}

// seek tries a step at every pixel of every spectrum. The column of a step at pixel j of a spectrum is its model from there on:
//
//	c_i = model_i / error_i for i >= j,  0 before
//
// Products with the residuals z and with the fit's columns B are sums from the end of the spectrum, so that all steps together take one
// pass. With the Cholesky factor L of B B', the sum w of the columns of L^-1 B removes what the fit can take up:
//
//	fall = (c'z - w'(L^-1 B z))^2 / (c'c - w'w)
func (s *jump) seek(p *projector, star *Star, fit *Fit) {
	r, m := p.r, len(p.r.names)
	var l mat.TriDense
	p.factor.LTo(&l)
	var white mat.Dense
	if white.Solve(&l, p.columns) != nil {
		return
	}
	var onFit mat.VecDense
	onFit.MulVec(&white, mat.NewVecDense(len(r.z), r.z))
	weights := make([]float64, len(r.z))
	for k := range star.Spectra {
		used := r.used[k]
		w, along, square := make([]float64, m), 0.0, 0.0
		for i := len(used) - 1; i > 0; i-- {
			at := r.first[k] + i
			c := fit.Spectra[k].Model[used[i]] * r.scaled[k][used[i]] / fit.Spectra[k].Template[used[i]]
			weights[at] = c
			along, square = along+c*r.z[at], square+c*c
			taken, left := 0.0, 0.0
			for j := range w {
				w[j] += c * white.At(j, at)
				taken, left = taken+w[j]*onFit.AtVec(j), left+w[j]*w[j]
			}
			if i < jumpEdge || i > len(used)-jumpEdge {
				continue
			}
			s.tried++
			if rest := square - left; rest > 1e-3*square {
				if fall := (along - taken) * (along - taken) / rest; fall > s.fall {
					x := star.Spectra[k].Lam
					s.fall, s.spectrum, s.pixel, s.wavelength = fall, k, i, (x[used[i-1]]+x[used[i]])/2
				}
			}
		}
	}
	if s.fall == 0 {
		return
	}
	s.column = make([]float64, len(r.z))
	from := r.first[s.spectrum]
	copy(s.column[from+s.pixel:from+len(r.used[s.spectrum])], weights[from+s.pixel:])
}

// direction is the departure of the step.
func (s *jump) direction() check.Direction {
	return check.Direction{Kind: KindJump, Columns: [][]float64{s.column}, Tried: s.tried, Say: func(coef, _ []float64) (string, string) {
		return fmt.Sprintf("the flux steps by about %s %% at %.1f Å, as where orders or exposures are joined, or where the response of the detector is wrong", check.Rough(100*coef[0]), s.wavelength),
			"correct the step, give the parts on its two sides as spectra of their own (--joint), or mask one of them (--mask-range)"
	}}
}
