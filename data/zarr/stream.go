// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/tensor"
)

// Stream writes draws as they arrive. It keeps one chunk of draws per chain and variable
// in memory. The store can be read at any time, even after the process was killed: it
// then holds the chunks that all chains had completed. Chains may append from different
// goroutines.
//
//	post := tensor.NewDataset("posterior") // no draws yet: axis draw of length 0
//	err := post.Add("theta", []float64{}, tensor.Shape{4, 0, 8}, "chain", "draw", "school")
//	s, err := zarr.Create("run.zarr", tree, zarr.Settings{})
//	defer s.Close()
//	err = s.Append("posterior", chain, 1, map[string]any{"theta": row}) // for every draw
type Stream struct {
	mu     sync.Mutex
	w      *store
	name   string
	every  int // number of draws per chunk
	groups []*streamGroup
	err    error
	closed bool
}

// streamGroup is a group whose variables have chain and draw as their first axes.
type streamGroup struct {
	name   string
	vars   []*streamVar
	counts []int // number of draws appended to each chain
	shown  int   // number of draws per chain recorded in the metadata
	coords int   // number of draws covered by the chunks of the coordinate draw
}

// streamVar is a variable of a group; buf holds the unfinished chunk of each chain.
type streamVar struct {
	v    tensor.Variable
	e    element
	rest int // number of elements per draw
	buf  [][]byte
}

// Create starts a store with the layout of a tree. Variables whose first axes are chain
// and draw grow by Append and must have a draw axis of length 0. All others are written
// at once. The coordinates chain and draw may be omitted. An existing store is an error,
// or is removed if Settings.Overwrite is set.
func Create(name string, layout *tensor.DataTree, s Settings) (*Stream, error) {
	s, err := s.check()
	if err != nil {
		return nil, err
	}
	if s.Format == 3 {
		return nil, fmt.Errorf("zarr: %s: a stream writes version 2 of the format: leave Format out, or write the draws with Write when they are complete", name)
	}
	if err := vacate(name, s.Overwrite); err != nil {
		return nil, err
	}
	out := &Stream{w: &store{dir: name, zip: compressor{level: s.Zlib}, chunkBytes: s.ChunkBytes}, name: name, every: s.ChunkDraws}
	if err := out.start(layout); err != nil {
		return nil, fmt.Errorf("zarr: %w", err)
	}
	return out, nil
}

// vacate makes sure that nothing exists at name, removing a store if overwrite is set.
func vacate(name string, overwrite bool) error {
	_, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("zarr: %w", err)
	case !overwrite || !Is(name):
		return fmt.Errorf("zarr: %s: %w: choose another name, or set Overwrite if it is a store", name, fs.ErrExist)
	}
	err = Foreign(name)
	if err == nil {
		err = os.RemoveAll(name)
	}
	if err != nil {
		return fmt.Errorf("zarr: %w", err)
	}
	return nil
}

func (s *Stream) start(layout *tensor.DataTree) error {
	if err := s.w.group("", layout.Attrs); err != nil {
		return err
	}
	for _, d := range layout.Groups() {
		g, whole, err := s.plan(d)
		if err != nil {
			return err
		}
		if g == nil {
			if err := s.w.dataset(d); err != nil {
				return err
			}
			continue
		}
		if err := s.w.group(d.Name, groupAttrs(d)); err != nil {
			return err
		}
		for _, v := range whole {
			if err := s.w.variable(d.Name, v); err != nil {
				return unwritten(d.Name+"/"+v.Name, err)
			}
		}
		s.groups = append(s.groups, g)
		if err := s.describe(g, 0); err != nil {
			return err
		}
	}
	return s.w.consolidate()
}

