// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
)

var (
	_ gt.MatMuler    = (*Engine)(nil)
	_ gt.MatVecMuler = (*Engine)(nil)
	_ gt.InnerProder = (*Engine)(nil)
	_ gt.Dotter      = (*Engine)(nil)
	_ gt.Transposer  = (*Engine)(nil)
)

// operands looks up arrays of one type.
func (e *Engine) operands(name string, arrays ...gt.Tensor) (list []*operand, kind cuda.Type, err error) {
	for _, x := range arrays {
		o, err := e.operand(x)
		if err != nil {
			return nil, 0, err
		}
		if kind, err = o.real(); err != nil {
			return nil, 0, err
		}
		if x.Dtype() != arrays[0].Dtype() {
			return nil, 0, fmt.Errorf("device: %s: the arrays hold %v and %v: convert one of them", name, arrays[0].Dtype(), x.Dtype())
		}
		list = append(list, o)
	}
	return list, kind, nil
}

// matrix returns an operand of two axes.
func (o *operand) matrix() basic.Matrix {
	l := o.layout
	return basic.Matrix{Part: o.part, Rows: l.Shape[0], Columns: l.Shape[1], RowStride: l.Strides[0], ColumnStride: l.Strides[1]}
}

// MatMul writes the product of two matrices into a third, which may be one of the operands. It
// reads every layout without copying.
func (e *Engine) MatMul(a, b, preallocated gt.Tensor) error {
	list, kind, err := e.operands("MatMul", a, b, preallocated)
	if err != nil {
		return err
	}
	x, y, z := list[0], list[1], list[2]
	defer x.done()
	defer y.done()
	defer z.done()
	for _, o := range list {
		if len(o.layout.Shape) != 2 {
			return fmt.Errorf("device: MatMul cannot write the product of shapes %v and %v to shape %v: want matrices whose shapes match", a.Shape(), b.Shape(), preallocated.Shape())
		}
	}
	s, c := e.d.Default(), z.matrix()
	if z.block != x.block && z.block != y.block {
		return e.k.MatMul(s, kind, c, x.matrix(), y.matrix())
	}
	work, err := e.alloc(z.elements() * z.size())
	if err != nil {
		return err
	}
	defer e.free(work)
	c.Part, c.RowStride, c.ColumnStride = work.buf.At(0), c.Columns, 1
	if err := e.k.MatMul(s, kind, c, x.matrix(), y.matrix()); err != nil {
		return err
	}
	return e.k.Scatter(s, z.size(), z.part, c.Part, z.layout)
}

// MatVecMul writes the product of a matrix and a vector into another vector.
func (e *Engine) MatVecMul(a, b, preallocated gt.Tensor) error {
	list, kind, err := e.operands("MatVecMul", a, b, preallocated)
	if err != nil {
		return err
	}
	x, v, y := list[0], list[1], list[2]
	defer x.done()
	defer v.done()
	defer y.done()
	if len(x.layout.Shape) != 2 || v.elements() != x.layout.Shape[1] || y.elements() != x.layout.Shape[0] {
		return fmt.Errorf("device: MatVecMul cannot write the product of shapes %v and %v to shape %v: want a matrix and vectors whose lengths match", a.Shape(), b.Shape(), preallocated.Shape())
	}
	if err := v.flatten(); err != nil {
		return err
	}
	s := e.d.Default()
	if y.rowMajor() && y.block != x.block && y.block != v.block {
		return e.k.MatVec(s, kind, y.part, 1, x.matrix(), v.part, 1)
	}
	work, err := e.alloc(y.elements() * y.size())
	if err != nil {
		return err
	}
	defer e.free(work)
	if err := e.k.MatVec(s, kind, work.buf.At(0), 1, x.matrix(), v.part, 1); err != nil {
		return err
	}
	return e.k.Scatter(s, y.size(), y.part, work.buf.At(0), y.layout)
}

