// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/tensor"
)

// twoPhases is a graph of an aligned material and its matrix, which share a field,
// and random numbers for its inputs.
func twoPhases(shape [3]int, energies int) (m []MaterialNodes, inputs []*ad.Node, values [][]float64) {
	src := tensor.NewStream(5, 1, 0)
	field := func(name string, lo, hi float64) *ad.Node {
		x := ad.Input(name, shape[:]...)
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = lo + (hi-lo)*src.Float64()
		}
		inputs, values = append(inputs, x), append(values, v)
		return x
	}
	v := field("v", 0.1, 0.9)
	m = []MaterialNodes{
		{Vfrac: v, S: field("s", 0.1, 0.9), Theta: field("theta", 0.3, 2.8), Psi: field("psi", -3, 3)},
		{Vfrac: ad.Sub(ad.Scalar(1), v)},
	}
	constants := ad.Input("constants", energies, 2, 4)
	c := make([]float64, constants.Size())
	for i := range c {
		c[i] = 1e-3 * src.Normal()
	}
	return m, append(inputs, constants), append(values, c)
}

func testConfig() Config {
	return Config{Energies: []float64{280, 285}, Angles: Angles{0, 40, 120}, RotMask: true}
}

func TestIntensityNode(t *testing.T) {
	shape := [3]int{3, 6, 5}
	m, inputs, values := twoPhases(shape, 2)
	s, err := New(shape, 4, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	images := s.Intensity(m, inputs[len(inputs)-1])
	pixels := ad.Gather(ad.Reshape(images, images.Size()), ad.Ints([]int{7, 8, 12, 37, 41, 43}), 0)
	gradtest.Check(t, "intensity", ad.Sum(ad.Log(pixels)), inputs, values, false)

	curves, _, err := s.Curves(Reduction{}, m, inputs[len(inputs)-1])
	if err != nil {
		t.Fatal(err)
	}
	points := ad.Gather(ad.Reshape(curves, curves.Size()), ad.Ints([]int{1, 2, 5, 9, 13, 17, 25, 29}), 0)
	gradtest.Check(t, "curves", ad.Sum(ad.Square(points)), inputs, values, false)
}

func TestLossNode(t *testing.T) {
	shape := [3]int{1, 8, 6}
	m, inputs, values := twoPhases(shape, 2)
	for _, bits := range []int{64, 32} {
		cfg := testConfig()
		cfg.Precision = bits
		s, err := New(shape, 4, cfg)
		if err != nil {
			t.Fatal(err)
		}
		loss := s.Loss(func(p *Pattern) (float64, *tensor.Tensor, error) {
			mask := make([]float64, p.Intensity.Size())
			data := make([]float64, len(mask))
			for i, v := range p.Intensity.Float64s() {
				data[i] = 1e-3
				if v == v {
					mask[i] = 1
				}
			}
			l, g := logLoss(p, data, mask, 1e-4)
			return l, g, nil
		}, m, inputs[len(inputs)-1])
		if bits == 64 {
			gradtest.Check(t, "loss", loss, inputs, values, false)
		}
		runGradient(t, loss, inputs, values)
	}
}

// runGradient computes loss and gradients twice, at other inputs between.
func runGradient(t *testing.T, loss *ad.Node, inputs []*ad.Node, values [][]float64) {
	prog, err := ad.Compile(append([]*ad.Node{loss}, ad.Grad(loss, inputs...)...), ad.Settings{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	st := prog.NewState()
	var first []float64
	for _, shift := range []float64{0, 0.01, 0} {
		for i := range inputs {
			for k, v := range values[i] {
				st.Input(i)[k] = v * (1 + shift)
			}
		}
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		now := append(append([]float64(nil), st.Output(0)...), st.Output(1)...)
		switch {
		case first == nil:
			first = now
		case shift == 0:
			for i := range now {
				if now[i] != first[i] {
					t.Fatalf("number %d is %g at second sight, was %g", i, now[i], first[i])
				}
			}
		case now[0] == first[0] || math.IsNaN(now[0]):
			t.Fatalf("loss %g at other inputs, was %g", now[0], first[0])
		}
	}
}
