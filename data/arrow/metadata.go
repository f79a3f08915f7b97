// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow

import (
	"encoding/binary"
	"maps"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Constants of Arrow's Schema.fbs and Message.fbs.
const (
	version5     = 4
	headerSchema = 1
	headerBatch  = 3
	typeInt      = 2
	typeFloat    = 3
	typeText     = 5
	typeBool     = 6
	double       = 2
)

func appendInt(b []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

// message writes an encapsulated message and returns the length of its metadata, including prefix
// and padding.
func (w *Writer) message(metadata, body []byte) int32 {
	padded := (len(metadata) + 7) &^ 7
	head := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(padded))
	w.put(head)
	w.put(metadata)
	w.put(make([]byte, padded-len(metadata)))
	w.put(body)
	return int32(8 + padded)
}

// wrap builds the table Message around a header.
func wrap(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body int64) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, body, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

func (w *Writer) schemaMessage() []byte {
	b := flatbuffers.NewBuilder(1024)
	return wrap(b, headerSchema, w.schema(b), 0)
}

// schema builds the table Schema.
func (w *Writer) schema(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	fields := make([]flatbuffers.UOffsetT, len(w.columns))
	for i, c := range w.columns {
		fields[i] = field(b, c)
	}
	list := offsets(b, fields)
	var pairs []flatbuffers.UOffsetT
	for _, k := range slices.Sorted(maps.Keys(w.attrs)) {
		key, value := b.CreateString(k), b.CreateString(w.attrs[k])
		b.StartObject(2)
		b.PrependUOffsetTSlot(0, key, 0)
		b.PrependUOffsetTSlot(1, value, 0)
		pairs = append(pairs, b.EndObject())
	}
	attrs := offsets(b, pairs)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, list, 0)
	b.PrependUOffsetTSlot(2, attrs, 0)
	return b.EndObject()
}

// field builds the table Field.
func field(b *flatbuffers.Builder, c Column) flatbuffers.UOffsetT {
	name := b.CreateString(c.Name)
	kind := map[Type]byte{Float64: typeFloat, Int64: typeInt, Bool: typeBool, Text: typeText}[c.Type]
	b.StartObject(2)
	switch c.Type {
	case Float64:
		b.PrependInt16Slot(0, double, 0)
	case Int64:
		b.PrependInt32Slot(0, 64, 0)
		b.PrependBoolSlot(1, true, false)
	}
	typ := b.EndObject()
	children := offsets(b, nil)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, typ, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}

func offsets(b *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(list), 4)
	for _, o := range slices.Backward(list) {
		b.PrependUOffsetT(o)
	}
	return b.EndVector(len(list))
}

// batchMessage builds the table RecordBatch of the rows in memory, and its body: for every column an
// empty validity buffer, as no value is missing, the ends of texts, and the elements.
func (w *Writer) batchMessage() ([]byte, []byte) {
	var body []byte
	type buffer struct{ offset, length int64 }
	var buffers []buffer
	add := func(b ...byte) {
		buffers = append(buffers, buffer{int64(len(body)), int64(len(b))})
		body = append(body, b...)
		body = append(body, make([]byte, -len(body)&63)...)
	}
	for i, d := range w.data {
		if add(); w.columns[i].Type == Text {
			add(append(make([]byte, 4), w.ends[i]...)...)
		}
		add(d...)
	}
	b := flatbuffers.NewBuilder(1024)
	b.StartVector(16, len(buffers), 8)
	for _, x := range slices.Backward(buffers) {
		pair(b, x.offset, x.length)
	}
	places := b.EndVector(len(buffers))
	b.StartVector(16, len(w.columns), 8)
	for range w.columns {
		pair(b, int64(w.rows), 0)
	}
	nodes := b.EndVector(len(w.columns))
	b.StartObject(4)
	b.PrependInt64Slot(0, int64(w.rows), 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, places, 0)
	return wrap(b, headerBatch, b.EndObject(), int64(len(body))), body
}

// pair builds a struct of two longs.
func pair(b *flatbuffers.Builder, first, second int64) {
	b.Prep(8, 16)
	b.PrependInt64(second)
	b.PrependInt64(first)
}

// footer builds the table Footer.
func (w *Writer) footer() []byte {
	b := flatbuffers.NewBuilder(1024)
	schema := w.schema(b)
	b.StartVector(24, 0, 8)
	dictionaries := b.EndVector(0)
	b.StartVector(24, len(w.batches), 8)
	for _, x := range slices.Backward(w.batches) {
		b.Prep(8, 24)
		b.PrependInt64(x.body)
		b.Pad(4)
		b.PrependInt32(x.metadata)
		b.PrependInt64(x.offset)
	}
	batches := b.EndVector(len(w.batches))
	b.StartObject(5)
	b.PrependInt16Slot(0, version5, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependUOffsetTSlot(2, dictionaries, 0)
	b.PrependUOffsetTSlot(3, batches, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}