// Inner returns the inner product of two vectors, as float32 or float64.
func (e *Engine) Inner(a, b gt.Tensor) (interface{}, error) {
	list, kind, err := e.operands("Inner", a, b)
	if err != nil {
		return nil, err
	}
	x, y := list[0], list[1]
	defer x.done()
	defer y.done()
	if x.elements() != y.elements() {
		return nil, fmt.Errorf("device: shapes %v and %v have no inner product: want two vectors of equal length", a.Shape(), b.Shape())
	}
	for _, o := range list {
		if err := o.flatten(); err != nil {
			return nil, err
		}
	}
	work, err := e.alloc(8)
	if err != nil {
		return nil, err
	}
	defer e.free(work)
	n := x.elements()
	row := basic.Matrix{Part: x.part, Rows: 1, Columns: n, RowStride: n, ColumnStride: 1}
	if err := e.k.MatVec(e.d.Default(), kind, work.buf.At(0), 1, row, y.part, 1); err != nil {
		return nil, err
	}
	v, err := e.fetch(kind, work.buf.At(0))
	return typed(v, kind), err
}

// Dot computes the product of two arrays by the rules of numpy.dot: of a number and an array, of
// two vectors (one number, in the processor's memory), of a matrix and a vector, and otherwise
// along the last axis of a and the last axis but one of b.
func (e *Engine) Dot(a, b gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) {
	x, okA := a.(*gt.Dense)
	y, okB := b.(*gt.Dense)
	if !okA || !okB {
		return nil, fmt.Errorf("device: Dot cannot multiply a %T and a %T: pass *tensor.Dense", a, b)
	}
	switch dimsA, dimsB := x.Dims(), y.Dims(); {
	case x.IsScalar() || y.IsScalar():
		return gt.Mul(a, b, opts...)
	case dimsA == 1 && dimsB == 1:
		v, err := e.Inner(a, b)
		if err != nil {
			return nil, err
		}
		return gt.New(gt.FromScalar(v)), nil
	case dimsA == 2 && dimsB == 1:
		opts, err := e.room(opts, x.Dtype(), x.Shape()[:1])
		if err != nil {
			return nil, err
		}
		return dense(x.MatVecMul(y, opts...))
	case dimsA == 1 && dimsB == 2:
		opts, err := e.room(opts, x.Dtype(), y.Shape()[1:])
		if err != nil {
			return nil, err
		}
		turned := y.ShallowClone()
		if err := turned.T(); err != nil {
			return nil, err
		}
		return dense(turned.MatVecMul(x, opts...))
	case dimsA == 2 && dimsB == 2:
		opts, err := e.room(opts, x.Dtype(), gt.Shape{x.Shape()[0], y.Shape()[1]})
		if err != nil {
			return nil, err
		}
		return dense(x.MatMul(y, opts...))
	default:
		if len(opts) > 0 {
			return nil, fmt.Errorf("device: Dot of arrays of shapes %v and %v takes no options: call it without them", a.Shape(), b.Shape())
		}
		return dense(x.TensorMul(y, []int{dimsA - 1}, []int{max(0, dimsB-2)}))
	}
}

// room adds a new array for the result to the options, where there are none: Gorgonia panics if it
// finds no memory for one.
func (e *Engine) room(opts []gt.FuncOpt, dtype gt.Dtype, shape gt.Shape) ([]gt.FuncOpt, error) {
	if len(opts) > 0 {
		return opts, nil
	}
	out, _, err := e.make(dtype, shape)
	if err != nil {
		return nil, err
	}
	return []gt.FuncOpt{gt.WithReuse(out)}, nil
}

// dense returns nil as a nil interface.
func dense(t *gt.Dense, err error) (gt.Tensor, error) {
	if t == nil {
		return nil, err
	}
	return t, err
}

// Transpose moves the elements of an array whose axes Dense.T has exchanged into the order of its
// new shape.
func (e *Engine) Transpose(t gt.Tensor, _ []int) error {
	o, err := e.operand(t)
	if err != nil {
		return err
	}
	defer o.done()
	if o.rowMajor() {
		return nil
	}
	to := o.part
	if err := o.flatten(); err != nil {
		return err
	}
	return e.d.Default().Copy(to.Buffer, to.Offset, o.part.Buffer, o.part.Offset, o.elements()*o.size())
}
