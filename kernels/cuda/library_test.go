// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// withLibraries opens a pretend device that finds pretend libraries. The seed chooses the order of work,
// the allocator, and whether launches are timed or waited for.
func withLibraries(t testing.TB, seed int) (*pretend.Library, *Device) {
	t.Helper()
	p := pretend.LookPath(t)
	p.Libraries(t)
	p.Set("seed", seed)
	p.Set("mode", seed%3)
	if seed > 0 {
		p.Set("capability", 80) // whose workspaces are small
	}
	return p, device(t, p, Settings{Allocator: Allocator(seed / 2 % 3), Profile: seed%4 == 1, Synchronous: seed%5 == 4})
}

// random returns numbers between -1 and 1.
func random(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*r.Float64() - 1
	}
	return x
}

// upload makes a buffer of a type from float64 numbers.
func upload(t testing.TB, d *Device, typ Type, x []float64) *Buffer {
	t.Helper()
	if typ == Float64 {
		return alloc(t, d, x, 8*len(x))
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return alloc(t, d, y, 4*len(x))
}

// download returns numbers of a buffer as float64.
func download(t testing.TB, s *Stream, typ Type, b *Buffer, n int) []float64 {
	t.Helper()
	x := make([]float64, n)
	if typ == Float64 {
		if err := s.CopyOut(background, x, b, 0); err != nil {
			t.Fatal(err)
		}
		return x
	}
	for i, v := range floats(t, s, b, n) {
		x[i] = float64(v)
	}
	return x
}

func tolerance(typ Type) float64 { return [...]float64{Float32: 2e-5, Float64: 1e-11}[typ] }

// agrees compares numbers with what they should be.
func agrees(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Errorf("%s: number %d is %g, want %g", what, i, got[i], want[i])
			return
		}
	}
}

func free(buffers ...*Buffer) {
	for _, b := range buffers {
		b.Free()
	}
}

// The definition of a product of matrices by rows.
func product(m MatMul, a, b, c []float64) []float64 {
	out := append([]float64{}, c...)
	for q := range m.Batch {
		for i := range m.M {
			for j := range m.N {
				s := 0.0
				for k := range m.K {
					x, y := q*m.StrideA+i*m.LDA+k, q*m.StrideB+k*m.LDB+j
					if m.TransA {
						x = q*m.StrideA + k*m.LDA + i
					}
					if m.TransB {
						y = q*m.StrideB + j*m.LDB + k
					}
					s += a[x] * b[y]
				}
				at := q*m.StrideC + i*m.LDC + j
				out[at] = m.Alpha*s + m.Beta*c[at]
			}
		}
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMatMul(t *testing.T) {
	for seed := range 6 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkMatMul(t, d, seed)
		})
	}
}

// checkMatMul compares products of random shapes with the definition.
func checkMatMul(t *testing.T, d *Device, seed int) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for i := range 8 {
		m := MatMul{Type: Type(seed % 2), M: 1 + r.IntN(7), N: 1 + r.IntN(7), K: 1 + r.IntN(7), TransA: i&1 != 0, TransB: i&2 != 0, Batch: 1 + 2*(i/4), Alpha: 1.5}
		if i%3 == 1 {
			m.Beta = -0.5
		}
		full := m.defaults()
		if i%2 == 1 {
			full.LDA, full.LDB, full.LDC = full.LDA+2, full.LDB+1, full.LDC+3
		}
		full.StrideA, full.StrideC = 7*full.LDA+1, 8*full.LDC // B serves the whole batch
		a, b, c := random(full.StrideA*full.Batch+80, 1), random(200, 2), random(full.StrideC*full.Batch, 3)
		if m.Type == Float32 {
			for _, x := range [][]float64{a, b, c} {
				for k := range x {
					x[k] = float64(float32(x[k]))
				}
			}
		}
		want := product(full, a, b, c)
		x, y, z := upload(t, d, m.Type, append([]float64{9}, a...)), upload(t, d, m.Type, b), upload(t, d, m.Type, c)
		full.A, full.B, full.C = x.At(m.Type.Size()), y.At(0), z.At(0)
		if err := d.Libraries().MatMul(d.Default(), full); err != nil {
			t.Fatal(err)
		}
		agrees(t, fmt.Sprintf("%+v", m), download(t, d.Default(), m.Type, z, len(c)), want, tolerance(m.Type))
		free(x, y, z)
	}
}

func TestSolveTriangular(t *testing.T) {
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkSolveTriangular(t, d, seed)
		})
	}
}

