// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Field is one entry of a q-map file that counts for its hash: a bool slice, a slice of integers or float64s, a number, a string, or
// a slice of strings. A List is written as text and not as an array.
type Field struct {
	Key   string
	Value any
}

// List is a short list of integers that the hash takes as text.
type List []int

// Hash returns the SHA-256 of fields in hexadecimal digits, as pySimpleMask computes it: over the
// keys in alphabetical order, the bytes of each key and then of its value, arrays in little-endian
// order and in the smallest integer type that holds them, everything else as JSON with Python's
// spelling. Equal partitions have equal hashes, so viewers read a map only once for many files.
func Hash(fields []Field) (string, error) {
	fields = slices.Clone(fields)
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	h := sha256.New()
	for _, f := range fields {
		h.Write([]byte(f.Key))
		b, err := encode(f.Value)
		if err != nil {
			return "", fmt.Errorf("partition: hash of %s: %w", f.Key, err)
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case []bool:
		b := make([]byte, len(v))
		for i, keep := range v {
			if keep {
				b[i] = 1
			}
		}
		return b, nil
	case []float64:
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b, nil
	case []int32:
		wide := make([]int64, len(v))
		for i, x := range v {
			wide[i] = int64(x)
		}
		return integers(wide), nil
	case []int:
		wide := make([]int64, len(v))
		for i, x := range v {
			wide[i] = int64(x)
		}
		return integers(wide), nil
	case float64:
		return []byte(number(v)), nil
	case int:
		return strconv.AppendInt(nil, int64(v), 10), nil
	case string:
		return []byte(quoted(v)), nil
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = quoted(s)
		}
		return []byte("[" + strings.Join(parts, ", ") + "]"), nil
	case List:
		parts := make([]string, len(v))
		for i, n := range v {
			parts[i] = strconv.Itoa(n)
		}
		return []byte("[" + strings.Join(parts, ", ") + "]"), nil
	}
	return nil, fmt.Errorf("a value of type %T cannot be hashed: use numbers, strings and lists of them", v)
}

// integers returns the bytes of the smallest type that holds all values, unsigned if none is negative.
func integers(v []int64) []byte {
	size := Width(v)
	b := make([]byte, 0, len(v)*size)
	for _, x := range v {
		u := uint64(x)
		for range size {
			b = append(b, byte(u))
			u >>= 8
		}
	}
	return b
}

// Width returns the number of bytes of the smallest integer type that holds all values: unsigned if
// none is negative, signed otherwise.
func Width(v []int64) int {
	low, high := int64(0), int64(0)
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	for size := 1; size < 8; size *= 2 {
		bits := 8 * size
		if low >= 0 && high < 1<<bits || low < 0 && low >= -1<<(bits-1) && high < 1<<(bits-1) {
			return size
		}
	}
	return 8
}

// number spells a float as Python does: as short as possible, with a point or an exponent.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "Infinity", 1)[boolInt(v > 0):]
	}
	if a := math.Abs(v); v != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// quoted spells a string as JSON with everything but ASCII escaped.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r < 0x20 || r > 0x7f && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
