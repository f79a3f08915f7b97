package gorgonia

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// feed is where the elements of one input go. One of the slices is not nil.
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
	return fmt.Errorf("a %T of shape %v, want %v", v, v.Shape(), f)
}

func (f *feed) dense(d *gt.Dense) error {
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
		return fmt.Errorf("a tensor of %v of shape %v, want %v", d.Dtype(), d.Shape(), f)
	}
	return nil
}

// String says what f takes.
func (f *feed) String() string {
	switch {
	case f.f32 != nil:
		return fmt.Sprintf("%d of float32", len(f.f32))
	case f.ints != nil:
		return fmt.Sprintf("%d of int", len(f.ints))
	}
	return fmt.Sprintf("%d of float64", len(f.f64))
}

// room is a feed of the same kind that belongs to no State.
func (f feed) room() feed {
	switch {
	case f.f64 != nil:
		return feed{f64: make([]float64, len(f.f64))}
	case f.f32 != nil:
		return feed{f32: make([]float32, len(f.f32))}
	}
	return feed{ints: make([]int64, len(f.ints))}
}

func (f feed) copy(from feed) {
	copy(f.f64, from.f64)
	copy(f.f32, from.f32)
	copy(f.ints, from.ints)
}

// equal reports whether the elements are the same; a NaN is not.
func (f feed) equal(o feed) bool {
	return slices.Equal(f.f64, o.f64) && slices.Equal(f.f32, o.f32) && slices.Equal(f.ints, o.ints)
}

func (f feed) fill(v float64) {
	for i := range f.f64 {
		f.f64[i] = v
	}
	for i := range f.f32 {
		f.f32[i] = float32(v)
	}
}