// checkSolveTriangular puts solutions into their equations, for both triangles and their transposes; what stands in
// the other triangle is not read.
func checkSolveTriangular(t *testing.T, d *Device, seed int) {
	t.Helper()
	typ, n, k := Type(seed%2), 5, 3
	for kind := range 4 {
		lower, trans := kind&1 != 0, kind&2 != 0
		a, b := random(n*n, uint64(kind)), random(n*k, 2)
		triangle := make([]float64, n*n)
		for i := range n {
			a[i*n+i] += 3
			for j := range n {
				if j == i || (j < i) == lower {
					triangle[i*n+j] = a[i*n+j]
				} else {
					a[i*n+j] = math.NaN()
				}
			}
		}
		x, y := upload(t, d, typ, a), upload(t, d, typ, b)
		if err := d.Libraries().SolveTriangular(d.Default(), typ, n, k, lower, trans, x.At(0), y.At(0)); err != nil {
			t.Fatal(err)
		}
		if trans {
			triangle = transposed(triangle, n, n)
		}
		agrees(t, fmt.Sprintf("lower %v, transposed %v", lower, trans), multiply(triangle, download(t, d.Default(), typ, y, n*k), n, n, k), b, tolerance(typ))
		free(x, y)
	}
	b := alloc(t, d, nil, 64)
	defer b.Free()
	if err := d.Libraries().SolveTriangular(d.Default(), typ, 9, 1, true, false, b.At(0), b.At(0)); err == nil {
		t.Error("a matrix beyond its buffer is taken")
	}
}

// TF32 keeps ten bits of the operands; the default keeps all.
func TestMatMulTF32(t *testing.T) {
	_, d := withLibraries(t, 0)
	a, b, c := upload(t, d, Float32, []float64{1 + 1.0/(1<<14)}), upload(t, d, Float32, []float64{1}), upload(t, d, Float32, []float64{0})
	defer free(a, b, c)
	for _, tf32 := range []bool{true, false} {
		if err := d.Libraries().MatMul(d.Default(), MatMul{M: 1, N: 1, K: 1, A: a.At(0), B: b.At(0), C: c.At(0), TF32: tf32}); err != nil {
			t.Fatal(err)
		}
		if got := floats(t, d.Default(), c, 1)[0]; (got == 1) != tf32 {
			t.Errorf("TF32 %v gives %g", tf32, got)
		}
	}
}

