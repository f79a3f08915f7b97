// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package randomfield makes voxels of random two-phase materials, such as spinodal ones, from a seed.
//
// A [Field] is a Gaussian random field whose waves have lengths around a period. Cut at a level it becomes two phases with a given volume
// fraction. Both are graphs, so that the period, the width of the spectrum and the volume fraction have gradients while the seed stays. One
// sample scatters a speckle pattern; particle.CutField is the mean over all seeds in closed form.
//
//	f := randomfield.Field{Shape: [3]int{32, 64, 64}, Voxel: 2, Seed: 1}
//	fraction := randomfield.Cut(f.Values(period, width), ad.Scalar(0.4), 0.2) // volume fractions of the voxels, [Z, Y, X]
//
// Lengths are in nm.
package randomfield

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

func init() { given.BuildsGraphs() }

// Field is a Gaussian random field in a box that repeats in all directions.
type Field struct {
	Shape [3]int  // number of voxels along Z, Y, X
	Voxel float64 // edge of a voxel in nm
	Seed  uint64
}

// purpose tells the random numbers of fields from others of the same seed.
const purpose = 0x726e6466

// Values returns the field at the voxels, [Z, Y, X], with the mean 0 and the expected variance 1. q of its waves is normal, with the mean
// 2 pi/period and the standard deviation width relative to it.
//
// Gradient: with respect to the period and the width.
func (f Field) Values(period, width *ad.Node) *ad.Node {
	n := f.Shape[0] * f.Shape[1] * f.Shape[2]
	s := tensor.NewStream(f.Seed, purpose, 0)
	noise := ad.RFFT(ad.Const(s.NormalTo(make([]float64, n)), f.Shape[:]...), ad.NormBackward)
	q, twice := f.waves()
	wave := ad.Exp(ad.Scale(-0.25, ad.Square(ad.Div(ad.Shift(ad.Mul(q, ad.Scale(1/(2*math.Pi), period)), -1), width))))
	wave = ad.Mul(wave, ad.Minimum(ad.Scale(1e12, q), ad.Scalar(1))) // the mean stays 0
	scale := ad.Sqrt(ad.Div(ad.Scalar(float64(n)), ad.Sum(ad.Mul(twice, ad.Square(wave)))))
	noise = ad.CScale(noise, ad.Mul(scale, wave))
	return ad.IRFFT(noise, f.Shape[2], ad.NormBackward)
}

// waves returns |q| of the half of the transform that RFFT gives, and how often each wave is in the whole.
func (f Field) waves() (q, twice *ad.Node) {
	half := f.Shape[2]/2 + 1
	shape := []int{f.Shape[0], f.Shape[1], half}
	var length, count []float64
	at := func(i, n int) float64 {
		if i > n/2 {
			i -= n
		}
		return 2 * math.Pi * float64(i) / (float64(n) * f.Voxel)
	}
	for z := range f.Shape[0] {
		for y := range f.Shape[1] {
			for x := range half {
				a, b, c := at(z, f.Shape[0]), at(y, f.Shape[1]), at(x, f.Shape[2])
				length = append(length, math.Sqrt(a*a+b*b+c*c))
				if x == 0 || 2*x == f.Shape[2] {
					count = append(count, 1)
				} else {
					count = append(count, 2)
				}
			}
		}
	}
	return ad.Const(length, shape...), ad.Const(count, shape...)
}

// Cut returns the volume fractions of the phase where a field of variance 1 is above the level that a volume fraction has in the mean. The
// fraction rises as the logistic function of the field, whose width is softness in standard deviations; 0.1 makes walls of about a voxel
// where the period has ten.
//
// Gradient: with respect to the field and the fraction.
func Cut(field, fraction *ad.Node, softness float64) *ad.Node {
	return CutSoftly(field, fraction, ad.Scalar(softness))
}

// CutSoftly is Cut with a softness that is a Node.
//
// Gradient: with respect to all arguments.
func CutSoftly(field, fraction, softness *ad.Node) *ad.Node {
	level := ad.Scale(math.Sqrt2, ad.Erfinv(ad.Shift(ad.Scale(-2, fraction), 1)))
	return ad.Sigmoid(ad.Div(ad.Sub(field, level), softness))
}
