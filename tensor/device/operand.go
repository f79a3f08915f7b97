// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"
	"runtime"
	"weak"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
)

// operand is an array of the device as kernels see it. It keeps the array reachable until done.
type operand struct {
	e      *Engine
	t      *gt.Dense
	block  *block
	part   cuda.Part
	layout basic.Layout
	tmp    *block // a contiguous copy, which done frees
}

// operand looks an array up.
func (e *Engine) operand(x gt.Tensor) (*operand, error) {
	t, ok := x.(*gt.Dense)
	switch {
	case !ok:
		return nil, fmt.Errorf("device: cannot compute with a %T: pass a *tensor.Dense", x)
	case t.IsMasked():
		return nil, fmt.Errorf("device: the array has a mask: fill or remove the masked elements first")
	case t.IsNativelyAccessible():
		return nil, fmt.Errorf("%w: the array of shape %v is in the processor's memory: copy it with Engine.ToDevice", ErrNotHere, t.Shape())
	case t.MemSize() == 0:
		return nil, fmt.Errorf("%w: the array of shape %v has no memory: copy it with Engine.ToDevice", ErrNotHere, t.Shape())
	}
	e.mu.Lock()
	b, known := e.owned[weak.Make(t)]
	e.mu.Unlock()
	if known && b == nil {
		return nil, fmt.Errorf("%w: the array of shape %v was released: keep it until its last use", ErrNotHere, t.Shape())
	}
	if b = e.find(t.Uintptr(), t.MemSize()); b == nil {
		return nil, fmt.Errorf("%w: the array of shape %v at %#x was released or belongs to another engine: copy it with Engine.ToDevice", ErrNotHere, t.Shape(), t.Uintptr())
	}
	if !t.IsView() && b.at == t.Uintptr() {
		e.claim(t, b)
	}
	o := &operand{e: e, t: t, block: b, part: b.buf.At(int(t.Uintptr() - b.at)), layout: basic.Layout{Shape: t.Shape().Clone(), Strides: append([]int(nil), t.Strides()...)}}
	if t.IsScalar() {
		o.layout = basic.Layout{}
	}
	if len(o.layout.Shape) != len(o.layout.Strides) {
		return nil, fmt.Errorf("device: the array has shape %v and strides %v: want one stride for each axis", t.Shape(), t.Strides())
	}
	return o, nil
}

// size returns the bytes of an element.
func (o *operand) size() int { return int(o.t.Dtype().Size()) }

// elements returns their number.
func (o *operand) elements() int { return max(1, o.t.Shape().TotalSize()) }

// real returns the type of the elements, or an error if they are not float32 or float64.
func (o *operand) real() (cuda.Type, error) { return real(o.t.Dtype()) }

func real(d gt.Dtype) (cuda.Type, error) {
	switch d {
	case gt.Float32:
		return cuda.Float32, nil
	case gt.Float64:
		return cuda.Float64, nil
	}
	return 0, fmt.Errorf("device: the elements are %v: convert them to float32 or float64", d)
}

// rowMajor reports whether the elements lie in order without gaps.
func (o *operand) rowMajor() bool {
	n := 1
	for i := len(o.layout.Shape) - 1; i >= 0; i-- {
		if o.layout.Shape[i] != 1 && o.layout.Strides[i] != n {
			return false
		}
		n *= o.layout.Shape[i]
	}
	return true
}

// flatten makes the operand contiguous in row-major order, by a copy unless it is so.
func (o *operand) flatten() error {
	if o.rowMajor() {
		return nil
	}
	var err error
	if o.tmp, err = o.e.alloc(o.elements() * o.size()); err != nil {
		return err
	}
	from := o.part
	o.part = o.tmp.buf.At(0)
	return o.e.k.Gather(o.e.d.Default(), o.size(), o.part, from, o.layout)
}

// align makes the operand contiguous at a multiple of 16 bytes, as maps want it.
func (o *operand) align() error {
	if err := o.flatten(); err != nil || o.part.Offset%16 == 0 {
		return err
	}
	var err error
	if o.tmp, err = o.e.alloc(o.elements() * o.size()); err != nil {
		return err
	}
	from := o.part
	o.part = o.tmp.buf.At(0)
	return o.e.d.Default().Copy(o.part.Buffer, 0, from.Buffer, from.Offset, o.elements()*o.size())
}

// done frees the copy. The array was reachable until here.
func (o *operand) done() {
	if o.tmp != nil {
		o.e.free(o.tmp)
	}
	runtime.KeepAlive(o.t)
}

// target is where an operation writes.
type target struct {
	*operand
	incr bool // the result is added to what is there
	work *block
}

// target prepares the destination of a result, which the options of Gorgonia choose: the tensor to
// reuse, the one to increment, the first operand if it may be overwritten, or a new one.
func (e *Engine) target(first *gt.Dense, shape gt.Shape, dtype gt.Dtype, fo *gt.OpOpt) (*target, error) {
	into, incr := fo.IncrReuse()
	if into == nil && !fo.Safe() && first.Dtype() == dtype {
		into = first
	}
	if into == nil {
		t, _, err := e.make(dtype, shape)
		if err != nil {
			return nil, err
		}
		into = t
	}
	o, err := e.operand(into)
	if err != nil {
		return nil, err
	}
	if o.t.Dtype() != dtype || o.elements() != max(1, shape.TotalSize()) {
		return nil, fmt.Errorf("device: the result has shape %v of %v, but the tensor to write it to has shape %v of %v: make them equal", shape, dtype, o.t.Shape(), o.t.Dtype())
	}
	if !o.t.Shape().Eq(shape) {
		if err := o.t.Reshape(shape.Clone()...); err != nil {
			return nil, err
		}
		return e.target(first, shape, dtype, fo)
	}
	out := &target{operand: o, incr: incr}
	if incr || !o.rowMajor() || o.part.Offset%16 != 0 {
		if out.work, err = e.alloc(o.elements() * o.size()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// at returns where kernels write: the array, or memory from which finish moves the result.
func (t *target) at() cuda.Part {
	if t.work != nil {
		return t.work.buf.At(0)
	}
	return t.part
}

// finish moves the result into place and returns the array.
func (t *target) finish(err error) (gt.Tensor, error) {
	defer t.done()
	if t.work == nil || err != nil {
		return t.t, err
	}
	defer t.e.free(t.work)
	s, from := t.e.d.Default(), t.work.buf.At(0)
	if t.incr {
		kind, err := t.real()
		if err != nil {
			return nil, err
		}
		to := *t.operand
		if err := to.align(); err != nil {
			return nil, err
		}
		if err := t.e.k.Map(s, "add", kind, t.elements(), from, []cuda.Part{to.part, from}); err != nil {
			return nil, err
		}
		if to.tmp != nil {
			t.e.free(to.tmp)
		}
	}
	return t.t, t.e.k.Scatter(s, t.size(), t.part, from, t.layout)
}
