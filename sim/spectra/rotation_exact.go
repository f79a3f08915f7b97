// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// broadenExactly multiplies the Fourier transform of the flux by that of the profile K,
//
//	[2 (1-e) pi J_1(s)/s + 2 pi e (sin s - s cos s)/s^3] / [pi (1-e/3)],  s = omega R
//
// The straight line through the ends of a row, which no symmetric kernel changes, is taken out first, so that the
// row has no step at its ends.
func (g *Grid) broadenExactly(flux, pixels *autodiff.Node, r Rotation) *autodiff.Node {
	n := len(g.lam)
	size := 1
	for size < n+g.reach(r) {
		size *= 2
	}
	ramp := make([]float64, n)
	for i := range ramp {
		ramp[i] = float64(i) / float64(n-1)
	}
	first := autodiff.Slice(flux, -1, 0, 1)
	line := autodiff.Add(first, autodiff.Mul(autodiff.Sub(autodiff.Slice(flux, -1, n-1, n), first), autodiff.Const(ramp)))
	rest := autodiff.Sub(flux, line)
	after := make([]int, len(rest.Shape()))
	after[len(after)-1] = size - n
	spectrum := autodiff.RFFT(autodiff.Pad(rest, make([]int, len(after)), after, 0), autodiff.NormBackward, -1)
	omega := make([]float64, size/2+1)
	for k := range omega {
		omega[k] = 2 * math.Pi * float64(k) / float64(size)
	}
	profile := rotationTransform(autodiff.Mul(column(pixels), autodiff.Const(omega)), r.LimbNode)
	broad := autodiff.IRFFT(autodiff.CScale(spectrum, profile), size, autodiff.NormBackward, -1)
	return autodiff.Add(line, autodiff.Slice(broad, -1, 0, n))
}

// rotationTransform is the Fourier transform of K; with J_(3/2), (sin s - s cos s)/s^3 = sqrt(pi/2) J_(3/2)(s)/s^(3/2).
func rotationTransform(s, limb *autodiff.Node) *autodiff.Node {
	if limb.Size() > 1 {
		limb = column(limb)
	}
	one := autodiff.Scalar(1)
	circle := autodiff.Mul(autodiff.Sub(one, limb), autodiff.Scale(2, autodiff.BesselRatio(one, s)))
	parabola := autodiff.Mul(limb, autodiff.Scale(2*math.Sqrt(math.Pi/2), autodiff.BesselRatio(autodiff.Scalar(1.5), s)))
	return autodiff.Div(autodiff.Add(circle, parabola), autodiff.Sub(one, autodiff.Scale(1.0/3, limb)))
}
