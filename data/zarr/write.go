// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/tensor"
)

// Settings control how a store is written. The zero value is the default.
type Settings struct {
	// Format is the version of the format that Write writes, 2 or 3. 0 stands for 2, which zarr-python 2 and 3 and all versions of ArviZ and
	// xarray read; zarr-python 2 cannot read version 3. A Stream writes version 2.
	Format int
	Zlib   int // zlib level from 1 (fast) to 9 (small). Default 0, no compression, which reads fastest; the zlib streams then only add checksums
	// ChunkBytes is the size in bytes of the largest chunk of Write. Default 16 MiB, which stores most
	// variables as one chunk.
	ChunkBytes int
	// ChunkDraws is the number of draws per chunk of a Stream. Default 100; at most this many are lost
	// if the process is killed.
	ChunkDraws int
	// Overwrite replaces an existing store.
	Overwrite bool
}

func (s Settings) check() (Settings, error) {
	if s.Zlib < 0 || s.Zlib > 9 || s.ChunkBytes < 0 || s.ChunkDraws < 0 {
		return s, fmt.Errorf("zarr: Zlib is %d, ChunkBytes %d and ChunkDraws %d: want Zlib from 0 to 9 and chunks of at least 0", s.Zlib, s.ChunkBytes, s.ChunkDraws)
	}
	if s.Format != 0 && s.Format != 2 && s.Format != 3 {
		return s, fmt.Errorf("zarr: Format is %d: want 2 or 3", s.Format)
	}
	if s.ChunkBytes == 0 {
		s.ChunkBytes = 16 << 20
	}
	if s.ChunkDraws == 0 {
		s.ChunkDraws = 100
	}
	return s, nil
}

// Write writes a tree as a folder under a temporary name and then renames it. An existing
// folder is an error, unless Settings.Overwrite is set and the folder is a store without
// foreign files (see Foreign); then it is replaced.
func Write(name string, t *tensor.DataTree, s Settings) error {
	return write(name, s, func(w *store) error { return w.tree(t) })
}

// WriteDataset writes a dataset without groups, as xarray.open_zarr reads it, in the same way.
func WriteDataset(name string, d *tensor.Dataset, s Settings) error {
	root := *d
	root.Name = ""
	return write(name, s, func(w *store) error {
		if err := w.dataset(&root); err != nil {
			return err
		}
		return w.consolidate()
	})
}

func write(name string, s Settings, content func(w *store) error) error {
	s, err := s.check()
	if err != nil {
		return err
	}
	if err := replaceable(name, s); err != nil {
		return fmt.Errorf("zarr: %w", err)
	}
	err = atomicfile.Folder(name, s.Overwrite, Is, func(dir string) error {
		return content(&store{dir: dir, zip: compressor{level: s.Zlib, v3: s.Format == 3}, chunkBytes: s.ChunkBytes, v3: s.Format == 3})
	})
	if e := (*FormatError)(nil); errors.As(err, &e) {
		e.File = name
		return e
	}
	if err != nil {
		return fmt.Errorf("zarr: %w", err)
	}
	return nil
}

// unwritten adds the key of an array to an error from writing it.
func unwritten(key string, err error) error {
	if errors.As(err, new(*FormatError)) {
		return within(key, err)
	}
	return &FormatError{Format: "zarr", Place: key, What: "the array cannot be written", Err: err}
}

// store is a folder being written. It remembers the metadata for .zmetadata.
type store struct {
	dir        string
	zip        compressor
	chunkBytes int
	v3         bool // version 3 of the format
	keys       []string
	meta       map[string]json.RawMessage
}

func (w *store) tree(t *tensor.DataTree) error {
	if err := w.group("", t.Attrs); err != nil {
		return err
	}
	for _, d := range t.Groups() {
		if err := w.dataset(d); err != nil {
			return err
		}
	}
	return w.consolidate()
}

// dataset writes a group: first its coordinates, then its variables.
func (w *store) dataset(d *tensor.Dataset) error {
	if err := w.group(d.Name, groupAttrs(d)); err != nil {
		return err
	}
	for _, v := range slices.Concat(d.Coords(), d.Vars()) {
		if err := w.variable(d.Name, v); err != nil {
			return unwritten(d.Name+"/"+v.Name, err)
		}
	}
	return nil
}

// groupAttrs adds the names of coordinates that are not dimensions, as xarray does.
func groupAttrs(d *tensor.Dataset) map[string]string {
	var extra []string
	for _, c := range d.Coords() {
		if d.Len(c.Name) < 0 {
			extra = append(extra, c.Name)
		}
	}
	if len(extra) == 0 {
		return d.Attrs
	}
	out := map[string]string{"coordinates": strings.Join(extra, " ")}
	for k, v := range d.Attrs {
		out[k] = v
	}
	return out
}

