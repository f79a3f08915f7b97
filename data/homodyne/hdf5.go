// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// hdf5Source reads matrices that are datasets.
type hdf5Source struct {
	*hdf5.File
	name   string
	keys   []string
	frames int
}

// read implements source.
func (s *hdf5Source) read(bins []int, lo, hi int, put func(k int, block []float64)) error {
	n := hi - lo
	for k, b := range bins {
		d, shape, err := square(s.File, s.name, s.keys[b])
		if err != nil {
			return err
		}
		if shape[1] != s.frames {
			return bad(s.name, s.keys[b], "it has %d frames, but %s has %d; want matrices of the same frames", shape[1], s.keys[0], s.frames)
		}
		offset, count := []int{lo, lo}, []int{n, n}
		for range len(d.Shape()) - 2 {
			offset, count = append([]int{0}, offset...), append([]int{1}, count...)
		}
		block := make([]float64, n*n)
		if err := d.Slab(offset, count).Float64sTo(block); err != nil {
			return &FormatError{Format: "homodyne", File: s.name, Place: s.keys[b], What: "it cannot be read", Err: err, Try: "copy the file again"}
		}
		put(k, block)
	}
	return nil
}

// square opens a dataset of two equal axes, before which axes of length 1 may stand.
func square(h *hdf5.File, name, key string) (*hdf5.Dataset, []int, error) {
	d, err := h.Dataset(key)
	if err != nil {
		return nil, nil, &FormatError{Format: "homodyne", File: name, Place: key, What: "it cannot be read", Err: err, Try: "copy the file again"}
	}
	shape := d.Shape()
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 || shape[0] != shape[1] || shape[0] == 0 {
		return nil, nil, bad(name, key, "it has the shape %v; want a square of frames by frames", d.Shape())
	}
	return d, shape, nil
}

// open takes the matrices of a group, in the natural order of their names.
func (f *File) open(h *hdf5.File, group string, keep func(name string) bool) error {
	names, err := h.Keys(group)
	if err != nil {
		return &FormatError{Format: "homodyne", File: f.Name, Place: group, What: "the group cannot be listed", Err: err, Try: "copy the file again"}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return !keep(s) })
	if len(names) == 0 {
		return bad(f.Name, group, "it has no matrices; check that the correlation was finished")
	}
	slices.SortStableFunc(names, natural)
	s := &hdf5Source{File: h, name: f.Name}
	for _, n := range names {
		s.keys = append(s.keys, group+"/"+n)
	}
	_, shape, err := square(h, f.Name, s.keys[0])
	if err != nil {
		return err
	}
	f.Frames, s.frames, f.source = shape[1], shape[1], s
	return nil
}

// natural compares names so that numbers in them count by their value: c2_9 comes before c2_10.
func natural(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// mostList is the largest number of elements of a list of bins that is read.
const mostList = 1 << 20

// list reads numbers with any number of axes of which one is longer than 1: (1, N), (N, 1) and (N) are the same.
func list(h *hdf5.File, name, key string) ([]float64, error) {
	d, err := h.Dataset(key)
	if err != nil {
		return nil, &FormatError{Format: "homodyne", File: name, Place: key, What: "it is missing", Try: "give a result of the correlation", Err: err}
	}
	long := 0
	for _, n := range d.Shape() {
		if n != 1 {
			long++
		}
	}
	if long > 1 || d.Len() == 0 || d.Len() > mostList {
		return nil, bad(name, key, "it has the shape %v; want (1, bins) or (bins)", d.Shape())
	}
	v, err := d.Float64s()
	if err != nil {
		return nil, &FormatError{Format: "homodyne", File: name, Place: key, What: "it cannot be read", Err: err, Try: "copy the file again"}
	}
	return v, nil
}

// whole reads a list of whole numbers.
func whole(h *hdf5.File, name, key string) ([]int, error) {
	v, err := list(h, name, key)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(v))
	for i, x := range v {
		if x != math.Trunc(x) || math.Abs(x) > 1<<40 {
			return nil, bad(name, key, "element %d is %g; want whole numbers", i, x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// first returns the first of the paths that exists, or "".
func first(h *hdf5.File, paths ...string) string {
	for _, p := range paths {
		if h.Has(p) {
			return p
		}
	}
	return ""
}

// step returns the time from row to row: that of a frame times how many are skipped and summed.
func step(h *hdf5.File, name string, time, stride, average []string) (float64, error) {
	t := math.NaN()
	for i, paths := range [][]string{time, stride, average} {
		key := first(h, paths...)
		if key == "" {
			continue
		}
		v, err := list(h, name, key)
		if err != nil {
			return t, err
		}
		if len(v) != 1 || !(v[0] > 0) || math.IsInf(v[0], 1) {
			return t, bad(name, key, "it is %s; want one number above 0", short(v))
		}
		if i == 0 {
			t = v[0]
		} else {
			t *= v[0]
		}
	}
	return t, nil
}

// short shows the first numbers of a list.
func short(v []float64) string {
	text := make([]string, 0, 8)
	for i, x := range v {
		if i == 8 {
			return strings.Join(text, ", ") + fmt.Sprintf(" and %d more", len(v)-i)
		}
		text = append(text, fmt.Sprintf("%.6g", x))
	}
	return strings.Join(text, ", ")
}
