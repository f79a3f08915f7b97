// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// sampleErrors runs the sample kernels and returns what is wrong with their results.
func sampleErrors(t *testing.T, d *Device, m *Module) error {
	t.Helper()
	return errors.Join(rowSquares(t, d, m), blockSums(t, d, m), tiledProduct(t, d, m), votes(t, d, m))
}

func kernel(t *testing.T, m *Module, name string) *Function {
	t.Helper()
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func launch(t *testing.T, f *Function, s *Stream, grid, block Dim, shared int, args ...any) {
	t.Helper()
	if err := f.Launch(s, grid, block, shared, args...); err != nil {
		t.Fatal(err)
	}
}

// near compares with a tolerance for sums of float32.
func near(name string, got, want []float64) error {
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 2e-6*max(1, math.Abs(want[i]))) {
			return fmt.Errorf("%s: element %d is %g, want %g", name, i, got[i], want[i])
		}
	}
	return nil
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func wave(n int, step float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i) * step))
	}
	return x
}

func rowSquares(t *testing.T, d *Device, m *Module) error {
	const rows, columns = 5, 1000
	x, want := wave(rows*columns, 0.37), make([]float64, rows)
	for i, v := range x {
		want[i/columns] += float64(v) * float64(v)
	}
	in, out := alloc(t, d, x, 4*len(x)), alloc(t, d, nil, 4*rows)
	defer in.Free()
	defer out.Free()
	launch(t, kernel(t, m, "row_squares"), d.Default(), Dim{X: rows}, Dim{X: 256}, 0, in, out, int32(columns))
	return near("row_squares", wide(floats(t, d.Default(), out, rows)), want)
}

func blockSums(t *testing.T, d *Device, m *Module) error {
	const n, blocks = 1000, 4
	x, want := wave(n, 0.11), make([]float64, blocks)
	for i, v := range x {
		want[i/256] += float64(v)
	}
	in, out := alloc(t, d, x, 4*n), alloc(t, d, nil, 4*blocks)
	defer in.Free()
	defer out.Free()
	launch(t, kernel(t, m, "block_sums"), d.Default(), Dim{X: blocks}, Dim{X: 256}, 4*256, in, out, int32(n))
	return near("block_sums", wide(floats(t, d.Default(), out, blocks)), want)
}

func tiledProduct(t *testing.T, d *Device, m *Module) error {
	const M, N, K = 20, 35, 45
	a, b, want := wave(M*K, 1), wave(K*N, 0.7), make([]float64, M*N)
	for i := range M {
		for j := range N {
			for k := range K {
				want[i*N+j] += float64(a[i*K+k]) * float64(b[k*N+j])
			}
		}
	}
	A, B, C := alloc(t, d, a, 4*M*K), alloc(t, d, b, 4*K*N), alloc(t, d, nil, 4*M*N)
	defer A.Free()
	defer B.Free()
	defer C.Free()
	launch(t, kernel(t, m, "tiled_product"), d.Default(), Dim{X: 3, Y: 2}, Dim{X: 16, Y: 16}, 0, A, B, C, int32(M), int32(N), int32(K))
	return near("tiled_product", wide(floats(t, d.Default(), C, M*N)), want)
}

func votes(t *testing.T, d *Device, m *Module) error {
	out := alloc(t, d, nil, 12)
	defer out.Free()
	launch(t, kernel(t, m, "votes"), d.Default(), Dim{X: 1}, Dim{X: 64}, 0, out, int32(41))
	got := make([]uint32, 3)
	if err := d.CopyOut(background, got, out, 0); err != nil {
		t.Fatal(err)
	}
	if got[0] != 0xaaaaaaaa || got[1] != 41 || got[2] != 0xcccccccc {
		return fmt.Errorf("votes: got %x, %d and %x", got[0], got[1], got[2])
	}
	return nil
}

