// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Transform is the kind of a Fourier transform.
type Transform int

// The kinds: complex to complex, real to the non-redundant half of the spectrum, and back from that
// half to real.
const (
	Complex Transform = iota
	RealToComplex
	ComplexToReal
)

// kinds are cuFFT's numbers: C2C and Z2Z, R2C and D2Z, C2R and Z2D.
var kinds = [3][2]uintptr{{0x29, 0x69}, {0x2a, 0x6a}, {0x2c, 0x6c}}

// FFT is an open cuFFT library.
type FFT struct {
	library
	create, setAuto, makePlan, setWork, setStream, destroy uintptr
	exec                                                   [3]entry
}

// OpenFFT finds and opens cuFFT. The error wraps ErrNotFound.
func OpenFFT() (FFT, error) {
	o, err := load(specFFT)
	if err != nil {
		return FFT{}, err
	}
	o.version = dotted(o.number("cufftGetVersion"), 1000, 100)
	f := FFT{library: o.library, create: o.need("cufftCreate"), setAuto: o.need("cufftSetAutoAllocation"), makePlan: o.need("cufftMakePlanMany64"),
		setWork: o.need("cufftSetWorkArea"), setStream: o.need("cufftSetStream"), destroy: o.need("cufftDestroy"),
		exec: [3]entry{o.both("cufftExec%s", "C2C", "Z2Z"), o.both("cufftExec%s", "R2C", "D2Z"), o.both("cufftExec%s", "C2R", "Z2D")}}
	return f, o.done()
}

// Plan makes a plan for a batch of transforms of dense arrays that follow each other, and returns
// the size of its workspace in bytes. shape is that of the real or complex array, slowest axis
// first, with one to three axes. The spectra of real transforms have n/2+1 complex numbers along
// the last axis.
func (f FFT) Plan(t Type, k Transform, shape []int, batch int) (plan Handle, bytes int, err error) {
	// A plan is an int in C; the word around it is zero.
	p, size, n := new(Handle), new(uint64), new([3]int64)
	if err = f.call(f.create, "cufftCreate", uintptr(unsafe.Pointer(p))); err != nil {
		return 0, 0, err
	}
	real, half := int64(1), int64(1)
	for i, l := range shape {
		n[i] = int64(l)
		real *= n[i]
		if i == len(shape)-1 {
			half *= n[i]/2 + 1
		} else {
			half *= n[i]
		}
	}
	in, out := real, real
	if k == RealToComplex {
		out = half
	}
	if k == ComplexToReal {
		in = half
	}
	if err = f.call(f.setAuto, "cufftSetAutoAllocation", uintptr(*p), 0); err == nil {
		// Without embedding dimensions cuFFT takes the arrays as dense, and ignores strides and distances.
		err = f.call(f.makePlan, "cufftMakePlanMany64", uintptr(*p), uintptr(len(shape)), uintptr(unsafe.Pointer(n)), 0, 1, uintptr(in), 0, 1, uintptr(out),
			kinds[k][t], uintptr(batch), uintptr(unsafe.Pointer(size)))
	}
	if err != nil {
		f.Destroy(*p)
		return 0, 0, err
	}
	return *p, int(*size), nil
}

// Destroy frees a plan.
func (f FFT) Destroy(plan Handle) error { return f.call(f.destroy, "cufftDestroy", uintptr(plan)) }

// SetStream chooses the stream on which a plan runs.
func (f FFT) SetStream(plan Handle, s drv.Stream) error {
	return f.call(f.setStream, "cufftSetStream", uintptr(plan), uintptr(s))
}

// SetWork gives a plan its workspace.
func (f FFT) SetWork(plan Handle, work drv.DevicePtr) error {
	return f.call(f.setWork, "cufftSetWorkArea", uintptr(plan), uintptr(work))
}

// Exec puts a transform on the plan's stream. The forward transform uses exp(-2 pi i jk/n), and
// neither direction is divided by n. A transform from complex to real may change its input.
func (f FFT) Exec(plan Handle, t Type, k Transform, inverse bool, dst, src drv.DevicePtr) error {
	e := f.exec[k]
	if k != Complex {
		return f.call(e.address[t], e.name[t], uintptr(plan), uintptr(src), uintptr(dst))
	}
	direction := -1
	if inverse {
		direction = 1
	}
	return f.call(e.address[t], e.name[t], uintptr(plan), uintptr(src), uintptr(dst), uintptr(direction))
}
