// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Reopen continues a store that a Stream left behind, whether it was closed or its process was killed.
// It keeps the first draws of every chain and drops later ones; Append continues after them, with the
// chunks and the compression of the store. draws gives the number of draws to keep for each growing
// group, such as {"posterior": 300}, which must not exceed the number of draws in the group.
func Reopen(name string, draws map[string]int) (*Stream, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("zarr: %w", err)
	}
	defer root.Close()
	r := &reader{fsys: root.FS(), left: floor, rank: map[string]int{}}
	out := &Stream{w: &store{dir: name}, name: name}
	if err := out.reopen(r, draws); err != nil {
		var e *FormatError
		if errors.As(err, &e) {
			e.File = name
			return nil, e
		}
		return nil, fmt.Errorf("zarr: %s: %w", name, err)
	}
	return out, nil
}

func (s *Stream) reopen(r *reader, draws map[string]int) error {
	if _, err := fs.Stat(r.fsys, ".zgroup"); err != nil {
		return fmt.Errorf("it is no store that a stream left behind, which has a file .zgroup: continue only those")
	}
	if err := r.readOrder(); err != nil {
		return err
	}
	if err := s.keepMetadata(r); err != nil {
		return err
	}
	groups, _, err := r.children("")
	if err != nil {
		return err
	}
	for name := range draws {
		if !slices.Contains(groups, name) {
			return fmt.Errorf("there is no group %q: the groups are %s", name, strings.Join(groups, ", "))
		}
	}
	for _, name := range groups {
		n, grows := draws[name]
		if !grows {
			continue
		}
		if err := s.reopenGroup(r, name, n); err != nil {
			return err
		}
	}
	return s.w.consolidate()
}

// keepMetadata copies all existing metadata in their order.
func (s *Stream) keepMetadata(r *reader) error {
	groups, arrays, err := r.children("")
	if err != nil {
		return err
	}
	dirs := append([]string{""}, arrays...)
	for _, g := range groups {
		_, inside, err := r.children(g)
		if err != nil {
			return err
		}
		dirs = append(append(dirs, g), inside...)
	}
	for _, d := range dirs {
		for _, file := range []string{".zgroup", ".zarray", ".zattrs"} {
			b, err := r.file(path.Join(d, file))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if err := s.w.put(join(d, file), rawJSON(b)); err != nil {
				return err
			}
		}
	}
	return nil
}

// rawJSON is JSON text that is marshalled unchanged.
type rawJSON []byte

// MarshalJSON returns the text.
func (b rawJSON) MarshalJSON() ([]byte, error) { return b, nil }

func (s *Stream) reopenGroup(r *reader, name string, draws int) error {
	g := &streamGroup{name: name}
	_, arrays, err := r.children(name)
	if err != nil {
		return err
	}
	for _, p := range arrays {
		sv, err := s.reopenVariable(r, p, draws)
		if err != nil {
			return within(p, err)
		}
		if sv != nil {
			g.vars = append(g.vars, sv)
			g.counts = make([]int, len(sv.buf))
		}
	}
	if len(g.vars) == 0 {
		return fmt.Errorf("the group %s has no variable with the axes chain and draw, so no draws can be added to it: leave it out", name)
	}
	for i := range g.counts {
		g.counts[i] = draws
	}
	whole := draws / s.every * s.every
	g.coords = whole
	if err := s.describe(g, whole); err != nil {
		return err
	}
	s.groups = append(s.groups, g)
	return nil
}

// reopenVariable returns a growing variable with its unfinished chunks in memory, or nil
// if the variable does not grow.
func (s *Stream) reopenVariable(r *reader, dir string, draws int) (*streamVar, error) {
	b, err := r.file(dir + "/.zarray")
	if err != nil {
		return nil, err
	}
	m, e, err := parseMeta(b)
	if err != nil {
		return nil, err
	}
	v := tensor.Variable{Name: path.Base(dir), Shape: m.Shape, Data: e.make(0)}
	if v.Attrs, err = r.attrs(dir); err != nil {
		return nil, err
	}
	if v.Dims, err = dimNames(v, len(m.Shape)); err != nil {
		return nil, err
	}
	if len(v.Dims) < 2 || v.Dims[0] != "chain" || v.Dims[1] != "draw" {
		return nil, nil
	}
	if err := s.adopt(m); err != nil {
		return nil, err
	}
	size, ok := product(s.chunks(&streamVar{v: v}), e.size)
	switch {
	case draws < 0 || draws > m.Shape[1]:
		return nil, bad("the array has %d draws, so %d cannot be kept: keep fewer", m.Shape[1], draws)
	case !slices.Equal(m.Chunks, s.chunks(&streamVar{v: v})) || e.big || e.kind != 'f' && e.kind != 'i' && e.kind != 'b' || m.Order == "F":
		return nil, bad("the chunks %v of %v in order %s are not those of a stream: continue only stores that a Stream wrote", m.Chunks, e, m.Order)
	case !ok || size > math.MaxInt32 || m.Shape[0] > 1<<20:
		return nil, bad("%d chains with chunks of %v are too large for a stream: write a new store with fewer ChunkDraws", m.Shape[0], m.Chunks)
	}
	sv := &streamVar{v: v, e: e, rest: tensor.Shape(m.Shape[2:]).Size(), buf: make([][]byte, m.Shape[0])}
	kept := draws % s.every * sv.rest * e.size
	for c := range sv.buf {
		if kept > 0 {
			if sv.buf[c], err = unfinished(r, dir, m, []int{c, draws / s.every}, size, kept); err != nil {
				return nil, err
			}
		}
	}
	return sv, nil
}

// adopt takes the chunk length and the compression of the first variable and checks that
// the others agree. Stores of older versions without compression have no checksums.
func (s *Stream) adopt(m *arrayMeta) error {
	raw, level := m.Compressor == nil, 0
	if !raw {
		if level = m.Compressor.Level; m.Compressor.ID != "zlib" || level < 0 || level > 9 {
			return bad("the array is compressed by %s at level %d: a stream can continue only arrays that are not compressed, or by zlib", m.Compressor.ID, level)
		}
	}
	zip := &s.w.zip
	if s.every == 0 {
		s.every, zip.level, zip.raw = m.Chunks[1], level, raw
	}
	if s.every != m.Chunks[1] || zip.level != level || zip.raw != raw {
		return bad("the array has chunks of %d draws compressed at level %d, but other variables have %d at level %d: a stream needs the same for all", m.Chunks[1], level, s.every, zip.level)
	}
	return nil
}

// unfinished returns the first kept bytes of a chunk.
func unfinished(r *reader, dir string, m *arrayMeta, place []int, size, kept int) ([]byte, error) {
	at := make([]int, len(m.Shape))
	copy(at, place)
	f, err := foreign.OpenIn(r.fsys, path.Join(dir, chunkName(at)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(size)+1<<16))
	if err == nil {
		raw, err = m.Compressor.decompress(raw, size)
	}
	if err != nil || len(raw) < kept {
		return nil, &FormatError{Format: "zarr", What: fmt.Sprintf("the chunk %v has %d bytes, want at least %d", at, len(raw), kept), Err: err, Try: "keep fewer draws"}
	}
	return slices.Clone(raw[:kept]), nil
}
