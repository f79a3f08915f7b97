// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// array reads a whole array.
func (r *reader) array(dir string) (tensor.Variable, error) {
	v := tensor.Variable{Name: path.Base(dir)}
	b, err := r.file(path.Join(dir, ".zarray"))
	if err != nil {
		return v, err
	}
	m, e, err := parseMeta(b)
	if err != nil {
		return v, err
	}
	if v.Attrs, err = r.attrs(dir); err != nil {
		return v, err
	}
	if v.Dims, err = dimNames(v, len(m.Shape)); err != nil {
		return v, err
	}
	if key := xarray.Packing(func(key string) bool { return v.Attrs[key] != "" }); key != "" {
		return v, &FormatError{Format: "zarr", What: "the array is packed by " + key, Try: "write it from xarray with decoded values"}
	}
	chunks, err := r.chunks(dir, m)
	if err != nil {
		return v, err
	}
	v.Shape = m.Shape
	if v.Data, err = r.elements(m, e, chunks); err != nil {
		return v, err
	}
	return asBool(v), nil
}

// dimNames removes the names of the axes from the attributes and returns them.
func dimNames(v tensor.Variable, rank int) ([]string, error) {
	raw, ok := v.Attrs["_ARRAY_DIMENSIONS"]
	delete(v.Attrs, "_ARRAY_DIMENSIONS")
	if !ok {
		return xarray.Axes(v.Name, rank), nil
	}
	dims := []string{}
	if err := json.Unmarshal([]byte(raw), &dims); err != nil || len(dims) != rank {
		return nil, bad("_ARRAY_DIMENSIONS is %.80s, want %d names of axes", raw, rank)
	}
	return dims, nil
}

// asBool converts integers back to booleans if xarray stored them that way.
func asBool(v tensor.Variable) tensor.Variable {
	ints, ok := v.Data.([]int64)
	if !ok || v.Attrs["dtype"] != "bool" {
		return v
	}
	delete(v.Attrs, "dtype")
	v.Data = xarray.Bools(ints)
	return v
}

// chunk is a stored chunk: its position in the grid of chunks and its file.
type chunk struct {
	at   []int
	file string
	size int64
}

// chunks lists the chunks that exist.
func (r *reader) chunks(dir string, m *arrayMeta) ([]chunk, error) {
	var out []chunk
	err := fs.WalkDir(r.fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		at, ok := m.place(strings.TrimPrefix(p, dir+"/"))
		if !ok {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out = append(out, chunk{at, p, info.Size()})
		return nil
	})
	return out, err
}

// place parses the name of a chunk; it returns false if the array has no such chunk.
func (m *arrayMeta) place(name string) ([]int, bool) {
	if len(m.Shape) == 0 {
		return nil, name == "0"
	}
	sep := m.Separator
	if sep == "" {
		sep = "."
	}
	parts := strings.Split(name, sep)
	if len(parts) != len(m.Shape) {
		return nil, false
	}
	at := make([]int, len(parts))
	for i, p := range parts {
		k, err := strconv.Atoi(p)
		if err != nil || k < 0 || strconv.Itoa(k) != p || k >= (m.Shape[i]+m.Chunks[i]-1)/m.Chunks[i] {
			return nil, false
		}
		at[i] = k
	}
	return at, true
}

// elements reads the existing chunks. All other elements have the fill value.
func (r *reader) elements(m *arrayMeta, e element, chunks []chunk) (any, error) {
	for _, c := range chunks {
		r.left += c.size * expansion
	}
	need, ok := product(m.Shape, e.memory())
	whole, fits := product(m.Chunks, max(e.size, 1))
	if !ok || int64(need) > r.left || len(chunks) > 0 && (!fits || int64(whole) > r.left) {
		return nil, bad("an array of the shape %v with chunks %v of %v needs more memory than %d bytes, the most that the stored chunks can decompress to: copy the store again", m.Shape, m.Chunks, e, r.left)
	}
	r.left -= int64(need)
	if err := m.complete(chunks, r.ours != nil); err != nil {
		return nil, err
	}
	n, _ := product(m.Shape, 1)
	out := e.make(n)
	if err := e.fill(out, m.Fill); err != nil {
		return nil, err
	}
	for _, c := range chunks {
		if err := r.chunk(out, m, e, c, whole); err != nil {
			return nil, within(c.file, err)
		}
	}
	return out, nil
}

