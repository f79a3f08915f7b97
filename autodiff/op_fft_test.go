// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/internal/golden"
)

func normal(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func TestFourierGoldens(t *testing.T) { check(t, fourierGoldens(t)) }

func fourierGoldens(t *testing.T) (list []goldenCase) {
	var family struct {
		Cases []struct {
			ID, Op  string
			Inputs  map[string]golden.Input
			Outputs map[string]struct{ Re, Im golden.Output }
		}
	}
	golden.JSON(t, &family, "cuda", "ops_fft.json")
	for _, c := range family.Cases {
		var inputs []*ad.Node
		var values [][]float64
		for _, name := range []string{"x", "re", "im"} {
			if in, ok := c.Inputs[name]; ok {
				inputs, values = append(inputs, ad.Input(name, in.Shape...)), append(values, in.Values())
			}
		}
		var y *ad.Node
		switch c.Op {
		case "rfft", "rfft2", "rfftn":
			y = ad.RFFT(inputs[0], ad.NormBackward)
		case "fft", "fft2", "fftn":
			y = ad.FFT(ad.Complex(inputs[0], inputs[1]), ad.NormBackward)
		case "fft_last":
			y = ad.FFT(ad.Complex(inputs[0], inputs[1]), ad.NormBackward, -1)
		default:
			t.Errorf("no operation %s", c.Op)
			continue
		}
		want := c.Outputs["y"]
		parts := golden.Case{ID: c.ID, Outputs: map[string]golden.Output{"re": want.Re, "im": want.Im}}
		list = append(list, goldenCase{parts, map[string]*ad.Node{"re": ad.Real(y), "im": ad.Imag(y)}, inputs, values, func(string) (float64, float64) { return 1e-13, 2e-6 }})
	}
	return list
}

// close64 runs nodes that should be zero at all ways.
func closeToZero(t *testing.T, what string, inputs []*ad.Node, values [][]float64, outs ...*ad.Node) {
	t.Helper()
	for _, w := range ways() {
		limit := 1e-13
		if w.bits == 32 {
			limit = 1e-4
		}
		for i, got := range results(t, w, outs, inputs, values) {
			for k, v := range got {
				if !(math.Abs(v) <= limit) {
					t.Errorf("%s %v: output %d, element %d: %g, want 0", what, w, i, k, v)
					return
				}
			}
		}
	}
}

// Inverses undo transforms, real and complex transforms agree, the orthonormal one keeps the norm, for all axes.
func TestFourierIdentities(t *testing.T) {
	for _, shape := range [][]int{{1}, {7}, {16}, {3, 8}, {8, 3}, {4, 1, 5}, {2, 6, 3, 4}} {
		axes := [][]int{{0}, {-1}}
		if len(shape) > 1 {
			axes = append(axes, []int{0, 1}, []int{-1, 0})
		}
		if len(shape) == 3 {
			axes = append(axes, nil, []int{2, 0, 1})
		}
		for _, a := range axes {
			for _, norm := range []ad.FourierNorm{ad.NormBackward, ad.NormOrtho, ad.NormForward} {
				x := ad.Input("x", shape...)
				z := ad.Input("z", append(append([]int{}, shape...), 2)...)
				last := shape[len(shape)-1]
				if a != nil {
					last = shape[(a[len(a)-1]+len(shape))%len(shape)]
				}
				outs := []*ad.Node{
					ad.Sub(ad.IFFT(ad.FFT(z, norm, a...), norm, a...), z),
					ad.Sub(ad.IRFFT(ad.RFFT(x, norm, a...), last, norm, a...), x),
					ad.Sub(ad.RFFT(x, norm, a...), halfOf(ad.FFT(ad.Complex(x, ad.Scalar(0)), norm, a...), last, len(shape), a)),
				}
				if norm == ad.NormOrtho {
					outs = append(outs, ad.Sub(ad.Sum(ad.Abs2(ad.FFT(z, norm, a...))), ad.Sum(ad.Abs2(z))))
				}
				n := x.Size()
				closeToZero(t, fmt.Sprint(shape, a, norm), []*ad.Node{x, z}, [][]float64{normal(n, 1), normal(2*n, 2)}, outs...)
			}
		}
	}
}

// halfOf keeps the first frequencies of the last transformed axis.
func halfOf(y *ad.Node, n, rank int, axes []int) *ad.Node {
	last := rank - 1
	if axes != nil {
		last = (axes[len(axes)-1] + rank) % rank
	}
	return ad.Slice(y, last, 0, n/2+1)
}

// A cyclic convolution is a product of transforms: a least-squares fit through it has first and second derivatives.
func TestConvolutionGradients(t *testing.T) {
	x, k := ad.Input("x", 4, 6), ad.Input("k", 4, 6)
	y := ad.IRFFT(ad.CMul(ad.RFFT(x, ad.NormBackward), ad.RFFT(k, ad.NormBackward)), 6, ad.NormBackward)
	direct := ad.Scalar(0)
	for i := range 4 {
		for j := range 6 {
			direct = ad.Add(direct, ad.Mul(ad.Index(ad.Index(k, 0, i), 0, j), roll(roll(x, 0, i), 1, j)))
		}
	}
	values := [][]float64{normal(24, 3), normal(24, 4)}
	closeToZero(t, "convolution", []*ad.Node{x, k}, values, ad.Sub(y, direct))
	gradtest.Check(t, "convolution", ad.Sum(ad.Mul(ad.Sin(y), ad.Square(y))), []*ad.Node{x, k}, values, true)

	spectrum := ad.Input("s", 3, 4, 2)
	intensity := ad.Sum(ad.Exp(ad.Scale(-0.1, ad.Abs2(ad.IFFT(ad.CMul(spectrum, ad.Conj(ad.CExp(ad.Real(spectrum)))), ad.NormOrtho)))))
	gradtest.Check(t, "intensity", intensity, []*ad.Node{spectrum}, [][]float64{normal(24, 5)}, true)
	gradtest.Check(t, "real part", ad.Sum(ad.Exp(ad.IRFFT(spectrum, 7, ad.NormForward, 0, 1))), []*ad.Node{spectrum}, [][]float64{normal(24, 6)}, true)
}

// roll moves the elements of an axis on by d.
func roll(x *ad.Node, axis, d int) *ad.Node {
	n := x.Shape()[axis]
	if d == 0 {
		return x
	}
	return ad.Concat(axis, ad.Slice(x, axis, n-d, n), ad.Slice(x, axis, 0, n-d))
}

// Lanes of a batch are the runs one by one, gradients too.
func TestFourierBatch(t *testing.T) {
	x, w := ad.Input("x", 5, 6), ad.Input("w", 5, 4, 2)
	y := ad.IRFFT(ad.CMul(ad.RFFT(x, ad.NormBackward), w), 6, ad.NormOrtho)
	loss := ad.Add(ad.Sum(ad.Exp(y)), ad.Sum(ad.Abs2(ad.FFT(w, ad.NormBackward, 0))))
	outs := append([]*ad.Node{y, loss}, ad.Grad(loss, x, w)...)
	in := []*ad.Node{x, w}
	const lanes = 3
	data := [][][]float64{}
	for l := range uint64(lanes) {
		data = append(data, [][]float64{normal(30, l), normal(40, l+9)})
	}
	for _, batched := range [][]*ad.Node{{x}, {x, w}} {
		for _, wy := range ways() {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: wy.bits, Batch: lanes, Batched: batched, Backend: ad.CPU{SIMD: wy.simd}})
			if err != nil {
				t.Fatal(err)
			}
			s := p.NewState()
			for i := range in {
				all := data[0][i]
				if i < len(batched) {
					all = nil
					for k := range data[0][i] {
						for l := range lanes {
							all = append(all, data[l][i][k])
						}
					}
				}
				if err := s.SetInput(i, all); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			tol := 1e-12
			if wy.bits == 32 {
				tol = 3e-5
			}
			for l := range lanes {
				values := [][]float64{data[l][0], data[0][1]}
				if len(batched) == 2 {
					values = data[l]
				}
				for i, want := range results(t, wy, outs, in, values) {
					for k, v := range want {
						if got := s.OutputFloat64(i)[k*lanes+l]; math.Abs(got-v) > tol*math.Max(1, math.Abs(v)) {
							t.Fatalf("%v, lane %d, output %d, element %d: %g, want %g", wy, l, i, k, got, v)
						}
					}
				}
			}
		}
	}
}

