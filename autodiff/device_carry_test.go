// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// recurrence is x' = x/2 + y of some numbers on a backend, or with x/4 more that the processor computes.
func recurrence(t *testing.T, b ad.Backend, onProcessor bool) *ad.State {
	t.Helper()
	x, y := ad.Input("x", 128), ad.Input("y", 128)
	next := ad.Add(ad.Scale(0.5, x), y)
	if onProcessor {
		quarter := &ad.Custom{Name: "quarter", Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil }, Forward: func(out []float64, in ...[]float64) error {
			for i, v := range in[0] {
				out[i] = v / 4
			}
			return nil
		}}
		next = ad.Add(next, ad.Call(quarter, x))
	}
	p, err := ad.Compile([]*ad.Node{next, ad.Sum(next)}, ad.Settings{Inputs: []*ad.Node{x, y}, Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	return p.NewState()
}

// What is carried once stays on the GPU until somebody asks for it, and has the numbers of the processor, whoever holds the arrays, whatever step reads them,
// and after the other ways to set an input.
func TestCarryNow(t *testing.T) {
	pretend.Shared(t)
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := onGPU(t, constant(300, 5))
	for name, c := range map[string]struct {
		onProcessor     bool
		before, between func(s *ad.State, k int) error // before the first run, and after each copy
		sent            uint64                         // most bytes from the third run on
	}{
		"alone":                 {},
		"input held":            {before: func(s *ad.State, _ int) error { s.Input(0); return nil }, sent: 3 * 1024},
		"input held later":      {between: func(s *ad.State, k int) error { return hold(s, k == 2) }, sent: 3 * 1024},
		"output held":           {before: func(s *ad.State, _ int) error { s.Output(0); return nil }},
		"step on the processor": {onProcessor: true, sent: 3 * 1024},
		"set between":           {between: func(s *ad.State, k int) error { return s.SetInput(0, constant(float64(k), 128)) }, sent: 3 * 1024},
		"part set between":      {between: func(s *ad.State, k int) error { return s.SetPart(0, 7, []float64{float64(k), 3}) }, sent: 64},
		"bound between": {between: func(s *ad.State, _ int) error {
			return errors.Join(s.Bind(0, constant(9, 128)), s.Bind(0, nil))
		}, sent: 3 * 1024},
		"bound to the GPU between": {between: func(s *ad.State, _ int) error {
			if s.Program().Device() == "cpu" {
				return nil
			}
			return errors.Join(s.BindDevice(0, elsewhere.At(0)), s.BindDevice(0, cuda.Part{}))
		}, sent: 3 * 1100},
	} {
		var want [][]float64
		for _, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			s := recurrence(t, b, c.onProcessor)
			set(t, s, 0, 1)
			set(t, s, 1, 0.125)
			if c.before != nil {
				c.before(s, 0)
			}
			var got [][]float64
			for k := range 5 {
				if k == 2 {
					d.ResetPeak()
				}
				run(t, s)
				if err := s.CarryNow(0, 0); err != nil {
					t.Fatal(err)
				}
				if c.between != nil {
					if err := c.between(s, k); err != nil {
						t.Fatal(err)
					}
				}
				got = append(got, s.OutputFloat64(1))
			}
			sent := d.Stats().Sent
			got = append(got, s.InputFloat64(0), s.OutputFloat64(0))
			if want == nil {
				want = got
				continue
			}
			for k := range want {
				if !slices.Equal(got[k], want[k]) {
					t.Errorf("%s: numbers %d begin with %v, want %v", name, k, got[k][0], want[k][0])
				}
			}
			if sent > c.sent {
				t.Errorf("%s: %d bytes were sent, want at most %d", name, sent, c.sent)
			}
		}
	}
}

// hold asks for the elements of an input.
func hold(s *ad.State, now bool) error {
	if now {
		s.Input(0)
	}
	return nil
}

// Only arrays of the same size are carried.
func TestCarryNowRefuses(t *testing.T) {
	s := recurrence(t, ad.CPU{}, false)
	for _, c := range [][2]int{{0, 1}, {2, 0}, {-1, 0}, {0, 2}} {
		if err := s.CarryNow(c[0], c[1]); err == nil {
			t.Errorf("output %d is carried to input %d", c[1], c[0])
		}
	}
}

// A recurrence of several runs goes on from where it was, also where somebody holds the input that is carried.
func TestCarryOfHeldInputs(t *testing.T) {
	pretend.Shared(t)
	for _, held := range []bool{false, true} {
		var want [][]float64
		for _, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			s := recurrence(t, b, false)
			set(t, s, 0, 1)
			set(t, s, 1, 0.125)
			if err := errors.Join(hold(s, held), s.Carry(0, 0)); err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for _, times := range []int{1, 3, 20, 1} {
				if err := s.Repeat(times); err != nil {
					t.Fatal(err)
				}
				got = append(got, s.OutputFloat64(1), s.InputFloat64(0))
			}
			if want == nil {
				want = got
			}
			for k := range want {
				if !slices.Equal(got[k], want[k]) {
					t.Errorf("held %v: numbers %d begin with %v, want %v", held, k, got[k][0], want[k][0])
				}
			}
		}
	}
}
