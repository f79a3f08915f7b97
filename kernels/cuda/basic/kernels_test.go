// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// bench computes on a device for tests.
type bench struct {
	testing.TB
	d *cuda.Device
	k *Kernels
	r *rand.Rand
}

func newBench(t testing.TB, d *cuda.Device) *bench {
	return &bench{t, d, Open(d), rand.New(rand.NewPCG(1, 2))}
}

// random returns n numbers of float32 on the device, in a type, and as they are there.
func (b *bench) random(kind cuda.Type, n int) (cuda.Part, []float64) {
	b.Helper()
	v, narrow := make([]float64, n), make([]float32, n)
	for i := range v {
		narrow[i] = float32(b.r.Float64()*4 - 2)
		v[i] = float64(narrow[i])
	}
	p := b.room(n * kind.Size())
	var err error
	if kind == cuda.Float32 {
		err = b.d.CopyIn(b.Context(), p.Buffer, 0, narrow)
	} else {
		err = b.d.CopyIn(b.Context(), p.Buffer, 0, v)
	}
	if err != nil {
		b.Fatal(err)
	}
	return p, v
}

func (b *bench) room(bytes int) cuda.Part {
	b.Helper()
	buf, err := b.d.Alloc(bytes)
	if err != nil {
		b.Fatal(err)
	}
	return buf.At(0)
}

