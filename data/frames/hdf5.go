// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// usual are the places where detectors put their frames. The last element of some is a pattern, for data that are in several
// datasets.
var usual = []string{"/entry/data/data", "/entry/instrument/detector/data", "/entry/instrument/detector_1/data", "/exchange/data", "/entry/data", "/data", "/frames"}

var numbered = regexp.MustCompile(`^data_[0-9]+$`)

// stack is datasets of frames, one after another.
type stack struct {
	file   *hdf5.File
	name   string
	sets   []images
	first  []int     // number of the first frame of each
	marks  []float32 // what marks bad pixels in each; 0: nothing does
	pixels int
	floats unpacker[float32]
	bytes  unpacker[byte]
	marked func(v float32) bool // tells the marks that the frames have; nil for none

	trouble error // of the first usual place that is there and cannot be read
}

func init() {
	register("hdf5", format{magic: "\x89HDF\r\n\x1a\n", extensions: []string{".h5", ".hdf", ".hdf5", ".nxs", ".cxi"}, shared: true, open: openHDF5})
}

func openHDF5(f *File, in *os.File, _ int64, s Settings) error {
	in.Close()
	file, cut := hdf5.Open(f.Name)
	if cut != nil {
		var err error
		if file, err = hdf5.OpenCut(f.Name); err != nil {
			return cut
		}
	}
	st := &stack{file: file, name: f.Name}
	f.source = st
	if err := st.find(f, s.Dataset); err != nil {
		file.Close()
		if cut != nil {
			return cut
		}
		return err
	}
	if err := st.sources(f); err != nil {
		file.Close()
		return err
	}
	if err := f.size(st.sets[0].height(), st.sets[0].width()); err != nil {
		file.Close()
		return err
	}
	st.pixels = f.Height * f.Width
	st.floats = unpacker[float32]{stack: st, frame: st.pixels, read: st.read}
	st.bytes = unpacker[byte]{stack: st, frame: st.pixels * st.sets[0].Type().Size, read: st.copy}
	for _, d := range st.sets {
		st.first, st.marks = append(st.first, f.Frames), append(st.marks, markOf(d.Type()))
		f.Frames += d.frames()
	}
	f.Mark = float64(st.marks[0])
	if err := st.whole(f); err != nil {
		file.Close()
		return err
	}
	if f.Lost == nil && cut != nil {
		f.Lost = f.bad("copy it again if the original is complete", "all frames are there, but the file is truncated")
		f.Lost.Err = cut
	}
	return nil
}

// markOf returns the number that marks bad pixels: the largest one of unsigned types of several bytes.
func markOf(t *hdf5.Type) float32 {
	if t.Class != hdf5.Int || t.Signed {
		return 0
	}
	return map[int]float32{2: math.MaxUint16, 4: math.MaxUint32, 8: math.MaxUint64}[t.Size]
}

// sources returns an error if files are missing from which virtual datasets take frames: they would be read as made of fill values.
func (st *stack) sources(f *File) error {
	for _, d := range st.sets {
		missing, err := d.Missing()
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return f.bad("copy all files of the measurement to one folder", "%d source files of the frames in %s are missing, the first of which is %s:%s", len(missing), d.Path(), foreign.Text(missing[0].File), foreign.Text(missing[0].Path))
		}
	}
	return nil
}

// whole takes off the frames at the end that cannot be read, as of a file that was cut off. Frames that no part of this program can
// unpack are an error.
func (st *stack) whole(f *File) error {
	frame := make([]float32, st.pixels)
	if f.Frames == 0 {
		return nil
	}
	err := st.read(f.Frames-1, frame)
	if errors.Is(err, data.ErrUnsupported) {
		return err
	}
	if err == nil {
		return nil
	}
	all := f.Frames
	f.Frames = sort.Search(all-1, func(i int) bool { return st.read(i, frame) != nil })
	if f.Frames < all-1 && st.read(f.Frames+(all-1-f.Frames)/2, frame) == nil { // not only the end: reading tells where
		f.Frames = all
		return nil
	}
	f.Lost = f.bad("copy it again if the original is complete", "only %d of its %d frames can be read", f.Frames, all)
	f.Lost.Err = st.read(f.Frames, frame)
	return nil
}

// find opens the datasets of frames.
func (st *stack) find(f *File, path string) error {
	if path == "" {
		path = st.place()
	}
	if path == "" {
		return st.only(f)
	}
	names := []string{path}
	if keys, err := st.file.Keys(path); err == nil { // a group
		names = nil
		for _, k := range keys {
			if numbered.MatchString(k) {
				names = append(names, strings.TrimSuffix(path, "/")+"/"+k)
			}
		}
		slices.Sort(names)
	}
	for _, name := range names {
		d, err := st.file.Dataset(name)
		if err != nil {
			return err
		}
		set, ok := imagesOf(d)
		if !ok {
			return f.bad("name the dataset of the frames", "%s has the type %s and the shape %v, but frames are numbers by (frame, row, column)", name, d.Type(), d.Shape())
		}
		if before := st.sets; len(before) > 0 && (set.height() != before[0].height() || set.width() != before[0].width()) {
			return f.bad("name one of the datasets", "%s has frames of %d x %d pixels, but those before it have %d x %d", name, set.height(), set.width(), before[0].height(), before[0].width())
		}
		st.sets = append(st.sets, set)
	}
	if len(st.sets) == 0 {
		return f.bad("name the dataset of the frames", "the group %s has no frames", path)
	}
	return nil
}

