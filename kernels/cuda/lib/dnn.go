// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"fmt"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// DNN is an open cuDNN library. Only its convolutions are used, through the functions that versions
// 8 and 9 share.
type DNN struct {
	library
	create, destroy, setStream                                      uintptr
	newTensor, freeTensor, newFilter, freeFilter, newConv, freeConv uintptr
	setTensor, setFilter, setConv, setGroups, setMath               uintptr
	size, run                                                       [3]uintptr // by ConvolutionPass
}

// ConvolutionPass is one of the three computations of a convolution.
type ConvolutionPass int

// The passes: y from x and w, the gradient with respect to x from w and the gradient of y, and the
// gradient with respect to w from x and the gradient of y.
const (
	ConvolutionForward ConvolutionPass = iota
	ConvolutionData
	ConvolutionFilter
)

var (
	passNames = [3]string{"cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"}
	sizeNames = [3]string{"cudnnGetConvolutionForwardWorkspaceSize", "cudnnGetConvolutionBackwardDataWorkspaceSize", "cudnnGetConvolutionBackwardFilterWorkspaceSize"}
)

// algorithm is the number of the implicit matrix product in all three passes. Its sums have a fixed order.
const algorithm = 1

// OpenDNN finds and opens cuDNN. The error wraps ErrNotFound.
func OpenDNN() (DNN, error) {
	o, err := load(specDNN)
	if err != nil {
		return DNN{}, err
	}
	if f := o.need("cudnnGetVersion"); f != 0 {
		if v := int(dl.Call(f)); v >= 90000 { // 9.1.2 is 90102, 8.9.7 is 8907
			o.version = dotted(v, 10000, 100)
		} else {
			o.version = dotted(v, 1000, 100)
		}
	}
	d := DNN{library: o.library, create: o.need("cudnnCreate"), destroy: o.need("cudnnDestroy"), setStream: o.need("cudnnSetStream"),
		newTensor: o.need("cudnnCreateTensorDescriptor"), freeTensor: o.need("cudnnDestroyTensorDescriptor"), newFilter: o.need("cudnnCreateFilterDescriptor"),
		freeFilter: o.need("cudnnDestroyFilterDescriptor"), newConv: o.need("cudnnCreateConvolutionDescriptor"), freeConv: o.need("cudnnDestroyConvolutionDescriptor"),
		setTensor: o.need("cudnnSetTensor4dDescriptor"), setFilter: o.need("cudnnSetFilter4dDescriptor"), setConv: o.need("cudnnSetConvolution2dDescriptor"),
		setGroups: o.need("cudnnSetConvolutionGroupCount"), setMath: o.need("cudnnSetConvolutionMathType")}
	for i := range passNames {
		d.size[i], d.run[i] = o.need(sizeNames[i]), o.need(passNames[i])
	}
	return d, o.done()
}

// Create makes a handle for the current context.
func (d DNN) Create() (Handle, error) {
	h := new(Handle)
	err := d.call(d.create, "cudnnCreate", uintptr(unsafe.Pointer(h)))
	return *h, err
}

// Destroy frees a handle.
func (d DNN) Destroy(h Handle) error { return d.call(d.destroy, "cudnnDestroy", uintptr(h)) }

// SetStream chooses the stream on which the calls of a handle run.
func (d DNN) SetStream(h Handle, s drv.Stream) error {
	return d.call(d.setStream, "cudnnSetStream", uintptr(h), uintptr(s))
}

// Convolution is a cross-correlation of planes stored by rows: x is (N, C, H, W), w is (K,
// C/Groups, R, S) and y is (N, K, P, Q).
type Convolution struct {
	N, C, H, W, K, R, S                                int
	PadH, PadW, StrideH, StrideW, DilationH, DilationW int
	Groups                                             int
	// TF32 rounds float32 operands to TF32.
	TF32 bool
}

// Output returns the sizes P and Q of y.
func (c Convolution) Output() (p, q int) {
	return (c.H+2*c.PadH-c.DilationH*(c.R-1)-1)/c.StrideH + 1, (c.W+2*c.PadW-c.DilationW*(c.S-1)-1)/c.StrideW + 1
}

// Described holds the descriptors of a convolution for cuDNN.
type Described struct{ x, w, y, conv Handle }

