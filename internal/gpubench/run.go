// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Settings of a measurement. The zero value measures everything on the first GPU.
type Settings struct {
	Device int
	Only   string       // measure rows whose name contains it
	Copy   int          // B, copied to measure the bandwidth; default 1 GiB, and at most a quarter of what is free
	Told   func(string) // hears of each row when it begins; may be nil
}

// Report is the table and what it was measured on.
type Report struct {
	Device     string  `json:"device"`
	Driver     int     `json:"driver"`            // 1000*major + 10*minor
	Bandwidth  float64 `json:"copy_gb_s"`         // measured by a copy within the device, both directions counted
	Peak       float64 `json:"float32_tflop_s"`   // fused multiplications and additions of all cores at the clock that the driver tells; 0 if the kind of device is not known
	Processors int     `json:"processor_threads"` // that the processor's times were measured with
	Rows       []Row   `json:"rows"`
}

// Row is one line of the table. Times are medians in milliseconds.
type Row struct {
	Name      string  `json:"name"`
	How       string  `json:"how"`             // kernel: one launch; program: a compiled graph, replayed, by our kernels; cuBLAS, cuDNN or cuFFT: one that the library makes
	Millis    float64 `json:"gpu_ms"`          // by events of the device
	Samples   int     `json:"samples"`         // of which Millis is the median
	Launches  int     `json:"launches"`        // in one sample, by whose number it is divided
	Floor     float64 `json:"floor_ms"`        // the larger of bytes by bandwidth and operations by peak
	Processor float64 `json:"cpu_ms"`          // of the executor on the processor
	GBs       float64 `json:"gb_s"`            // of the bytes that must move
	GFlops    float64 `json:"gflop_s"`         // of the operations that must be done
	Error     string  `json:"error,omitempty"` // why the row was not measured
}

// String returns the table for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, driver %d.%d: copies %.0f GB/s, arithmetic %.1f TFLOP/s; processor with %d threads\n\n", r.Device, r.Driver/1000, r.Driver%1000/10, r.Bandwidth, r.Peak, r.Processors)
	fmt.Fprintf(&b, "%-32s %-8s %10s %10s %9s %10s %10s %10s\n", "operation", "as", "GPU ms", "floor ms", "of floor", "GB/s", "GFLOP/s", "CPU ms")
	for _, x := range r.Rows {
		if x.Error != "" {
			line, _, _ := strings.Cut(x.Error, "\n")
			fmt.Fprintf(&b, "%-32s %-8s not measured: %s\n", x.Name, x.How, line)
			continue
		}
		fmt.Fprintf(&b, "%-32s %-8s %10.4f %10.4f %8.0f%% %10.1f %10.1f %10.3f\n", x.Name, x.How, x.Millis, x.Floor, 100*x.Floor/x.Millis, x.GBs, x.GFlops, x.Processor)
	}
	return b.String()
}

// How many measurements of a row are taken, after some that warm up, and on how many sets of arrays.
const samples, warmup, rotated = 21, 3, 4

// bench is one measurement.
type bench struct {
	Settings
	d   *cuda.Device
	k   *basic.Kernels
	r   *rand.Rand
	own bool // without NVIDIA's libraries
	Report
}

// Run measures the table. A row that fails has an Error; a lost device ends the measurement.
func Run(ctx context.Context, s Settings) (*Report, error) {
	d, err := cuda.Open(s.Device, cuda.Settings{})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if s.Copy == 0 {
		free, _, err := d.MemInfo()
		if err != nil {
			return nil, err
		}
		s.Copy = int(min(1<<30, free/4))
	}
	if s.Told == nil {
		s.Told = func(string) {}
	}
	b := &bench{Settings: s, d: d, k: basic.Open(d), r: rand.New(rand.NewPCG(1, 2))}
	i := d.Info()
	b.Report = Report{Device: i.Name, Driver: i.DriverVersion, Peak: peak(i) / 1e12, Processors: runtime.GOMAXPROCS(0)}
	if err := b.bandwidth(ctx); err != nil {
		return nil, err
	}
	for _, r := range rows() {
		if !strings.Contains(r.name, s.Only) {
			continue
		}
		s.Told(r.name)
		for _, how := range b.ways(r) {
			out, err := b.row(ctx, r, how)
			if ctx.Err() != nil || errors.Is(err, cuda.ErrDeviceLost) {
				return &b.Report, errors.Join(err, ctx.Err())
			}
			if err != nil {
				out.Error = err.Error()
			}
			b.Rows = append(b.Rows, out)
		}
	}
	return &b.Report, nil
}

// peak returns the float32 operations of a device in a second, 0 if it is not known.
func peak(i cuda.Info) float64 {
	cores := map[int]int{7: 64, 8: 128, 9: 128, 10: 128, 12: 128}[i.Capability[0]]
	if i.Capability == [2]int{8, 0} {
		cores = 64
	}
	return 2 * float64(cores*i.Multiprocessors) * i.ClockMHz * 1e6
}

// bandwidth measures a copy within the device.
func (b *bench) bandwidth(ctx context.Context) error {
	x, err := b.d.Alloc(b.Copy)
	if err != nil {
		return err
	}
	defer x.Free()
	y, err := b.d.Alloc(b.Copy)
	if err != nil {
		return err
	}
	defer y.Free()
	s := b.d.Default()
	if err := s.Fill(x, 0, b.Copy, 1); err != nil {
		return err
	}
	t, err := median(samples, warmup, func() (time.Duration, error) {
		return s.Elapsed(ctx, func() error { return s.Copy(y, 0, x, 0, b.Copy) })
	})
	b.Bandwidth = 2 * float64(b.Copy) / max(t.Seconds(), 1e-9) / 1e9
	return err
}

