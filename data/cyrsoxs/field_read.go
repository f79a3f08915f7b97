// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"runtime"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// slabBytes is the number of bytes of a dataset that are read at a time, if its chunks allow.
const slabBytes = 4 << 20

// field reads a dataset of n numbers per voxel.
func (v *volume) field(key string, n int) (Field, error) {
	d, err := v.file.Dataset(key)
	if err != nil {
		return Field{}, v.lacks(key, err)
	}
	if err := v.fits(d, n); err != nil {
		return Field{}, err
	}
	f := newField(v.m.Voxels()*n, v.o.Double)
	slabs := v.slabs(d)
	errs := make([]error, len(slabs))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(slabs)) {
		wait.Go(func() {
			var buf Field // buffer of this worker
			for i := range next {
				errs[i] = v.slab(d, f, slabs[i], n, &buf)
			}
		})
	}
	for i := range slabs {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs { // the first in the order of the file
		if err != nil {
			return Field{}, err
		}
	}
	return f, nil
}

// fits checks type, shape and labels of a dataset.
func (v *volume) fits(d *hdf5.Dataset, n int) error {
	t := d.Type()
	if t.Class != hdf5.Float || t.Size != 4 && t.Size != 8 {
		return v.bad(d.Path(), "store it as float32 or float64", "the elements are %s", t)
	}
	want := slices.Clone(v.m.Shape[:])
	if v.order == "XYZ" {
		slices.Reverse(want)
	}
	if n > 1 {
		want = append(want, n)
	}
	if !slices.Equal(d.Shape(), want) {
		return v.bad(d.Path(), "give all fields the shape of the first material's", "it has the shape %v, want %v", d.Shape(), want)
	}
	order, err := v.labels(d)
	if err == nil && order != v.order {
		err = v.bad(d.Path(), "label all fields alike", "its axes have the order %s, but those of other fields %s", order, v.order)
	}
	return err
}

// slab is a range of indices along a dataset's first axis.
type slab struct{ from, to int }

// slabs divides a dataset into slabs at the borders of chunks.
func (v *volume) slabs(d *hdf5.Dataset) []slab {
	length, step := d.Shape()[0], 1
	if c := d.Chunks(); c != nil {
		step = max(c[0], 1)
	}
	row := d.Len() / length * d.Type().Size
	if many := slabBytes / max(row*step, 1); many > 1 {
		step *= many
	}
	var all []slab
	for from := 0; from < length; from += min(step, length) {
		all = append(all, slab{from, min(from+step, length)})
	}
	return all
}

// slab reads a range into the field: directly, or through buf if the order of axes or the precision
// differs.
func (v *volume) slab(d *hdf5.Dataset, f Field, s slab, n int, buf *Field) error {
	offset, count := make([]int, len(d.Shape())), d.Shape()
	offset[0], count[0] = s.from, s.to-s.from
	row := d.Len() / d.Shape()[0]
	to, double := f, d.Type().Size == 8
	direct := v.order == "ZYX" && double == v.o.Double
	if direct {
		to = f.part(s.from*row, s.to*row)
	} else {
		if buf.Len() < count[0]*row {
			*buf = newField(count[0]*row, double)
		}
		to = buf.part(0, count[0]*row)
	}
	if err := to.fill(d.Slab(offset, count)); err != nil {
		return err
	}
	if i := to.notFinite(!v.o.Double); i >= 0 {
		return v.bad(d.Path(), "make every number finite in the precision asked for", "it is %v at index %v", to.At(i), index(i+s.from*row, d.Shape()))
	}
	switch {
	case v.order == "XYZ":
		turn(f, to, v.m.Shape, s, n)
	case !direct:
		f.part(s.from*row, s.to*row).copy(to)
	}
	return nil
}

// index returns the position of element i in an array, in the order of the file.
func index(i int, shape []int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}
