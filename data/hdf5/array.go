// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Array is a block of elements in a file: a whole dataset or attribute, a Slab of one, or a Field of
// its compounds. Elements are in C order, with the last axis fastest. A mistake in Slab or Field is
// kept and returned by the method that reads.
type Array struct {
	file *File
	path string
	typ  *Type
	dims []uint64
	read func(dst []byte, offset, count []uint64) error // reads a block into dst, which is zeroed
	// returns the bytes that sources add to File.MaxBytes; may be nil
	more func() int64
	err  error
}

// Path returns the path of the array, for messages.
func (a *Array) Path() string { return a.path }

// Type returns the type of an element as stored.
func (a *Array) Type() *Type { return a.typ }

// Shape returns the lengths of the axes; a scalar has none. Axes of an array
// type come last.
func (a *Array) Shape() []int {
	s := make([]int, len(a.dims), len(a.dims)+2)
	for i, d := range a.dims {
		s[i] = int(d)
	}
	for t := a.typ; t != nil && t.Class == ArrayOf; t = t.Base {
		s = append(s, t.Dims...)
	}
	return s
}

// Len returns the number of elements, the product of Shape; a null dataspace
// has none.
func (a *Array) Len() int {
	n, _ := product(a.dims)
	k, _ := a.scalarType()
	return int(n) * k
}

// scalarType returns the number of numbers in an element, and their type.
func (a *Array) scalarType() (int, *Type) {
	n, t := 1, a.typ
	for t.Class == ArrayOf {
		n *= t.Size / t.Base.Size
		t = t.Base
	}
	return n, t
}

// Slab returns the block that starts at offset and has count elements along each axis. It does not read
// anything yet.
func (a *Array) Slab(offset, count []int) *Array {
	s := *a
	if a.err != nil {
		return &s
	}
	if len(offset) != len(a.dims) || len(count) != len(a.dims) {
		s.err = a.misuse("slab at %v of %v has not the %d axes of %v", offset, count, len(a.dims), a.dims)
		return &s
	}
	from, n := make([]uint64, len(offset)), make([]uint64, len(offset))
	for i := range offset {
		if offset[i] < 0 || count[i] < 0 || uint64(offset[i]) > a.dims[i] || uint64(count[i]) > a.dims[i]-uint64(offset[i]) {
			s.err = a.misuse("slab at %v of %v leaves the shape %v", offset, count, a.dims)
			return &s
		}
		from[i], n[i] = uint64(offset[i]), uint64(count[i])
	}
	s.dims = n
	s.read = func(dst []byte, offset, count []uint64) error {
		at := slices.Clone(from)
		for i := range at {
			at[i] += offset[i]
		}
		return a.read(dst, at, count)
	}
	return &s
}

// Field returns one member of compound elements.
func (a *Array) Field(name string) *Array {
	s := *a
	if a.err != nil {
		return &s
	}
	var names []string
	for _, m := range a.typ.Members {
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		s.typ, s.path = m.Type, a.path+"."+name
		s.read = func(dst []byte, offset, count []uint64) error { return a.gather(dst, m, offset, count) }
		return &s
	}
	s.err = a.misuse("elements are %s without a field %q; fields are %q", a.typ, name, names)
	return &s
}

// gather reads whole compounds and keeps one member of each.
func (a *Array) gather(dst []byte, m Member, offset, count []uint64) error {
	raw, err := a.rawAt(offset, count)
	if err != nil {
		return err
	}
	n := m.Type.Size
	for i := 0; i+n <= len(dst) && len(raw) > 0; i += n {
		copy(dst[i:i+n], raw[m.Offset:])
		raw = raw[a.typ.Size:]
	}
	return nil
}

func (a *Array) misuse(format string, args ...any) error {
	return &FormatError{Format: "hdf5", File: a.file.name, Place: a.path, What: fmt.Sprintf(format, args...), Err: ErrType}
}

// inFull says what to do about limits of memory.
const inFull = "write the file again with all of its data stored, as h5repack -f NONE does; in Go, read a Slab at a time or raise File.MaxBytes"

// room returns the bytes of a block of elements as stored, after checking that
// they may be allocated, as may be a copy with size bytes per element.
func (a *Array) room(dims []uint64, size int) (int, error) {
	size = max(size, a.typ.Size)
	n, ok := product(append(slices.Clone(dims), uint64(size)))
	most := max(a.file.MaxBytes, 0)
	if ok && n > uint64(most) && a.more != nil {
		most += min(a.more(), 1<<62-most)
	}
	if !ok || n > uint64(most) {
		return 0, &FormatError{Format: "hdf5", File: a.file.name, Place: a.path,
			What: fmt.Sprintf("%v elements of %d bytes exceed the limit of %d bytes, which guards against files that declare more than they hold", dims, size, most),
			Try:  inFull}
	}
	return int(n) / size * a.typ.Size, nil
}

// rawAt returns the bytes of a block of elements as stored.
func (a *Array) rawAt(offset, count []uint64) ([]byte, error) {
	n, err := a.room(count, 0)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, n)
	if n == 0 {
		return raw, nil
	}
	return raw, a.read(raw, offset, count)
}

// raw returns the bytes of all elements.
func (a *Array) raw() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	raw, err := a.rawAt(make([]uint64, len(a.dims)), a.dims)
	return raw, a.named(err)
}

// rawFor is raw for elements that take size bytes each in memory.
func (a *Array) rawFor(size int) ([]byte, error) {
	if _, err := a.room(a.dims, size); err != nil {
		return nil, err
	}
	return a.raw()
}

// named adds file and path to an error of a deeper layer.
func (a *Array) named(err error) error {
	if e, ok := err.(*FormatError); ok {
		if e.File == "" {
			e.File = a.file.name
		}
		return within(a.path, e)
	}
	return err
}

