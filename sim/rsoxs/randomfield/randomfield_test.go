// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package randomfield

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// The mean power of cut fields over many seeds is the closed form, ring by ring, and their mean is the volume fraction.
func TestCutFieldsHaveTheirSpectrum(t *testing.T) {
	const period, width, fraction, voxel, seeds = 16.0, 0.2, 0.35, 2.0, 16
	shape := [3]int{32, 32, 32}
	n := 32 * 32 * 32
	power := ad.Scalar(0)
	mean := ad.Scalar(0)
	for seed := range seeds {
		v := Cut(Field{shape, voxel, uint64(seed)}.Values(ad.Scalar(period), ad.Scalar(width)), ad.Scalar(fraction), 0.02)
		power = ad.Add(power, ad.Abs2(ad.RFFT(v, ad.NormBackward)))
		mean = ad.Add(mean, ad.Sum(v))
	}
	q, twice := Field{shape, voxel, 0}.waves()
	closed := particle.CutField{Period: ad.Scalar(period), Width: ad.Scalar(width), Reach: particle.Reach{Q: 1.2, Size: 160}}
	at := make([]float64, 9)
	for i := range at {
		at[i] = 0.15 + 0.1*float64(i)
	}
	want := closed.Spectrum(ad.Scalar(fraction), ad.Square(ad.Const(at)))
	v, err := ad.Eval(power, q, twice, want, mean)
	if err != nil {
		t.Fatal(err)
	}
	if m := v[4].Float64s()[0] / float64(n*seeds); math.Abs(m-fraction) > 0.01 {
		t.Errorf("the mean volume fraction is %.4g, want %g", m, fraction)
	}
	scale := voxel * voxel * voxel / float64(n*seeds)
	for i, center := range at {
		sum, count := 0.0, 0.0
		for j, x := range v[1].Float64s() {
			if math.Abs(x-center) < 0.02 {
				sum, count = sum+v[2].Float64s()[j]*v[0].Float64s()[j], count+v[2].Float64s()[j]
			}
		}
		got, want := sum/count*scale, v[3].Float64s()[i]
		// Voxels fold the tails of q back, which are large beside the small intensities at large q.
		if math.Abs(got-want) > 0.12*want+0.03*v[3].Float64s()[2] {
			t.Errorf("q = %.2f: %.4g nm^3, want %.4g", center, got, want)
		}
	}
}

func TestGradient(t *testing.T) {
	in := []*ad.Node{ad.Input("period"), ad.Input("width"), ad.Input("fraction")}
	v := Cut(Field{[3]int{3, 4, 6}, 2, 7}.Values(in[0], in[1]), in[2], 0.3)
	w := make([]float64, v.Size())
	for i := range w {
		w[i] = math.Cos(float64(i))
	}
	gradtest.Check(t, "cut field", ad.Sum(ad.Mul(v, ad.Const(w, v.Shape()...))), in, [][]float64{{6}, {0.3}, {0.4}}, true)
}