func (w *store) group(name string, attrs map[string]string) error {
	if err := os.MkdirAll(filepath.Join(w.dir, name), 0o755); err != nil {
		return err
	}
	if w.v3 {
		return w.group3(name, attrs)
	}
	if err := w.put(join(name, ".zgroup"), map[string]int{"zarr_format": 2}); err != nil {
		return err
	}
	if attrs == nil {
		attrs = map[string]string{}
	}
	return w.put(join(name, ".zattrs"), attrs)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// put writes a metadata file.
func (w *store) put(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if w.meta == nil {
		w.meta = map[string]json.RawMessage{}
	}
	if w.meta[key] == nil {
		w.keys = append(w.keys, key)
	}
	w.meta[key] = b
	return atomicfile.WriteBytes(filepath.Join(w.dir, filepath.FromSlash(key)), b)
}

// consolidated begins the consolidated metadata as this package writes them; others put spaces between.
const consolidated = `{"zarr_consolidated_format":1,"metadata":{`

// consolidate writes all metadata to one file, in the order in which they were written.
func (w *store) consolidate() error {
	if w.v3 {
		return w.consolidate3()
	}
	var b bytes.Buffer
	b.WriteString(consolidated)
	for i, key := range w.keys {
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(w.meta[key])
	}
	b.WriteString("}}")
	return atomicfile.WriteBytes(filepath.Join(w.dir, ".zmetadata"), b.Bytes())
}

// variable writes an array and its chunks.
func (w *store) variable(group string, v tensor.Variable) error {
	e, err := elementOf(v.Data)
	if err != nil {
		return err
	}
	if w.v3 && e.kind == 'U' {
		return w.texts3(join(group, v.Name), v)
	}
	m, err := w.describe(join(group, v.Name), v, e, cutChunks(v.Shape, e.size, w.chunkBytes))
	if err != nil || v.Len() == 0 {
		return err
	}
	size, _ := product(m.Chunks, e.size)
	raw := make([]byte, size)
	grid := make([]int, len(m.Shape))
	for i := range grid {
		grid[i] = (m.Shape[i] + m.Chunks[i] - 1) / m.Chunks[i]
	}
	return overGrid(grid, func(at []int) error {
		clear(raw)
		m.scatter(at, func(from, to int) error { e.put(raw, to, v.Data, from); return nil })
		return w.chunk(join(group, v.Name), at, raw)
	})
}

// describe writes the metadata of an array.
func (w *store) describe(key string, v tensor.Variable, e element, chunks []int) (*arrayMeta, error) {
	if err := os.MkdirAll(filepath.Join(w.dir, filepath.FromSlash(key)), 0o755); err != nil {
		return nil, err
	}
	m := &arrayMeta{Format: 2, Shape: v.Shape, Chunks: chunks, DType: json.RawMessage(`"` + e.String() + `"`), Compressor: w.zip.codec(), Order: "C", Fill: json.RawMessage("null")}
	if e.kind == 'f' {
		m.Fill = json.RawMessage(`"NaN"`)
	}
	if m.Shape == nil {
		m.Shape, m.Chunks = []int{}, []int{}
	}
	if w.v3 {
		return m, w.array3(key, m, e, v)
	}
	if err := w.put(key+"/.zarray", m); err != nil {
		return nil, err
	}
	attrs := map[string]any{"_ARRAY_DIMENSIONS": append([]string{}, v.Dims...)}
	for k, a := range v.Attrs {
		attrs[k] = a
	}
	return m, w.put(key+"/.zattrs", attrs)
}

// chunk writes one chunk of raw bytes.
func (w *store) chunk(key string, at []int, raw []byte) error {
	b, err := w.zip.run(raw)
	if err != nil {
		return err
	}
	if w.v3 {
		return w.chunk3(key, at, b)
	}
	return os.WriteFile(filepath.Join(w.dir, filepath.FromSlash(key), chunkName(at)), b, 0o644)
}

func chunkName(at []int) string {
	if len(at) == 0 {
		return "0"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(at), " ", "."), "[]")
}

// cutChunks halves the longest axis until a chunk is small enough.
func cutChunks(shape []int, size, limit int) []int {
	c := make([]int, len(shape))
	for i, n := range shape {
		c[i] = max(n, 1)
	}
	for len(c) > 0 {
		n, ok := product(c, size)
		longest := slices.Index(c, slices.Max(c))
		if ok && n <= limit || c[longest] == 1 {
			break
		}
		c[longest] = (c[longest] + 1) / 2
	}
	return c
}

// overGrid calls f for every position in a grid.
func overGrid(grid []int, f func(at []int) error) error {
	at := make([]int, len(grid))
	for {
		if err := f(at); err != nil {
			return err
		}
		i := len(grid) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < grid[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}
