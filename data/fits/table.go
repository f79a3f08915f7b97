// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Table is a binary or ASCII table in a file: a whole table, or a Slice of its rows. A mistake in Slice
// is kept and returned by the methods of the columns.
type Table struct {
	hdu     *HDU
	columns []*Column
	lo, hi  int
	width   int // bytes of a row
	heap    int64
	err     error
}

// Table returns the table of an HDU. It is an error if the HDU has none.
//
// DATASUM and CHECKSUM, if the header has them, are verified the first time; Verify describes the error.
func (h *HDU) Table() (*Table, error) {
	if h.kind != "BINTABLE" && h.kind != "TABLE" && h.kind != "A3DTABLE" {
		e := h.bad(-1, "the HDU is %s, not a table", strings.ToLower(h.kind))
		e.Err, e.Try = ErrType, "use Image"
		return nil, e
	}
	if z, _ := h.Header.Bool("ZTABLE"); z {
		e := h.bad(-1, "the table is compressed (ZTABLE)")
		e.Err, e.Try = ErrUnsupported, "decompress it with funpack"
		return nil, e
	}
	if err := h.verified(); err != nil {
		return nil, err
	}
	shape, err := h.axes("NAXIS")
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 {
		return nil, h.bad(-1, "a table has %d axes: want 2", len(shape))
	}
	t := &Table{hdu: h, hi: shape[0], width: shape[1], heap: int64(shape[0]) * int64(shape[1])}
	if at, ok := h.Header.Int("THEAP"); ok {
		if at < t.heap || at > h.size {
			return nil, h.bad(-1, "THEAP is %d: want %d to %d", at, t.heap, h.size)
		}
		t.heap = at
	}
	n, ok := h.Header.Int("TFIELDS")
	if !ok || n < 0 || n > 999 {
		return nil, h.bad(-1, "TFIELDS is %v: want 0 to 999", h.value("TFIELDS"))
	}
	at := 0
	for i := 1; i <= int(n); i++ {
		c := &Column{table: t, Index: i - 1}
		if err := c.describe(i, at); err != nil {
			return nil, err
		}
		if c.at < 0 || c.bytes > t.width || c.at > t.width-c.bytes {
			return nil, h.bad(-1, "column %d (%s) takes bytes %d to %d, but rows have %d bytes: fetch the file again", i, c.Name, c.at, c.at+c.bytes, t.width)
		}
		at = c.at + c.bytes
		t.columns = append(t.columns, c)
	}
	if h.kind != "TABLE" && at != t.width {
		return nil, h.bad(-1, "the columns take %d bytes, but NAXIS1 says that rows have %d: one of TFORMn is wrong", at, t.width)
	}
	return t, nil
}

// Header returns the header of the table's HDU.
func (t *Table) Header() *Header { return t.hdu.Header }

// Len returns the number of rows.
func (t *Table) Len() int { return t.hi - t.lo }

// Columns returns the columns, in order.
func (t *Table) Columns() []*Column { return append([]*Column{}, t.columns...) }

// Has reports whether the table has a column with the given name.
func (t *Table) Has(name string) bool {
	_, err := t.Column(name)
	return err == nil
}

// Column returns the column with the given name. Case matters only if two names differ in nothing else.
func (t *Table) Column(name string) (*Column, error) {
	var found *Column
	var names []string
	for _, c := range t.columns {
		if c.Name == name {
			return c, nil
		}
		if found == nil && strings.EqualFold(c.Name, name) {
			found = c
		}
		names = append(names, c.Name)
	}
	if found != nil {
		return found, nil
	}
	return nil, &MissingError{Format: "fits", File: t.hdu.file.name, Place: t.hdu.label(), Kind: "column", Name: name, Near: spelling.Sorted(name, names)}
}

// Slice returns the table restricted to the rows from lo up to but not including hi. It does not read
// anything yet.
func (t *Table) Slice(lo, hi int) *Table {
	out := *t
	if lo < 0 || hi < lo || hi > t.Len() {
		if out.err == nil {
			out.err = t.hdu.bad(-1, "rows %d to %d were asked for, but the table has %d rows", lo, hi, t.Len())
		}
	} else {
		out.lo, out.hi = t.lo+lo, t.lo+hi
	}
	out.columns = make([]*Column, len(t.columns))
	for i, c := range t.columns {
		d := *c
		d.table = &out
		out.columns[i] = &d
	}
	return &out
}

