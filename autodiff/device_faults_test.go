package autodiff_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

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
func TestBindAfterBindDevice(t *testing.T) {
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