// plan separates the variables of a dataset into those that grow and those that do not.
// The group is nil if no variable grows.
func (s *Stream) plan(d *tensor.Dataset) (*streamGroup, []tensor.Variable, error) {
	g := &streamGroup{name: d.Name}
	var whole []tensor.Variable
	for _, v := range slices.Concat(d.Coords(), d.Vars()) {
		if len(v.Dims) < 2 || v.Dims[0] != "chain" || v.Dims[1] != "draw" {
			if v.Name != "draw" {
				whole = append(whole, v)
			}
			continue
		}
		e, err := elementOf(v.Data)
		if err != nil {
			return nil, nil, unwritten(d.Name+"/"+v.Name, err)
		}
		if v.Shape[1] != 0 || e.kind == 'U' {
			return nil, nil, fmt.Errorf("%s/%s has elements of type %s and %d draws: a stream takes numbers and truth values and begins with 0 draws", d.Name, v.Name, v.DType(), v.Shape[1])
		}
		sv := &streamVar{v: v, e: e, rest: v.Shape[2:].Size(), buf: make([][]byte, v.Shape[0])}
		g.vars, g.counts = append(g.vars, sv), make([]int, v.Shape[0])
	}
	if len(g.vars) == 0 {
		return nil, nil, nil
	}
	if d.Coord("chain") == nil {
		whole = append(whole, counting("chain", len(g.counts)))
	}
	return g, whole, nil
}

// counting returns the coordinate 0, 1, 2, ...
func counting(dim string, n int) tensor.Variable {
	labels := make([]int64, n)
	for i := range labels {
		labels[i] = int64(i)
	}
	return tensor.Variable{Name: dim, Dims: []string{dim}, Shape: tensor.Shape{n}, Data: labels}
}

// describe writes the metadata for the given number of draws per chain.
func (s *Stream) describe(g *streamGroup, draws int) error {
	for _, sv := range g.vars {
		v := sv.v
		v.Shape = v.Shape.Clone()
		v.Shape[1] = draws
		if _, err := s.w.describe(g.name+"/"+v.Name, v, sv.e, s.chunks(sv)); err != nil {
			return err
		}
	}
	axis := tensor.Variable{Name: "draw", Dims: []string{"draw"}, Shape: tensor.Shape{draws}}
	if _, err := s.w.describe(g.name+"/draw", axis, element{kind: 'i', size: 8}, []int{s.every}); err != nil {
		return err
	}
	for ; g.coords < draws; g.coords += s.every {
		labels := counting("draw", g.coords+s.every).Data
		raw := make([]byte, 8*s.every)
		for i := range s.every {
			element{kind: 'i', size: 8}.put(raw, i, labels, g.coords+i)
		}
		if err := s.w.chunk(g.name+"/draw", []int{g.coords / s.every}, raw); err != nil {
			return err
		}
	}
	g.shown = draws
	return nil
}

// chunks returns the shape of a chunk: one chain, several draws and all other axes in
// full.
func (s *Stream) chunks(sv *streamVar) []int {
	c := append([]int{1, s.every}, sv.v.Shape[2:]...)
	for i := range c {
		c[i] = max(c[i], 1)
	}
	return c
}

// Append adds draws of one chain to all growing variables of a group. values maps their
// names to row-major slices of float64, int64 or bool with the elements of these draws,
// which are copied. After an error the stream is broken and every call returns the same
// error.
func (s *Stream) Append(group string, chain, draws int, values map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return fmt.Errorf("zarr: %s: the stream is closed: append before Close, or continue with Reopen", s.name)
	}
	if err := s.append(group, chain, draws, values); err != nil {
		s.err = fmt.Errorf("zarr: %s: %w", s.name, err)
	}
	return s.err
}