// Split-step propagation: transforms inside a scan, with gradients through it, kept or computed again.
func TestFourierInScan(t *testing.T) {
	z, v := ad.Input("z", 8, 2), ad.Input("v", 8)
	step := func(c, _ []*ad.Node) (next, y []*ad.Node) {
		u := ad.CMul(c[0], ad.CExp(ad.Mul(v, ad.Abs2(c[0]))))
		u = ad.IFFT(ad.CMul(ad.FFT(u, ad.NormBackward), ad.CExp(v)), ad.NormBackward)
		return []*ad.Node{u}, nil
	}
	last, _ := ad.Scan(step, []*ad.Node{z}, nil, 4, ad.ScanSettings{})
	loss := ad.Sum(ad.Square(ad.Real(last[0])))
	values := [][]float64{normal(16, 1), normal(8, 2)}
	gradtest.Check(t, "scan", loss, []*ad.Node{z, v}, values, true)
	u := []*ad.Node{z}
	for range 4 {
		u, _ = step(u, nil)
		u[0].Named("u")
	}
	unrolled := ad.Sum(ad.Square(ad.Real(u[0])))
	plain, kept := ad.Grad(unrolled, z, v), ad.GradCheckpoint(unrolled, []string{"u"}, z, v)
	scanned := ad.Grad(loss, z, v)
	closeToZero(t, "scan", []*ad.Node{z, v}, values, ad.Sub(loss, unrolled), ad.Sub(plain[0], scanned[0]), ad.Sub(plain[1], scanned[1]),
		ad.Sub(plain[0], kept[0]), ad.Sub(plain[1], kept[1]))
}