func TestKernelsInEveryOrder(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	for order := pretend.Ascending; order <= pretend.Interleaved; order++ {
		for seed := range 3 {
			lib.Set("order", order)
			lib.Set("seed", seed)
			if err := sampleErrors(t, d, m); err != nil {
				t.Errorf("order %d, seed %d: %v", order, seed, err)
			}
		}
	}
}

// Every barrier matters: without it some order of the threads gives a wrong result, or the emulator
// says that the kernel diverges.
func TestMissingBarriersAreNoticed(t *testing.T) {
	lib := pretend.LookPath(t)
	if barriers() != 5 {
		t.Fatalf("the sample has %d barriers", barriers())
	}
	for k := range barriers() {
		caught := 0
		for order := pretend.Ascending; order <= pretend.Interleaved; order++ {
			lib.Reset()
			lib.Set("order", order)
			d, err := newSystem().device(0, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			m, err := d.Compile(withoutBarrier(k))
			if err != nil {
				t.Fatal(err)
			}
			if sampleErrors(t, d, m) != nil {
				caught++
			}
			d.Close()
		}
		if caught == 0 {
			t.Errorf("nothing is wrong without barrier %d", k)
		}
	}
}

// tickets is a kernel whose blocks add up their numbers, each after the block before it.
const tickets = `extern "C" __global__ void chain(unsigned *next, volatile int *sums) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = TICKET;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int before = 0;
  if (mine > 0) while ((before = sums[mine - 1]) < 0) __nanosleep(32);
  sums[mine] = before + (int)mine;
}`

// Blocks that are held at once may wait for each other. One that takes its place by its own number, not by a counter, waits for blocks that cannot begin, and
// the emulator says so.
func TestBlocksThatWait(t *testing.T) {
	lib := pretend.LookPath(t)
	const blocks = 50
	run := func(ticket string, order int) error {
		lib.Reset()
		lib.Set("order", order)
		d, err := newSystem().device(0, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m, err := d.Compile(rtc.Source{Name: "chain.cu", Text: strings.Replace(tickets, "TICKET", ticket, 1)})
		if err != nil {
			t.Fatal(err)
		}
		none := make([]int32, blocks)
		for i := range none {
			none[i] = -1
		}
		next, sums := alloc(t, d, nil, 4), alloc(t, d, nil, 4*blocks)
		if err := errors.Join(d.CopyIn(background, next, 0, []int32{0}), d.CopyIn(background, sums, 0, none)); err != nil {
			t.Fatal(err)
		}
		launch(t, kernel(t, m, "chain"), d.Default(), Dim{X: blocks}, Dim{X: 64}, 0, next, sums)
		if err := d.Synchronize(background); err != nil {
			return errors.New(lib.Fault())
		}
		if err := d.CopyOut(background, none, sums, 0); err != nil {
			t.Fatal(err)
		}
		if got := none[blocks-1]; got != blocks*(blocks-1)/2 {
			t.Errorf("order %d: the sum is %d", order, got)
		}
		return nil
	}
	for order := pretend.Ascending; order <= pretend.Interleaved; order++ {
		if err := run("atomicAdd(next, 1u)", order); err != nil {
			t.Errorf("order %d: %v", order, err)
		}
	}
	for _, order := range []int{pretend.Descending, pretend.Interleaved} {
		if err := run("blockIdx.x", order); err == nil || !strings.Contains(err.Error(), "wait") {
			t.Errorf("order %d: got %v, want blocks that wait for each other", order, err)
		}
	}
}

// A kernel that fails is reported by a later call, with the launches that may be to blame; then the
// device is lost and the driver is left alone.
func TestFaultsSurfaceLater(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("mode", pretend.Lazy)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, make([]float32, 64), 4*64)
	s := d.Default()
	launch(t, kernel(t, m, "scaled"), s, Dim{X: 1}, Dim{X: 64}, 0, x, float32(2), int32(64))
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	launch(t, kernel(t, m, "divergent"), s, Dim{X: 2, Y: 3}, Dim{X: 64}, 0, x)
	launch(t, kernel(t, m, "scaled"), s, Dim{X: 1}, Dim{X: 64}, 0, x, float32(2), int32(64))
	err = d.Synchronize(background)
	var e *Error
	if !errors.Is(err, ErrDeviceLost) || !errors.Is(err, drv.LaunchFailed) || !errors.As(err, &e) {
		t.Fatalf("got %v, want ErrDeviceLost from a launch", err)
	}
	if !e.Async || len(e.Recent) != 2 || e.Recent[0].Kernel != "divergent" || e.Recent[0].Grid != [3]int{2, 3, 1} || e.Recent[1].Serial != 3 {
		t.Errorf("recent launches are %v", e.Recent)
	}
	for _, want := range []string{"divergent", "grid 2x3x1", "EURYALE_CUDA_SYNC=1", "device 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if !strings.Contains(lib.Fault(), "divergent barrier") {
		t.Errorf("the driver says %q", lib.Fault())
	}
	before := lib.Get("cuCtxSetCurrent")
	for name, call := range map[string]func() error{
		"Alloc":   func() error { _, err := d.Alloc(16); return err },
		"CopyOut": func() error { return d.CopyOut(background, make([]float32, 4), x, 0) },
		"Launch": func() error {
			return kernel(t, m, "scaled").Launch(s, Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int32(1))
		},
		"Compile": func() error { _, err := d.Load([]byte("x"), "x"); return err },
		"Open":    func() error { _, err := d.sys.device(0, Settings{}); return err },
	} {
		if err := call(); !errors.Is(err, ErrDeviceLost) || !errors.Is(err, drv.LaunchFailed) {
			t.Errorf("%s on a lost device: %v", name, err)
		}
	}
	x.Free()
	if lib.Get("cuCtxSetCurrent") != before {
		t.Error("a lost device still asks the driver")
	}
}

func TestSynchronousLaunchNamesItself(t *testing.T) {
	lib := pretend.LookPath(t)
	t.Setenv("EURYALE_CUDA_SYNC", "1")
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, nil, 256)
	err = kernel(t, m, "divergent").Launch(d.Default(), Dim{X: 1}, Dim{X: 64}, 0, x)
	var e *Error
	if !errors.As(err, &e) || e.Async || e.Launch == nil || e.Launch.Kernel != "divergent" {
		t.Errorf("got %v, want an error that names its launch", err)
	}
}

