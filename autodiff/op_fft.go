// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Complex arrays are real ones with one more axis, the last, of length 2: the
// real and the imaginary part. In memory they are arrays of complex128 or
// complex64. The gradient of a complex number z = x + iy is dL/dx + i dL/dy. See
// Complex, Real, Imag, Conj, CMul and Abs2.

// FourierNorm says which of the two transforms is divided, and by what; n is the number of elements
// transformed.
type FourierNorm int

const (
	// NormBackward divides the inverse transform by n. It is the default, as in NumPy.
	NormBackward FourierNorm = iota
	// NormOrtho divides both transforms by the square root of n, so that norms are preserved.
	NormOrtho
	// NormForward divides the forward transform by n.
	NormForward
)

// FFT returns the Fourier transform of the complex x along the given axes, at most three, counted
// without the last one of length 2. Without axes it transforms all of them.
//
//	X[k] = sum over j of x[j] exp(-2 pi i j k/n)
//
// Gradient: the inverse transform of g, times n.
func FFT(x *Node, norm FourierNorm, axes ...int) *Node { return fourier(x, norm, 0, axes) }

// IFFT returns the inverse Fourier transform of the complex x; see FFT.
//
//	x[j] = 1/n sum over k of X[k] exp(+2 pi i j k/n)
//
// Gradient: the transform of g, divided by n.
func IFFT(x *Node, norm FourierNorm, axes ...int) *Node { return fourier(x, norm, 1, axes) }

// RFFT returns the Fourier transform of the real x along the given axes, at most three.
// Without axes it transforms all of them. Along the last of these, which has length n, the result
// has only the first n/2+1 frequencies, since the others are their conjugates.
//
// Gradient: the real part of the inverse sum over these frequencies.
func RFFT(x *Node, norm FourierNorm, axes ...int) *Node {
	p := transformOf("rfft", x, false, axes)
	if p.bad != nil {
		return p.bad
	}
	y := realSpectrum(Permute(x, p.perm...), len(p.axes), 0)
	return p.back(Scale(norm.factor(p.size, false), y), true)
}

// IRFFT returns the real array of which x is the half of a Fourier transform that RFFT gives; n is
// the length of the last of the axes in the result, 2(m-1) or 2m-1 where x has m. Imaginary parts
// that the transform of a real array cannot have are ignored.
func IRFFT(x *Node, n int, norm FourierNorm, axes ...int) *Node {
	p := transformOf("irfft", x, true, axes)
	if p.bad != nil {
		return p.bad
	}
	last := x.shape[p.axes[len(p.axes)-1]]
	if n < 1 || n/2+1 != last {
		return mistake("irfft", "a result of length %d cannot come from %d frequencies of shape %v: want length %d or %d", n, last, x.shape, 2*last-2, 2*last-1)
	}
	y := realOfSpectrum(Permute(x, p.perm...), len(p.axes), n, 0)
	return p.back(Scale(norm.factor(p.size/last*n, true), y), false)
}

// factor is what a transform of n elements is multiplied by.
func (norm FourierNorm) factor(n int, inverse bool) float64 {
	switch {
	case norm == NormOrtho:
		return 1 / math.Sqrt(float64(n))
	case (norm == NormBackward) == inverse:
		return 1 / float64(n)
	}
	return 1
}

func fourier(x *Node, norm FourierNorm, inverse int, axes []int) *Node {
	p := transformOf("fft", x, true, axes)
	if p.bad != nil {
		return p.bad
	}
	y := complexSpectrum(Permute(x, p.perm...), len(p.axes), inverse)
	return p.back(Scale(norm.factor(p.size, inverse == 1), y), true)
}

// transform describes a transform along some axes of an array.
type transform struct {
	axes []int // transformed axes, counted from 0
	perm []int // permutation that moves them to the end, before the parts of complex numbers
	rank int   // number of axes without that of the complex parts
	size int   // number of elements along the transformed axes
	bad  *Node
}

