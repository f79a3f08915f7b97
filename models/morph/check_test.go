// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// ball is a core-shell particle measured at two energies on 8 x 40 x 40 voxels.
type ball struct {
	width  float64 // nm, of the edges
	counts float64 // of a unit of intensity; 0 for relative errors of 5 %
	small  bool    // 2 x 16 x 16 voxels of 4 nm
}

func (b ball) shape() ([3]int, float64) {
	if b.small {
		return [3]int{2, 16, 16}, 4
	}
	return [3]int{8, 40, 40}, 2
}

var ballTruth = []float64{11, 6, 0.6}

func (b ball) scene(p []*ad.Node) morph.Scene {
	shape, voxel := b.shape()
	centre := morph.Fixed(41, 37, 7)
	if b.small {
		centre = morph.Fixed(31, 28, 2)
	}
	s := morph.CoreShell{Grid: morph.Grid{Shape: shape, Voxel: voxel}, Centre: centre, Radius: p[0], Shell: p[1], Aligned: p[2], Width: b.width}.Scene()
	if b.counts > 0 {
		s.Scale = ad.Scalar(b.counts)
	}
	return s
}

func (b ball) optics() rsoxs.Optics {
	return rsoxs.Optics{
		{{DeltaPara: 2e-3, BetaPara: 1e-3, DeltaPerp: 2e-3, BetaPerp: 1e-3}, {DeltaPara: -1e-3, BetaPara: 3e-3, DeltaPerp: 2e-3, BetaPerp: 1e-3}},
		{{DeltaPara: 1e-3, BetaPara: 2e-3, DeltaPerp: 1e-3, BetaPerp: 2e-3}, {DeltaPara: 3e-3, BetaPara: 1e-3, DeltaPerp: -2e-3, BetaPerp: 2e-3}},
	}
}

func (b ball) sim(t testing.TB) *rsoxs.Simulator {
	shape, voxel := b.shape()
	s, err := rsoxs.New(shape, voxel, rsoxs.Config{Energies: []float64{284, 285.5}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pattern is what the detector sees without noise, over its brightest pixel.
func (b ball) pattern(t testing.TB, x []float64) *tensor.Tensor {
	var p []*ad.Node
	for _, v := range x {
		p = append(p, ad.Scalar(v))
	}
	_, voxel := b.shape()
	m, err := b.scene(p).Morphology(voxel)
	if err != nil {
		t.Fatal(err)
	}
	s := b.sim(t)
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	out, err := s.Pattern(context.Background(), b.optics())
	if err != nil {
		t.Fatal(err)
	}
	return out.Intensity
}

// measured adds noise; plant changes the images before it.
func (b ball) measured(t testing.TB, r *rand.Rand, x []float64, plant func(image []float64, n int)) *tensor.Tensor {
	d := b.pattern(t, x)
	v := d.Data().([]float64)
	if plant != nil {
		for e := range 2 {
			plant(v[e*1600:(e+1)*1600], 40)
		}
	}
	for i := range v {
		if b.counts == 0 {
			v[i] *= math.Exp(0.05 * r.NormFloat64())
		} else {
			v[i] = drawCount(r, b.counts*v[i])
		}
	}
	return d
}

func drawCount(r *rand.Rand, mean float64) float64 {
	if mean > 200 {
		return math.Round(mean + math.Sqrt(mean)*r.NormFloat64())
	}
	k := 0.0
	for p := r.Float64(); p > math.Exp(-mean); k++ {
		p *= r.Float64()
	}
	return k
}

func (b ball) inversion(t testing.TB, d *tensor.Tensor, start []float64) *morph.Inversion {
	v := &morph.Inversion{Sim: b.sim(t), Optics: b.optics(), Params: params([]string{"radius", "shell", "aligned"}, start), Build: b.scene, Data: d, Sigma: 0.05}
	for i, bounds := range [][]float64{{3, 30}, {1, 20}, {0, 1}} {
		v.Params[i].Bounds = bounds
	}
	if b.counts > 0 {
		v.Loss, v.Sigma = morph.PoissonLoss, 0
	}
	return v
}

// judged fits and judges.
func (b ball) judged(t testing.TB, d *tensor.Tensor) (check.Verdict, *optim.Result) {
	v := b.inversion(t, d, []float64{11.3, 5.8, 0.55})
	fit, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := v.Check(fit.X, morph.CheckSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return verdict, fit
}

// roll shifts an image by whole pixels.
func roll(image []float64, n, dy, dx int) {
	old := append([]float64(nil), image...)
	for y := range n {
		for x := range n {
			image[(y+dy+n)%n*n+(x+dx+n)%n] = old[y*n+x]
		}
	}
}

// blur convolves an image with a Gaussian of the given variance in pixels.
func blur(image []float64, n int, variance float64) {
	for range 4 {
		old := append([]float64(nil), image...)
		w := variance / 8
		for y := range n {
			for x := range n {
				at := func(dy, dx int) float64 { return old[(y+dy+n)%n*n+(x+dx+n)%n] }
				image[y*n+x] = old[y*n+x]*(1-4*w) + w*(at(0, 1)+at(0, -1)+at(1, 0)+at(-1, 0))
			}
		}
	}
}

func TestMisfitsOfPatternsAreNamed(t *testing.T) {
	tier.SlowOnly(t)
	more := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		name, kind string
		truth      ball
		plant      func(image []float64, n int)
	}{
		{"right", "", ball{width: 1}, nil},
		{"right counts", "", ball{width: 1, counts: 1e6}, nil},
		{"sharp edges", "edges that are sharper", ball{width: 0.5}, nil},
		{"soft edges", "edges that are softer", ball{width: 2}, nil},
		{"centre", "beam centre", ball{width: 1}, func(i []float64, n int) { roll(i, n, 0, 1) }},
		{"blur", "blur", ball{width: 1, counts: 1e6}, func(i []float64, n int) { blur(i, n, 0.3) }},
		{"background", "background", ball{width: 1}, func(i []float64, _ int) {
			for k := range i {
				i[k] += 2e-6
			}
		}},
		{"hot pixels", check.KindOutliers, ball{width: 1}, func(i []float64, _ int) { i[700] *= 3; i[901] *= 0.4 }},
		{"errors too small", check.KindSize, ball{width: 1}, func(i []float64, _ int) {
			for k := range i {
				i[k] *= math.Exp(0.08 * more.NormFloat64())
			}
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		b := ball{width: 1, counts: c.truth.counts}
		v, fit := b.judged(t, c.truth.measured(t, r, ballTruth, c.plant))
		if v.OK != (c.kind == "") || c.kind != "" && v.Flags[0].Kind != c.kind && !strings.Contains(v.Flags[0].Text, c.kind) {
			t.Errorf("%s: at %.4g: %v", c.name, fit.X, v)
		}
	}
}
