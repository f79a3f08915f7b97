// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Products that are timed have the bits of those that are not, whichever way to cut them wins: with sums that are
// cut, edges, transposes, batches, and a matrix times itself.
func TestTimedProducts(t *testing.T) {
	tier.SlowOnly(t)
	pretend.Shared(t)
	defer cuda.SetTunedProduct(1)()
	a, b, c, v := ad.Input("a", 2, 67, 10), ad.Input("b", 10, 129), ad.Input("c", 9, 530), ad.Input("v", 10)
	square := ad.Slice(b, 1, 0, 10)
	in := []*ad.Node{a, b, c, v}
	values := [][]float64{random(2*67*10, 1), random(10*129, 2), random(9*530, 3), random(10, 4)}
	outs := []*ad.Node{ad.MatMul(a, b), ad.MatMul(ad.Permute(b, 1, 0), ad.Permute(a, 0, 2, 1)), ad.MatMul(c, ad.T(c)), ad.MatMul(square, square), ad.MatMul(a, ad.Reshape(v, 10, 1))}
	for _, bits := range []int{32, 64} {
		on := ad.CUDA{Strict: true, OwnKernels: true}
		want := outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: on})
		on.Tune = true
		check := func(what string) {
			t.Helper()
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: on})
			if err != nil {
				t.Fatal(err)
			}
			if text := p.String(); !strings.Contains(text, "4 products timed") {
				t.Errorf("%s: %s", what, text)
			}
			for i, got := range outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: on}) {
				if !slices.Equal(got, want[i]) {
					t.Errorf("%d bits, %s: output %d has other bits", bits, what, i)
				}
			}
		}
		check("the fastest")
		if bits == 64 {
			break
		}
		for k := range cuda.Tilings() {
			undo := cuda.SetTilings(k)
			check("one way alone")
			undo()
		}
	}
}

// Products have the same numbers, but for rounding, however large the parts of a block are.
func TestPartsOfProducts(t *testing.T) {
	pretend.Shared(t)
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Choose(nil)
	a, b := ad.Input("a", 2, 70, 40), ad.Input("b", 40, 130)
	for _, size := range []int{32, 64, 128} {
		if err := d.Choose(map[string]int{"product_tile": size}); err != nil {
			t.Fatal(err)
		}
		p, err := ad.Compile([]*ad.Node{ad.MatMul(a, b)}, ad.Settings{Backend: ad.CUDA{OwnKernels: true}})
		if err != nil || !strings.Contains(p.Explain(), fmt.Sprintf("sa%d[", size)) {
			t.Errorf("parts of %d: %v", size, err)
		}
		same(t, []*ad.Node{ad.MatMul(a, b)}, []*ad.Node{a, b}, [][]float64{random(2*70*40, 1), random(40*130, 2)}, map[int]float64{64: 1e-14, 32: 1e-5})
	}
}

// Large products are timed only where that is asked for and no library makes them; those of arrays in 16 bits are
// not, and one for which there is no memory is cut as without timing.
func TestUntimedProducts(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Libraries(t)
	a := ad.Input("a", 140, 140)
	y := []*ad.Node{ad.MatMul(a, a)}
	text := func(bits int, on ad.CUDA) string {
		t.Helper()
		p, err := ad.Compile(y, ad.Settings{Precision: bits, Backend: on})
		if err != nil {
			t.Fatal(err)
		}
		return p.String()
	}
	for _, c := range []struct {
		bits  int
		on    ad.CUDA
		timed bool
	}{{64, ad.CUDA{OwnKernels: true}, false}, {64, ad.CUDA{OwnKernels: true, Tune: true}, true}, {64, ad.CUDA{Device: 1, Tune: true}, false},
		{32, ad.CUDA{OwnKernels: true, Tune: true, Storage: ad.Float16}, false}} {
		if got := strings.Contains(text(c.bits, c.on), "products timed"); got != c.timed {
			t.Errorf("%d bits, %+v: timed %v, want %v", c.bits, c.on, got, c.timed)
		}
	}
	large := ad.Input("large", 1<<14, 1<<14)
	p, err := ad.Compile([]*ad.Node{ad.MatMul(large, large)}, ad.Settings{MaxMemory: 1 << 40, Backend: ad.CUDA{OwnKernels: true, Tune: true}})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.String(); strings.Contains(text, "timed") {
		t.Errorf("without memory for it: %s", text)
	}
}
