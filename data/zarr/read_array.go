// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// MissingChunks is the attribute that arrays get of which chunks are not in the store, with their number: their elements are the fill value, as
// writers leave out chunks that hold nothing else.
const MissingChunks = "missing_chunks"

// count returns the number of chunks that the shape asks for.
func (m *arrayMeta) count() int {
	n := 1
	for i, k := range m.Shape {
		n *= (k + m.Chunks[i] - 1) / m.Chunks[i] // the caller has checked that their product fits
	}
	return n
}

// array reads a whole array.
func (r *reader) array(dir string) (tensor.Variable, error) {
	v := tensor.Variable{Name: path.Base(dir)}
	m, e, err := r.meta(dir, &v)
	if err != nil {
		return v, err
	}
	chunks, err := r.chunks(dir, m)
	if err != nil {
		return v, err
	}
	v.Shape = m.Shape
	if v.Data, err = r.elements(m, e, chunks); err != nil {
		return v, err
	}
	if n := m.count() - len(chunks); n > 0 && len(m.Shape) > 0 {
		if v.Attrs == nil {
			v.Attrs = map[string]string{}
		}
		v.Attrs[MissingChunks] = fmt.Sprintf("%d of %d", n, m.count())
	}
	if _, packed := v.Attrs["scale_factor"]; packed && v.Attrs["_FillValue"] == "" { // version 2 keeps what is missing in fill_value
		v.Attrs["_FillValue"] = string(m.Fill)
	}
	v = asBool(withMissing(v))
	if err := xarray.Unpack(&v); err != nil {
		return v, bad("%v", err)
	}
	return v, nil
}

// meta returns the metadata of an array and the type of its elements, and gives the variable its axes and attributes.
func (r *reader) meta(dir string, v *tensor.Variable) (m *arrayMeta, e element, err error) {
	if r.v3 {
		return r.meta3(dir, v)
	}
	b, err := r.file(path.Join(dir, ".zarray"))
	if err != nil {
		return nil, e, err
	}
	if m, e, err = parseMeta(b); err != nil {
		return nil, e, err
	}
	if v.Attrs, err = r.attrs(dir); err != nil {
		return nil, e, err
	}
	v.Dims, err = dimNames(*v, len(m.Shape))
	return m, e, err
}

// meta3 is meta of version 3.
func (r *reader) meta3(dir string, v *tensor.Variable) (m *arrayMeta, e element, err error) {
	n, err := r.node(dir)
	if err != nil {
		return nil, e, err
	}
	if m, e, err = n.array(); err != nil {
		return nil, e, err
	}
	v.Attrs, v.Dims = texts(n.Attributes), xarray.Axes(v.Name, len(m.Shape))
	if n.Dims != nil && len(n.Dims) != len(m.Shape) {
		return nil, e, bad("there are %d names of axes for an array of %d", len(n.Dims), len(m.Shape))
	}
	for i, name := range n.Dims {
		if name != nil {
			v.Dims[i] = *name
		}
	}
	return m, e, nil
}

// withMissing makes integers that xarray marks as missing NaN, by the attribute _FillValue. Floats are NaN themselves.
func withMissing(v tensor.Variable) tensor.Variable {
	text, marked := v.Attrs["_FillValue"]
	delete(v.Attrs, "_FillValue")
	missing, err := strconv.ParseInt(text, 10, 64)
	ints, whole := v.Data.([]int64)
	if !marked || err != nil || !whole || !slices.Contains(ints, missing) {
		return v
	}
	floats := v.Floats()
	for i, x := range ints {
		if x == missing {
			floats[i] = math.NaN()
		}
	}
	v.Data = floats
	return v
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
	sep := m.Separator
	if sep == "" {
		sep = "."
	}
	if len(m.Shape) == 0 {
		return nil, name == "0" && m.prefix == "" || name == m.prefix && m.prefix != ""
	}
	if m.prefix != "" {
		var found bool
		if name, found = strings.CutPrefix(name, m.prefix+sep); !found {
			return nil, false
		}
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
	whole, fits := product(m.leaf().Chunks, max(e.size, 1))
	if !ok || int64(need) > r.left || len(chunks) > 0 && (!fits || int64(whole) > r.left) {
		return nil, bad("an array of the shape %v with chunks %v of %v needs more memory than %d bytes, the most that the stored chunks can decompress to: copy the store again", m.Shape, m.leaf().Chunks, e, r.left)
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
	if !all && (m.Format == 3 || text != "" && text != "null") {
		return nil
	}
	want := m.count()
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
	if m.Format == 3 {
		return r.store3(out, m, e, b, c.at)
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
	inner, outer := m.inner(), strides(m.Shape, false)
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

// inner returns the strides of the axes inside a chunk.
func (m *arrayMeta) inner() []int {
	if m.perm == nil {
		return strides(m.Chunks, m.Order == "F")
	}
	stored, out := make([]int, len(m.perm)), make([]int, len(m.perm))
	for i, axis := range m.perm {
		stored[i] = m.Chunks[axis]
	}
	for i, n := range strides(stored, false) {
		out[m.perm[i]] = n
	}
	return out
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
