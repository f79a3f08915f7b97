// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// FFT is a plan for Fourier transforms of arrays of one shape, 1 to 3 axes, the last fastest. It is
// immutable and safe for concurrent use.
//
//	forward: X[k] = sum over j of x[j] exp(-2 pi i j k/n) along each axis, inverse: exp(+2 pi i j k/n)
//
// Neither is normalised: the inverse of the forward transform is the array times its number of
// elements. Any length takes O(n log n) steps. The error, as a relative 2-norm, is at most 1e-15
// log2(n) in float64 and 6e-8 log2(n) in float32, n the number of elements.
type FFT struct {
	fftKey
	size, half int // numbers in one array, and in its half spectrum
	once64     sync.Once
	once32     sync.Once
	plan64     *fftPlan[float64]
	plan32     *fftPlan[float32]
}

// FFTWorkspace is the scratch memory of transforms. It may be used by one goroutine at a time. The
// zero value is ready to use; it grows to the largest transform so far, after which a transform
// allocates nothing.
type FFTWorkspace struct {
	// Threads is the number of goroutines of a transform; 0 means 1. The bits of the results do not
	// depend on it.
	Threads int

	team64 fftTeam[float64]
	team32 fftTeam[float32]
}

var fftPlans sync.Map // plans made so far: fftKey to *FFT

type fftKey struct {
	shape [3]int
	batch bool // whether the first axis counts independent arrays
	count int  // number of arrays, one after another
	level Level
}

// NewFFT returns the plan for arrays of a shape. Plans are cached: the same shape always gives the
// same plan. It panics if there are no axes, more than three, or one shorter than 1.
func NewFFT(shape ...int) *FFT { return NewFFTBatch(Best(), 1, shape...) }

// NewFFTBatch is NewFFT for count arrays of that shape, one after another, with instruction sets up
// to level l. Arrays with one or two axes are transformed side by side. It panics if count is below
// 1.
func NewFFTBatch(l Level, count int, shape ...int) *FFT {
	axes := len(shape)
	if axes < 1 || axes > 3 || count < 1 {
		panic(fmt.Sprintf("kernels: FFT was given %d arrays of %d axes: want at least one array, of 1 to 3 axes", count, axes))
	}
	key := fftKey{shape: [3]int{1, 1, 1}, count: count, level: usable(l)}
	size := count
	for i, n := range shape {
		if n < 1 || n > math.MaxInt32 || size > math.MaxInt/64/n {
			panic(fmt.Sprintf("kernels: FFT was given %d arrays of shape %v: want lengths from 1 to 2147483647 that fit in memory", count, shape))
		}
		key.shape[3-axes+i] = n
		size *= n
	}
	if axes < 3 && count > 1 {
		key.shape[0], key.batch, key.count = count, true, 1
	}
	if p, ok := fftPlans.Load(key); ok {
		return p.(*FFT)
	}
	last := key.shape[2]
	size /= key.count
	p, _ := fftPlans.LoadOrStore(key, &FFT{fftKey: key, size: size, half: size / last * (last/2 + 1)})
	return p.(*FFT)
}

func (p *FFT) at64() *fftPlan[float64] {
	p.once64.Do(func() { p.plan64 = newFFTPlan(one(p.level, &pureFFT64, fft64), p.shape, p.batch) })
	return p.plan64
}

func (p *FFT) at32() *fftPlan[float32] {
	p.once32.Do(func() { p.plan32 = newFFTPlan(one(p.level, &pureFFT32, fft32), p.shape, p.batch) })
	return p.plan32
}

// Complex64 transforms src into dst, which may be src. If the workspace is nil, a new one is used.
func (p *FFT) Complex64(dst, src []complex64, inverse bool, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.size)
	w = w.orNew()
	d, x := pairs32(dst), pairs32(src)
	for i := range p.count {
		p.at32().complex(nth(d, i, p.count), nth(x, i, p.count), direction(inverse), &w.team32, w.Threads)
	}
}

// Complex128 is Complex64 for complex128.
func (p *FFT) Complex128(dst, src []complex128, inverse bool, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.size)
	w = w.orNew()
	d, x := pairs64(dst), pairs64(src)
	for i := range p.count {
		p.at64().complex(nth(d, i, p.count), nth(x, i, p.count), direction(inverse), &w.team64, w.Threads)
	}
}

// Real32 transforms the real src to the half of its spectrum with n/2+1 numbers along the last axis; the other half is
// X[-k] = conj X[k]. With one thread, and one transform in the plan, src may be the last part of the memory of dst.
func (p *FFT) Real32(dst []complex64, src []float32, w *FFTWorkspace) {
	p.check(len(dst), p.half, len(src), p.size)
	w = w.orNew()
	d, x := pairs32(dst), src
	for i := range p.count {
		p.at32().forward(nth(d, i, p.count), nth(x, i, p.count), &w.team32, w.Threads)
	}
}

// Real64 is Real32 for float64.
func (p *FFT) Real64(dst []complex128, src []float64, w *FFTWorkspace) {
	p.check(len(dst), p.half, len(src), p.size)
	w = w.orNew()
	d, x := pairs64(dst), src
	for i := range p.count {
		p.at64().forward(nth(d, i, p.count), nth(x, i, p.count), &w.team64, w.Threads)
	}
}

// RealInverse32 transforms a spectrum, of which src is the half with n/2+1 numbers along the last
// axis, to the real array dst: the inverse of Real32, times the number of elements. It does not
// change src, but with one thread and one transform in the plan dst may be the first part of the
// memory of src. Imaginary parts that a spectrum of real numbers cannot have, at 0 and n/2 of the
// last axis, are ignored.
func (p *FFT) RealInverse32(dst []float32, src []complex64, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.half)
	w = w.orNew()
	d, x := dst, pairs32(src)
	for i := range p.count {
		p.at32().inverse(nth(d, i, p.count), nth(x, i, p.count), &w.team32, w.Threads)
	}
}

// RealInverse64 is RealInverse32 for float64.
func (p *FFT) RealInverse64(dst []float64, src []complex128, w *FFTWorkspace) {
	p.check(len(dst), p.size, len(src), p.half)
	w = w.orNew()
	d, x := dst, pairs64(src)
	for i := range p.count {
		p.at64().inverse(nth(d, i, p.count), nth(x, i, p.count), &w.team64, w.Threads)
	}
}

func (p *FFT) check(dst, wantDst, src, wantSrc int) {
	if dst != wantDst*p.count || src != wantSrc*p.count {
		panic(fmt.Sprintf("kernels: FFT of %d arrays of shape %v: dst has %d numbers and src has %d: want %d and %d", p.count, p.shape, dst, src, wantDst*p.count, wantSrc*p.count))
	}
}

// nth returns array i of the count arrays in x.
func nth[T float](x []T, i, count int) []T {
	n := len(x) / count
	return x[i*n : (i+1)*n]
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