// same compares numbers on the device with those that are wanted.
func (b *bench) same(what string, kind cuda.Type, p cuda.Part, want []float64, tolerance float64) {
	b.Helper()
	got := make([]float64, len(want))
	var err error
	if kind == cuda.Float32 {
		narrow := make([]float32, len(want))
		err = b.d.CopyOut(b.Context(), narrow, p.Buffer, p.Offset)
		for i, v := range narrow {
			got[i] = float64(v)
		}
	} else {
		err = b.d.CopyOut(b.Context(), got, p.Buffer, p.Offset)
	}
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			b.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

var rounding = map[cuda.Type]float64{cuda.Float32: 1e-6, cuda.Float64: 1e-14}

// maps checks one map of every kind, at lengths about those of groups.
func (b *bench) maps(kind cuda.Type) {
	b.Helper()
	for _, n := range []int{0, 1, 3, 4, 1001} {
		p, v := b.random(kind, max(1, n))
		y, want := b.room(8*max(1, n)), make([]float64, n)
		for name, f := range map[string]func(x float64) float64{"square": func(x float64) float64 { return x * x }, "exp": math.Exp, "tanh": math.Tanh,
			"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, "relu": func(x float64) float64 { return max(x, 0) }} {
			for i := range want {
				want[i] = f(v[i])
			}
			if err := b.k.Map(b.d.Default(), name, kind, n, y, []cuda.Part{p}); err != nil {
				b.Fatal(err)
			}
			b.same(fmt.Sprintf("%s of %d", name, n), kind, y, want, rounding[kind])
		}
		for i := range want {
			want[i] = 3 - v[i]
		}
		if err := b.k.Map(b.d.Default(), "sub_st", kind, n, y, []cuda.Part{p}, 3); err != nil {
			b.Fatal(err)
		}
		b.same(fmt.Sprintf("3 - x of %d", n), kind, y, want, rounding[kind])
	}
}

// layout checks the copy of an array with axes in another order, and the way back.
func (b *bench) layout(kind cuda.Type, shape, strides []int) {
	b.Helper()
	l := Layout{shape, strides}
	n, reach := l.size(), 1
	for i := range shape {
		reach += (shape[i] - 1) * strides[i]
	}
	p, v := b.random(kind, reach)
	want, back := make([]float64, n), make([]float64, reach)
	for i := range want {
		at, rest := 0, i
		for k := len(shape) - 1; k >= 0; k-- {
			at += rest % shape[k] * strides[k]
			rest /= shape[k]
		}
		want[i], back[at] = v[at], v[at]
	}
	y, z := b.room(8*n), b.room(8*reach)
	s := b.d.Default()
	err := errors.Join(b.k.Gather(s, kind.Size(), y, p, l), b.k.Fill(s, kind.Size(), z, reach, 0), b.k.Scatter(s, kind.Size(), z, y, l))
	if err != nil {
		b.Fatal(err)
	}
	b.same(fmt.Sprintf("shape %v with steps %v", shape, strides), kind, y, want, 0)
	b.same(fmt.Sprintf("back to shape %v with steps %v", shape, strides), kind, z, back, 0)
}

// product checks a product of matrices, each in row-major order or with rows and columns exchanged.
func (b *bench) product(kind cuda.Type, m, n, k int, turnA, turnB, turnC bool) {
	b.Helper()
	matrix := func(p cuda.Part, rows, columns int, turn bool) Matrix {
		if turn {
			return Matrix{p, rows, columns, 1, rows}
		}
		return Matrix{p, rows, columns, columns, 1}
	}
	pa, va := b.random(kind, m*k)
	pb, vb := b.random(kind, k*n)
	x, y, z := matrix(pa, m, k, turnA), matrix(pb, k, n, turnB), matrix(b.room(8*m*n), m, n, turnC)
	want := make([]float64, m*n)
	for i := range m {
		for j := range n {
			sum := 0.0
			for p := range k {
				sum += va[i*x.RowStride+p*x.ColumnStride] * vb[p*y.RowStride+j*y.ColumnStride]
			}
			want[i*z.RowStride+j*z.ColumnStride] = sum
		}
	}
	if err := b.k.MatMul(b.d.Default(), kind, z, x, y); err != nil {
		b.Fatal(err)
	}
	b.same(fmt.Sprintf("%d x %d x %d, exchanged %v %v %v", m, n, k, turnA, turnB, turnC), kind, z.Part, want, rounding[kind]*math.Sqrt(float64(k))*4)
}

// sums checks a reduction of every kind.
func (b *bench) sums(kind cuda.Type) {
	b.Helper()
	for _, c := range [][3]int{{7, 31, 1}, {3, 1000, 1}, {2, 9, 40}} {
		p, v := b.random(kind, c[0]*c[1]*c[2])
		results := c[0] * c[2]
		sum, largest := make([]float64, results), make([]float64, results)
		for i := range largest {
			largest[i] = math.Inf(-1)
		}
		for i, x := range v {
			at := i/(c[1]*c[2])*c[2] + i%c[2]
			sum[at] += x
			largest[at] = max(largest[at], x)
		}
		y := b.room(8 * results)
		for op, want := range map[string][]float64{"sum": sum, "max": largest} {
			if err := b.k.Reduce(b.d.Default(), op, kind, y, p, c[0], c[1], c[2]); err != nil {
				b.Fatal(err)
			}
			b.same(fmt.Sprint(op, c), kind, y, want, rounding[kind]*32)
		}
	}
}

// all checks the set; lean leaves out the larger products.
func (b *bench) all(lean bool) {
	b.Helper()
	for _, kind := range []cuda.Type{cuda.Float32, cuda.Float64} {
		b.maps(kind)
		b.sums(kind)
		b.layout(kind, []int{45, 70}, []int{1, 45})
		b.layout(kind, []int{3, 33, 5}, []int{33 * 5, 1, 33})       // a batch of matrices
		b.layout(kind, []int{4, 2, 3}, []int{1, 12, 4})             // the last axis first
		b.layout(kind, []int{2, 3, 4, 5}, []int{3, 6 * 5, 90, 1})   // four axes, which stay four
		b.layout(kind, []int{4, 1, 6}, []int{12, 3, 2})             // gaps
		b.layout(kind, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, powers) // ten axes that are two
		b.product(kind, 1, 1, 1, false, false, false)
		b.product(kind, 65, 63, 9, false, true, false)
		b.product(kind, 70, 130, 17, true, false, true)
		b.product(kind, 10, 12, 1030, true, true, false) // its sums are cut
		if !lean {
			b.product(kind, 1025, 1030, 5, false, false, false) // large tiles in float32
		}
	}
}

// philox checks that random numbers come.
func (b *bench) philox() {
	b.Helper()
	var g cuda.Philox
	y := b.room(4000)
	if err := g.Uniform32(b.d.Default(), y.Buffer, 1000); err != nil {
		b.Fatal(err)
	}
	got := make([]float32, 1000)
	if err := b.d.CopyOut(b.Context(), got, y.Buffer, 0); err != nil {
		b.Fatal(err)
	}
	for i, v := range got {
		if v < 0 || v >= 1 || i > 0 && v == got[0] {
			b.Fatalf("random number %d is %v, the first %v", i, v, got[0])
		}
	}
}

// powers are the steps of ten axes of length 2: the last five lie before the first five.
var powers = []int{16, 8, 4, 2, 1, 512, 256, 128, 64, 32}

// Every kind of kernel on the pretend device, in any order of threads.
func TestKernels(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("order", pretend.Shuffled)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := newBench(t, d)
	b.all(false)
	b.philox()
	if err := b.k.Gather(d.Default(), 4, cuda.Part{}, cuda.Part{}, Layout{[]int{2, 2, 2, 2, 2, 2, 2, 2, 2}, []int{1 << 17, 1 << 15, 1 << 13, 1 << 11, 1 << 9, 1 << 7, 32, 8, 2}}); err == nil {
		t.Error("a layout of nine axes with gaps is no error")
	}
}

// gpu opens the GPU of this machine, or skips the test.
func gpu(t *testing.T) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(0, cuda.Settings{})
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skipf("lacks a GPU: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if strings.Contains(d.Info().Name, "Pretend") {
		t.Skip("lacks a GPU: an earlier test opened the pretend driver")
	}
	return d
}

