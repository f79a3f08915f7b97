// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
	"github.com/euryale-dev/euryale/tensor"
)

// product is the inner product of two vectors, in a form for a device that remembers its result.
type product struct {
	m        *cuda.Module
	n        int
	adjoints int
	forwards int
}

const productText = `
extern "C" __global__ void forward(const R *x, const R *y, R *out, int n) {
	R sum = 0;
	for (int i = 0; i < n; i++) sum += x[i] * y[i];
	*out = sum;
}
extern "C" __global__ void back(const R *x, const R *y, const R *g, R *dx, R *dy, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) dx[i] = *g * y[i], dy[i] = *g * x[i];
}
`

func at(p cuda.Part) uint64 { return uint64(p.Buffer.Uintptr()) + uint64(p.Offset) }

func (p *product) Forward(s *cuda.Stream, out cuda.Part, in []cuda.Part) error {
	p.forwards++
	f, err := p.m.Function("forward")
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Dim{X: 1}, cuda.Dim{X: 1}, 0, at(in[0]), at(in[1]), at(out), int32(p.n))
}

func (p *product) Adjoint(s *cuda.Stream, dIn []cuda.Part, g, out cuda.Part, in []cuda.Part) error {
	if p.adjoints++; p.adjoints > p.forwards {
		return errors.New("an adjoint before its forward")
	}
	f, err := p.m.Function("back")
	if err != nil {
		return err
	}
	return f.Launch(s, cuda.Blocks(p.n, 64), cuda.Dim{X: 64}, 0, at(in[0]), at(in[1]), at(g), at(dIn[0]), at(dIn[1]), int32(p.n))
}

// A custom operation with a form for the device stays there, between other operations, in both precisions,
// with its gradient and with a DeviceStep for each State; one without runs on the processor with the same
// result.
func TestCustomOnDevice(t *testing.T) {
	pretend.Shared(t)
	const n = 100
	made := 0
	dot := &ad.Custom{Name: "dot", Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{}, nil },
		Forward: func(out []float64, in ...[]float64) error {
			out[0] = 0
			for i, x := range in[0] {
				out[0] += x * in[1][i]
			}
			return nil
		},
		Adjoint: func(dIn [][]float64, g, _ []float64, in ...[]float64) error {
			for i := range in[0] {
				dIn[0][i], dIn[1][i] = g[0]*in[1][i], g[0]*in[0][i]
			}
			return nil
		}}
	onGPU := *dot
	onGPU.OnDevice = func(d *cuda.Device, bits int, in []tensor.Shape) (ad.DeviceStep, error) {
		made++
		if in[0].Size() == n+1 {
			return nil, nil
		}
		text := map[int]string{32: "typedef float R;\n", 64: "typedef double R;\n"}[bits] + productText
		m, err := d.Compile(rtc.Source{Name: "dot.cu", Text: text})
		return &product{m: m, n: in[0].Size()}, err
	}
	values := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(i))
		}
		return v
	}
	for _, bits := range []int{64, 32} {
		for _, size := range []int{n, n + 1} {
			run := func(c *ad.Custom, b ad.Backend) ([]float64, *ad.Program) {
				x, y := ad.Input("x", size), ad.Input("y", size)
				z := ad.Exp(ad.Call(c, ad.Square(x), ad.Slice(ad.Concat(0, y, x), 0, 3, size+3)))
				g := ad.Grad(z, x, y)
				p, err := ad.Compile([]*ad.Node{z, g[0], g[1]}, ad.Settings{Inputs: []*ad.Node{x, y}, Precision: bits, Backend: b})
				if err != nil {
					t.Fatal(err)
				}
				var all []float64
				for range 2 { // two States, each of which runs twice
					s := p.NewState()
					for range 2 {
						if err := errors.Join(s.SetInput(0, values(size)), s.SetInput(1, values(size)), s.Run()); err != nil {
							t.Fatal(err)
						}
						for i := range 3 {
							all = append(all, s.OutputFloat64(i)...)
						}
					}
				}
				return all, p
			}
			want, _ := run(dot, ad.CPU{})
			made = 0
			got, p := run(&onGPU, ad.CUDA{Strict: size == n})
			if made != map[int]int{n: 2, n + 1: 1}[size] {
				t.Errorf("%d forms for the device were made of %d numbers", made, size)
			}
			tol := map[int]float64{64: 1e-13, 32: 2e-6}[bits]
			for i, w := range want {
				if d := math.Abs(got[i] - w); !(d <= tol*(1+math.Abs(w))) {
					t.Fatalf("float%d, %d numbers: element %d is %g, want %g\n%v", bits, size, i, got[i], w, p)
				}
			}
		}
	}
	onGPU.OnDevice = func(*cuda.Device, int, []tensor.Shape) (ad.DeviceStep, error) { return nil, errors.New("no luck") }
	x := ad.Input("x", 3)
	if _, err := ad.Compile([]*ad.Node{ad.Call(&onGPU, x, x)}, ad.Settings{Backend: ad.CUDA{}}); err == nil || err.Error() != "autodiff: dot on cuda:0: no luck" {
		t.Errorf("a form that cannot be made: %v", err)
	}
}

