// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

func init() { everyHessian = true }

// At DESI's size float32 is good to 1e-7 of chi-square, and derivatives to 1e-4 standard deviations.
func TestFloat32AtDESISize(t *testing.T) {
	const b, p = 6, 6
	d := newDesiStars(t, b, true)
	g, h := d.like.GaussNewton(d.vel, d.vsini, d.u)
	outs := []*ad.Node{g, h}
	for _, s := range d.like.Spectra {
		outs = append(outs, s.Marginal, s.MarginalRest, s.TrueChiSquare)
	}
	var got [2][][]float64
	for k, bits := range []int{64, 32} {
		s := d.program(t, bits, 1, outs...)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for o := range outs {
			got[k] = append(got[k], s.OutputFloat64(o))
		}
	}
	var chi, slope, bend float64 // worst errors
	for star := range b {
		diff, whole := 0.0, 0.0
		for o := 2; o < len(outs); o += 3 {
			diff += got[1][o][star] + got[1][o+1][star] - got[0][o][star]
			whole += got[0][o+2][star]
		}
		chi = max(chi, math.Abs(diff)/whole)
		for j := range p {
			curvature := got[0][1][star*p*p+(p+1)*j]
			slope = max(slope, math.Abs(got[1][0][star*p+j]-got[0][0][star*p+j])/math.Sqrt(curvature))
			bend = max(bend, math.Abs(got[1][1][star*p*p+(p+1)*j]/curvature-1))
		}
	}
	t.Logf("worst errors: chi-square %.2g of the true one, gradient %.2g standard deviations, Gauss-Newton diagonal %.2g", chi, slope, bend)
	if chi > 1e-7 || slope > 1e-4 || bend > 1e-5 {
		t.Error("float32 is worse than the comment says")
	}
}
