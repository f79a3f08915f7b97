// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"fmt"
	"strings"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// elementwise computes a map of arrays of one shape and type, and of numbers.
func (e *Engine) elementwise(name string, bytes bool, arrays []gt.Tensor, scalars []float64, opts []gt.FuncOpt) (gt.Tensor, error) {
	list := make([]*operand, len(arrays))
	parts := make([]cuda.Part, len(arrays))
	var kind cuda.Type
	for i, x := range arrays {
		o, err := e.operand(x)
		if err != nil {
			return nil, err
		}
		defer o.done()
		if kind, err = o.real(); err != nil {
			return nil, err
		}
		if i > 0 && (x.Dtype() != arrays[0].Dtype() || !x.Shape().Eq(arrays[0].Shape())) {
			return nil, fmt.Errorf("device: %s: the arrays have shape %v of %v and shape %v of %v: want equal shapes and types", name, arrays[0].Shape(), arrays[0].Dtype(), x.Shape(), x.Dtype())
		}
		if err := o.align(); err != nil {
			return nil, err
		}
		list[i], parts[i] = o, o.part
	}
	fo := gt.ParseFuncOpts(opts...)
	dtype := list[0].t.Dtype()
	if bytes && !fo.Same() {
		dtype = gt.Bool
		base, variant, _ := strings.Cut(name, "_")
		if name = base + "_bool"; variant != "" {
			name += "_" + variant
		}
	}
	out, err := e.target(list[0].t, list[0].t.Shape(), dtype, fo)
	if err != nil {
		return nil, err
	}
	return out.finish(e.k.Map(e.d.Default(), name, kind, list[0].elements(), out.at(), parts, scalars...))
}

func (e *Engine) unary(name string, a gt.Tensor, opts []gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise(name, false, []gt.Tensor{a}, nil, opts)
}

func (e *Engine) binary(name string, a, b gt.Tensor, opts []gt.FuncOpt) (gt.Tensor, error) {
	return e.elementwise(name, false, []gt.Tensor{a, b}, nil, opts)
}

// scalar computes a map of an array and a number, which stands on the right if left says that the array
// stands on the left.
func (e *Engine) scalar(name string, bytes bool, a gt.Tensor, b any, left bool, opts []gt.FuncOpt) (gt.Tensor, error) {
	v, err := e.number(b, a.Dtype())
	if err != nil {
		return nil, err
	}
	variant := "_st"
	if left {
		variant = "_ts"
	}
	return e.elementwise(name+variant, bytes, []gt.Tensor{a}, []float64{v}, opts)
}

// number returns a number, or the element of an array that has one, wherever that is.
func (e *Engine) number(x any, dtype gt.Dtype) (float64, error) {
	if t, ok := x.(*gt.Dense); ok {
		if t.Dtype() != dtype {
			return 0, fmt.Errorf("device: the number is %v, but the array holds %v: convert one of them", t.Dtype(), dtype)
		}
		return e.only(t)
	}
	switch v := x.(type) {
	case float64:
		if dtype == gt.Float64 {
			return v, nil
		}
	case float32:
		if dtype == gt.Float32 {
			return float64(v), nil
		}
	}
	return 0, fmt.Errorf("device: the number is a %T, but the array holds %v: convert one of them", x, dtype)
}

// only returns the only element of an array.
func (e *Engine) only(t *gt.Dense) (float64, error) {
	if t.Shape().TotalSize() > 1 {
		return 0, fmt.Errorf("device: an array of shape %v was passed where one number is needed: pass an array of one element", t.Shape())
	}
	if !t.IsNativelyAccessible() {
		o, err := e.operand(t)
		if err != nil {
			return 0, err
		}
		defer o.done()
		kind, err := o.real()
		if err != nil {
			return 0, err
		}
		return e.fetch(kind, o.part)
	}
	switch v := t.Data().(type) {
	case float64:
		return v, nil
	case float32:
		return float64(v), nil
	case []float64:
		return v[0], nil
	case []float32:
		return float64(v[0]), nil
	}
	return 0, fmt.Errorf("device: the elements are %v: convert them to float32 or float64", t.Dtype())
}

// fetch copies one number from the device.
func (e *Engine) fetch(kind cuda.Type, p cuda.Part) (float64, error) {
	if kind == cuda.Float64 {
		v := make([]float64, 1)
		err := e.d.CopyOut(context.Background(), v, p.Buffer, p.Offset)
		return v[0], err
	}
	v := make([]float32, 1)
	err := e.d.CopyOut(context.Background(), v, p.Buffer, p.Offset)
	return float64(v[0]), err
}

// Clamp limits the elements to the range from least to most.
func (e *Engine) Clamp(a gt.Tensor, least, most interface{}, opts ...gt.FuncOpt) (gt.Tensor, error) {
	lo, err := e.number(least, a.Dtype())
	if err != nil {
		return nil, err
	}
	hi, err := e.number(most, a.Dtype())
	if err != nil {
		return nil, err
	}
	return e.elementwise("clamp", false, []gt.Tensor{a}, []float64{lo, hi}, opts)
}

// Map returns an error: a function of Go cannot run on the device. Without it Dense.Apply would print the array in its own error, and
// so read memory that Go cannot read.
func (e *Engine) Map(fn interface{}, a gt.Tensor, _ ...gt.FuncOpt) (gt.Tensor, error) {
	return nil, fmt.Errorf("device: a %T cannot be applied to an array of shape %v on %s: use operations of the engine, or apply it to what ToHost returns", fn, a.Shape(), e)
}