// Every kind of kernel on a GPU, compiled by NVRTC.
func TestGPUKernels(t *testing.T) {
	d := gpu(t)
	if _, err := d.Compiler(); err != nil {
		t.Skipf("lacks NVRTC: %v", err)
	}
	b := newBench(t, d)
	b.all(false)
	b.philox()
}

// Every kind of kernel on a GPU from the PTX of this package, as on a machine without NVRTC.
func TestGPUWithoutCompiler(t *testing.T) {
	t.Setenv(dl.Variable("NVRTC"), "/nowhere/libnvrtc.so")
	d := gpu(t)
	if c, err := d.Compiler(); err == nil {
		t.Fatalf("%v was found", c)
	}
	b := newBench(t, d)
	b.all(false)
	b.philox()
}

// NVIDIA's assembler takes the PTX, and needs no memory for what should be in registers.
func TestRealAssembler(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../../.peers"} {
			if found, _ := filepath.Glob(filepath.Join(venv, "lib/python*/site-packages/nvidia/cuda_nvcc/bin/ptxas")); found != nil {
				ptxas = found[0]
			}
		}
	}
	if ptxas == "" {
		t.Skip("lacks ptxas (make nvrtc)")
	}
	for _, s := range append(Sources(), cuda.PhiloxSource()) {
		in := filepath.Join(t.TempDir(), "in.ptx")
		if err := os.WriteFile(in, s.PTX, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := exec.Command(ptxas, "-v", "-arch=sm_75", in, "-o", filepath.Join(t.TempDir(), "out.cubin")).CombinedOutput()
		text := string(b)
		if err != nil || strings.Contains(text, "warning") {
			t.Errorf("%s: %v\n%s", s.Name, err, text)
		}
		if n, clean := strings.Count(text, "bytes stack frame"), strings.Count(text, " 0 bytes stack frame, 0 bytes spill"); n == 0 || n != clean {
			t.Errorf("%s: %d of %d kernels keep numbers in memory instead of registers\n%s", s.Name, n-clean, n, text)
		}
	}
}
