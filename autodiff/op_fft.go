package autodiff

import (
	"math"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Complex arrays are real ones with one more axis, the last, of length 2: the
// real and the imaginary part. In memory they are arrays of complex128 or
// complex64. The gradient of a complex number z = x + iy is dL/dx + i dL/dy. See
// Complex, Real, Imag, Conj, CMul and Abs2.

// FourierNorm says which transform is divided by what; n is the number of
// elements transformed.
type FourierNorm int

const (
	NormBackward FourierNorm = iota // the inverse by n, as NumPy does by default
	NormOrtho                       // both by the root of n, which keeps norms
	NormForward                     // the forward transform by n
)

// FFT returns the Fourier transform of the complex x along the axes, at most
// three, counted without the last one of length 2; no axes mean all.
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

// RFFT returns the Fourier transform of the real x along the axes, at most three;
// no axes mean all. Of the last of them, of length n, the result has the first
// n/2+1 frequencies: the others are their conjugates.
//
// Gradient: the real part of the inverse sum over the frequencies there are.
func RFFT(x *Node, norm FourierNorm, axes ...int) *Node {
	p := transformOf("rfft", x, false, axes)
	if p.bad != nil {
		return p.bad
	}
	y := realSpectrum(Permute(x, p.perm...), len(p.axes))
	return p.back(Scale(norm.factor(p.size, false), y), true)
}

// IRFFT returns the real array of which x is the half of a Fourier transform that
// RFFT gives; n is the length of the last of the axes in the result, 2(m-1) or
// 2m-1 where x has m. Imaginary parts that no real array has are left out.
func IRFFT(x *Node, n int, norm FourierNorm, axes ...int) *Node {
	p := transformOf("irfft", x, true, axes)
	if p.bad != nil {
		return p.bad
	}
	last := x.shape[p.axes[len(p.axes)-1]]
	if n < 1 || n/2+1 != last {
		return mistake("irfft", "a result of length %d from %d frequencies of shape %v: want length %d or %d", n, last, x.shape, 2*last-2, 2*last-1)
	}
	y := realOfSpectrum(Permute(x, p.perm...), len(p.axes), n)
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
	axes []int // from 0
	perm []int // brings them to the end, before the parts of complex numbers
	rank int   // without that axis
	size int   // elements along the axes
	bad  *Node
}

func transformOf(op string, x *Node, isComplex bool, axes []int) (p transform) {
	if p.bad = firstErr(x); p.bad != nil {
		return p
	}
	p.rank = len(x.shape)
	if isComplex {
		p.rank--
		if p.rank < 0 || x.shape[p.rank] != 2 {
			p.bad = failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape}, Want: "a last axis of length 2, the parts of complex numbers; see Complex"})
			return p
		}
	}
	if x.isInt {
		p.bad = mistake(op, "%v holds indices: convert it with Float", x)
		return p
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
			p.bad = mistake(op, "axes %v of shape %v: want one to three different ones of %d", axes, x.shape, p.rank)
			return p
		}
		used[ax] = true
		p.axes, p.size = append(p.axes, ax), p.size*x.shape[ax]
	}
	if len(p.axes) == 0 || p.size == 0 {
		p.bad = mistake(op, "axes %v of shape %v: want one to three axes, none empty", axes, x.shape)
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

func realSpectrum(x *Node, k int) *Node {
	s := append(x.shape.Clone(), 2)
	s[len(s)-2] = s[len(s)-2]/2 + 1
	y := newNode(rfftOp, s, x)
	y.attr = []int{k, x.shape[len(x.shape)-1]}
	return y
}

func realOfSpectrum(x *Node, k, n int) *Node {
	s := lead(x, 1)
	s[len(s)-1] = n
	y := newNode(irfftOp, s, x)
	y.attr = []int{k, n}
	return y
}

// paired multiplies the frequencies 0 < j < n/2 of the half spectrum x, which
// stand for two, by v.
func paired(x *Node, n int, v float64) *Node {
	w := make([]float64, n/2+1)
	for j := range w {
		w[j] = v
		if j == 0 || 2*j == n {
			w[j] = 1
		}
	}
	return Mul(x, Const(w, len(w), 1))
}

var fftOp, rfftOp, irfftOp *Op

func init() {
	fftOp = register(&Op{Name: "fft", Arity: 1, kind: step, Smooth: true, matrix: true,
		vjp: func(g, y *Node, _ []*Node) []*Node { return []*Node{complexSpectrum(g, y.attr[0], 1-y.attr[1])} },
		run: func(c *call) error { return runFourier(c, c.shape[:len(c.shape)-1]) },
		Sample: func(in Source) []*Node {
			return []*Node{FFT(in(-2, 2, 5, 2), NormBackward), IFFT(in(-2, 2, 2, 3, 4, 2), NormOrtho, 0, -1), CMul(FFT(in(-1, 1, 2, 1, 3, 2), NormForward), in(-1, 1, 2))}
		}})
	rfftOp = register(&Op{Name: "rfft", Arity: 1, kind: step, Smooth: true, matrix: true,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			k, n := y.attr[0], y.attr[1]
			return []*Node{realOfSpectrum(paired(g, n, 0.5), k, n)}
		},
		run: func(c *call) error { return runFourier(c, c.inShape[0]) },
		Sample: func(in Source) []*Node {
			return []*Node{RFFT(in(-2, 2, 5), NormBackward), RFFT(in(-2, 2, 3, 4), NormOrtho), Square(RFFT(in(-1, 1, 2, 3, 4), NormForward, 1, 0))}
		}})
	irfftOp = register(&Op{Name: "irfft", Arity: 1, kind: step, Smooth: true, matrix: true,
		vjp: func(g, y *Node, _ []*Node) []*Node { return []*Node{paired(realSpectrum(g, y.attr[0]), y.attr[1], 2)} },
		run: func(c *call) error { return runFourier(c, c.shape) },
		Sample: func(in Source) []*Node {
			return []*Node{IRFFT(in(-2, 2, 3, 2), 4, NormBackward), IRFFT(in(-2, 2, 3, 3, 2), 5, NormOrtho), Square(IRFFT(in(-1, 1, 2, 2, 2, 2), 2, NormForward))}
		}})
}