func (s *Stream) append(group string, chain, draws int, values map[string]any) error {
	i := slices.IndexFunc(s.groups, func(g *streamGroup) bool { return g.name == group })
	if i < 0 {
		return fmt.Errorf("there is no group %q that grows: want a group with variables over chain and draw", group)
	}
	g := s.groups[i]
	if chain < 0 || chain >= len(g.counts) || draws < 0 || len(values) != len(g.vars) {
		return fmt.Errorf("cannot append %d draws with %[3]d variables to chain %[2]d: want one of %[4]d chains, from 0, and all %[5]d variables of %[6]s", draws, chain, len(values), len(g.counts), len(g.vars), group)
	}
	for _, sv := range g.vars {
		v := tensor.Variable{Data: values[sv.v.Name]}
		if v.DType() != sv.v.DType() || v.Len() != draws*sv.rest {
			return fmt.Errorf("%s/%s got %d elements of %T for %d draws, want %d of %s", group, sv.v.Name, v.Len(), v.Data, draws, draws*sv.rest, sv.v.DType())
		}
	}
	for d := range draws {
		for _, sv := range g.vars {
			sv.keep(chain, values[sv.v.Name], d)
		}
		if g.counts[chain]++; g.counts[chain]%s.every == 0 {
			if err := s.flush(g, chain); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep appends one draw to the buffer of a chain.
func (sv *streamVar) keep(chain int, values any, draw int) {
	b := sv.buf[chain]
	at := len(b)
	b = append(b, make([]byte, sv.rest*sv.e.size)...)
	for k := range sv.rest {
		sv.e.put(b[at:], k, values, draw*sv.rest+k)
	}
	sv.buf[chain] = b
}

// flush writes the chunk that a chain has in memory, and the metadata once all chains
// have reached it.
func (s *Stream) flush(g *streamGroup, chain int) error {
	at := (g.counts[chain] - 1) / s.every
	for _, sv := range g.vars {
		if err := s.writeChunk(g, sv, chain, at); err != nil {
			return err
		}
		sv.buf[chain] = sv.buf[chain][:0]
	}
	if done := slices.Min(g.counts) / s.every * s.every; done > g.shown {
		if err := s.describe(g, done); err != nil {
			return err
		}
		return s.w.consolidate()
	}
	return nil
}

// writeChunk writes a buffer, padded to a whole chunk.
func (s *Stream) writeChunk(g *streamGroup, sv *streamVar, chain, at int) error {
	size, ok := product(s.chunks(sv), sv.e.size)
	if !ok || size > math.MaxInt32 {
		return fmt.Errorf("%s/%s: a chunk of %d draws is too large: set ChunkDraws lower", g.name, sv.v.Name, s.every)
	}
	raw := append(sv.buf[chain], make([]byte, max(size-len(sv.buf[chain]), 0))...)
	place := make([]int, len(sv.v.Shape))
	place[0], place[1] = chain, at
	return s.w.chunk(g.name+"/"+sv.v.Name, place, raw)
}

// Flush writes what is in memory, so that everything appended can be read. If the chains differ in
// length, only as many draws as the shortest chain has can be read. Close and every completed chunk do
// the same; Flush is for points from which a run may be resumed.
func (s *Stream) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.err != nil {
		return s.err
	}
	return s.flushAll(s.showUnfinished)
}

// Close writes what is in memory. Chains that differ in length, for example after a
// cancellation, are cut to the shortest. A second call does nothing.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.err != nil {
		return s.err
	}
	s.closed = true
	return s.flushAll(s.finish)
}

// flushAll calls end for every group and writes the consolidated metadata.
func (s *Stream) flushAll(end func(*streamGroup) error) error {
	for _, g := range s.groups {
		if err := end(g); err != nil {
			s.err = fmt.Errorf("zarr: %s: %w", s.name, err)
			return s.err
		}
	}
	if err := s.w.consolidate(); err != nil {
		s.err = fmt.Errorf("zarr: %s: %w", s.name, err)
	}
	return s.err
}

// showUnfinished writes the unfinished chunks of a group up to the draws that all chains
// have.
func (s *Stream) showUnfinished(g *streamGroup) error {
	least := slices.Min(g.counts)
	last := (least + s.every - 1) / s.every
	for chain, n := range g.counts {
		if n%s.every == 0 || n/s.every >= last {
			continue
		}
		for _, sv := range g.vars {
			if err := s.writeChunk(g, sv, chain, n/s.every); err != nil {
				return err
			}
		}
	}
	return s.describe(g, least)
}

// finish does the same and removes the chunks that not all chains have reached.
func (s *Stream) finish(g *streamGroup) error {
	if err := s.showUnfinished(g); err != nil {
		return err
	}
	last := (g.shown + s.every - 1) / s.every
	for _, sv := range g.vars {
		if err := s.prune(g.name+"/"+sv.v.Name, 1, last); err != nil {
			return err
		}
	}
	return s.prune(g.name+"/draw", 0, last)
}

// prune removes the chunks of an array from a given position along an axis onwards.
func (s *Stream) prune(key string, axis, from int) error {
	dir := filepath.Join(s.w.dir, filepath.FromSlash(key))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		parts := strings.Split(e.Name(), ".")
		if axis >= len(parts) {
			continue
		}
		if k, err := strconv.Atoi(parts[axis]); err == nil && k >= from {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