// A kernel that writes beside its memory is noticed if every buffer is the driver's own.
func TestWritesBesideBuffersAreNoticed(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{Allocator: Direct})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, nil, 512)
	launch(t, kernel(t, m, "scaled"), d.Default(), Dim{X: 1}, Dim{X: 256}, 0, x, float32(2), int32(129))
	if err := d.Synchronize(background); !errors.Is(err, drv.IllegalAddress) {
		t.Errorf("got %v, want IllegalAddress", err)
	}
}

// Threads with barriers may keep hundreds of kilobytes of their own, as long fused kernels do, which the emulator does not optimise.
func TestLargeFrames(t *testing.T) {
	d := device(t, pretend.LookPath(t), Settings{})
	m, err := d.Compile(rtc.Source{Name: "frame.cu", Text: `extern "C" __global__ void frame(float *x) {
  volatile float own[60000];
  for (int i = 0; i < 60000; i++) own[i] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = own[0] + own[59999];
}`})
	if err != nil {
		t.Fatal(err)
	}
	const n = 64
	x := alloc(t, d, nil, 4*n)
	launch(t, kernel(t, m, "frame"), d.Default(), Dim{X: 1}, Dim{X: n}, 0, x)
	for i, v := range floats(t, d.Default(), x, n) {
		if v != float32(2*i) {
			t.Errorf("thread %d has %g, want %d", i, v, 2*i)
		}
	}
}
