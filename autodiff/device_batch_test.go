// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A batch of every operation is the same on a device.
func TestBatchesOnDevice(t *testing.T) { batchesOnDevice(t, false, 64) }

// batchesOnDevice compares batches of every operation, and of its gradient, whose lanes differ in some
// inputs and share the others. All are one program.
func batchesOnDevice(t *testing.T, gradients bool, precisions ...int) {
	emulated(t)
	const lanes = 3
	rng := rand.New(rand.NewPCG(7, 2))
	var in, batched, outs []*ad.Node
	var ranges [][2]float64
	var names []string
	for _, op := range standard {
		if op.Sample == nil {
			continue
		}
		first := len(in)
		made := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			x := ad.Input(fmt.Sprint("x", len(in)), shape...)
			in, ranges = append(in, x), append(ranges, [2]float64{lo, hi})
			return x
		})
		// The first input has lanes, the others every second time.
		for k, x := range in[first:] {
			if k == 0 || rng.IntN(2) == 0 {
				batched = append(batched, x)
			}
		}
		if gradients && op.Differentiable() {
			made = append(made, ad.Grad(squares(made), in[first:]...)...)
		}
		for range made {
			names = append(names, op.Name)
		}
		outs = append(outs, made...)
	}
	for _, bits := range precisions {
		s := ad.Settings{Inputs: in, Precision: bits, Batch: lanes, Batched: batched, Isolate: true}
		var got [2][][]float64
		for k, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			s.Backend = b
			p, err := ad.Compile(outs, s)
			if err != nil {
				t.Fatal(err)
			}
			state := p.NewState()
			fill := rand.New(rand.NewPCG(8, 2))
			for i := range in {
				n := in[i].Size()
				if slices.Contains(batched, in[i]) {
					n *= lanes
				}
				v := make([]float64, n)
				for e := range v {
					v[e] = ranges[i][0] + fill.Float64()*(ranges[i][1]-ranges[i][0])
				}
				if err := state.SetInput(i, v); err != nil {
					t.Fatal(err)
				}
			}
			if err := state.Run(); err != nil {
				t.Fatal(err)
			}
			for i := range outs {
				got[k] = append(got[k], state.OutputFloat64(i))
			}
		}
		tol := map[int]float64{64: 1e-10, 32: 2e-4}[bits]
		for i := range outs {
			for e, want := range got[0][i] {
				if !near(got[1][i][e], want, tol) {
					t.Errorf("%s, %d bits, output %d, element %d: device %g, processor %g", names[i], bits, i, e, got[1][i][e], want)
					break
				}
			}
		}
	}
}

// A lane whose matrix has no factor is NaN, and the others are not touched.
func TestLanesFailAloneOnDevice(t *testing.T) {
	emulated(t)
	a := ad.Input("a", 2, 2)
	p, err := ad.Compile([]*ad.Node{ad.Cholesky(a)}, ad.Settings{Batch: 3, Batched: []*ad.Node{a}, Isolate: true, Backend: ad.CUDA{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	// Lanes are the last axis: 4, -1 and 9 times the identity.
	if err := s.SetInput(0, []float64{4, -1, 9, 0, 0, 0, 0, 0, 0, 4, -1, 9}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	l := s.Output(0)
	if l[0] != 2 || l[2] != 3 || l[1] == l[1] || l[9] != 2 || l[11] != 3 {
		t.Error(l)
	}
}