// What does not fit is refused with the numbers before anything is computed, or left to the processor by
// Auto, which says so; several devices are listed one by one.
func TestDeviceFor(t *testing.T) {
	pretend.Shared(t)
	d, err := ad.DeviceFor(ad.CUDA{Device: 1}, ad.Need{Name: "a thing", Least: 1000})
	if err != nil || d.String() != "cuda:1" {
		t.Fatalf("%v: %v", d, err)
	}
	if d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{Name: "a large thing", Least: 1 << 30}); d != nil || !errors.Is(err, cuda.ErrOutOfMemory) || !ad.IsDeviceFault(err) {
		t.Errorf("1 GiB of 1 GiB: %v, %v", d, err)
	}
	for _, b := range []ad.Backend{nil, ad.CPU{}} {
		if d, err := ad.DeviceFor(b, ad.Need{}); d != nil || err != nil {
			t.Errorf("%T: %v, %v", b, d, err)
		}
	}
	var told ad.Choice
	auto := ad.Auto{Chosen: func(c ad.Choice) { told = c }}
	for _, c := range []struct {
		need   ad.Need
		device string
		failed bool
	}{{ad.Need{Name: "small", Work: 1000}, "cpu", false}, {ad.Need{Name: "large", Work: 1 << 24}, "cuda:0", false}, {ad.Need{Name: "huge", Work: 1 << 30, Least: 1 << 30}, "cpu", true}} {
		d, err := ad.DeviceFor(auto, c.need)
		if err != nil || (d == nil) != (c.device == "cpu") || told.Device != c.device || told.Name != c.need.Name || (told.Err != nil) != c.failed {
			t.Errorf("%s: %v, %v, %v", c.need.Name, d, err, told)
		}
	}
	large := ad.Input("x", 1<<27)
	if p, err := ad.Compile([]*ad.Node{ad.Sum(large)}, ad.Settings{MaxMemory: 1 << 40, Backend: auto}); err != nil || p.Device() != "cpu" || !errors.Is(told.Err, cuda.ErrOutOfMemory) {
		t.Errorf("a program of 1 GiB for a device of 1 GiB: %v, %v", err, told)
	}
	if list := ad.Spread(ad.Several{{Device: 1}, {}}); len(list) != 2 || list[0] != (ad.CUDA{Device: 1}) {
		t.Errorf("two devices: %v", list)
	}
	if list := ad.Spread(ad.CPU{}); len(list) != 1 {
		t.Errorf("the processor: %v", list)
	}
	if _, err := ad.DeviceFor(ad.Several{}, ad.Need{}); err == nil {
		t.Error("none of several devices is no error")
	}
	x := ad.Input("x", 2)
	p, err := ad.Compile([]*ad.Node{ad.Sum(x)}, ad.Settings{Backend: ad.Several{{Device: 1}, {}}})
	if err != nil || p.Device() != "cuda:1" {
		t.Errorf("a program on several devices: %v", err)
	}
}
