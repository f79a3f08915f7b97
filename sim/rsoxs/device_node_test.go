// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// A graph on a GPU has the values and gradients of the same graph on the processor, and its fields never
// leave the device.
func TestNodesOnDevice(t *testing.T) {
	emulated(t)
	shape := [3]int{3, 8, 6}
	for bits, tol := range map[int]float64{64: 1e-11, 32: 2e-5} {
		m, inputs, values := twoPhases(shape, 2)
		cfg := testConfig()
		cfg.Precision = bits
		s, err := New(shape, 4, cfg)
		if err != nil {
			t.Fatal(err)
		}
		constants := inputs[len(inputs)-1]
		images := s.Intensity(m, constants)
		curves, _, err := s.Curves(Reduction{}, m, constants)
		if err != nil {
			t.Fatal(err)
		}
		pick := func(x *ad.Node, list ...int) *ad.Node { return ad.Gather(ad.Reshape(x, x.Size()), ad.Ints(list), 0) }
		for name, loss := range map[string]*ad.Node{
			"intensity": ad.Sum(ad.Log(pick(images, 8, 9, 14, 50, 61, 68))),
			"curves":    ad.Sum(ad.Log(pick(curves, 1, 2, 5, 9, 13))),
			"loss":      s.Loss(plainLoss, m, constants),
		} {
			outputs := append([]*ad.Node{loss}, ad.Grad(loss, inputs...)...)
			want := ranOn(t, ad.Settings{Inputs: inputs, Precision: bits}, outputs, values)
			got := ranOn(t, ad.Settings{Inputs: inputs, Precision: bits, Backend: ad.CUDA{Strict: true}}, outputs, values)
			for i := range want {
				near(t, name+" of "+outputs[i].String(), got[i], want[i], tol)
			}
		}
	}
}

// plainLoss is a sum of roots of intensities.
func plainLoss(p *Pattern) (l float64, g *tensor.Tensor, err error) {
	g = tensor.New(tensor.Float64, p.Intensity.Shape()...)
	for i, v := range p.Intensity.Float64s() {
		if v > 0 {
			l += math.Sqrt(v)
			g.Data().([]float64)[i] = 0.5 / math.Sqrt(v)
		}
	}
	return l, g, nil
}

// ranOn returns the outputs of a graph after two runs, of which the second may be another one.
func ranOn(t testing.TB, s ad.Settings, outputs []*ad.Node, values [][]float64) (out [][]float64) {
	t.Helper()
	prog, err := ad.Compile(outputs, s)
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range values {
		st.SetInput(i, v)
	}
	for range 2 {
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range outputs {
		out = append(out, append([]float64(nil), st.OutputFloat64(i)...))
	}
	return out
}

// With fields that are made on the device from a few parameters, a run sends the parameters and fetches what
// was asked for.
func TestFieldsStayOnDevice(t *testing.T) {
	emulated(t)
	shape := [3]int{4, 16, 16}
	x := ad.Input("x", 2)
	s, err := New(shape, 4, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	v := ad.Sigmoid(ad.Mul(ad.Slice(x, 0, 0, 1), ad.Const(noise(3, 0, 1, shape[:]...).Float64s(), shape[:]...)))
	o := constants(2, 2)
	images := s.Intensity([]MaterialNodes{{Vfrac: v}, {Vfrac: ad.Sub(ad.Scalar(1), v)}}, ad.Const(flatOptics(o), 2, 2, 4))
	loss := ad.Sum(ad.Gather(ad.Reshape(images, images.Size()), ad.Ints([]int{40, 41, 400}), 0))
	prog, err := ad.Compile([]*ad.Node{loss, ad.Grad(loss, x)[0]}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CUDA{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	st := prog.NewState()
	copy(st.Input(0), []float64{1, 2})
	st.Output(0)
	st.Output(1)
	for range 2 {
		d.ResetPeak()
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
	}
	if c, field := d.Stats(), uint64(8*4*16*16); c.Sent > field/4 || c.Fetched > field/4 || st.Output(1)[0] == 0 {
		t.Errorf("a run sent %d bytes and fetched %d, gradient %v; a field has %d", c.Sent, c.Fetched, st.Output(1), field)
	} else {
		t.Logf("a run sent %d bytes and fetched %d; the fields have %d", c.Sent, c.Fetched, 2*field)
	}
}