func TestFourierMistakes(t *testing.T) {
	x, z := ad.Input("x", 2, 3), ad.Input("z", 2, 3, 2)
	for i, n := range []*ad.Node{ad.FFT(x, ad.NormBackward), ad.FFT(z, ad.NormBackward, 2), ad.FFT(z, ad.NormBackward, 0, 0), ad.RFFT(ad.Input("e", 0, 3), ad.NormBackward),
		ad.IRFFT(z, 8, ad.NormBackward), ad.RFFT(ad.Input("four", 2, 2, 2, 2), ad.NormBackward), ad.RFFT(ad.Scalar(1), ad.NormBackward), ad.RFFT(ad.IntInput("i", 3), ad.NormBackward),
		ad.CMul(x, z), ad.Real(x), ad.Complex(x, z), ad.Conj(x), ad.Abs2(x), ad.IRFFT(x, 4, ad.NormBackward)} {
		if n.Err() == nil {
			t.Errorf("mistake %d has no error", i)
		}
	}
}

// A large transform uses all goroutines and gives the same bits.
func TestFourierThreads(t *testing.T) {
	x := ad.Input("x", 300, 320)
	y := ad.Sum(ad.Mul(ad.Abs2(ad.RFFT(x, ad.NormBackward)), ad.Const(normal(161, 1))))
	data := normal(x.Size(), 2)
	var want []float64
	for _, threads := range []int{1, 3} {
		p, err := ad.Compile([]*ad.Node{y, ad.Grad(y, x)[0]}, ad.Settings{Backend: ad.CPU{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		s.SetInput(0, data)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		got := append(s.OutputFloat64(0), s.OutputFloat64(1)...)
		if want == nil {
			want = got
		}
		equalBits(t, fmt.Sprint(threads, " threads"), got, want)
		if n := testing.AllocsPerRun(5, func() { s.Run() }); n != 0 {
			t.Errorf("%d threads: %g allocations in a run", threads, n)
		}
	}
}

// Example: the autocorrelation of a signal is the inverse transform of its power spectrum.
func ExampleRFFT() {
	x := ad.Const([]float64{1, 2, 0, -1})
	power := ad.Abs2(ad.RFFT(x, ad.NormBackward))
	v, _ := ad.Eval(ad.IRFFT(ad.Complex(power, ad.Scalar(0)), 4, ad.NormBackward))
	fmt.Println(v[0].Data())
	// Output: [6 1 -4 1]
}

// A convolution of images and its gradient: three transforms forward, three back.
func BenchmarkConvolution(b *testing.B) {
	for _, n := range []int{128, 512} {
		b.Run(fmt.Sprintf("%dx%d/float32", n, n), func(b *testing.B) {
			x, k := ad.Input("x", n, n), ad.Input("k", n, n)
			y := ad.IRFFT(ad.CMul(ad.RFFT(x, ad.NormBackward), ad.RFFT(k, ad.NormBackward)), n, ad.NormBackward)
			loss := ad.Sum(ad.Square(y))
			p, err := ad.Compile(append([]*ad.Node{loss}, ad.Grad(loss, x, k)...), ad.Settings{Precision: 32, Backend: ad.CPU{Threads: 1}})
			if err != nil {
				b.Fatal(err)
			}
			s := p.NewState()
			s.SetInput(0, normal(n*n, 1))
			s.SetInput(1, normal(n*n, 2))
			for b.Loop() {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "gradients/s")
		})
	}
}
