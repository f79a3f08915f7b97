// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Arrays put in place of an input give the results that copies give, in loops,
// products, views and on several goroutines, before and after changes.
func TestBind(t *testing.T) {
	for _, w := range ways() {
		for _, threads := range []int{1, 3} {
			a, b, c := ad.Input("a", 130, 400), ad.Input("b", 400, 60), ad.Input("c")
			y := ad.Tanh(ad.MatMul(ad.Mul(a, c), b))
			outs := []*ad.Node{ad.Sum(ad.Add(y, ad.Reshape(ad.Slice(a, 1, 5, 65), 130, 60))), ad.Grad(ad.Sum(y), a)[0], ad.T(a)}
			p, err := ad.Compile(outs, ad.Settings{Inputs: []*ad.Node{a, b, c}, Precision: w.bits, Backend: ad.CPU{Threads: threads, SIMD: w.simd}})
			if err != nil {
				t.Fatal(err)
			}
			in := [][]float64{ramp(130*400, 0.3), ramp(400*60, 0.7), {1.5}}
			results := func(s *ad.State) []float64 {
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				return append(append(s.OutputFloat64(0), s.OutputFloat64(1)...), s.OutputFloat64(2)...)
			}
			copied, bound := p.NewState(), p.NewState()
			for i, x := range in {
				copied.SetInput(i, x)
				bound.SetInput(i, x)
			}
			want := results(copied)
			put := func(i int, x []float64) {
				if w.bits == 32 {
					err = bound.Bind32(i, narrow(x))
				} else {
					err = bound.Bind(i, x)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, x := range in {
				put(i, x)
			}
			equalBits(t, w.String()+" bound", results(bound), want)
			in[0] = ramp(130*400, 0.9)
			copied.SetInput(0, in[0])
			want = results(copied)
			put(0, in[0])
			equalBits(t, w.String()+" bound again", results(bound), want)
			put(0, nil)
			bound.SetInput(0, in[0])
			equalBits(t, w.String()+" copied again", results(bound), want)
			if n := testing.AllocsPerRun(5, func() { bound.Run() }); threads == 1 && n != 0 {
				t.Errorf("%v: %v allocations in a run", w, n)
			}
		}
	}
}

func TestBindRefuses(t *testing.T) {
	x, idx := ad.Input("x", 3), ad.IntInput("idx", 3)
	p, err := ad.Compile([]*ad.Node{ad.Gather(x, idx, 0)}, ad.Settings{Inputs: []*ad.Node{x, idx}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for _, err := range []error{s.Bind(0, make([]float64, 2)), s.Bind(1, make([]float64, 3)), s.Bind32(0, make([]float32, 3))} {
		if err == nil || !strings.Contains(err.Error(), "autodiff: bind: input") {
			t.Errorf("error %v", err)
		}
	}
}

func ramp(n int, by float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = by*float64(i%13) - 1
	}
	return out
}

func narrow(x []float64) []float32 {
	if x == nil {
		return nil
	}
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

func equalBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if v != want[i] {
			t.Errorf("%s: element %d: %v, want %v", what, i, v, want[i])
			return
		}
	}
}
