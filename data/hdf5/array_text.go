// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"strings"
)

// Strings returns the elements as strings: strings of fixed or variable length without their padding,
// or the names of an enum's values.
func (a *Array) Strings() ([]string, error) {
	if a.err != nil {
		return nil, a.err
	}
	_, t := a.scalarType()
	var one func([]byte) (string, error)
	switch {
	case t.Class == String:
		one = func(b []byte) (string, error) { return unpad(b, t.pad), nil }
	case t.Class == Vlen && t.IsString:
		one = a.text
	case t.Class == Enum:
		return a.enumNames(t)
	default:
		return nil, a.named(typeError("strings", a.typ))
	}
	raw, err := a.rawFor(16 * a.typ.Size / t.Size)
	if err != nil {
		return nil, err
	}
	all := make([]string, a.Len())
	left := a.file.MaxBytes
	for i := range all {
		if all[i], err = one(raw[i*t.Size : (i+1)*t.Size]); err != nil {
			return nil, a.named(err)
		}
		if left -= int64(len(all[i])); left < 0 {
			return nil, a.misuse("strings exceed the limit of %d bytes", a.file.MaxBytes)
		}
	}
	return all, nil
}

// unpad removes the padding of a fixed string: everything after the first zero, or trailing spaces.
func unpad(b []byte, pad int) string {
	switch pad {
	case 1:
		return string(bytes.TrimRight(b, "\x00"))
	case 2:
		return strings.TrimRight(string(b), " ")
	}
	return trim(b)
}

// text returns a string of variable length.
func (a *Array) text(b []byte) (string, error) {
	s, err := a.file.vlenBytes(a.file.cursor(b), 1)
	return trim(s), err
}

func (a *Array) enumNames(t *Type) ([]string, error) {
	values, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for i, v := range t.Values {
		names[v] = t.Names[i]
	}
	all := make([]string, len(values))
	for i, v := range values {
		s, ok := names[v]
		if !ok {
			return nil, a.misuse("element %d has value %d, which the enum %q does not name", i, v, t.Names)
		}
		all[i] = s
	}
	return all, nil
}

// lists reads elements of variable length: one block of bytes each, which hold
// elements of the base type.
func (a *Array) lists() ([][]byte, *Type, error) {
	if a.err != nil {
		return nil, nil, a.err
	}
	t := a.typ
	if t.Class != Vlen || t.Base.Size < 1 {
		return nil, nil, a.named(typeError("lists", a.typ))
	}
	raw, err := a.rawFor(24)
	if err != nil {
		return nil, nil, err
	}
	all := make([][]byte, a.Len())
	left := a.file.MaxBytes
	for i := range all {
		b, err := a.file.vlenBytes(a.file.cursor(raw[i*t.Size:(i+1)*t.Size]), t.Base.Size)
		if err != nil {
			return nil, nil, a.named(err)
		}
		if left -= int64(len(b)); left < 0 {
			return nil, nil, a.misuse("lists exceed the limit of %d bytes", a.file.MaxBytes)
		}
		all[i] = bytes.Clone(b)
	}
	return all, t.Base, nil
}

// Ragged returns elements that are lists of numbers of any length.
func (a *Array) Ragged() ([][]float64, error) {
	all, base, err := a.lists()
	if err != nil {
		return nil, err
	}
	if base.Class == Vlen {
		return nil, a.misuse("lists of lists")
	}
	out := make([][]float64, len(all))
	for i, b := range all {
		list := &Array{file: a.file, path: a.path, typ: base, dims: []uint64{uint64(len(b) / base.Size)}}
		list.read = list.inMemory(b)
		if out[i], err = list.Float64s(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inMemory returns a function that reads blocks of elements which are all in b.
func (a *Array) inMemory(b []byte) func([]byte, []uint64, []uint64) error {
	dims := a.dims
	size := uint64(a.typ.Size)
	return func(dst []byte, offset, count []uint64) error {
		runs(dims, offset, count, size, func(from, to, n uint64) error {
			copy(dst[to:to+n], b[from:from+n])
			return nil
		})
		return nil
	}
}
