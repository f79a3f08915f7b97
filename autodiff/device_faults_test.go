// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// twice is a program of y = 2x for n numbers on the pretend device, and a State of it with x = 1.
func twice(t *testing.T, n int) (*ad.State, *pretend.Library) {
	t.Helper()
	lib := pretend.Shared(t)
	x := ad.Input("x", n)
	p, err := ad.Compile([]*ad.Node{ad.Add(x, x)}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	set(t, s, 0, 1)
	return s, lib
}

// set fills an input with a number.
func set(t *testing.T, s *ad.State, input int, v float64) {
	t.Helper()
	if err := s.SetInput(input, constant(v, s.Program().Inputs()[input].Size())); err != nil {
		t.Fatal(err)
	}
}

func constant(v float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// onGPU returns memory of the device that holds some numbers.
func onGPU(t *testing.T, values any) *cuda.Buffer {
	t.Helper()
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(1024)
	if err == nil {
		err = d.CopyIn(context.Background(), b, 0, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func run(t *testing.T, s *ad.State) {
	t.Helper()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

func first(t *testing.T, s *ad.State, want float64) {
	t.Helper()
	if got := s.OutputFloat64(0); got[0] != want || got[len(got)-1] != want {
		t.Fatalf("got %g ... %g, want %g", got[0], got[len(got)-1], want)
	}
}

// An input whose copy failed is sent by the next Run: it must not compute with what was there before.
func TestFailedCopyIsRepeated(t *testing.T) {
	for _, n := range []int{3, 20000} {
		s, lib := twice(t, n)
		run(t, s)
		set(t, s, 0, 5)
		lib.Fail("cuMemcpyHtoDAsync_v2", 0, 1, int32(drv.InvalidValue))
		if err := s.Run(); !errors.Is(err, drv.InvalidValue) {
			t.Fatalf("Run: %v", err)
		}
		run(t, s)
		first(t, s, 10)
	}
}

// An output that cannot be fetched is not the output of an earlier run.
func TestMissingOutput(t *testing.T) {
	s, lib := twice(t, 3)
	for _, take := range []func() []float64{func() []float64 { return s.OutputFloat64(0) }, func() []float64 { return s.Output(0) }} {
		run(t, s)
		lib.Fail("cuMemcpyDtoH_v2", 0, 1, int32(drv.InvalidValue))
		if got := take(); !math.IsNaN(got[0]) {
			t.Errorf("got %g after a failed copy, want NaN", got[0])
		}
		if err := s.Run(); !errors.Is(err, drv.InvalidValue) || !strings.Contains(err.Error(), "missing") {
			t.Errorf("the next Run: %v", err)
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		run(t, s)
		first(t, s, 2)
	}
}

// A BindDevice that fails leaves everything as it was.
func TestFailedBindDevice(t *testing.T) {
	s, lib := twice(t, 4)
	x := onGPU(t, []float64{7, 7, 7, 7})
	run(t, s)
	lib.Fail("cuMemcpyHtoDAsync_v2", 0, 1, int32(drv.InvalidValue))
	if err := s.BindDevice(0, x.At(0)); !errors.Is(err, drv.InvalidValue) {
		t.Fatalf("BindDevice: %v", err)
	}
	set(t, s, 0, 3)
	run(t, s)
	first(t, s, 6)
	if err := s.BindDevice(0, x.At(0)); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	first(t, s, 14)
	lib.Fail("cuMemcpyHtoDAsync_v2", 0, 1, int32(drv.InvalidValue))
	if err := s.BindDevice(0, cuda.Part{}); !errors.Is(err, drv.InvalidValue) {
		t.Fatalf("BindDevice of nothing: %v", err)
	}
	run(t, s)
	first(t, s, 14)
}

// Bind ends a BindDevice, and what Input returned is sent again after it.
func TestBindAfterBindDevice(t *testing.T) {
	s, _ := twice(t, 4)
	own := s.Input(0)
	x := onGPU(t, []float64{7, 7, 7, 7})
	for range 2 {
		if err := s.BindDevice(0, x.At(0)); err != nil {
			t.Fatal(err)
		}
		run(t, s)
		first(t, s, 14)
		if err := s.Bind(0, constant(4, 4)); err != nil {
			t.Fatal(err)
		}
		run(t, s)
		first(t, s, 8)
		if err := errors.Join(s.BindDevice(0, x.At(0)), s.BindDevice(0, cuda.Part{})); err != nil {
			t.Fatal(err)
		}
		for v := 1.0; v < 4; v++ {
			own[0], own[3] = v, v
			run(t, s)
			first(t, s, 2*v)
		}
	}
}

// An output of a program can be its own input: every Run starts from what the one before computed.
func TestOutputIsInput(t *testing.T) {
	pretend.Shared(t)
	x := ad.Input("x", 3000)
	next := ad.Add(ad.Flip(x, 0), ad.Cumsum(x, 0)) // reads other elements than it writes
	p, err := ad.Compile([]*ad.Node{next}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	want := constant(1, 3000)
	if err := s.SetInput(0, want); err != nil {
		t.Fatal(err)
	}
	for k := range 5 {
		run(t, s)
		sum, after := 0.0, make([]float64, len(want))
		for i, v := range want {
			sum += v
			after[i] = want[len(want)-1-i] + sum
		}
		want = after
		if k == 0 {
			at, err := s.OutputDevice(0)
			if err == nil {
				err = s.BindDevice(0, at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, v := range s.OutputFloat64(0) {
		if !near(v, want[i], 1e-12) {
			t.Fatalf("element %d is %g, want %g", i, v, want[i])
		}
	}
}

// A failure that could not be cleared on the device is not that of the next run.
func TestFaultIsForgotten(t *testing.T) {
	lib := pretend.Shared(t)
	x, idx := ad.Input("x", 10), ad.IntInput("idx", 3)
	p, err := ad.Compile([]*ad.Node{ad.Gather(x, idx, 0)}, ad.Settings{Inputs: []*ad.Node{x, idx}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for _, call := range []string{"cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2"} {
		if err := errors.Join(s.SetInput(0, constant(2, 10)), s.SetInput(1, []float64{1, 2, 3})); err != nil {
			t.Fatal(err)
		}
		run(t, s)
		if err := s.SetInput(1, []float64{1, 22, 3}); err != nil {
			t.Fatal(err)
		}
		after := 0
		if call == "cuMemcpyHtoDAsync_v2" {
			after = 1 // the copy of idx
		}
		lib.Fail(call, after, 1, int32(drv.InvalidValue))
		if err := s.Run(); !errors.Is(err, drv.InvalidValue) {
			t.Fatalf("Run: %v", err)
		}
		if err := s.SetInput(1, []float64{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		run(t, s)
		first(t, s, 2)
	}
}

// A device that has no memory left for a graph launches kernels one by one.
func TestNoMemoryForGraph(t *testing.T) {
	lib := pretend.Shared(t)
	x := ad.Input("x", 50)
	y := ad.Cumsum(x, 0)
	p, err := ad.Compile([]*ad.Node{ad.Cumsum(ad.Flip(y, 0), 0)}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	run(t, s)
	before := lib.Get("cuGraphInstantiateWithFlags")
	lib.Fail("cuGraphInstantiateWithFlags", 0, 1, int32(drv.OutOfMemory))
	for v := 1.0; v < 4; v++ {
		set(t, s, 0, v)
		run(t, s)
		if got := s.OutputFloat64(0); got[49] != 1275*v {
			t.Errorf("got %g, want %g", got[49], 1275*v)
		}
	}
	if n := lib.Get("cuGraphInstantiateWithFlags") - before; n != 1 {
		t.Errorf("%d graphs were tried, want 1", n)
	}
}

// Of several jobs that cannot be done the first is reported, with its numbers, even where later ones have
// taken the memory that it read.
func TestFirstFaultOnDevice(t *testing.T) {
	emulated(t)
	const n = 6
	x, y, i := ad.Input("x", n, n), ad.Input("y", n), ad.IntInput("i", 20)
	l := ad.Cholesky(ad.Sin(ad.Mul(x, ad.T(x))))
	loss := ad.Add(ad.Sum(ad.Square(ad.SolveTriangular(l, y, true, false))), ad.Add(ad.CholeskyLogDet(l), ad.Sum(ad.Inverse(ad.MatMul(ad.Cos(l), ad.T(l))))))
	picked := ad.Gather(ad.Exp(y), i, 0)
	for name, c := range map[string]struct {
		outs []*ad.Node
		in   []*ad.Node
		set  func(s *ad.State)
	}{
		"factor": {append([]*ad.Node{loss}, ad.Grad(loss, x, y)...), []*ad.Node{x, y}, func(s *ad.State) {
			for k := range s.Input(0) {
				s.Input(0)[k] = 0.7 * math.Sin(float64(3*k))
			}
		}},
		"index": {[]*ad.Node{ad.Sum(ad.Sort(ad.ScatterAdd(ad.Sin(picked), i, 0, n-1), 0, true))}, []*ad.Node{i, y}, func(s *ad.State) {
			for k := range s.InputInts(0) {
				s.InputInts(0)[k] = int64(k % (n + 1))
			}
		}},
	} {
		var told [2]error
		for k, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			p, err := ad.Compile(c.outs, ad.Settings{Inputs: c.in, Backend: b})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			for range 3 {
				c.set(s)
				if told[k] = s.Run(); told[k] == nil {
					t.Fatalf("%s: no error on %s", name, p.Device())
				}
			}
		}
		if told[0].Error() != told[1].Error() {
			t.Errorf("%s: processor %q, device %q", name, told[0], told[1])
		}
	}
}

// Factors of float32 matrices are as exact as on the processor, where the steps are float64.
func TestFactorsOfFloat32OnDevice(t *testing.T) {
	emulated(t)
	const n = 40
	a := ad.Input("a", n, n)
	v := make([]float64, n*n)
	for i := range n {
		for k := range n {
			v[i*n+k] = math.Exp(-float64((i-k)*(i-k)) / 100)
		}
		v[i*n+i] = 1 + 1e-6
	}
	l := ad.Cholesky(a)
	agree(t, []*ad.Node{l, ad.CholeskyLogDet(l)}, []*ad.Node{a}, [][]float64{v}, 32, 1e-6, func(int) string { return "factor" })
}

// Arrays of indices may be outputs several times.
func TestEqualOutputsOfIndices(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 1)
	_, best := ad.TopK(x, 1, 0, true)
	agree(t, []*ad.Node{best, best, ad.Argsort(x, 0, true), ad.Argsort(x, 0, false)}, []*ad.Node{x}, [][]float64{{3}}, 64, 0, func(int) string { return "index" })
}

// Bind replaces what BindDevice gave.
func TestBindReplacesBindDevice(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 3)
	p, err := ad.Compile([]*ad.Node{ad.Neg(x)}, ad.Settings{Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	from, s := p.NewState(), p.NewState()
	for run := range 3 {
		at, err := from.OutputDevice(0)
		if err := errors.Join(err, from.SetInput(0, []float64{1, 2, 3}), from.Run(), s.BindDevice(0, at), s.Run()); err != nil || !slices.Equal(s.OutputFloat64(0), []float64{1, 2, 3}) {
			t.Fatalf("%v, %v", err, s.OutputFloat64(0))
		}
		if err := errors.Join(s.Bind(0, []float64{4, 5, 6}), s.Run()); err != nil || !slices.Equal(s.OutputFloat64(0), []float64{-4, -5, -6}) {
			t.Errorf("run %d, bound to an array: %v, %v", run, err, s.OutputFloat64(0))
		}
		if err := errors.Join(s.BindDevice(0, at), s.Bind(0, nil), s.SetInput(0, []float64{7, 8, 9}), s.Run()); err != nil || !slices.Equal(s.OutputFloat64(0), []float64{-7, -8, -9}) {
			t.Errorf("run %d, its own array: %v, %v", run, err, s.OutputFloat64(0))
		}
	}
	if err := errors.Join(s.BindDevice(0, cuda.Part{}), s.Run()); err != nil {
		t.Error(err)
	}
}

// A State that the device has no memory for says so, and nothing else, to whoever asks for its arrays there.
func TestArraysWithoutMemoryOnDevice(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 1<<28)
	p, err := ad.Compile([]*ad.Node{ad.Sum(x)}, ad.Settings{MaxMemory: 1 << 40, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	_, err = s.OutputDevice(0)
	for _, err := range []error{err, s.Run(), s.BindDevice(0, cuda.Part{})} {
		if !ad.IsDeviceFault(err) || strings.Contains(err.Error(), "processor") {
			t.Error(err)
		}
	}
}
