// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/tensor"
)

// types are the names of element types.
var types = map[tensor.DType]string{tensor.Float64: "F64", tensor.Float32: "F32", tensor.Float16: "F16", tensor.Int64: "I64", tensor.Int32: "I32", tensor.Bool: "BOOL"}

// Save writes arrays and notes, which may be nil, to a file. The file gets its name once it is
// complete.
func Save(name string, arrays map[string]*tensor.Tensor, notes map[string]string) error {
	return atomicfile.Write(name, true, func(w io.Writer) error { return Write(w, arrays, notes) })
}

// Write writes arrays in the order of their names, together with notes, which may be nil.
func Write(w io.Writer, arrays map[string]*tensor.Tensor, notes map[string]string) error {
	header := map[string]any{}
	for key, note := range notes {
		if !utf8.ValidString(key) || !utf8.ValidString(note) {
			return fmt.Errorf("safetensors: the note %q with the text %q is not valid UTF-8: encode it as UTF-8", key, note)
		}
	}
	if notes != nil {
		header["__metadata__"] = notes
	}
	names := slices.Sorted(maps.Keys(arrays))
	at := int64(0)
	for _, name := range names {
		t := arrays[name]
		if t == nil || types[t.DType()] == "" {
			return fmt.Errorf("safetensors: the array %s is nil or complex, which the format cannot store: write real and imaginary parts as two arrays", name)
		}
		if name == "__metadata__" {
			return fmt.Errorf("safetensors: an array cannot be named %s, which is the name of the notes: choose another name", name)
		}
		if !utf8.ValidString(name) {
			return fmt.Errorf("safetensors: the name %q of an array is not valid UTF-8: encode it as UTF-8", name)
		}
		e := entry{types[t.DType()], []int64{}, []int64{at, at + int64(t.Size()*t.DType().Bytes())}}
		for _, d := range t.Shape() {
			e.Shape = append(e.Shape, int64(d))
		}
		header[name], at = e, e.Offsets[1]
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	for len(text)%8 != 0 { // so that the numbers are aligned
		text = append(text, ' ')
	}
	b := bufio.NewWriter(w)
	if err := binary.Write(b, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := b.Write(text); err != nil {
		return err
	}
	for _, name := range names {
		if err := binary.Write(b, binary.LittleEndian, arrays[name].Compact().Data()); err != nil {
			return err
		}
	}
	return b.Flush()
}