// place returns the usual place that the file has.
func (st *stack) place() string {
	for _, p := range usual {
		if d, err := st.file.Dataset(p); err == nil {
			if _, ok := imagesOf(d); ok {
				return p
			}
		}
		keys, err := st.file.Keys(p)
		if err == nil && slices.ContainsFunc(keys, numbered.MatchString) {
			return p
		}
		if _, fail := st.file.Dataset(p); err != nil && fail != nil && !errors.Is(fail, hdf5.ErrNotFound) && st.trouble == nil {
			st.trouble = fail
		}
	}
	return ""
}

// only takes the only stack of images in the file.
func (st *stack) only(f *File) error {
	var names []string
	err := st.file.Walk(func(path string, isGroup bool) error {
		if isGroup {
			return nil
		}
		d, err := st.file.Dataset(path)
		if err != nil {
			return nil
		}
		if set, ok := imagesOf(d); ok && set.frames() > 1 {
			names = append(names, path)
			st.sets = append(st.sets, set)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch len(names) {
	case 1:
		return nil
	case 0:
		if st.trouble != nil { // such as links that lead nowhere
			return st.trouble
		}
		return f.bad("check the file, or name the dataset", "the file has no array of numbers or truth values with the axes (frame, row, column) at one of the usual places: %s", strings.Join(usual, ", "))
	}
	return f.bad("name one of the datasets", "the file has several stacks of images: %s", strings.Join(names[:min(len(names), 8)], ", "))
}

func (st *stack) dense(first int, dst []float32) error { return st.floats.frames(first, dst) }

func (st *stack) stored() *Stored {
	t := st.sets[0].Type()
	for _, d := range st.sets {
		if d.Type().String() != t.String() || !d.Type().InMemory() {
			return nil
		}
	}
	if t.Class != hdf5.Int || t.Signed || t.Size > 4 {
		return nil
	}
	return &Stored{t.String(), t.Size > 1 || st.marked != nil, st.bytes.frames}
}

// set returns the number of the dataset that has a frame.
func (st *stack) set(frame int) int { return sort.SearchInts(st.first, frame+1) - 1 }

// read reads frames as floats.
func (st *stack) read(first int, dst []float32) error {
	return st.slabs(first, len(dst)/st.pixels, func(k, at, n int, a *hdf5.Array) error {
		some := dst[at*st.pixels:][:n*st.pixels]
		if err := a.Float32sTo(some); err != nil {
			return err
		}
		if mark := st.marks[k]; mark != 0 {
			for i, v := range some {
				if v == mark {
					some[i] = nan
				}
			}
		}
		withoutMarks(some, st.marked)
		return nil
	})
}

// copy reads frames as they are stored.
func (st *stack) copy(first int, dst []byte) error {
	frame := st.bytes.frame
	return st.slabs(first, len(dst)/frame, func(_, at, n int, a *hdf5.Array) error { return a.BytesTo(dst[at*frame:][:n*frame]) })
}

// slabs calls read for the parts of n frames that are in dataset k: n frames, of which at were before.
func (st *stack) slabs(first, frames int, read func(k, at, n int, a *hdf5.Array) error) error {
	for at := 0; at < frames; {
		k := st.set(first + at)
		n := min(frames-at, st.first[k]+st.sets[k].frames()-first-at)
		if err := read(k, at, n, st.sets[k].slab(first+at-st.first[k], n)); err != nil {
			return &FormatError{Format: "frames", File: st.name, What: fmt.Sprintf("frames %d to %d cannot be read", first+at, first+at+n), Err: err}
		}
		at += n
	}
	return nil
}

func (st *stack) events(first, n int, dst *Events) error {
	const block = 16
	frames := make([]float32, min(n, block)*st.pixels)
	for at := 0; at < n; at += block {
		some := frames[:min(n-at, block)*st.pixels]
		if err := st.dense(first+at, some); err != nil {
			return err
		}
		for f := 0; f < len(some); f += st.pixels {
			for p, v := range some[f : f+st.pixels] {
				if v != 0 {
					dst.Pixel, dst.Count = append(dst.Pixel, uint32(p)), append(dst.Count, v)
				}
			}
			dst.End()
		}
	}
	return nil
}

func (st *stack) close() error { return st.file.Close() }
