// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import "encoding/binary"

// Types of Thrift's compact protocol.
const (
	thriftI32, thriftI64, thriftBinary, thriftList, thriftStruct = 5, 6, 8, 9, 12
)

// thrift writes a structure in Thrift's compact protocol, in which Parquet keeps its metadata. Fields are written in the order of
// their numbers.
type thrift struct {
	b    []byte
	last int // number of the field before, in this structure
}

// bytes ends the structure.
func (t *thrift) bytes() []byte { return append(t.b, 0) }

func (t *thrift) field(number, kind int) {
	t.b = append(t.b, byte((number-t.last)<<4|kind))
	t.last = number
}

func (t *thrift) number(v int) { t.b = binary.AppendVarint(t.b, int64(v)) }

func (t *thrift) string(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

// integer writes a field of 32 bits, long one of 64.
func (t *thrift) integer(field, v int) {
	t.field(field, thriftI32)
	t.number(v)
}

func (t *thrift) long(field, v int) {
	t.field(field, thriftI64)
	t.number(v)
}

func (t *thrift) text(field int, s string) {
	t.field(field, thriftBinary)
	t.string(s)
}

func (t *thrift) structure(field int, write func()) {
	t.field(field, thriftStruct)
	t.within(write)
}

// within writes a structure, whose fields count from 0 again, and its end.
func (t *thrift) within(write func()) {
	before := t.last
	t.last = 0
	write()
	t.b, t.last = append(t.b, 0), before
}

// list writes n elements of a kind.
func (t *thrift) list(field, kind, n int, write func(i int)) {
	t.field(field, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|kind))
	} else {
		t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(n))
	}
	for i := range n {
		if kind == thriftStruct {
			t.within(func() { write(i) })
		} else {
			write(i)
		}
	}
}