func TestLibraryArguments(t *testing.T) {
	p, d := withLibraries(t, 1)
	l, b := d.Libraries(), alloc(t, d, nil, 64)
	defer b.Free()
	m := MatMul{M: 2, N: 2, K: 2, A: b.At(0), B: b.At(0), C: b.At(0)}
	for name, f := range map[string]func() error{
		"short buffer":    func() error { m := m; m.Type, m.M = Float64, 5; return l.MatMul(d.Default(), m) },
		"no buffer":       func() error { m := m; m.B = Part{}; return l.MatMul(d.Default(), m) },
		"rows too close":  func() error { m := m; m.LDA = 1; return l.MatMul(d.Default(), m) },
		"results overlap": func() error { m := m; m.Batch = 2; return l.MatMul(d.Default(), m) },
		"negative extent": func() error { m := m; m.K = -1; return l.MatMul(d.Default(), m) },
		"odd offset":      func() error { m := m; m.A.Offset = 2; return l.MatMul(d.Default(), m) },
		"no axes":         func() error { return l.FFT(d.Default(), FFT{}, b.At(0), b.At(0), false) },
		"in place, real": func() error {
			return l.FFT(d.Default(), FFT{Kind: RealToComplex, Shape: []int{4}}, b.At(0), b.At(8), false)
		},
		"half a complex": func() error { return l.FFT(d.Default(), FFT{Shape: []int{2}}, b.At(0), b.At(20), false) },
		"filter too large": func() error {
			return l.Convolve(d.Default(), Convolution{N: 1, C: 1, H: 2, W: 2, K: 1, R: 3, S: 3}, b.At(0), b.At(0), b.At(0))
		},
		"groups": func() error {
			return l.Convolve(d.Default(), Convolution{N: 1, C: 3, H: 2, W: 2, K: 2, R: 1, S: 1, Groups: 2}, b.At(0), b.At(0), b.At(0))
		},
		"wide QR": func() error { return l.QR(d.Default(), Float32, 2, 3, b.At(0), b.At(0), b.At(0), b.At(0)) },
	} {
		if err := f(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if n := p.Get("cublasSgemm_v2"); n != 0 {
		t.Errorf("the library was called %d times", n)
	}
}

// Without libraries every method says so, and the device goes on.
func TestNoLibrary(t *testing.T) {
	p := pretend.LookPath(t)
	d := device(t, p, Settings{})
	l, s, b := d.Libraries(), d.Default(), alloc(t, d, nil, 64)
	defer b.Free()
	part := b.At(0)
	for name, err := range map[string]error{
		"MatMul":   l.MatMul(s, MatMul{M: 1, N: 1, K: 1, A: part, B: part, C: part}),
		"FFT":      l.FFT(s, FFT{Shape: []int{2}}, part, part, false),
		"Cholesky": l.Cholesky(s, Float32, 1, part, part),
		"Convolve": l.Convolve(s, Convolution{N: 1, C: 1, H: 1, W: 1, K: 1, R: 1, S: 1}, part, part, part),
	} {
		if !errors.Is(err, ErrNoLibrary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range FindLibraries() {
		if !errors.Is(f.Err, ErrNoLibrary) {
			t.Errorf("%s: %v", f.Name, f.Err)
		}
	}
}

func TestLibrariesAreFound(t *testing.T) {
	p := pretend.LookPath(t)
	p.Libraries(t)
	want := map[string]string{"cuBLAS": "12.9.0", "cuBLASLt": "12.9.0", "cuFFT": "11.4.1", "cuSOLVER": "11.7.5", "cuDNN": "9.28.0", "NCCL": "2.27.3"}
	for _, f := range FindLibraries() {
		if f.Err != nil || f.Version != want[f.Name] || f.Path != p.Path {
			t.Errorf("%+v, want version %s", f, want[f.Name])
		}
	}
}

// A call that the library refuses is an error with its name, and the next call works.
func TestLibraryRefuses(t *testing.T) {
	p, d := withLibraries(t, 2)
	a := upload(t, d, Float32, []float64{3})
	c := upload(t, d, Float32, []float64{0})
	defer free(a, c)
	m := MatMul{M: 1, N: 1, K: 1, A: a.At(0), B: a.At(0), C: c.At(0)}
	for _, fail := range []struct {
		call string
		code int32
	}{{"cublasCreate_v2", 3}, {"cublasSetWorkspace_v2", 7}, {"cublasSgemm_v2", 15}, {"cuEventRecord", 1}} {
		p.Fail(fail.call, 0, 1, fail.code)
		err := d.Libraries().MatMul(d.Default(), m)
		var e *lib.Error
		if err == nil || fail.call != "cuEventRecord" && (!errors.As(err, &e) || e.Call != fail.call || e.Code != fail.code) {
			t.Errorf("%s fails, got %v", fail.call, err)
		}
		if err := d.Libraries().MatMul(d.Default(), m); err != nil {
			t.Errorf("after %s: %v", fail.call, err)
		}
	}
	if got := floats(t, d.Default(), c, 1)[0]; got != 9 {
		t.Errorf("got %g", got)
	}
}

// Any call may fail: the error names it, nothing is lost, and the same work succeeds afterwards.
func TestEveryLibraryCallFails(t *testing.T) {
	for i, call := range []string{"cublasCreate_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2", "cublasSetMathMode", "cublasDgemm_v2", "cublasDgeam",
		"cufftCreate", "cufftSetAutoAllocation", "cufftMakePlanMany64", "cufftSetStream", "cufftSetWorkArea", "cufftExecZ2Z",
		"cusolverDnCreate", "cusolverDnCreateGesvdjInfo", "cusolverDnSetStream", "cusolverDnDgetrf_bufferSize", "cusolverDnDgetrf",
		"cudnnCreate", "cudnnCreateTensorDescriptor", "cudnnCreateFilterDescriptor", "cudnnCreateConvolutionDescriptor", "cudnnSetTensor4dDescriptor",
		"cudnnSetFilter4dDescriptor", "cudnnSetConvolution2dDescriptor", "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType",
		"cudnnGetConvolutionForwardWorkspaceSize", "cudnnSetStream", "cudnnConvolutionForward"} {
		t.Run(call, func(t *testing.T) {
			p, d := withLibraries(t, i)
			w := newLibraryWork(t, d)
			defer w.free()
			p.Fail(call, 0, 1, 6)
			var e *lib.Error
			if err := w.run(d.Default(), 1); err == nil || call != "cusolverDnCreateGesvdjInfo" && (!errors.As(err, &e) || e.Call != call || e.Code != 6) {
				t.Errorf("got %v", err)
			}
			if err := w.run(d.Default(), 1); err != nil {
				t.Fatal(err)
			}
			x := random(64, 1)
			agrees(t, "afterwards", download(t, d.Default(), Float64, w.out[0], 64), multiply(x, x, 8, 8, 8), 1e-12)
		})
	}
}

// Goroutines with their own streams share the libraries of a device.
func TestGoroutinesShareLibraries(t *testing.T) {
	_, d := withLibraries(t, 2)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			s, err := d.NewStream(0)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			a, b, c := random(64, uint64(i)), random(64, uint64(i+10)), make([]float64, 64)
			x, y, z := upload(t, d, Float64, a), upload(t, d, Float64, b), upload(t, d, Float64, c)
			defer free(x, y, z)
			if err := d.Synchronize(background); err != nil { // the uploads were on the default stream
				t.Error(err)
			}
			for range 5 {
				if err := d.Libraries().MatMul(s, MatMul{Type: Float64, M: 8, N: 8, K: 8, A: x.At(0), B: y.At(0), C: z.At(0)}); err != nil {
					t.Error(err)
				}
			}
			agrees(t, "C", download(t, s, Float64, z, 64), multiply(a, b, 8, 8, 8), 1e-12)
		})
	}
	wg.Wait()
}
