// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// standard are the operations that there are before any test: derivatives make more.
var standard = ad.Ops()

// onDevice returns what a program gives on the pretend device, in the first of three runs. The
// second captures its kernels and the third launches them at once; all must have the same bits.
func onDevice(t *testing.T, outs, in []*ad.Node, values [][]float64, bits int) [][]float64 {
	t.Helper()
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	var first [][]float64
	for run := range 3 {
		for i, v := range values {
			if in[i].IsInt() {
				for k, x := range v {
					s.InputInts(i)[k] = int64(x)
				}
			} else if err := s.SetInput(i, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Run(); err != nil {
			t.Fatalf("run %d: %v\n%v", run, err, p)
		}
		var got [][]float64
		for i := range outs {
			got = append(got, s.OutputFloat64(i))
		}
		if run == 0 {
			first = got
		}
		for i := range outs {
			if !slices.EqualFunc(got[i], first[i], func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Fatalf("run %d: output %d differs from the first run", run, i)
			}
		}
	}
	return first
}

// agree compares outputs on the device with those on the processor.
func agree(t *testing.T, outs, in []*ad.Node, values [][]float64, bits int, tol float64, name func(output int) string) {
	t.Helper()
	got, want := onDevice(t, outs, in, values, bits), results(t, way{bits, ""}, outs, in, values)
	for i := range outs {
		for k := range got[i] {
			if !near(got[i][k], want[i][k], tol) {
				t.Errorf("%s, %d bits, output %d, element %d: device %g, processor %g", name(i), bits, i, k, got[i][k], want[i][k])
				break
			}
		}
	}
}

// Every operation of the registry and its gradient are the same on a device.
func TestOperationsOnDevice(t *testing.T) {
	operationsOnDevice(t, 64, 1)
	operationsOnDevice(t, 32, 0)
}

// operationsOnDevice compares the operations with the processor, in a precision, with their first and second
// derivatives as far as order says. All are one program, which is compiled once.
func operationsOnDevice(t *testing.T, bits, order int) {
	emulated(t)
	rng := rand.New(rand.NewPCG(5, 1))
	var in, outs []*ad.Node
	var values [][]float64
	var names []string
	for _, op := range standard {
		if op.Sample == nil {
			continue
		}
		first := len(in)
		made := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			x := ad.Input(fmt.Sprint("x", len(in)), shape...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = lo + rng.Float64()*(hi-lo)
			}
			in, values = append(in, x), append(values, v)
			return x
		})
		if order > 0 && op.Differentiable() {
			grads := ad.Grad(squares(made), in[first:]...)
			if order > 1 && op.Smooth {
				made = append(made, ad.Grad(squares(grads), in[first:]...)...)
			}
			made = append(made, grads...)
		}
		for range made {
			names = append(names, op.Name)
		}
		outs = append(outs, made...)
	}
	agree(t, outs, in, values, bits, map[int]float64{64: 1e-9, 32: 2e-4}[bits], func(i int) string { return names[i] })
}

// realCompiler opens NVRTC, or skips the test.
func realCompiler(t *testing.T) *rtc.Compiler {
	t.Helper()
	c := nvrtc.Open(t)
	emulated(t)
	return c
}

// budgets are those of generated kernels that take more than the usual one.
var budgets = map[string]nvrtc.Budget{
	"eu_map":   {Registers: 128, Stack: 64}, // of many operations, some of which are called
	"eu_dense": {Registers: 96, Stack: 16},  // calls
	"eu_scan":  {Registers: 128, Stack: 40}, // the same
	"eu_sum":   {Registers: 128, Stack: 40},
	"eu_step":  {Registers: 128, Stack: 480}, // the sweep of a tile of a tridiagonal matrix
	// All elementwise operations of the registry at once, in the program of kernelsOf; ptxas 12.9 keeps most of their numbers in memory.
	"eu_map_1": {Registers: 128, Stack: 12544},
}

