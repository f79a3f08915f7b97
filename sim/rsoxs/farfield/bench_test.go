// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The intensities of a particle of 34 x 36 x 38 voxels on 112 x 112 pixels at three energies.
func BenchmarkIntensities(b *testing.B) {
	x := newSample(3, [3]int{34, 36, 38}, 1.8)
	d := Detector{Rows: 96, Columns: 96, Pad: 8, PixelY: 0.06, PixelX: 0.06}
	energies := []float64{283.6, 285.0, 287.8}
	v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.45, MinK: 2 * math.Pi * energies[0] / 1239.84197})
	if err != nil {
		b.Fatal(err)
	}
	in := []*ad.Node{ad.Input("distance"), ad.Input("y"), ad.Input("x"), ad.Input("s")}
	m := x.nodes()
	m.S = ad.Mul(m.S, in[3])
	f, err := v.Fields(m)
	if err != nil {
		b.Fatal(err)
	}
	dir := d.Directions(Pose{Distance: in[0], PoniY: in[1], PoniX: in[2]})
	c := Tensor(ad.Const([]float64{constants.DeltaPara, constants.BetaPara, constants.DeltaPerp, constants.BetaPerp}))
	var images []*ad.Node
	for _, e := range energies {
		k := ad.Scalar(2 * math.Pi * e / 1239.84197)
		images = append(images, v.Intensities(v.Amplitude(k, []*Fields{f}, []Contrast{c}, 0), k, dir)...)
	}
	all := ad.Concat(0, images...)
	for name, out := range map[string][]*ad.Node{"value": {all}, "gradient": ad.Grad(ad.Sum(ad.Log(all)), in...), "tangent": {ad.JVP(all, in, []*ad.Node{ad.Scalar(1), ad.Scalar(1), ad.Scalar(1), ad.Scalar(1)})}} {
		b.Run(name, func(b *testing.B) {
			p, err := ad.Compile(out, ad.Settings{Inputs: in})
			if err != nil {
				b.Fatal(err)
			}
			st := p.NewState()
			for i, x := range []float64{11.2, 3.1, 2.7, 0.8} {
				st.Input(i)[0] = x
			}
			b.ReportMetric(float64(v.Points()), "points")
			for b.Loop() {
				if err := st.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The transforms of five fields of large volumes.
func BenchmarkFields(b *testing.B) {
	for _, s := range [][3]int{{32, 128, 128}, {128, 128, 128}, {32, 256, 256}, {32, 512, 512}} {
		x := newSample(3, s, 2)
		v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.6, MinK: 1.43, Tolerance: 1e-6})
		if err != nil {
			b.Fatal(err)
		}
		in := ad.Input("s")
		m := x.nodes()
		m.S = ad.Mul(m.S, in)
		f, err := v.Fields(m)
		if err != nil {
			b.Fatal(err)
		}
		out := []*ad.Node{}
		for _, d := range append([]complexNode{f.aligned}, f.director[:4]...) {
			out = append(out, d.re, d.im)
		}
		total := ad.Scalar(0)
		for _, o := range out {
			total = ad.Add(total, ad.Sum(ad.Square(o)))
		}
		for name, o := range map[string][]*ad.Node{"value": out, "gradient": {ad.Grad(total, in)[0]}} {
			b.Run(fmt.Sprintf("%dx%dx%d/%s/cpu", s[0], s[1], s[2], name), func(b *testing.B) {
				p, err := ad.Compile(o, ad.Settings{Inputs: []*ad.Node{in}})
				if err != nil {
					b.Fatal(err)
				}
				st := p.NewState()
				st.Input(0)[0] = 0.8
				b.ReportMetric(float64(v.Points()), "points")
				b.ReportMetric(float64(v.terms), "terms")
				for b.Loop() {
					if err := st.Run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The amplitudes of a large volume at one further energy, on the grid of q.
func BenchmarkAmplitude(b *testing.B) {
	for _, s := range [][3]int{{32, 128, 128}, {128, 128, 128}, {32, 256, 256}} {
		x := newSample(3, s, 2)
		v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.6, MinK: 1.43, Tolerance: 1e-6})
		if err != nil {
			b.Fatal(err)
		}
		k := ad.Input("k")
		m := x.nodes()
		f, err := v.Fields(m)
		if err != nil {
			b.Fatal(err)
		}
		// The transforms are inputs, so that they are not counted.
		var in []*ad.Node
		var values [][]float64
		for _, z := range append([]*complexNode{&f.fraction, &f.aligned}, &f.director[0], &f.director[1], &f.director[2], &f.director[3], &f.director[4]) {
			for _, part := range []**ad.Node{&z.re, &z.im} {
				node := ad.Input("field", (*part).Shape()...)
				in, values = append(in, node), append(values, make([]float64, node.Size()))
				*part = node
			}
		}
		c := Tensor(ad.Const([]float64{constants.DeltaPara, constants.BetaPara, constants.DeltaPerp, constants.BetaPerp}))
		p, err := ad.Compile([]*ad.Node{v.Amplitude(k, []*Fields{f}, []Contrast{c}, 0).planes}, ad.Settings{Inputs: append(in, k)})
		if err != nil {
			b.Fatal(err)
		}
		st := p.NewState()
		for i, v := range values {
			copy(st.Input(i), v)
		}
		b.Run(fmt.Sprintf("%dx%dx%d/cpu", s[0], s[1], s[2]), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				st.Input(len(in))[0] = 1.44 + 1e-6*float64(i)
				if err := st.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(v.Points()), "points")
			b.ReportMetric(float64(v.terms), "terms")
		})
	}
}
