// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// mostHeader is the largest header that other programs read.
const mostHeader = 100_000_000

const (
	mostAxes  = 64      // axes of an array
	mostEmpty = 1 << 40 // product of the lengths, but for those of 0, of an array without numbers
)

// entry is an array in the header.
type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// kind is an element type: its size, and how bytes become a slice.
type kind struct {
	size  int
	slice func(b []byte) any
}

// decoded returns a kind whose elements are read one by one.
func decoded[T any](size int, read func(b []byte) T) kind {
	return kind{size, func(b []byte) any {
		out := make([]T, len(b)/size)
		for i := range out {
			out[i] = read(b[i*size:])
		}
		return out
	}}
}

var kinds = map[string]kind{
	"F64":  decoded(8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }),
	"F32":  decoded(4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }),
	"F16":  decoded(2, func(b []byte) tensor.Half { return tensor.Half(binary.LittleEndian.Uint16(b)) }),
	"BF16": decoded(2, func(b []byte) float32 { return tensor.BFloat16(binary.LittleEndian.Uint16(b)).Float32() }),
	"I64":  decoded(8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }),
	"I32":  decoded(4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }),
	"I16":  decoded(2, func(b []byte) int32 { return int32(int16(binary.LittleEndian.Uint16(b))) }),
	"I8":   decoded(1, func(b []byte) int32 { return int32(int8(b[0])) }),
	"U32":  decoded(4, func(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }),
	"U16":  decoded(2, func(b []byte) int32 { return int32(binary.LittleEndian.Uint16(b)) }),
	"U8":   decoded(1, func(b []byte) int32 { return int32(b[0]) }),
	"BOOL": decoded(1, func(b []byte) bool { return b[0] != 0 }),
}

// Load reads the arrays of a file, and the notes in its header, which may be nil.
func Load(name string) (map[string]*tensor.Tensor, map[string]string, error) {
	f, err := foreign.Open(name, ".safetensors")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	return read(f, info.Size(), name)
}

// Read reads the arrays from the size bytes that r provides, and the notes in the header, which may be
// nil.
func Read(r io.ReaderAt, size int64) (map[string]*tensor.Tensor, map[string]string, error) {
	return read(r, size, "")
}

func read(r io.ReaderAt, size int64, file string) (map[string]*tensor.Tensor, map[string]string, error) {
	bad := func(name string, err error, format string, v ...any) error {
		return &FormatError{Format: "safetensors", File: file, Place: foreign.Text(foreign.Short(name, 100)), What: fmt.Sprintf(format, v...), Try: "check that the file is of the format safetensors and was copied whole", Err: err}
	}
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, nil, bad("", err, "the file has %d bytes: want at least 8, which give the length of the header", size)
	}
	n := int64(binary.LittleEndian.Uint64(head[:]))
	if n < 2 || n > mostHeader || n > size-8 {
		return nil, nil, bad("", nil, "the header should have %d bytes in a file of %d: want 2 to %d, and no more than the file has", n, size, mostHeader)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return nil, nil, bad("", err, "the header cannot be read")
	}
	if text[0] != '{' {
		return nil, nil, bad("", nil, "the header begins with %q: want {", text[0])
	}
	clean, err := foreign.JSON(text)
	if err != nil {
		return nil, nil, bad("", err, "the header is not valid JSON")
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(clean, &raw); err != nil {
		return nil, nil, bad("", err, "the header is not a JSON object")
	}
	var notes map[string]string
	if m, ok := raw["__metadata__"]; ok {
		if err := json.Unmarshal(m, &notes); err != nil {
			return nil, nil, bad("__metadata__", err, "the metadata are not an object of strings")
		}
		delete(raw, "__metadata__")
	}
	entries := map[string]entry{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var e entry
		if err := json.Unmarshal(raw[name], &e); err != nil {
			return nil, nil, bad(name, err, "the entry of the array in the header cannot be read")
		}
		entries[name] = e
	}
	out := map[string]*tensor.Tensor{}
	at, data := int64(0), size-8-n
	for _, name := range inOrder(entries) {
		e := entries[name]
		k, known := kinds[e.DType]
		if !known {
			return nil, nil, bad(name, nil, "the elements are of the type %s: want one of %v", foreign.Short(e.DType, 20), slices.Sorted(maps.Keys(kinds)))
		}
		if len(e.Shape) > mostAxes {
			return nil, nil, bad(name, nil, "the array has %d axes: want at most %d", len(e.Shape), mostAxes)
		}
		count, extent, shape := int64(1), int64(1), make([]int, len(e.Shape)) // extent leaves out lengths of 0
		for i, d := range e.Shape {
			if d < 0 || d > 0 && extent > max(data, mostEmpty)/d {
				return nil, nil, bad(name, nil, "the array has the shape %v: want lengths of at least 0 whose product is no more than %d, the number of bytes after the header", e.Shape, data)
			}
			count, extent, shape[i] = count*d, extent*max(1, d), int(d)
		}
		if count > data {
			return nil, nil, bad(name, nil, "the array has the shape %v: want lengths of at least 0 whose product is no more than %d, the number of bytes after the header", e.Shape, data)
		}
		if len(e.Offsets) != 2 || e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > data || e.Offsets[1]-at != count*int64(k.size) {
			return nil, nil, bad(name, nil, "the array has the shape %[2]v of %[3]s at bytes %[1]v, and the array before it ends at byte %[4]d of %[5]d: want arrays one after another, without gaps, with %[6]d bytes for each element", e.Offsets, e.Shape, e.DType, at, data, k.size)
		}
		b := make([]byte, e.Offsets[1]-at)
		if _, err := r.ReadAt(b, 8+n+at); err != nil && !(err == io.EOF && len(b) == 0) {
			return nil, nil, bad(name, err, "the numbers of the array cannot be read")
		}
		x, err := tensor.From(k.slice(b), int(count))
		if err == nil {
			out[name], err = x.Reshape(shape...)
		}
		if err != nil {
			return nil, nil, bad(name, err, "the numbers do not make an array")
		}
		at = e.Offsets[1]
	}
	if at != data {
		return nil, nil, bad("", nil, "there are %d bytes after the last array: want none", data-at)
	}
	return out, notes, nil
}

// inOrder returns the names of arrays in the order of their bytes.
func inOrder(entries map[string]entry) []string {
	names := slices.Sorted(maps.Keys(entries))
	slices.SortStableFunc(names, func(a, b string) int { return slices.Compare(entries[a].Offsets, entries[b].Offsets) })
	return names
}
