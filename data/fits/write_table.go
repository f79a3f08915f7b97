// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Data is a column to be written.
type Data struct {
	Name   string
	Unit   string // unit for TUNIT
	Values any    // slice of numbers, complex numbers, bool or string, or [][]float64, [][]float32, [][]int64, [][]int32 for lists of variable length
	Shape  []int  // shape of the elements of one row in C order; default: one element
	Width  int    // number of bytes of a string; default: the length of the longest one
	Mask   []bool // true for elements that are undefined; default: no such elements
	Null   int64  // stored integer that stands for undefined elements; default: 999999, or one that does not occur
	// Bits stores bools as single bits.
	Bits bool
}

// field is a column made ready: encode writes the field of one row.
type field struct {
	Data
	form   string
	size   int
	rows   int
	zero   float64
	null   int64
	dim    string
	encode func(dst []byte, row int)
	list   func(row int) ([]byte, int) // bytes and number of elements of a list
	longer int
}

// Table writes a binary table. All columns must have the same number of rows. h may be nil; it may hold
// cards such as TCOMM1.
func (w *Writer) Table(name string, h *Header, columns []Data) error {
	if w.err != nil {
		return w.err
	}
	fields := make([]field, len(columns))
	rows, width, lists := 0, 0, false
	for i, d := range columns {
		f, err := fieldOf(d)
		if err != nil {
			return w.fail(name, fmt.Errorf("column %s: %w", d.Name, err))
		}
		if i == 0 {
			rows = f.rows
		}
		if f.rows != rows {
			return w.fail(name, fmt.Errorf("column %s has %d rows, but the first column has %d: give equal numbers", d.Name, f.rows, rows))
		}
		fields[i] = f
		width += f.size
		lists = lists || f.list != nil
	}
	if w.hdus == 0 {
		w.Primary(nil)
	}
	heap := int64(0)
	if lists {
		for i := range fields {
			heap += fields[i].measure()
		}
	}
	if err := w.beginTable(name, h, fields, rows, width, heap); err != nil {
		return err
	}
	if err := w.rows(fields, rows, width); err != nil {
		return err
	}
	for row := range rows {
		for i := range fields {
			if fields[i].list == nil {
				continue
			}
			if b, _ := fields[i].list(row); len(b) > 0 {
				if err := w.data(b); err != nil {
					return err
				}
			}
		}
		if !lists {
			break
		}
	}
	return w.finish()
}

// beginTable starts the HDU of a table.
func (w *Writer) beginTable(name string, h *Header, fields []field, rows, width int, heap int64) error {
	if len(fields) > 999 {
		return w.fail(name, fmt.Errorf("the table has %d columns, but FITS allows at most 999: split it", len(fields)))
	}
	layout := []Card{{Key: "BITPIX", Value: int64(8), Comment: "bytes"}, {Key: "NAXIS", Value: int64(2), Comment: "rows of bytes"},
		{Key: "NAXIS1", Value: int64(width), Comment: "bytes of a row"}, {Key: "NAXIS2", Value: int64(rows), Comment: "number of rows"},
		{Key: "PCOUNT", Value: heap, Comment: "bytes of the heap"}, {Key: "GCOUNT", Value: int64(1)}, {Key: "TFIELDS", Value: int64(len(fields)), Comment: "number of columns"}}
	var late []Card
	for i := range fields {
		late = append(late, fields[i].cards(i+1)...)
	}
	return w.begin(name, false, layout, late, h)
}