// fourierWork is a plan and its scratch.
type fourierWork struct {
	plan *kernels.FFT
	ws   kernels.FFTWorkspace
}

// shareTransformFrom is the number of elements above which a transform uses all
// goroutines of the run.
const shareTransformFrom = 1 << 16

// runFourier transforms the last axes of shape, that of the elements
// themselves; the others are batches.
func runFourier(c *call, shape tensor.Shape) error {
	if len(c.out64) == 0 && len(c.out32) == 0 {
		return nil
	}
	w := scratch(c, func() *fourierWork {
		axes := shape[len(shape)-c.attr[0]:]
		w := &fourierWork{plan: kernels.NewFFTBatch(c.level, shape.Size()/axes.Size(), axes...)}
		if shape.Size() >= shareTransformFrom {
			w.ws.Threads = c.threads
		}
		return w
	})
	if c.in32 != nil {
		out, in := c.out32, c.in32[0]
		switch c.op {
		case rfftOp:
			w.plan.Real32(complexes[complex64](out), in, &w.ws)
		case irfftOp:
			w.plan.RealInverse32(out, complexes[complex64](in), &w.ws)
		default:
			w.plan.Complex64(complexes[complex64](out), complexes[complex64](in), c.attr[1] == 1, &w.ws)
		}
		return nil
	}
	out, in := c.out64, c.in64[0]
	switch c.op {
	case rfftOp:
		w.plan.Real64(complexes[complex128](out), in, &w.ws)
	case irfftOp:
		w.plan.RealInverse64(out, complexes[complex128](in), &w.ws)
	default:
		w.plan.Complex128(complexes[complex128](out), complexes[complex128](in), c.attr[1] == 1, &w.ws)
	}
	return nil
}

// complexes is the same memory as complex numbers.
func complexes[C complex64 | complex128, T real](x []T) []C {
	return unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/2)
}
