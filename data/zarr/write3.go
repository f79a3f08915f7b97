// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/tensor"
)

// groupNode is zarr.json of a group.
type groupNode struct {
	Format int               `json:"zarr_format"`
	Type   string            `json:"node_type"`
	Attrs  map[string]string `json:"attributes"`
}

// arrayNode is zarr.json of an array.
type arrayNode struct {
	groupNode
	Shape    []int           `json:"shape"`
	DataType string          `json:"data_type"`
	Grid     any             `json:"chunk_grid"`
	Keys     any             `json:"chunk_key_encoding"`
	Fill     json.RawMessage `json:"fill_value"`
	Codecs   []any           `json:"codecs"`
	Dims     []string        `json:"dimension_names"`
}

// part is a part of the metadata with its configuration.
func part(name string, configuration map[string]any) any {
	return map[string]any{"name": name, "configuration": configuration}
}

// group3 is group of version 3. The root is written last, with the metadata of all.
func (w *store) group3(name string, attrs map[string]string) error {
	if attrs == nil {
		attrs = map[string]string{}
	}
	return w.put(join(name, root3), groupNode{3, "group", attrs})
}

// fill3 are the fill values by the kind of elements.
var fill3 = map[byte]string{'f': `"NaN"`, 'i': "0", 'b': "false", 'O': `""`}

// types3Written are the data types by the kind of elements.
var types3Written = map[byte]string{'f': "float64", 'i': "int64", 'b': "bool", 'O': "string"}

// array3 writes the metadata of an array.
func (w *store) array3(key string, m *arrayMeta, e element, v tensor.Variable) error {
	first := part("bytes", map[string]any{"endian": "little"})
	if e.kind == 'O' {
		first = map[string]any{"name": "vlen-utf8"}
	}
	codecs := []any{first}
	if w.zip.level > 0 {
		codecs = append(codecs, part("gzip", map[string]any{"level": w.zip.level}))
	}
	codecs = append(codecs, map[string]any{"name": "crc32c"})
	attrs := map[string]string{}
	for k, a := range v.Attrs {
		attrs[k] = a
	}
	return w.put(join(key, root3), arrayNode{groupNode{3, "array", attrs}, m.Shape, types3Written[e.kind],
		part("regular", map[string]any{"chunk_shape": m.Chunks}), part("default", map[string]any{"separator": "/"}),
		json.RawMessage(fill3[e.kind]), codecs, append([]string{}, v.Dims...)})
}

// texts3 writes an array of text as one chunk: the number of texts, then the length in bytes and the UTF-8 of each.
func (w *store) texts3(key string, v tensor.Variable) error {
	e := element{kind: 'O'}
	m, err := w.describe(key, v, e, cutChunks(v.Shape, 1, v.Len()+1))
	if err != nil || v.Len() == 0 {
		return err
	}
	words := v.Data.([]string)
	raw := binary.LittleEndian.AppendUint32(nil, uint32(len(words)))
	for _, s := range words {
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(s))), s...)
	}
	return w.chunk(key, make([]int, len(m.Shape)), raw)
}

// chunk3 writes a chunk that is packed.
func (w *store) chunk3(key string, at []int, b []byte) error {
	name := filepath.Join(w.dir, filepath.FromSlash(key), "c")
	if len(at) > 0 {
		name = filepath.Join(name, filepath.FromSlash(strings.ReplaceAll(chunkName(at), ".", "/")))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(name, b, 0o644)
}

// consolidated3 begins the root of a store as this package writes it; others put spaces between.
const consolidated3 = `{"consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{`

// consolidate3 writes the root of the store, with the metadata of all groups and arrays in the order in which they were written.
func (w *store) consolidate3() error {
	var b bytes.Buffer
	b.WriteString(consolidated3)
	between := ""
	for _, key := range w.keys {
		if key == root3 {
			continue
		}
		name, err := json.Marshal(strings.TrimSuffix(key, "/"+root3))
		if err != nil {
			return err
		}
		b.WriteString(between)
		b.Write(name)
		b.WriteByte(':')
		b.Write(w.meta[key])
		between = ","
	}
	b.WriteString("}},")
	b.Write(w.meta[root3][1:])
	return atomicfile.WriteBytes(filepath.Join(w.dir, root3), b.Bytes())
}