func transformOf(op string, x *Node, isComplex bool, axes []int) (p transform) {
	if p.bad = notReal(op, x); p.bad != nil {
		return p
	}
	p.rank = len(x.shape)
	if isComplex {
		p.rank--
		if p.rank < 0 || x.shape[p.rank] != 2 {
			p.bad = failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape}, Want: "a last axis of length 2 for the real and imaginary parts; make one with Complex"})
			return p
		}
	}
	if len(axes) == 0 {
		for i := range p.rank {
			axes = append(axes, i)
		}
	}
	used := make([]bool, p.rank)
	p.size = 1
	for _, a := range axes {
		ax, ok := axisOf(a, p.rank)
		if !ok || used[ax] || len(axes) > 3 {
			p.bad = mistake(op, "the axes are %v of shape %v: want one to three different axes of the %d", axes, x.shape, p.rank)
			return p
		}
		used[ax] = true
		p.axes, p.size = append(p.axes, ax), p.size*x.shape[ax]
	}
	if len(p.axes) == 0 || p.size == 0 {
		p.bad = mistake(op, "the axes are %v of shape %v: want one to three axes, none of length 0", axes, x.shape)
		return p
	}
	for i, u := range used {
		if !u {
			p.perm = append(p.perm, i)
		}
	}
	p.perm = append(p.perm, p.axes...)
	if isComplex {
		p.perm = append(p.perm, p.rank)
	}
	return p
}

// back undoes the permutation of a result.
func (p *transform) back(y *Node, isComplex bool) *Node {
	inv := make([]int, p.rank)
	for i, a := range p.perm[:p.rank] {
		inv[a] = i
	}
	if isComplex {
		inv = append(inv, p.rank)
	}
	return Permute(y, inv...)
}

// complexSpectrum, realSpectrum and realOfSpectrum transform the last k axes,
// without dividing.
func complexSpectrum(x *Node, k, inverse int) *Node {
	y := newNode(fftOp, x.shape, x)
	y.attr = []int{k, inverse}
	return y
}

// A half spectrum has each frequency 0 < j < n/2 for two. The adjoint of the
// transform to it is the inverse of the spectrum with those halved, the adjoint
// of the inverse is the transform with those doubled; paired says so.
func realSpectrum(x *Node, k, paired int) *Node {
	s := append(x.shape.Clone(), 2)
	s[len(s)-2] = s[len(s)-2]/2 + 1
	y := newNode(rfftOp, s, x)
	y.attr = []int{k, x.shape[len(x.shape)-1], paired}
	return y
}

func realOfSpectrum(x *Node, k, n, paired int) *Node {
	s := lead(x, 1)
	s[len(s)-1] = n
	y := newNode(irfftOp, s, x)
	y.attr = []int{k, n, paired}
	return y
}

var fftOp, rfftOp, irfftOp *Op

func init() {
	fftOp = register(&Op{Name: "fft", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, y *Node, _ []*Node) []*Node { return []*Node{complexSpectrum(g, y.attr[0], 1-y.attr[1])} },
		run:    func(c *cpu.Call) error { return runFourier(c, c.Shape[:len(c.Shape)-1]) },
		device: cuda.Fourier,
		Sample: func(in Source) []*Node {
			return []*Node{FFT(in(-2, 2, 5, 2), NormBackward), IFFT(in(-2, 2, 2, 3, 4, 2), NormOrtho, 0, -1), CMul(FFT(in(-1, 1, 2, 1, 3, 2), NormForward), in(-1, 1, 2))}
		}})
	rfftOp = register(&Op{Name: "rfft", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			return []*Node{realOfSpectrum(g, y.attr[0], y.attr[1], 1-y.attr[2])}
		},
		run:    func(c *cpu.Call) error { return runFourier(c, c.InShape[0]) },
		device: cuda.RealFourier,
		Sample: func(in Source) []*Node {
			return []*Node{RFFT(in(-2, 2, 5), NormBackward), RFFT(in(-2, 2, 3, 4), NormOrtho), Square(RFFT(in(-1, 1, 2, 3, 4), NormForward, 1, 0))}
		}})
	irfftOp = register(&Op{Name: "irfft", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, y *Node, _ []*Node) []*Node { return []*Node{realSpectrum(g, y.attr[0], 1-y.attr[2])} },
		run:    func(c *cpu.Call) error { return runFourier(c, c.Shape) },
		device: cuda.RealInverse,
		Sample: func(in Source) []*Node {
			return []*Node{IRFFT(in(-2, 2, 3, 2), 4, NormBackward), IRFFT(in(-2, 2, 3, 3, 2), 5, NormOrtho), Square(IRFFT(in(-1, 1, 2, 2, 2, 2), 2, NormForward))}
		}})
}