// ways lists how a row is measured.
func (b *bench) ways(r row) []string {
	var all []string
	if r.kernel != "" {
		all = append(all, "kernel")
	}
	all = append(all, "program")
	if l := b.d.Libraries(); r.library == "cuBLAS" && l.HasBLAS() || r.library == "cuFFT" && l.HasFFT() || r.library == "cuDNN" && l.HasDNN() {
		all = append(all, r.library)
	}
	return all
}

// row measures one line.
func (b *bench) row(ctx context.Context, r row, how string) (Row, error) {
	out := Row{Name: r.name, How: how, Samples: samples, Launches: 1, Floor: 1e3 * r.bytes / (b.Bandwidth * 1e9)}
	if b.Peak > 0 {
		out.Floor = max(out.Floor, 1e3*r.flops/(b.Peak*1e12))
	}
	out.Launches = max(1, min(200, int(1/max(out.Floor, 0.001)/5))) // so that a sample takes about 0.2 ms
	measure := b.kernel
	if b.own = how == "program"; how != "kernel" {
		measure = b.program
	}
	t, err := measure(ctx, r, out.Launches)
	if err == nil {
		out.Millis = 1e3 * t.Seconds() / float64(out.Launches)
		out.GBs, out.GFlops = r.bytes/out.Millis/1e6, r.flops/out.Millis/1e6
		out.Processor, err = processor(r, b.r)
	}
	if errors.Is(err, rtc.ErrNoCompiler) {
		err = errors.New("the benchmark of a program needs NVRTC, which was not found: install it")
	}
	return out, err
}

// random returns numbers between -1 and 1.
func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

// kernel measures launches of a kernel, in turn on several sets of arrays, so that a small set does not
// stay in a cache of the device alone.
func (b *bench) kernel(ctx context.Context, r row, launches int) (time.Duration, error) {
	n := r.n
	if r.kernel == "matmul" {
		n, r.inputs = r.n*r.n, 2
	}
	var sets [rotated][]cuda.Part
	for i := range sets {
		for range r.inputs + 1 {
			buf, err := b.d.Alloc(4 * n)
			if err != nil {
				return 0, err
			}
			defer buf.Free()
			if err := b.d.CopyIn(ctx, buf, 0, random(b.r, n)); err != nil {
				return 0, err
			}
			sets[i] = append(sets[i], buf.At(0))
		}
	}
	s, turn := b.d.Default(), 0
	once := func() error {
		set := sets[turn%rotated]
		turn++
		if r.kernel != "matmul" {
			return b.k.Map(s, r.kernel, cuda.Float32, n, set[0], set[1:])
		}
		matrix := func(p cuda.Part) basic.Matrix {
			return basic.Matrix{Part: p, Rows: r.n, Columns: r.n, RowStride: r.n, ColumnStride: 1}
		}
		return b.k.MatMul(s, cuda.Float32, matrix(set[0]), matrix(set[1]), matrix(set[2]))
	}
	return median(samples, warmup, func() (time.Duration, error) {
		return s.Elapsed(ctx, func() error {
			for range launches {
				if err := once(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// graph makes the program of a row. Its arrays are constants, which stay on the device; one number that is sent with every run
// keeps the compiler from computing the graph itself.
func (r row) graph(numbers func(n int) []float64) (out, one *ad.Node) {
	one, first := ad.Input("one"), true
	return r.program(func(shape ...int) *ad.Node {
		n := 1
		for _, s := range shape {
			n *= s
		}
		x := ad.Const(numbers(n), shape...)
		if first {
			x, first = ad.Mul(x, one), false
		}
		return x
	}), one
}

// compiled returns the program of a row, ready to run.
func (b *bench) compiled(r row) (*ad.State, error) {
	out, one := r.graph(func(n int) []float64 {
		v := make([]float64, n)
		for i, x := range random(b.r, n) {
			v[i] = float64(x)
		}
		return v
	})
	p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Inputs: []*ad.Node{one}, Precision: 32, Backend: ad.CUDA{Stream: b.d.Default(), OwnKernels: b.own}})
	if err != nil {
		return nil, err
	}
	state := p.NewState()
	return state, state.SetInput(0, []float64{1})
}

// program measures runs of a compiled graph.
func (b *bench) program(ctx context.Context, r row, launches int) (time.Duration, error) {
	state, err := b.compiled(r)
	if err != nil {
		return 0, err
	}
	return median(samples, warmup, func() (time.Duration, error) {
		return b.d.Default().Elapsed(ctx, func() error {
			for range launches {
				if err := state.Run(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// processor returns the median milliseconds of the graph on all processors, of fewer samples where one
// takes long.
func processor(r row, random *rand.Rand) (float64, error) {
	var in []*ad.Node
	out := r.program(func(shape ...int) *ad.Node {
		in = append(in, ad.Input("x", shape...))
		return in[len(in)-1]
	})
	p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Inputs: in, Precision: 32})
	if err != nil {
		return 0, err
	}
	state := p.NewState()
	for i := range in {
		for k := range state.Input32(i) {
			state.Input32(i)[k] = 2*random.Float32() - 1
		}
	}
	run := func() (time.Duration, error) {
		begin := time.Now()
		err := state.Run()
		return time.Since(begin), err
	}
	once, err := run()
	if err != nil {
		return 0, err
	}
	t, err := median(max(3, min(samples, int(time.Second/max(once, time.Microsecond)))), 1, run)
	return 1e3 * t.Seconds(), err
}

// median returns the middle of n measurements after some that do not count.
func median(n, before int, measure func() (time.Duration, error)) (time.Duration, error) {
	all := make([]time.Duration, 0, n)
	for i := range before + n {
		t, err := measure()
		if err != nil {
			return 0, err
		}
		if i >= before {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all[n/2], nil
}
