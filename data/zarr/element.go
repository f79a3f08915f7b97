// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// element is the type of an array's elements: their NumPy kind, size and byte order.
type element struct {
	kind byte // NumPy kind: f, i, u, b, U (UTF-32), S (bytes) or O (text of any length)
	size int  // size in bytes; 0 for kind O
	big  bool
}

var dtypeName = regexp.MustCompile(`^([<>|])([fiubUSO])(\d{0,7})$`)

func parseElement(name string) (element, error) {
	m := dtypeName.FindStringSubmatch(name)
	if m == nil {
		return element{}, bad("the dtype is %.40q, want floats, integers, truth values or text", name)
	}
	n, _ := strconv.Atoi(m[3])
	e := element{kind: m[2][0], size: n, big: m[1] == ">"}
	ok := map[byte]bool{'f': n == 4 || n == 8, 'i': n == 1 || n == 2 || n == 4 || n == 8, 'b': n == 1, 'U': true, 'S': true, 'O': true}
	ok['u'] = ok['i']
	if !ok[e.kind] {
		return element{}, bad("the dtype is %q, but no elements of %d bytes can be read: write float32, float64 or integers of up to 8 bytes", name, n)
	}
	switch e.kind {
	case 'U':
		e.size *= 4
	case 'O':
		e.size = 0
	}
	return e, nil
}

// String returns NumPy's name of the type.
func (e element) String() string {
	order, n := "<", e.size
	if e.kind == 'b' {
		order = "|"
	}
	if e.kind == 'U' {
		n /= 4
	}
	return fmt.Sprintf("%s%c%d", order, e.kind, n)
}

// memory returns the least memory that one element takes, in bytes.
func (e element) memory() int { return max(e.size, 8) + 8 }

// make allocates n elements.
func (e element) make(n int) any {
	switch e.kind {
	case 'f':
		return make([]float64, n)
	case 'i', 'u':
		return make([]int64, n)
	case 'b':
		return make([]bool, n)
	}
	return make([]string, n)
}

// order returns the byte order.
func (e element) order() binary.ByteOrder {
	if e.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// set copies element number from of raw to element number to of dst.
func (e element) set(dst any, to int, raw []byte, from int) error {
	b := raw[from*e.size : (from+1)*e.size]
	switch d := dst.(type) {
	case []float64:
		if e.size == 4 {
			d[to] = float64(math.Float32frombits(e.order().Uint32(b)))
		} else {
			d[to] = math.Float64frombits(e.order().Uint64(b))
		}
	case []int64:
		v, err := e.integer(b)
		d[to] = v
		return err
	case []bool:
		d[to] = b[0] != 0
	case []string:
		d[to] = e.text(b)
	}
	return nil
}

func (e element) integer(b []byte) (int64, error) {
	var u uint64
	for i := range b {
		if e.big {
			u = u<<8 | uint64(b[i])
		} else {
			u |= uint64(b[i]) << (8 * i)
		}
	}
	if e.kind == 'u' {
		if u > math.MaxInt64 {
			return 0, bad("the unsigned number %d does not fit int64: write smaller numbers, or floats", u)
		}
		return int64(u), nil
	}
	unused := 64 - 8*len(b)
	return int64(u<<unused) >> unused, nil
}

func (e element) text(b []byte) string {
	if e.kind == 'S' {
		return strings.TrimRight(string(b), "\x00")
	}
	var s strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		s.WriteRune(rune(e.order().Uint32(b)))
	}
	return strings.TrimRight(s.String(), "\x00")
}

// fill sets all elements of dst to the fill value in the metadata; with null, no chunk is missing.
func (e element) fill(dst any, raw json.RawMessage) error {
	text := string(raw)
	if text == "" || text == "null" {
		return nil
	}
	switch d := dst.(type) {
	case []float64:
		v, err := e.float(strings.Trim(text, `"`))
		if err != nil {
			return bad("fill_value is %.40s, want a number, as the elements are floats", text)
		}
		setAll(d, v)
	case []int64:
		var v int64
		if err := json.Unmarshal(raw, &v); err != nil {
			return bad("fill_value is %.40s, want an integer, as the elements are integers", text)
		}
		setAll(d, v)
	case []bool:
		setAll(d, text == "true" || text == "1")
	case []string:
		var v string
		if json.Unmarshal(raw, &v) == nil {
			setAll(d, v)
		}
	}
	return nil
}

// float reads a number, which may be the bits of one, such as 0x7fc00000.
func (e element) float(text string) (float64, error) {
	if !strings.HasPrefix(text, "0x") {
		return strconv.ParseFloat(text, 64)
	}
	bits, err := strconv.ParseUint(text[2:], 16, 8*e.size)
	if e.size == 4 {
		return float64(math.Float32frombits(uint32(bits))), err
	}
	return math.Float64frombits(bits), err
}

func setAll[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// elementOf returns the element type with which a variable is written.
func elementOf(data any) (element, error) {
	switch d := data.(type) {
	case []float64:
		return element{kind: 'f', size: 8}, nil
	case []int64:
		return element{kind: 'i', size: 8}, nil
	case []bool:
		return element{kind: 'b', size: 1}, nil
	case []string:
		longest := 1
		for i, s := range d {
			if !utf8.ValidString(s) {
				return element{}, bad("element %d, counted from 0, is the text %.40q, which is not UTF-8: encode it as UTF-8", i, s)
			}
			longest = max(longest, utf8.RuneCountInString(s))
		}
		return element{kind: 'U', size: 4 * longest}, nil
	}
	return element{}, bad("the elements are a %T, want float64, int64, bool or string", data)
}

// put writes element number from of src to element number to of raw, in little-endian
// order.
func (e element) put(raw []byte, to int, src any, from int) {
	b := raw[to*e.size : (to+1)*e.size]
	switch s := src.(type) {
	case []float64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(s[from]))
	case []int64:
		binary.LittleEndian.PutUint64(b, uint64(s[from]))
	case []bool:
		b[0] = 0
		if s[from] {
			b[0] = 1
		}
	case []string:
		clear(b)
		for i, r := range []rune(s[from]) {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(r))
		}
	}
}
