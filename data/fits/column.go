// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// Column is one column of a Table. Its methods return the elements of all rows, one row after the
// other, with Repeat elements each.
type Column struct {
	Name   string
	Unit   string // unit as in TUNIT
	Format string // format as in TFORM
	Index  int    // position in the table, from 0
	Repeat int    // number of elements in a row; for strings, the number of strings, not of characters
	Shape  []int  // shape of the elements of a row in C order; nil for a single element

	table      *Table
	at, bytes  int  // where the field is in a row, and its size
	letter     byte // type of an element
	heapLetter byte // type of an element of a list of variable length, 0 otherwise
	descriptor int  // bytes of the number and position of such a list
	chars      int  // bytes of a string
	text       *textField
	scaling
}

// Type returns the Go type of an element as stored: uint8, int16, int32, int64, float32, float64,
// complex64, complex128, bool, string or bits.
func (c *Column) Type() string { return letterType[c.letter] }

// Variable reports whether each row holds a list of its own length. Read such columns with Ragged.
func (c *Column) Variable() bool { return c.heapLetter != 0 }

// Width returns the number of bytes of a string; 0 for other types.
func (c *Column) Width() int { return c.chars }

// Null returns the stored integer that stands for an undefined element (TNULL), and whether there
// is one.
func (c *Column) Null() (int64, bool) { return c.null, c.hasNull }

// Len returns the number of rows.
func (c *Column) Len() int { return c.table.Len() }

// Slice returns the column restricted to the rows from lo up to but not including hi.
func (c *Column) Slice(lo, hi int) *Column { return c.table.Slice(lo, hi).columns[c.Index] }

func (c *Column) bad(format string, args ...any) *FormatError {
	return c.table.hdu.bad(-1, "column %s: %s", c.Name, fmt.Sprintf(format, args...))
}

func (c *Column) typed(err error) error {
	if err == nil {
		return nil
	}
	e := c.bad("%s", err)
	e.Err = ErrType
	return e
}

// count returns the number of elements of all rows, after checking that they are in the file and may
// be allocated.
func (c *Column) count(size int64) (int, error) {
	t := c.table
	if t.err != nil {
		return 0, t.err
	}
	if c.heapLetter != 0 {
		return 0, c.typed(fmt.Errorf("%w: each row is a list of its own length: use Ragged, RaggedInt64s or RaggedStrings", ErrType))
	}
	if err := t.hdu.present(int64(t.lo)*int64(t.width), int64(t.Len())*int64(t.width)); err != nil {
		return 0, err
	}
	per := int64(max(1, c.Repeat))
	if c.bytes == 0 {
		if err := t.hdu.room(int64(t.Len()), per*size); err != nil {
			return 0, err
		}
	}
	return t.Len() * c.Repeat, nil
}

// each calls f with the fields of n consecutive rows, from row at on, gathered into raw.
func (c *Column) each(f func(raw []byte, at, n int) error) error {
	t := c.table
	rows := t.Len()
	if c.bytes == 0 || rows == 0 {
		return nil
	}
	if c.bytes >= 4096 && c.bytes*2 <= t.width { // field by field
		n := max(1, min(rows, (1<<20)/c.bytes))
		buf := make([]byte, n*c.bytes)
		for at := 0; at < rows; at += n {
			k := min(n, rows-at)
			for i := range k {
				if err := t.hdu.reading(buf[i*c.bytes:(i+1)*c.bytes], int64(t.lo+at+i)*int64(t.width)+int64(c.at)); err != nil {
					return err
				}
			}
			if err := f(buf[:k*c.bytes], at, k); err != nil {
				return err
			}
		}
		return nil
	}
	n := max(1, min(rows, (1<<20)/t.width))
	buf := make([]byte, n*t.width)
	for at := 0; at < rows; at += n {
		k := min(n, rows-at)
		if err := t.hdu.reading(buf[:k*t.width], int64(t.lo+at)*int64(t.width)); err != nil {
			return err
		}
		for i := range k {
			copy(buf[i*c.bytes:(i+1)*c.bytes], buf[i*t.width+c.at:])
		}
		if err := f(buf[:k*c.bytes], at, k); err != nil {
			return err
		}
	}
	return nil
}

// Float64s returns the elements as float64. It converts any real type, with truth values as 0 and 1.
// Undefined elements become NaN.
func (c *Column) Float64s() ([]float64, error) {
	n, err := c.count(8)
	if err != nil {
		return nil, err
	}
	dst := make([]float64, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		part := dst[at*c.Repeat : (at+k)*c.Repeat]
		switch {
		case c.text != nil:
			return c.text.floats(c, part, raw)
		case c.letter == 'L':
			for i, b := range raw {
				part[i] = map[byte]float64{'T': 1, 'F': 0}[b]
				if b != 'T' && b != 'F' {
					part[i] = math.NaN()
				}
			}
			return nil
		case strings.IndexByte("BIJKED", c.letter) < 0:
			return c.typed(fmt.Errorf("%w: the elements are %s, not real numbers", ErrType, c.Type()))
		}
		c.floats(part, raw, c.letter)
		return nil
	})
}

