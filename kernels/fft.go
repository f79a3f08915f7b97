package kernels

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// FFT is a plan for Fourier transforms of arrays of one shape, 1 to 3 axes, the last fastest. It is immutable and safe
// for concurrent use.
//
//	forward: X[k] = sum over j of x[j] exp(-2 pi i j k/n) along each axis, inverse: exp(+2 pi i j k/n)
//
// Neither is normalised: the inverse of the forward transform is the array times its number of elements. Any length
// goes in O(n log n) steps. The error, as a relative 2-norm, is at most 1e-15 log2(n) in float64 and 6e-8 log2(n) in
// float32, n the number of elements.
type FFT struct {
	shape      [3]int
	size, half int // numbers of the array and of its half spectrum
	level      Level
	once64     sync.Once
	once32     sync.Once
	plan64     *fftPlan[float64]
	plan32     *fftPlan[float32]
}

// FFTWorkspace is the scratch memory of transforms, for one goroutine at a time. The zero value is ready; it grows to
// the largest transform it has seen, and then a transform with Threads below 2 allocates nothing.
type FFTWorkspace struct {
	// Threads is the number of goroutines of a transform; 0 means 1. Results are the same bits for any number.
	Threads int

	team64 fftTeam[float64]
	team32 fftTeam[float32]
}

var fftPlans sync.Map // fftKey to *FFT

type fftKey struct {
	shape [3]int
	level Level
}

// NewFFT returns the plan for arrays of that shape; the same shape gives the same plan, which stays in memory. It
// panics if there are no axes, more than three, or one shorter than 1.
func NewFFT(shape ...int) *FFT { return newFFT(Best(), shape...) }

func newFFT(l Level, shape ...int) *FFT {
	if len(shape) < 1 || len(shape) > 3 {
		panic(fmt.Sprintf("kernels: FFT of %d axes: want 1 to 3", len(shape)))
	}
	key := fftKey{shape: [3]int{1, 1, 1}, level: min(l, available())}
	size := 1
	for i, n := range shape {
		if n < 1 || n > math.MaxInt32 || size > math.MaxInt/64/n {
			panic(fmt.Sprintf("kernels: FFT of shape %v: want lengths from 1 to 2147483647 and an array that fits in memory", shape))
		}
		key.shape[3-len(shape)+i] = n
		size *= n
	}
	if p, ok := fftPlans.Load(key); ok {
		return p.(*FFT)
	}
	last := key.shape[2]
	p, _ := fftPlans.LoadOrStore(key, &FFT{shape: key.shape, level: key.level, size: size, half: size / last * (last/2 + 1)})
	return p.(*FFT)
}

func (p *FFT) at64() *fftPlan[float64] {
	p.once64.Do(func() { p.plan64 = newFFTPlan(one(p.level, &pureFFT64, fft64), p.shape) })
	return p.plan64
}

func (p *FFT) at32() *fftPlan[float32] {
	p.once32.Do(func() { p.plan32 = newFFTPlan(one(p.level, &pureFFT32, fft32), p.shape) })
	return p.plan32
}

// Complex64 transforms src into dst, which may be src. A nil workspace is a new one.
func (p *FFT) Complex64(dst, src []complex64, inverse bool, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.size)
	w = w.orNew()
	p.at32().complex(pairs32(dst), pairs32(src), direction(inverse), &w.team32, w.Threads)
}

// Complex128 is Complex64 for complex128.
func (p *FFT) Complex128(dst, src []complex128, inverse bool, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.size)
	w = w.orNew()
	p.at64().complex(pairs64(dst), pairs64(src), direction(inverse), &w.team64, w.Threads)
}

// Real32 transforms the real src to the half of its spectrum with n/2+1 numbers along the last axis; the other half is
// X[-k] = conj X[k].
func (p *FFT) Real32(dst []complex64, src []float32, w *FFTWorkspace) {
	p.check(len(dst), p.half, len(src), p.size)
	w = w.orNew()
	p.at32().forward(pairs32(dst), src, &w.team32, w.Threads)
}

// Real64 is Real32 for float64.
func (p *FFT) Real64(dst []complex128, src []float64, w *FFTWorkspace) {
	p.check(len(dst), p.half, len(src), p.size)
	w = w.orNew()
	p.at64().forward(pairs64(dst), src, &w.team64, w.Threads)
}

// RealInverse32 transforms a spectrum, of which src is the half with n/2+1 numbers along the last axis, to the real
// array dst: the inverse of Real32, times the number of elements. It keeps src. Imaginary parts that a spectrum of real
// numbers cannot have, at 0 and n/2 of the last axis, are left out.
func (p *FFT) RealInverse32(dst []float32, src []complex64, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.half)
	w = w.orNew()
	p.at32().inverse(dst, pairs32(src), &w.team32, w.Threads)
}

// RealInverse64 is RealInverse32 for float64.
func (p *FFT) RealInverse64(dst []float64, src []complex128, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.half)
	w = w.orNew()
	p.at64().inverse(dst, pairs64(src), &w.team64, w.Threads)
}

func (p *FFT) check(dst, wantDst, src, wantSrc int) {
	if dst != wantDst || src != wantSrc {
		panic(fmt.Sprintf("kernels: FFT of shape %v: dst has %d numbers and src %d, want %d and %d", p.shape, dst, src, wantDst, wantSrc))
	}
}

func (w *FFTWorkspace) orNew() *FFTWorkspace {
	if w == nil {
		return &FFTWorkspace{}
	}
	return w
}

func direction(inverse bool) int {
	if inverse {
		return 1
	}
	return 0
}

func pairs32(c []complex64) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(c))), 2*len(c))
}

func pairs64(c []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(c))), 2*len(c))
}
