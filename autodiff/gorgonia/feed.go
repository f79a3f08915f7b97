// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// feed is the destination of the elements of one input. Exactly one of the slices is not nil.
type feed struct {
	f64  []float64
	f32  []float32
	ints []int64
}

func newFeed(s *ad.State, i int) feed {
	return feed{f64: s.Input(i), f32: s.Input32(i), ints: s.InputInts(i)}
}

// value copies v. It does not allocate where v is contiguous.
func (f *feed) value(v G.Value) error {
	switch v := v.(type) {
	case *gt.Dense:
		return f.dense(v)
	case *G.F64:
		if len(f.f64) == 1 {
			f.f64[0] = float64(*v)
			return nil
		}
	case *G.F32:
		if len(f.f32) == 1 {
			f.f32[0] = float32(*v)
			return nil
		}
	case *G.I:
		if len(f.ints) == 1 {
			f.ints[0] = int64(*v)
			return nil
		}
	}
	return fmt.Errorf("a %T of shape %v: want %v", v, v.Shape(), f)
}

func (f *feed) dense(d *gt.Dense) error {
	if !d.IsNativelyAccessible() {
		return fmt.Errorf("a value of shape %v in the memory of a device: copy it to the host first", d.Shape())
	}
	d = rowMajor(d)
	n := -1
	switch t := d.Dtype(); {
	case t == gt.Float64 && f.f64 != nil:
		if n = len(d.Float64s()); n == len(f.f64) {
			copy(f.f64, d.Float64s())
		}
	case t == gt.Float32 && f.f32 != nil:
		if n = len(d.Float32s()); n == len(f.f32) {
			copy(f.f32, d.Float32s())
		}
	case t == gt.Int && f.ints != nil:
		if n = len(d.Ints()); n == len(f.ints) {
			for i, v := range d.Ints() {
				f.ints[i] = int64(v)
			}
		}
	}
	if n != len(f.f64)+len(f.f32)+len(f.ints) {
		return fmt.Errorf("a tensor of %v of shape %v: want %v", d.Dtype(), d.Shape(), f)
	}
	return nil
}

// String returns the type and size that f takes.
func (f *feed) String() string {
	switch {
	case f.f32 != nil:
		return fmt.Sprintf("%d of float32", len(f.f32))
	case f.ints != nil:
		return fmt.Sprintf("%d of int", len(f.ints))
	}
	return fmt.Sprintf("%d of float64", len(f.f64))
}

// holds reports whether the elements are those of v, in order; a NaN is not.
func (f *feed) holds(v G.Value) bool {
	switch v := v.(type) {
	case *G.F64:
		return len(f.f64) == 1 && f.f64[0] == float64(*v)
	case *G.F32:
		return len(f.f32) == 1 && f.f32[0] == float32(*v)
	case *G.I:
		return len(f.ints) == 1 && f.ints[0] == int64(*v)
	case *gt.Dense:
		switch {
		case !isRowMajor(v):
		case v.Dtype() == gt.Float64:
			return f.f64 != nil && slices.Equal(f.f64, v.Float64s())
		case v.Dtype() == gt.Float32:
			return f.f32 != nil && slices.Equal(f.f32, v.Float32s())
		case v.Dtype() == gt.Int:
			return slices.EqualFunc(f.ints, v.Ints(), func(a int64, b int) bool { return a == int64(b) })
		}
	}
	return false
}

func (f *feed) fill(v float64) {
	for i := range f.f64 {
		f.f64[i] = v
	}
	for i := range f.f32 {
		f.f32[i] = float32(v)
	}
}
