// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package table

import (
	"io"
	"math"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// ordered is the schema of a table, whose columns keep their order.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

// field is a column of the schema.
type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

// Value is asked for when structs of Go are written, which is not done here.
func (f field) Value(base reflect.Value) reflect.Value { return base }

// leaf is the type of a column. Cells of numbers may be empty.
func (c *Column) leaf() parquet.Node {
	switch c.Values.(type) {
	case []float64:
		return parquet.Optional(parquet.Leaf(parquet.DoubleType))
	case []int64:
		return parquet.Int(64)
	case []bool:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.String()
}

// rowsPerWrite is the number of rows that are handed over at once.
const rowsPerWrite = 1024

func writeParquet(w io.Writer, t *Table, rows int) error {
	var fields []parquet.Field
	group := parquet.Group{}
	for k := range t.Columns {
		c := &t.Columns[k]
		group[c.Header()] = c.leaf()
		fields = append(fields, field{c.leaf(), c.Header()})
	}
	out := parquet.NewWriter(w, parquet.NewSchema("table", ordered{group, fields}), parquet.Compression(&parquet.Snappy))
	var some []parquet.Row
	for i := range rows {
		row := make(parquet.Row, len(t.Columns))
		for k := range t.Columns {
			row[k] = t.Columns[k].value(i, k)
		}
		if some = append(some, row); len(some) == rowsPerWrite || i == rows-1 {
			if _, err := out.WriteRows(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return out.Close()
}

// value is a cell of column k.
func (c *Column) value(i, k int) parquet.Value {
	switch v := c.Values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return parquet.NullValue().Level(0, 0, k)
		}
		return parquet.DoubleValue(v[i]).Level(0, 1, k)
	case []int64:
		return parquet.Int64Value(v[i]).Level(0, 0, k)
	case []bool:
		return parquet.BooleanValue(v[i]).Level(0, 0, k)
	}
	return parquet.ByteArrayValue([]byte(c.Values.([]string)[i])).Level(0, 0, k)
}