// Float32s returns the elements as float32, rounded to nearest.
func (c *Column) Float32s() ([]float32, error) {
	if c.letter != 'E' || c.text != nil {
		wide, err := c.Float64s()
		out := make([]float32, len(wide))
		for i, v := range wide {
			out[i] = float32(v)
		}
		return out, err
	}
	n, err := c.count(4)
	if err != nil {
		return nil, err
	}
	dst := make([]float32, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		c.float32s(dst[at*c.Repeat:(at+k)*c.Repeat], raw, c.letter)
		return nil
	})
}

// Int64s returns integer elements. Undefined elements keep the number that Null returns.
func (c *Column) Int64s() ([]int64, error) {
	n, err := c.count(8)
	if err != nil {
		return nil, err
	}
	dst := make([]int64, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		part := dst[at*c.Repeat : (at+k)*c.Repeat]
		if c.text != nil {
			return c.text.ints(c, part, raw)
		}
		return c.typed(c.ints(part, raw, c.letter))
	})
}

// Uint64s returns integer elements; a negative one is an error.
func (c *Column) Uint64s() ([]uint64, error) {
	if c.text != nil {
		return nil, c.typed(fmt.Errorf("%w: use Int64s for ASCII tables", ErrType))
	}
	n, err := c.count(8)
	if err != nil {
		return nil, err
	}
	dst := make([]uint64, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		return c.typed(c.uints(dst[at*c.Repeat:(at+k)*c.Repeat], raw, c.letter))
	})
}

// Complex128s returns complex elements.
func (c *Column) Complex128s() ([]complex128, error) {
	n, err := c.count(16)
	if err != nil {
		return nil, err
	}
	dst := make([]complex128, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		return c.typed(complexes(dst[at*c.Repeat:(at+k)*c.Repeat], raw, c.letter))
	})
}

// Bools returns truth values, of which undefined ones are false, and bits.
func (c *Column) Bools() ([]bool, error) {
	n, err := c.count(1)
	if err != nil {
		return nil, err
	}
	if c.letter != 'L' && c.letter != 'X' {
		return nil, c.typed(fmt.Errorf("%w: the elements are %s, not truth values", ErrType, c.Type()))
	}
	dst := make([]bool, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		if c.letter == 'L' {
			for i, b := range raw {
				dst[at*c.Repeat+i] = b == 'T'
			}
			return nil
		}
		for row := range k {
			for i := range c.Repeat {
				dst[(at+row)*c.Repeat+i] = raw[row*c.bytes+i/8]>>(7-i%8)&1 == 1
			}
		}
		return nil
	})
}

// Strings returns strings without trailing blanks and zero bytes.
func (c *Column) Strings() ([]string, error) {
	n, err := c.count(16)
	if err != nil {
		return nil, err
	}
	if c.letter != 'A' {
		return nil, c.typed(fmt.Errorf("%w: the elements are %s, not strings", ErrType, c.Type()))
	}
	if c.Repeat > max(1, c.bytes) {
		return nil, c.bad("%d strings of %d bytes do not fit the %d bytes of the column", c.Repeat, c.chars, c.bytes)
	}
	dst := make([]string, n)
	return dst, c.each(func(raw []byte, at, k int) error {
		for row := range k {
			field := raw[row*c.bytes : (row+1)*c.bytes]
			for i := range c.Repeat {
				dst[(at+row)*c.Repeat+i] = trim(field[i*c.chars : (i+1)*c.chars])
			}
		}
		return nil
	})
}

// trim ends a string at its first zero and takes blanks off its end.
func trim(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(bytes.TrimRight(b, " "))
}

// Masked reports which elements are undefined: integers equal to TNULL, NaN, empty strings, truth
// values that are neither true nor false. These are the elements that astropy masks, and for truth
// values those that the standard calls undefined.
func (c *Column) Masked() ([]bool, error) {
	n, err := c.count(1)
	if err != nil {
		return nil, err
	}
	dst := make([]bool, n)
	if c.letter != 'A' && (c.text != nil || c.letter == 'E' || c.letter == 'D') {
		v, err := c.Float64s()
		for i := range v {
			dst[i] = math.IsNaN(v[i])
		}
		return dst, err
	}
	switch c.letter {
	case 'A':
		s, err := c.Strings()
		for i := range s {
			dst[i] = s[i] == ""
		}
		return dst, err
	case 'L':
		return dst, c.each(func(raw []byte, at, k int) error {
			for i, b := range raw {
				dst[at*c.Repeat+i] = b != 'T' && b != 'F'
			}
			return nil
		})
	case 'C', 'M', 'X':
		return dst, nil
	}
	if !c.hasNull {
		return dst, nil
	}
	return dst, c.each(func(raw []byte, at, k int) error {
		for i := range k * c.Repeat {
			dst[at*c.Repeat+i] = stored(raw, c.letter, i) == c.null
		}
		return nil
	})
}
