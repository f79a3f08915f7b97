// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// layersOf is layers of the same shapes, each with weights of its own and with the input added, and the gradients of their sum.
func layersOf(n int) (outs, in []*ad.Node, values [][]float64) {
	x := ad.Input("x", 40, 24)
	in, values = []*ad.Node{x}, [][]float64{random(40*24, 1)}
	y := x
	for k := range n {
		w, b := ad.Input(fmt.Sprint("w", k), 24, 24), ad.Input(fmt.Sprint("b", k), 24)
		in, values = append(in, w, b), append(values, random(24*24, uint64(2*k+2)), random(24, uint64(2*k+3)))
		y = ad.Add(x, ad.Tanh(ad.Add(ad.MatMul(y, ad.Scale(0.2, w)), b)))
	}
	return append([]*ad.Node{y}, ad.Grad(ad.Sum(ad.Square(y)), in...)...), in, values
}

// Layers of the same shapes are the same kernels, which are compiled once, in both precisions and for arrays of 16 bits.
func TestLayersShareKernels(t *testing.T) {
	pretend.Shared(t)
	kernels := func(layers int, b ad.CUDA) int {
		outs, in, _ := layersOf(layers)
		p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: 32, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(p.Explain(), `extern "C"`)
	}
	for _, b := range []ad.CUDA{{OwnKernels: true}, {OwnKernels: true, Storage: ad.BFloat16}} {
		if few, many := kernels(4, b), kernels(12, b); few == 0 || many > few+2 {
			t.Errorf("4 layers are %d kernels, 12 are %d", few, many)
		}
	}
	outs, in, values := layersOf(5)
	same(t, outs, in, values, map[int]float64{64: 1e-12, 32: 2e-5})
}

// Inputs that several launches use are read from where they are bound.
func TestSharedKernelsReadBoundInputs(t *testing.T) {
	pretend.Shared(t)
	outs, in, values := layersOf(3)
	on := ad.Settings{Inputs: in, Backend: ad.CUDA{}}
	want := outputs(t, outs, in, values, on)
	p, err := ad.Compile(outs, on)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i := range in {
		other := random(in[i].Size(), 99) // until the memory is bound
		if err := s.SetInput(i, other); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		b, err := d.Default().Alloc(8 * len(v))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		if err := d.CopyIn(context.Background(), b, 0, v); err != nil {
			t.Fatal(err)
		}
		if err := s.BindDevice(i, device.Part{Buffer: b}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // by launches, captured, and by the graph
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range outs {
			if got := s.OutputFloat64(i); !slices.Equal(got, want[i]) {
				t.Fatalf("output %d differs from that of the same numbers from the processor", i)
			}
		}
	}
}

// offset adds constants of its helper text that are called as variables of arrays may be.
var offset = ad.Unary{Name: "test offset", CPU: func(x float64) float64 { return x + 3.5 }, CUDA: "eu_test_offset(x) + w0 + c1",
	Helper: "#define w0 1.0\n#define c1 2.0\n__device__ double eu_test_offset(double x) { return x + 0.5;\n}\n", VJP: func(g, _, _ *ad.Node) *ad.Node { return g }, Domain: ad.Interval{Lo: -1, Hi: 1}}.Define()

// Names of helper texts stay as they are.
func TestNamesOfHelpersAreKept(t *testing.T) {
	pretend.Shared(t)
	x, y := ad.Input("x", 70), ad.Input("y", 70)
	same(t, []*ad.Node{offset.Apply(ad.Mul(x, y)), ad.Sum(offset.Apply(y))}, []*ad.Node{x, y}, [][]float64{random(70, 1), random(70, 2)}, map[int]float64{64: 1e-14, 32: 1e-5})
}