// Describe makes the descriptors of a convolution.
func (d DNN) Describe(t Type, c Convolution) (Described, error) {
	const rows, correlation, ieee, tensor = 0, 1, 3, 0 // layout NCHW; the default arithmetic allows TF32
	var r Described
	p, q := c.Output()
	math := uintptr(ieee)
	if c.TF32 {
		math = tensor
	}
	err := d.steps(
		func() error { return d.describe(d.newTensor, "cudnnCreateTensorDescriptor", &r.x) },
		func() error { return d.describe(d.newFilter, "cudnnCreateFilterDescriptor", &r.w) },
		func() error { return d.describe(d.newTensor, "cudnnCreateTensorDescriptor", &r.y) },
		func() error { return d.describe(d.newConv, "cudnnCreateConvolutionDescriptor", &r.conv) },
		func() error {
			return d.call(d.setTensor, "cudnnSetTensor4dDescriptor", uintptr(r.x), rows, uintptr(t), uintptr(c.N), uintptr(c.C), uintptr(c.H), uintptr(c.W))
		},
		func() error {
			return d.call(d.setFilter, "cudnnSetFilter4dDescriptor", uintptr(r.w), uintptr(t), rows, uintptr(c.K), uintptr(c.C/c.Groups), uintptr(c.R), uintptr(c.S))
		},
		func() error {
			return d.call(d.setTensor, "cudnnSetTensor4dDescriptor", uintptr(r.y), rows, uintptr(t), uintptr(c.N), uintptr(c.K), uintptr(p), uintptr(q))
		},
		func() error {
			return d.call(d.setConv, "cudnnSetConvolution2dDescriptor", uintptr(r.conv), uintptr(c.PadH), uintptr(c.PadW), uintptr(c.StrideH), uintptr(c.StrideW),
				uintptr(c.DilationH), uintptr(c.DilationW), correlation, uintptr(t))
		},
		func() error {
			return d.call(d.setGroups, "cudnnSetConvolutionGroupCount", uintptr(r.conv), uintptr(c.Groups))
		},
		func() error { return d.call(d.setMath, "cudnnSetConvolutionMathType", uintptr(r.conv), math) },
	)
	if err != nil {
		d.Forget(r)
		return Described{}, err
	}
	return r, nil
}

func (d DNN) describe(f uintptr, name string, to *Handle) error {
	h := new(Handle)
	err := d.call(f, name, uintptr(unsafe.Pointer(h)))
	*to = *h
	return err
}

func (d DNN) steps(all ...func() error) error {
	for _, f := range all {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// Forget destroys the descriptors that Describe made.
func (d DNN) Forget(r Described) {
	for _, h := range []struct {
		f uintptr
		h Handle
	}{{d.freeTensor, r.x}, {d.freeFilter, r.w}, {d.freeTensor, r.y}, {d.freeConv, r.conv}} {
		if h.h != 0 {
			dl.Call(h.f, uintptr(h.h))
		}
	}
}

// order returns the descriptors of both operands and of the result.
func (r Described) order(p ConvolutionPass) (a, b, out Handle) {
	switch p {
	case ConvolutionForward:
		return r.x, r.w, r.y
	case ConvolutionData:
		return r.w, r.y, r.x
	case ConvolutionFilter:
		return r.x, r.y, r.w
	}
	panic(fmt.Sprintf("lib: there is no convolution pass %d", p))
}

// WorkBytes returns the size of the workspace of a pass in bytes.
func (d DNN) WorkBytes(h Handle, r Described, p ConvolutionPass) (int, error) {
	a, b, out := r.order(p)
	n := new(uint64)
	err := d.call(d.size[p], sizeNames[p], uintptr(h), uintptr(a), uintptr(b), uintptr(r.conv), uintptr(out), algorithm, uintptr(unsafe.Pointer(n)))
	return int(*n), err
}

// Run puts a pass on the handle's stream. Its operands are x and w, w and dy, or x and dy.
func (d DNN) Run(h Handle, t Type, r Described, p ConvolutionPass, out, first, second, work drv.DevicePtr, bytes int) error {
	a, b, o := r.order(p)
	one, zero := newScalar(1), newScalar(0)
	return d.call(d.run[p], passNames[p], uintptr(h), uintptr(one.pointer(t)), uintptr(a), uintptr(first), uintptr(b), uintptr(second), uintptr(r.conv), algorithm,
		uintptr(work), uintptr(bytes), uintptr(zero.pointer(t)), uintptr(o), uintptr(out))
}
