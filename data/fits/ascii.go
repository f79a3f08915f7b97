// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// textField is a column of an ASCII table: numbers in characters.
type textField struct {
	null     string // text of an undefined value
	hasNull  bool
	decimals int // digits after the point where none is written
	integer  bool
}

// describeText reads TBCOL, TFORM and TNULL of a column of an ASCII table.
func (c *Column) describeText(key func(string) string) error {
	h := c.table.hdu
	at, ok := h.Header.Int(key("TBCOL"))
	if !ok || at < 1 || at > int64(c.table.width)+1 {
		return h.bad(-1, "%s is %v: want 1 to %d", key("TBCOL"), h.value(key("TBCOL")), c.table.width)
	}
	c.at, c.Repeat = int(at)-1, 1
	width, decimals := "", "0"
	if c.Format != "" {
		width, decimals, _ = strings.Cut(c.Format[1:], ".")
		decimals, _, _ = strings.Cut(decimals+"E", "E") // Ew.dEe
	}
	n, err := strconv.Atoi(width)
	d, _ := strconv.Atoi(decimals)
	if err != nil || n < 0 || n > c.table.width || d < 0 || d > 300 || strings.IndexByte("AIFED", c.Format[0]) < 0 {
		return h.bad(-1, "%s is %q: want A, I, F, E or D with a width", key("TFORM"), c.Format)
	}
	c.bytes = n
	null, hasNull := h.Header.Get(key("TNULL"))
	c.text = &textField{null: strings.TrimSpace(fmt.Sprint(null.Value)), hasNull: hasNull, decimals: d, integer: c.Format[0] == 'I'}
	switch c.Format[0] {
	case 'A':
		c.letter, c.chars = 'A', n
	case 'I':
		c.letter = 'K'
	default:
		c.letter = 'D'
	}
	return nil
}

// floats reads one number per field; undefined and blank ones are NaN.
func (f *textField) floats(c *Column, dst []float64, raw []byte) error {
	if c.letter == 'A' {
		return c.typed(fmt.Errorf("%w: the elements are strings", ErrType))
	}
	for i := range dst {
		s := strings.TrimSpace(string(raw[i*c.bytes : (i+1)*c.bytes]))
		if s == "" || f.hasNull && s == f.null {
			dst[i] = math.NaN()
			continue
		}
		x, ok := parseFloat(s)
		if !ok {
			return c.bad("%q is not a number", s)
		}
		if !f.integer && f.decimals > 0 && !strings.ContainsAny(s, ".") {
			x *= math.Pow10(-f.decimals)
		}
		dst[i] = c.zero + c.scale*x
	}
	return nil
}

// ints reads one integer per field; undefined and blank ones are the smallest int64.
func (f *textField) ints(c *Column, dst []int64, raw []byte) error {
	if !f.integer || c.scale != 1 || c.zero != 0 {
		return c.typed(fmt.Errorf("%w: the elements are not integers: use Float64s", ErrType))
	}
	for i := range dst {
		s := strings.TrimSpace(string(raw[i*c.bytes : (i+1)*c.bytes]))
		if s == "" || f.hasNull && s == f.null {
			dst[i] = math.MinInt64
			continue
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return c.bad("%q is not an integer", s)
		}
		dst[i] = n
	}
	return nil
}