// describe reads what the header says about column number i, from 1. at is where the column before
// it ends.
func (c *Column) describe(i, at int) error {
	h := c.table.hdu
	key := func(name string) string { return name + strconv.Itoa(i) }
	c.Name = strings.TrimSpace(h.Header.Text(key("TTYPE")))
	c.Unit = strings.TrimSpace(h.Header.Text(key("TUNIT")))
	c.Format = strings.TrimSpace(h.Header.Text(key("TFORM")))
	c.at, c.scale = at, 1
	if v, ok := h.Header.Float(key("TSCAL")); ok {
		c.scale = v
	}
	if v, ok := h.Header.Float(key("TZERO")); ok {
		c.zero = v
	}
	if h.kind == "TABLE" {
		return c.describeText(key)
	}
	if v, ok := h.Header.Int(key("TNULL")); ok {
		c.null, c.hasNull = v, true
	}
	if err := c.parseFormat(); err != nil {
		return h.bad(-1, "%s is %q: %s", key("TFORM"), c.Format, err)
	}
	if c.heapLetter != 0 {
		return nil
	}
	c.Shape = nil
	if c.Repeat != 1 || c.letter == 'A' {
		c.Shape = []int{c.Repeat}
	}
	if dim := h.Header.Text(key("TDIM")); dim != "" {
		if shape, ok := parseDim(dim, c.Repeat); ok {
			c.Shape = shape
		}
	}
	if c.letter == 'A' {
		c.chars = c.Repeat
		if len(c.Shape) > 0 {
			c.chars = c.Shape[len(c.Shape)-1]
			c.Shape = c.Shape[:len(c.Shape)-1]
		}
		if c.chars > 0 {
			c.Repeat /= c.chars
		} else {
			c.Repeat = 1
		}
	}
	return nil
}

// parseFormat reads TFORM of a binary table: rT, rPt(max) or rQt(max).
func (c *Column) parseFormat() error {
	f := c.Format
	digits := 0
	for digits < len(f) && f[digits] >= '0' && f[digits] <= '9' {
		digits++
	}
	c.Repeat = 1
	if digits > 0 {
		n, err := strconv.ParseInt(f[:digits], 10, 64)
		if err != nil || n > math.MaxInt32 {
			return fmt.Errorf("the repeat count must be at most 2147483647")
		}
		c.Repeat = int(n)
	}
	if digits == len(f) {
		return fmt.Errorf("the letter for the type is missing: want a number and a letter, such as 1D")
	}
	c.letter = f[digits]
	switch rest := f[digits+1:]; c.letter {
	case 'P', 'Q':
		if rest == "" || (letterSize[rest[0]] == 0 && rest[0] != 'X') || c.Repeat > 1 {
			return fmt.Errorf("the format must have P or Q once, followed by the type of the elements")
		}
		c.heapLetter, c.descriptor = rest[0], 8
		if c.letter == 'Q' {
			c.descriptor = 16
		}
		c.letter, c.bytes = c.heapLetter, c.descriptor*c.Repeat
	case 'X':
		c.bytes = (c.Repeat + 7) / 8
	default:
		size := letterSize[c.letter]
		if size == 0 {
			return fmt.Errorf("there is no type %q: want a letter of the FITS standard", c.letter)
		}
		c.bytes = c.Repeat * int(size)
	}
	return nil
}

// parseDim reads TDIM, such as (3,4), as a shape in C order. A TDIM that does not fit is ignored, as
// the standard asks.
func parseDim(s string, n int) ([]int, bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return nil, false
	}
	parts := strings.Split(s[1:len(s)-1], ",")
	shape := make([]int, len(parts))
	total := 1
	for i, p := range parts {
		d, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || d < 0 || d > 0 && total > n/d {
			return nil, false
		}
		total *= d
		shape[len(parts)-1-i] = d
	}
	return shape, total == n
}