// kernelsOf returns the kernels of all operations of the registry.
func kernelsOf(t *testing.T, bits int) rtc.Source {
	t.Helper()
	var outs []*ad.Node
	for _, op := range standard {
		if op.Sample != nil {
			outs = append(outs, op.Sample(func(lo, hi float64, shape ...int) *ad.Node { return ad.Input("x", shape...) })...)
		}
	}
	p, err := ad.Compile(outs, ad.Settings{Precision: bits, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
	return rtc.Source{Name: "operations.cu", Text: text}
}

// NVIDIA's compiler takes the kernels of all operations without warnings. All precisions and architectures are
// in the slow tests.
func TestRealCompilerTakesGeneratedKernels(t *testing.T) {
	c := realCompiler(t)
	image, err := c.CompilePTX(kernelsOf(t, 64), rtc.Target{Major: 7, Minor: 5})
	if err != nil {
		t.Fatal(err)
	}
	if image.Log != "" {
		t.Error(image.Log)
	}
}

// squares returns the sum of all squares.
func squares(of []*ad.Node) *ad.Node {
	total := ad.Scalar(0)
	for _, x := range of {
		total = ad.Add(total, ad.Sum(ad.Square(x)))
	}
	return total
}

// graphsOnDevice compares random graphs and their gradients, several in each program.
func graphsOnDevice(t *testing.T, programs, each int) {
	for n := range programs {
		outs, in, values := randomProgram(n, each)
		agree(t, outs, in, values, 64, 1e-9, func(i int) string { return fmt.Sprintf("program %d", n) })
	}
}

// randomProgram makes some random graphs with their gradients, and numbers for their inputs.
func randomProgram(n, each int) (outs, in []*ad.Node, values [][]float64) {
	for k := range each {
		seed := uint64(n*each + k)
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := [][][]int{{{3, 40}, {40}, {3, 1}}, {{5, 4, 3}, {4, 3}, {5, 1, 1}}, {{7, 600}, {600}, {}}}[seed%3]
		first := len(in)
		for i, s := range shapes {
			x := ad.Input(fmt.Sprint("x", seed, "_", i), s...)
			v := make([]float64, x.Size())
			for k := range v {
				v[k] = rng.NormFloat64()
			}
			in, values = append(in, x), append(values, v)
		}
		all := randomGraph(rng, in[first], in[first+1], in[first+2], 16)
		last := ad.Sum(all[len(all)-1])
		grads := ad.Grad(last, in[first:]...)
		outs = append(append(outs, last, all[len(all)-2]), grads...)
		outs = append(outs, ad.Grad(squares(grads), in[first:]...)...) // products of the Hessian and the gradient
	}
	return outs, in, values
}

func TestGraphsOnDevice(t *testing.T) {
	emulated(t)
	graphsOnDevice(t, 2, 8)
}

// Lengths about the sizes of warps and blocks, and none at all.
func TestLengthsOnDevice(t *testing.T) { lengthsOnDevice(t, 0, 1, 31, 32, 33, 255, 256, 257, 100_001) }

func lengthsOnDevice(t *testing.T, lengths ...int) {
	t.Helper()
	emulated(t)
	var in, outs []*ad.Node
	var values [][]float64
	for _, n := range lengths {
		x := ad.Input(fmt.Sprint("x", n), n)
		m := ad.Input(fmt.Sprint("m", n), 3, n)
		for _, y := range []*ad.Node{x, m} {
			v := make([]float64, y.Size())
			for i := range v {
				v[i] = math.Sin(float64(i)) + 0.1
			}
			in, values = append(in, y), append(values, v)
		}
		outs = append(outs, ad.Tanh(x), ad.Sum(ad.Square(x)), ad.SumAxes(ad.Exp(m), 1), ad.SumAxes(m, 0), ad.Mul(m, x), ad.Cumsum(x, 0), ad.CumsumWith(m, 1, true, true))
		if n > 0 {
			outs = append(outs, ad.Max(x), ad.MinAxes(m, 1), ad.MaxAxes(m, 0), ad.LogSumExp(m, 1))
		}
	}
	for bits, tol := range map[int]float64{64: 1e-12, 32: 1e-5} {
		agree(t, outs, in, values, bits, tol, func(i int) string { return "length" })
	}
}

// What a kernel cannot do is told by the same error as on the processor.
func TestFaultsOnDevice(t *testing.T) {
	emulated(t)
	idx := ad.IntInput("i", 2)
	a := ad.Input("a", 2, 2)
	for _, c := range []struct {
		out  *ad.Node
		set  func(s *ad.State)
		want string
	}{
		{ad.Gather(ad.Const([]float64{1, 2, 3}, 3), idx, 0), func(s *ad.State) { copy(s.InputInts(0), []int64{1, 3}) }, "the index at position 1 is 3: want 0..2"},
		{ad.Cholesky(a), func(s *ad.State) { copy(s.Input(0), []float64{1, 2, 2, 1}) }, "positive definite"},
	} {
		p, err := ad.Compile([]*ad.Node{c.out}, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		c.set(s)
		for range 3 {
			if err := s.Run(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
	var bad *ad.NotPositiveDefiniteError
	p, err := ad.Compile([]*ad.Node{ad.Cholesky(a)}, ad.Settings{Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	if err := s.Run(); !errors.As(err, &bad) || bad.Pivot != 0 {
		t.Errorf("%v", err)
	}
	copy(s.Input(0), []float64{4, 2, 2, 5}) // a run after a fault is whole
	if err := s.Run(); err != nil || s.Output(0)[3] != 2 {
		t.Errorf("%v, %v", err, s.Output(0))
	}
}

// Operations without kernels run on the processor, are listed, and are an error if asked for.
func TestOperationsBesideTheDevice(t *testing.T) {
	emulated(t)
	const n = 513 // one row more than matrices that a block factors
	a := ad.Input("a", n, n)
	out := ad.Mul(ad.LogDet(ad.Add(a, ad.Eye(n))), ad.Sum(ad.Exp(a)))
	p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Backend: ad.CUDA{OwnKernels: true}})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.String(); !strings.Contains(text, "on the processor: sign_log_det (1)") {
		t.Error(text)
	}
	s := p.NewState()
	for i := range s.Input(0) {
		s.Input(0)[i] = 0.01 * math.Sin(float64(i*i%1009))
	}
	want := results(t, way{64, ""}, []*ad.Node{out}, []*ad.Node{a}, [][]float64{slices.Clone(s.Input(0))})[0][0]
	if err := s.Run(); err != nil || !near(s.Output(0)[0], want, 1e-12) {
		t.Errorf("%v: %g, want %g", err, s.Output(0)[0], want)
	}
	if _, err := ad.Compile([]*ad.Node{out}, ad.Settings{Backend: ad.CUDA{OwnKernels: true, Strict: true}}); err == nil || !strings.Contains(err.Error(), "no GPU kernels for sign_log_det") {
		t.Error(err)
	}
	if _, err := ad.Compile([]*ad.Node{out}, ad.Settings{Backend: ad.CUDA{Device: 7}}); err == nil || !strings.Contains(err.Error(), "GPU 7") {
		t.Error(err)
	}
}

// Inputs that somebody holds, that are set, and that are bound are sent; outputs that somebody holds
// follow every run.
func TestArraysOfTheDevice(t *testing.T) {
	emulated(t)
	x, y, z := ad.Input("x", 3), ad.Input("y", 3), ad.Input("z", 3)
	p, err := ad.Compile([]*ad.Node{ad.Add(ad.Mul(x, y), z), ad.Sum(z), ad.Argmax(x, 0)}, ad.Settings{Inputs: []*ad.Node{x, y, z}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	held, sum := s.Input(0), s.Output(1)
	if err := s.SetInput(1, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	bound := []float64{10, 20, 30}
	if err := s.Bind(2, bound); err != nil {
		t.Fatal(err)
	}
	for run := range 4 {
		copy(held, []float64{float64(run), 1, 5})
		bound[0] = float64(100 * run)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if want := []float64{float64(run) + bound[0], 22, 45}; !slices.Equal(s.Output(0), want) || sum[0] != bound[0]+50 || s.OutputInts(2)[0] != 2 {
			t.Errorf("run %d: %v, want %v; sum %v, largest %v", run, s.Output(0), want, sum, s.OutputInts(2))
		}
	}
	if err := s.Bind(2, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil || s.Output(0)[2] != 15 {
		t.Errorf("%v: %v", err, s.Output(0))
	}
}

// An output of one program is an input of the next without leaving the device, in whichever memory its
// last step wrote it.
func TestArraysStayOnTheDevice(t *testing.T) {
	emulated(t)
	x, y := ad.Input("x", 3, 3), ad.Input("y", 3, 3)
	compile := func(outs ...*ad.Node) *ad.State {
		t.Helper()
		p, err := ad.Compile(outs, ad.Settings{Backend: ad.CUDA{}})
		if err != nil {
			t.Fatal(err)
		}
		return p.NewState()
	}
	for name, f := range map[string]func(*ad.Node) *ad.Node{"kernel": ad.Exp, "processor": func(x *ad.Node) *ad.Node { return ad.Add(x, ad.Det(x)) }} {
		first, second := compile(f(x)), compile(ad.Sum(f(y)), y)
		from, err := first.OutputDevice(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.BindDevice(0, from); err != nil {
			t.Fatal(err)
		}
		for run := range 4 {
			values := []float64{float64(run), 1, 0.5, 0, 2, 0, 1, 0, 1}
			if err := errors.Join(first.SetInput(0, values), first.Run(), second.Run()); err != nil {
				t.Fatal(err)
			}
			made := results(t, way{64, ""}, []*ad.Node{f(x)}, []*ad.Node{x}, [][]float64{values})[0]
			want := results(t, way{64, ""}, []*ad.Node{ad.Sum(f(y))}, []*ad.Node{y}, [][]float64{made})[0][0]
			if got := second.OutputFloat64(0)[0]; !near(got, want, 1e-12) || !near(second.OutputFloat64(1)[4], made[4], 1e-12) {
				t.Errorf("%s, run %d: %g, want %g; the input is %v, want %v", name, run, got, want, second.OutputFloat64(1), made)
			}
		}
		if err := errors.Join(second.BindDevice(0, cuda.Part{}), second.SetInput(0, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), second.Run()); err != nil || second.OutputFloat64(1)[0] != 1 {
			t.Errorf("%s, bound no more: %v, %v", name, err, second.OutputFloat64(1))
		}
	}
	s := compile(ad.Exp(x))
	from, err := s.OutputDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	outside := cuda.Part{Buffer: from.Buffer, Offset: from.Buffer.Size() - 8}
	if err := s.BindDevice(0, outside); err == nil || !strings.Contains(err.Error(), "lie outside the buffer") {
		t.Error(err)
	}
	p, err := ad.Compile([]*ad.Node{ad.Exp(x)}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.NewState().BindDevice(0, from); err == nil || !strings.Contains(err.Error(), "runs on the processor") {
		t.Error(err)
	}
}

// What the processor does not use has no memory there.
func TestStatesOfTheDeviceAreSmall(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 1<<21)
	p, err := ad.Compile([]*ad.Node{ad.Sum(ad.Cumsum(ad.Exp(ad.Cumsum(x, 0)), 0))}, ad.Settings{Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := p.NewState()
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d B, of %d B on the device", grown, p.Bytes())
	}
	runtime.KeepAlive(s)
}