// numbers reads every element as T.
func numbers[T number](a *Array) ([]T, error) {
	if a.err != nil {
		return nil, a.err
	}
	k, t := a.scalarType()
	if !t.isNumber() {
		return nil, a.named(typeError("numbers", a.typ))
	}
	var z T
	n, err := a.room(a.dims, k*int(unsafe.Sizeof(z)))
	if err != nil {
		return nil, err
	}
	dst := make([]T, n/a.typ.Size*k)
	return dst, numbersTo(dst, a)
}

// numbersTo reads every element into dst, whose length must equal the number of elements.
func numbersTo[T number](dst []T, a *Array) error {
	if a.err != nil {
		return a.err
	}
	_, t := a.scalarType()
	if !t.isNumber() {
		return a.named(typeError("numbers", a.typ))
	}
	if n := a.Len(); len(dst) != n {
		return a.misuse("has %d numbers, the slice to read them into %d", n, len(dst))
	}
	if len(dst) == 0 {
		return nil
	}
	if b := memory(dst, t); b != nil {
		clear(b)
		return a.named(a.read(b, make([]uint64, len(a.dims)), a.dims))
	}
	raw, err := a.raw()
	if err != nil {
		return err
	}
	return a.named(convert(dst, raw, t))
}

// Float64s returns the elements as float64, whatever number type they are
// stored as.
func (a *Array) Float64s() ([]float64, error) { return numbers[float64](a) }

// Float32s returns the elements as float32, rounded to nearest.
func (a *Array) Float32s() ([]float32, error) { return numbers[float32](a) }

// Float64sTo stores what Float64s returns in dst, whose length must be Len. A large dataset can so be
// read a Slab at a time without a second array.
func (a *Array) Float64sTo(dst []float64) error { return numbersTo(dst, a) }

// Float32sTo stores what Float32s returns in dst, whose length must be Len.
func (a *Array) Float32sTo(dst []float32) error { return numbersTo(dst, a) }

// Int64s returns the elements as int64; a value that int64 cannot hold is an error.
func (a *Array) Int64s() ([]int64, error) { return numbers[int64](a) }

// Int32s returns the elements as int32; a value that int32 cannot hold is an error.
func (a *Array) Int32s() ([]int32, error) { return numbers[int32](a) }

// Uint64s returns the elements as uint64; a value that uint64 cannot hold is an error.
func (a *Array) Uint64s() ([]uint64, error) { return numbers[uint64](a) }

// Bools returns the elements as booleans: everything but zero is true.
func (a *Array) Bools() ([]bool, error) {
	n, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	b := make([]bool, len(n))
	for i, v := range n {
		b[i] = v != 0
	}
	return b, nil
}

// Bytes returns the elements as stored, Type().Size bytes each.
func (a *Array) Bytes() ([]byte, error) { return a.raw() }

// BytesTo stores what Bytes returns in dst, whose length must be that of the elements as stored.
func (a *Array) BytesTo(dst []byte) error {
	if a.err != nil {
		return a.err
	}
	n, err := a.room(a.dims, 0)
	if err != nil {
		return err
	}
	if len(dst) != n {
		return a.misuse("has %d bytes, the slice to read them into %d", n, len(dst))
	}
	if n == 0 {
		return nil
	}
	clear(dst)
	return a.named(a.read(dst, make([]uint64, len(a.dims)), a.dims))
}

// Complex128s returns the elements of an array whose type is complex: see Type.IsComplex.
func (a *Array) Complex128s() ([]complex128, error) {
	if a.err == nil && !a.typ.IsComplex() {
		return nil, a.named(typeError("complex numbers", a.typ))
	}
	if a.err != nil {
		return nil, a.err
	}
	r, i := a.typ.Members[0], a.typ.Members[1]
	if !reflect.DeepEqual(r.Type, i.Type) || r.Offset != 0 || i.Offset != r.Type.Size || a.typ.Size != 2*r.Type.Size {
		return a.complexParts()
	}
	n, err := a.room(a.dims, int(unsafe.Sizeof(complex128(0))))
	if err != nil {
		return nil, err
	}
	z := make([]complex128, n/a.typ.Size)
	if len(z) == 0 {
		return z, nil
	}
	parts := unsafe.Slice((*float64)(unsafe.Pointer(&z[0])), 2*len(z))
	if b := memory(parts, r.Type); b != nil {
		return z, a.named(a.read(b, make([]uint64, len(a.dims)), a.dims))
	}
	raw, err := a.raw()
	if err != nil {
		return nil, err
	}
	return z, a.named(convert(parts, raw, r.Type))
}

// complexParts reads the real and imaginary parts one after the other, wherever they lie in an element.
func (a *Array) complexParts() ([]complex128, error) {
	re, err := a.Field("r").Float64s()
	if err != nil {
		return nil, err
	}
	im, err := a.Field("i").Float64s()
	if err != nil {
		return nil, err
	}
	z := make([]complex128, len(re))
	for i := range z {
		z[i] = complex(re[i], im[i])
	}
	return z, nil
}

// Float64 returns the only element of a scalar or of an array of a shape such as (1, 1).
func (a *Array) Float64() (float64, error) { return single(a.Float64s, a) }

// Int64 returns the only element, as Float64 does.
func (a *Array) Int64() (int64, error) { return single(a.Int64s, a) }

// Text returns the only element as a string.
func (a *Array) Text() (string, error) { return single(a.Strings, a) }

func single[T any](read func() ([]T, error), a *Array) (T, error) {
	var v T
	if a.err == nil && a.Len() != 1 {
		return v, a.misuse("has %d elements of shape %v, want one", a.Len(), a.Shape())
	}
	all, err := read()
	if err == nil {
		v = all[0]
	}
	return v, err
}