// complete returns an error if a chunk is missing although the store has all, or the metadata say with a fill value of null that its
// elements are undefined.
func (m *arrayMeta) complete(chunks []chunk, all bool) error {
	text := string(m.Fill)
	if !all && text != "" && text != "null" {
		return nil
	}
	want := 1
	for i, n := range m.Shape {
		want *= (n + m.Chunks[i] - 1) / m.Chunks[i] // the caller has checked that their product fits
	}
	if len(chunks) >= want {
		return nil
	}
	if all {
		return bad("%d of %d chunks are missing: copy the store again", want-len(chunks), want)
	}
	return bad("%d of %d chunks are missing, and as fill_value is null their elements are undefined: copy the store again, or write it with a fill value", want-len(chunks), want)
}

// chunk copies the elements of one chunk to their positions in out.
func (r *reader) chunk(out any, m *arrayMeta, e element, c chunk, whole int) error {
	f, err := foreign.OpenIn(r.fsys, c.file)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, c.size))
	if err != nil {
		return err
	}
	limit := whole
	if e.kind == 'O' {
		limit = int(min(r.left, 1<<31))
	}
	if b, err = m.Compressor.decompress(b, limit); err != nil {
		return err
	}
	if e.kind == 'O' {
		return m.scatterText(out.([]string), b, c.at)
	}
	if len(b) != whole {
		return bad("the chunk has %d bytes, want %d", len(b), whole)
	}
	return m.scatter(c.at, func(to, from int) error { return e.set(out, to, b, from) })
}

// scatterText copies the strings of a chunk to their positions. A chunk stores the number
// of strings, then the length and the bytes of each.
func (m *arrayMeta) scatterText(out []string, b []byte, at []int) error {
	want, ok := product(m.Chunks, 1)
	if len(b) < 4 || !ok || uint64(binary.LittleEndian.Uint32(b)) != uint64(want) || want > len(b)/4 {
		return bad("the text chunk of %d bytes is damaged, want %d strings", len(b), want)
	}
	words := make([]string, want)
	b = b[4:]
	for i := range words {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return bad("the text chunk ends within string %d of %d: copy the store again", i+1, want)
		}
		n := int(binary.LittleEndian.Uint32(b))
		words[i], b = string(b[4:4+n]), b[4+n:]
	}
	return m.scatter(at, func(to, from int) error { out[to] = words[from]; return nil })
}

// scatter calls set for every element of chunk at that lies inside the array, with its
// index to in the array and from in the chunk.
func (m *arrayMeta) scatter(at []int, set func(to, from int) error) error {
	rank := len(m.Shape)
	inner, outer := strides(m.Chunks, m.Order == "F"), strides(m.Shape, false)
	first, count := make([]int, rank), make([]int, rank)
	for i := range at {
		first[i] = at[i] * m.Chunks[i]
		count[i] = min(m.Chunks[i], m.Shape[i]-first[i])
		if count[i] <= 0 {
			return nil
		}
	}
	idx := make([]int, rank)
	for {
		to, from := 0, 0
		for i, k := range idx {
			to += (first[i] + k) * outer[i]
			from += k * inner[i]
		}
		if err := set(to, from); err != nil {
			return err
		}
		i := rank - 1
		for ; i >= 0; i-- {
			if idx[i]++; idx[i] < count[i] {
				break
			}
			idx[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// strides returns the strides of the axes in C or Fortran order.
func strides(shape []int, fortran bool) []int {
	s := slices.Clone(shape)
	if fortran {
		slices.Reverse(s)
	}
	out := []int(tensor.Shape(s).Strides())
	if fortran {
		slices.Reverse(out)
	}
	return out
}