// rows writes the fixed part of all rows.
func (w *Writer) rows(fields []field, rows, width int) error {
	if width == 0 {
		return nil
	}
	k := max(1, min(rows, (1<<20)/width))
	buf := make([]byte, 0, k*width)
	pos := int64(0)
	for row := range rows {
		at := len(buf)
		buf = buf[:at+width]
		clear(buf[at:])
		for i := range fields {
			f := &fields[i]
			if f.list != nil {
				b, n := f.list(row)
				binary.BigEndian.PutUint64(buf[at:], uint64(n))
				binary.BigEndian.PutUint64(buf[at+8:], uint64(pos))
				pos += int64(len(b))
			} else {
				f.encode(buf[at:at+f.size], row)
			}
			at += f.size
		}
		if len(buf) == cap(buf) || row == rows-1 {
			if err := w.data(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// measure returns the bytes of all lists and remembers the longest for TFORM.
func (f *field) measure() int64 {
	if f.list == nil {
		return 0
	}
	total := int64(0)
	for row := range f.rows {
		b, n := f.list(row)
		total += int64(len(b))
		f.longer = max(f.longer, n)
	}
	f.form += fmt.Sprintf("(%d)", f.longer)
	return total
}

func (f *field) cards(i int) []Card {
	key := func(s string) string { return fmt.Sprintf("%s%d", s, i) }
	out := []Card{{Key: key("TTYPE"), Value: f.Name}, {Key: key("TFORM"), Value: f.form}}
	if f.Unit != "" {
		out = append(out, Card{Key: key("TUNIT"), Value: f.Unit})
	}
	if f.dim != "" {
		out = append(out, Card{Key: key("TDIM"), Value: f.dim})
	}
	if f.zero != 0 {
		out = append(out, Card{Key: key("TSCAL"), Value: int64(1)}, zeroCard(key("TZERO"), f.zero))
	}
	if f.null != 0 {
		out = append(out, Card{Key: key("TNULL"), Value: f.null})
	}
	return out
}

// fieldOf prepares a column.
func fieldOf(d Data) (field, error) {
	f := field{Data: d}
	repeat := 1
	for _, n := range d.Shape {
		if n < 0 || n > 0 && repeat > math.MaxInt32/n {
			return f, fmt.Errorf("the shape %v has a negative or too large length", d.Shape)
		}
		repeat *= n
	}
	total, err := f.elements(repeat)
	if err != nil {
		return f, err
	}
	if repeat > 0 {
		f.rows = total / repeat
	}
	if repeat == 0 && total > 0 || repeat > 0 && total%repeat != 0 {
		return f, fmt.Errorf("%d elements do not fill rows of the shape %v: give a multiple", total, d.Shape)
	}
	if d.Mask != nil && len(d.Mask) != total {
		return f, fmt.Errorf("the mask has %d elements, but there are %d values: give equal numbers", len(d.Mask), total)
	}
	if len(d.Shape) > 1 && f.dim == "" {
		f.dim = dimOf(d.Shape)
	}
	return f, nil
}

func dimOf(shape []int) string {
	var parts []string
	for _, n := range slices.Backward(shape) {
		parts = append(parts, fmt.Sprint(n))
	}
	return "(" + strings.Join(parts, ",") + ")"
}

func (f *field) masked(i int) bool { return f.Mask != nil && f.Mask[i] }

// elements sets type, size and encoding of a column, and returns the number of its elements.
func (f *field) elements(repeat int) (int, error) {
	switch v := f.Values.(type) {
	case []string:
		return len(v), f.strings(v, repeat)
	case []bool:
		f.bools(v, repeat)
		return len(v), nil
	case []complex64:
		f.fixed('C', 8, repeat, func(dst []byte, i int) {
			binary.BigEndian.PutUint32(dst, math.Float32bits(real(v[i])))
			binary.BigEndian.PutUint32(dst[4:], math.Float32bits(imag(v[i])))
		})
		return len(v), nil
	case []complex128:
		f.fixed('M', 16, repeat, func(dst []byte, i int) {
			binary.BigEndian.PutUint64(dst, math.Float64bits(real(v[i])))
			binary.BigEndian.PutUint64(dst[8:], math.Float64bits(imag(v[i])))
		})
		return len(v), nil
	case []float32:
		f.fixed('E', 4, repeat, func(dst []byte, i int) {
			x := v[i]
			if f.masked(i) {
				x = float32(math.NaN())
			}
			binary.BigEndian.PutUint32(dst, math.Float32bits(x))
		})
		return len(v), nil
	case []float64:
		f.fixed('D', 8, repeat, func(dst []byte, i int) {
			x := v[i]
			if f.masked(i) {
				x = math.NaN()
			}
			binary.BigEndian.PutUint64(dst, math.Float64bits(x))
		})
		return len(v), nil
	}
	if done, err := f.lists(repeat); done {
		return f.rows, err
	}
	return f.integers(repeat)
}

// fixed sets up a column of elements of one size.
func (f *field) fixed(letter byte, size, repeat int, one func(dst []byte, i int)) {
	f.form, f.size = fmt.Sprintf("%d%c", repeat, letter), size*repeat
	if repeat == 1 {
		f.form = string(letter)
	}
	f.encode = func(dst []byte, row int) {
		for k := range repeat {
			one(dst[k*size:], row*repeat+k)
		}
	}
}

func (f *field) strings(v []string, repeat int) error {
	width := f.Width
	for i, s := range v {
		if f.Width > 0 && len(s) > f.Width {
			return fmt.Errorf("the string %q of %d bytes does not fit %d: raise Width", s, len(s), f.Width)
		}
		if j := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }); j >= 0 {
			return fmt.Errorf("string %q in row %d has a character that FITS tables cannot hold: use ASCII", s, i/max(1, repeat))
		}
		width = max(width, len(s))
	}
	width = max(width, 1)
	f.form, f.size = fmt.Sprintf("%dA", width*repeat), width*repeat
	if len(f.Shape) > 0 {
		f.dim = dimOf(append(slices.Clone(f.Shape), width))
	}
	f.encode = func(dst []byte, row int) {
		for k := range repeat {
			if i := row*repeat + k; !f.masked(i) {
				copy(dst[k*width:], v[i])
			}
		}
	}
	return nil
}

func (f *field) bools(v []bool, repeat int) {
	if f.Bits {
		f.form, f.size = fmt.Sprintf("%dX", repeat), (repeat+7)/8
		f.encode = func(dst []byte, row int) {
			for k := range repeat {
				if v[row*repeat+k] {
					dst[k/8] |= 1 << (7 - k%8)
				}
			}
		}
		return
	}
	f.fixed('L', 1, repeat, func(dst []byte, i int) {
		switch {
		case f.masked(i):
		case v[i]:
			dst[0] = 'T'
		default:
			dst[0] = 'F'
		}
	})
}

// integers sets up a column of any integer type, with TNULL if elements are masked.
func (f *field) integers(repeat int) (int, error) {
	v, err := valuesOf(f.Values)
	if err != nil || f.Values == nil {
		return 0, fmt.Errorf("%T cannot be written: want a slice of numbers, bool or string, or lists of numbers", f.Values)
	}
	f.zero = v.zero
	raw := make([]byte, v.n*v.size)
	if v.n > 0 {
		v.encode(raw, 0, v.n)
	}
	if f.Mask != nil && len(f.Mask) == v.n {
		if f.null, err = nullOf(f.Null, raw, v, f.Mask); err != nil {
			return 0, err
		}
	}
	f.fixed(v.letter, v.size, repeat, func(dst []byte, i int) {
		if !f.masked(i) {
			copy(dst, raw[i*v.size:(i+1)*v.size])
			return
		}
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(f.null))
		copy(dst, b[8-v.size:])
	})
	return v.n, nil
}

// nullOf returns an integer that no element that is defined is stored as.
func nullOf(want int64, raw []byte, v values, mask []bool) (int64, error) {
	lowest, highest := int64(0), int64(255)
	if v.letter != 'B' {
		lowest, highest = -1<<(8*v.size-1), 1<<(8*v.size-1)-1
	}
	used := map[int64]bool{0: true} // 0 would look like no TNULL
	for i := range mask {
		if !mask[i] {
			used[stored(raw, v.letter, i)] = true
		}
	}
	candidates := []int64{want, 999999, lowest, highest}
	for k := range int64(256) {
		candidates = append(candidates, highest-k)
	}
	for _, n := range candidates {
		if n >= lowest && n <= highest && !used[n] {
			return n, nil
		}
	}
	return 0, fmt.Errorf("every integer of the type occurs, so none can stand for undefined elements: set Null, or use a wider type")
}

// lists sets up a column of lists of variable length.
func (f *field) lists(repeat int) (done bool, err error) {
	var one func(row int) any
	switch v := f.Values.(type) {
	case [][]float64:
		f.rows, f.form, one = len(v), "1QD", func(row int) any { return v[row] }
	case [][]float32:
		f.rows, f.form, one = len(v), "1QE", func(row int) any { return v[row] }
	case [][]int64:
		f.rows, f.form, one = len(v), "1QK", func(row int) any { return v[row] }
	case [][]int32:
		f.rows, f.form, one = len(v), "1QJ", func(row int) any { return v[row] }
	case [][]int16:
		f.rows, f.form, one = len(v), "1QI", func(row int) any { return v[row] }
	case [][]uint8:
		f.rows, f.form, one = len(v), "1QB", func(row int) any { return v[row] }
	default:
		return false, nil
	}
	if repeat != 1 || f.Mask != nil {
		return true, fmt.Errorf("lists of variable length can have neither Shape nor Mask: leave them out")
	}
	f.size = 16
	f.list = func(row int) ([]byte, int) {
		v, _ := valuesOf(one(row))
		b := make([]byte, v.n*v.size)
		if v.n > 0 {
			v.encode(b, 0, v.n)
		}
		return b, v.n
	}
	return true, nil
}