// fourierWork is a plan and its scratch.
type fourierWork struct {
	plan *kernels.FFT
	ws   kernels.FFTWorkspace
	s64  []float64 // half spectrum with the paired frequencies halved
	s32  []float32
}

// shareTransformFrom is the number of elements above which a transform uses all
// goroutines of the run.
const shareTransformFrom = 1 << 16

// runFourier transforms the last axes of shape, that of the elements
// themselves; the others are batches.
func runFourier(c *cpu.Call, shape tensor.Shape) error {
	if len(c.Out64) == 0 && len(c.Out32) == 0 {
		return nil
	}
	w := cpu.Scratch(c, func() *fourierWork {
		axes := shape[len(shape)-c.Attr[0]:]
		w := &fourierWork{plan: kernels.NewFFTBatch(c.Level, shape.Size()/axes.Size(), axes...)}
		if shape.Size() >= shareTransformFrom {
			w.ws.Threads = c.Threads
		}
		return w
	})
	if c.In32 != nil {
		w.run32(c, c.Out32, c.In32[0])
	} else {
		w.run64(c, c.Out64, c.In64[0])
	}
	return nil
}

func (w *fourierWork) run64(c *cpu.Call, out, in []float64) {
	multiply := kernels.Binary64(c.Level, "mul_s")
	switch c.Op {
	case rfftOp.prim:
		w.plan.Real64(complexes[complex128](out), in, &w.ws)
		if c.Attr[2] == 1 {
			pairs(multiply, out, c.Attr[1], &two64)
		}
	case irfftOp.prim:
		if c.Attr[2] == 1 {
			if w.s64 == nil {
				w.s64 = make([]float64, len(in))
			}
			copy(w.s64, in)
			in = w.s64
			pairs(multiply, in, c.Attr[1], &half64)
		}
		w.plan.RealInverse64(out, complexes[complex128](in), &w.ws)
	default:
		w.plan.Complex128(complexes[complex128](out), complexes[complex128](in), c.Attr[1] == 1, &w.ws)
	}
}

func (w *fourierWork) run32(c *cpu.Call, out, in []float32) {
	multiply := kernels.Binary32(c.Level, "mul_s")
	switch c.Op {
	case rfftOp.prim:
		w.plan.Real32(complexes[complex64](out), in, &w.ws)
		if c.Attr[2] == 1 {
			pairs(multiply, out, c.Attr[1], &two32)
		}
	case irfftOp.prim:
		if c.Attr[2] == 1 {
			if w.s32 == nil {
				w.s32 = make([]float32, len(in))
			}
			copy(w.s32, in)
			in = w.s32
			pairs(multiply, in, c.Attr[1], &half32)
		}
		w.plan.RealInverse32(out, complexes[complex64](in), &w.ws)
	default:
		w.plan.Complex64(complexes[complex64](out), complexes[complex64](in), c.Attr[1] == 1, &w.ws)
	}
}

// pairs multiplies the frequencies 0 < j < n/2 of rows of half spectra by v.
func pairs[T cpu.Real](multiply func(dst, a, b *T, n int), x []T, n int, v *T) {
	row, count := n/2*2+2, (n-1)/2*2
	if count == 0 {
		return
	}
	for at := 2; at < len(x); at += row {
		multiply(&x[at], &x[at], v, count)
	}
}

// The factors of pairs.
var (
	two64, half64 = 2.0, 0.5
	two32, half32 = float32(2), float32(0.5)
)

// complexes is the same memory as complex numbers.
func complexes[C complex64 | complex128, T cpu.Real](x []T) []C {
	return unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/2)
}
