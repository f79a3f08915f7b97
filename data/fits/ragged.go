// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"encoding/binary"
	"fmt"
)

// Ragged returns lists of variable length, one per row. It converts any real number type.
func (c *Column) Ragged() ([][]float64, error) {
	var out [][]float64
	return out, c.lists(8, func(rows int) { out = make([][]float64, rows) }, func(row int, raw []byte, n int) error {
		if letterType[c.letter] == "" || c.letter == 'A' || c.letter == 'C' || c.letter == 'M' || c.letter == 'L' || c.letter == 'X' {
			return fmt.Errorf("%w: the elements are %s, not real numbers", ErrType, c.Type())
		}
		out[row] = make([]float64, n)
		c.floats(out[row], raw, c.letter)
		return nil
	})
}

// RaggedInt64s returns lists of integers.
func (c *Column) RaggedInt64s() ([][]int64, error) {
	var out [][]int64
	return out, c.lists(8, func(rows int) { out = make([][]int64, rows) }, func(row int, raw []byte, n int) error {
		out[row] = make([]int64, n)
		return c.ints(out[row], raw, c.letter)
	})
}

// RaggedComplex128s returns lists of complex numbers.
func (c *Column) RaggedComplex128s() ([][]complex128, error) {
	var out [][]complex128
	return out, c.lists(16, func(rows int) { out = make([][]complex128, rows) }, func(row int, raw []byte, n int) error {
		out[row] = make([]complex128, n)
		return complexes(out[row], raw, c.letter)
	})
}

// RaggedBools returns lists of truth values or bits.
func (c *Column) RaggedBools() ([][]bool, error) {
	var out [][]bool
	return out, c.lists(8, func(rows int) { out = make([][]bool, rows) }, func(row int, raw []byte, n int) error {
		if c.letter != 'L' && c.letter != 'X' {
			return fmt.Errorf("%w: the elements are %s, not truth values", ErrType, c.Type())
		}
		out[row] = make([]bool, n)
		for i := range n {
			if c.letter == 'L' {
				out[row][i] = raw[i] == 'T'
			} else {
				out[row][i] = raw[i/8]>>(7-i%8)&1 == 1
			}
		}
		return nil
	})
}

// RaggedStrings returns strings of variable length, one per row.
func (c *Column) RaggedStrings() ([]string, error) {
	var out []string
	return out, c.lists(1, func(rows int) { out = make([]string, rows) }, func(row int, raw []byte, n int) error {
		if c.letter != 'A' {
			return fmt.Errorf("%w: the elements are %s, not characters", ErrType, c.Type())
		}
		out[row] = trim(raw)
		return nil
	})
}

// lists calls begin with the number of rows, and f with the bytes and the number of elements of each
// list. In all, lists of size bytes an element may not take more than File.MaxBytes.
func (c *Column) lists(size int64, begin func(rows int), f func(row int, raw []byte, n int) error) error {
	t := c.table
	if t.err != nil {
		return t.err
	}
	if c.heapLetter == 0 {
		return c.typed(fmt.Errorf("%w: all rows have %d elements: use Float64s, Int64s or Strings", ErrType, c.Repeat))
	}
	if err := t.hdu.present(int64(t.lo)*int64(t.width), int64(t.Len())*int64(t.width)); err != nil {
		return err
	}
	if err := t.hdu.room(int64(t.Len()), 24); err != nil {
		return err
	}
	begin(t.Len())
	total := int64(0)
	return c.each(func(raw []byte, at, k int) error {
		for i := range k {
			n, pos, err := c.list(raw[i*c.bytes:])
			if err != nil {
				return err
			}
			if total += n * size; total > t.hdu.file.MaxBytes {
				return t.hdu.room(total, 1)
			}
			b := make([]byte, c.listBytes(n))
			if err := t.hdu.reading(b, pos); err != nil {
				return err
			}
			if err := f(at+i, b, int(n)); err != nil {
				return c.typed(err)
			}
		}
		return nil
	})
}

// listBytes returns the size of n elements.
func (c *Column) listBytes(n int64) int64 {
	if c.letter == 'X' {
		return (n + 7) / 8
	}
	return n * letterSize[c.letter]
}

// list reads a descriptor: the number of elements, and their position in the data.
func (c *Column) list(raw []byte) (n, pos int64, err error) {
	if c.bytes == 0 {
		return 0, 0, nil
	}
	if c.descriptor == 8 {
		n, pos = int64(int32(binary.BigEndian.Uint32(raw))), int64(int32(binary.BigEndian.Uint32(raw[4:])))
	} else {
		n, pos = int64(binary.BigEndian.Uint64(raw)), int64(binary.BigEndian.Uint64(raw[8:]))
	}
	h := c.table.hdu
	if n < 0 || pos < 0 || n > h.size*8 || pos > h.size-c.table.heap || c.listBytes(n) > h.size-c.table.heap-pos {
		return 0, 0, c.bad("the list of %d elements at byte %d is outside the heap of %d bytes: fetch the file again", n, pos, h.size-c.table.heap)
	}
	return n, c.table.heap + pos, h.present(c.table.heap+pos, c.listBytes(n))
}

// cell returns the bytes of the list in one row.
func (c *Column) cell(row int) ([]byte, error) {
	t := c.table
	if c.bytes == 0 {
		return nil, nil
	}
	d := make([]byte, c.bytes)
	if err := t.hdu.reading(d, int64(t.lo+row)*int64(t.width)+int64(c.at)); err != nil {
		return nil, err
	}
	n, pos, err := c.list(d)
	if err != nil {
		return nil, err
	}
	b := make([]byte, c.listBytes(n))
	return b, t.hdu.reading(b, pos)
}
