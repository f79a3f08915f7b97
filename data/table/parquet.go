// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"
)

// Numbers of the format: https://github.com/apache/parquet-format, parquet.thrift.
const (
	typeBoolean, typeInt64, typeDouble, typeByteArray = 0, 2, 5, 6
	required, optional                                = 0, 1
	convertedUTF8                                     = 0
	encodingPlain, encodingRLE                        = 0, 3
	codecSnappy                                       = 1
	dataPage                                          = 0
)

const parquetMagic = "PAR1"

// groupRows is the number of rows of a row group, in which a column is one page.
const groupRows = 1 << 16

// chunk says where the values of a column in a row group are.
type chunk struct{ at, raw, packed, values int }

// writeParquet writes row groups of plain values, packed by Snappy. Cells of numbers may be empty.
func writeParquet(w io.Writer, t *Table, rows int) error {
	at := len(parquetMagic)
	if _, err := io.WriteString(w, parquetMagic); err != nil {
		return err
	}
	var groups [][]chunk
	for from := 0; from < rows; from += groupRows {
		to := min(rows, from+groupRows)
		group := make([]chunk, len(t.Columns))
		for k := range t.Columns {
			raw := t.Columns[k].page(from, to)
			packed := snappy.Encode(nil, raw)
			page := append(pageHeader(len(raw), len(packed), to-from), packed...)
			if _, err := w.Write(page); err != nil {
				return err
			}
			group[k] = chunk{at, len(page) - len(packed) + len(raw), len(page), to - from}
			at += len(page)
		}
		groups = append(groups, group)
	}
	foot := t.parquetFooter(rows, groups)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(foot)))
	_, err := w.Write(append(foot, parquetMagic...))
	return err
}

func pageHeader(raw, packed, values int) []byte {
	var h thrift
	h.integer(1, dataPage)
	h.integer(2, raw)
	h.integer(3, packed)
	h.structure(5, func() {
		h.integer(1, values)
		h.integer(2, encodingPlain)
		h.integer(3, encodingRLE)
		h.integer(4, encodingRLE)
	})
	return h.bytes()
}

// page holds the values of some rows: for columns with empty cells, first a bit for each row that says whether there is a value.
func (c *Column) page(from, to int) (b []byte) {
	switch v := c.Values.(type) {
	case []float64:
		some := v[from:to]
		there := bits(len(some), func(i int) bool { return !math.IsNaN(some[i]) })
		run := binary.AppendUvarint(nil, uint64(len(there))<<1|1) // so many groups of eight bits
		b = binary.LittleEndian.AppendUint32(b, uint32(len(run)+len(there)))
		b = append(append(b, run...), there...)
		for _, x := range some {
			if !math.IsNaN(x) {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			}
		}
	case []int64:
		for _, x := range v[from:to] {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	case []bool:
		b = bits(to-from, func(i int) bool { return v[from+i] })
	case []string:
		for _, s := range v[from:to] {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
		}
	}
	return b
}

// bits packs truth values, the first into the lowest bit.
func bits(n int, set func(i int) bool) []byte {
	b := make([]byte, (n+7)/8)
	for i := range n {
		if set(i) {
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}

// physical is the type of a column, and whether its cells may be empty.
func (c *Column) physical() (kind, repetition int) {
	switch c.Values.(type) {
	case []float64:
		return typeDouble, optional
	case []int64:
		return typeInt64, required
	case []bool:
		return typeBoolean, required
	}
	return typeByteArray, required
}

// parquetFooter is the schema, and where the pages of each row group are.
func (t *Table) parquetFooter(rows int, groups [][]chunk) []byte {
	var f thrift
	f.integer(1, 1) // version
	f.list(2, thriftStruct, 1+len(t.Columns), func(k int) {
		if k == 0 {
			f.text(4, "table")
			f.integer(5, len(t.Columns))
			return
		}
		kind, repetition := t.Columns[k-1].physical()
		f.integer(1, kind)
		f.integer(3, repetition)
		f.text(4, t.Columns[k-1].Header())
		if kind == typeByteArray {
			f.integer(6, convertedUTF8)
			f.structure(10, func() { f.structure(1, func() {}) }) // the logical type String
		}
	})
	f.long(3, rows)
	f.list(4, thriftStruct, len(groups), func(g int) {
		raw := 0
		for _, c := range groups[g] {
			raw += c.raw
		}
		f.list(1, thriftStruct, len(t.Columns), func(k int) { f.chunk(&t.Columns[k], groups[g][k]) })
		f.long(2, raw)
		f.long(3, groups[g][0].values)
	})
	f.text(6, "euryale")
	return f.bytes()
}

func (f *thrift) chunk(c *Column, at chunk) {
	f.long(2, at.at)
	f.structure(3, func() {
		kind, _ := c.physical()
		f.integer(1, kind)
		f.list(2, thriftI32, 2, func(i int) { f.number([]int{encodingPlain, encodingRLE}[i]) })
		f.list(3, thriftBinary, 1, func(int) { f.string(c.Header()) })
		f.integer(4, codecSnappy)
		f.long(5, at.values)
		f.long(6, at.raw)
		f.long(7, at.packed)
		f.long(9, at.at)
	})
}
