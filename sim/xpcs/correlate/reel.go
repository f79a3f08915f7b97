// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed cu/correlate.cu
var kernelText string

// Raw reads frames in the type of a file, which GPUs convert.
type Raw struct {
	Type string // element type, uint8, uint16, uint32 or float32, little-endian
	// Marks says that the largest number of an unsigned type stands for a pixel that is not a
	// number.
	Marks bool
	// Read writes frames first, first+1, ... one after another to dst, each row-major, until dst is full.
	Read func(first int, dst []byte) error
}

// size returns the bytes of a number, 0 if the type is not known.
func (r *Raw) size() int {
	return map[string]int{"uint8": 1, "uint16": 2, "uint32": 4, "float32": 4}[r.Type]
}

// value returns a number as it is correlated.
func (r *Raw) value(b []byte, i int) float32 {
	var v, largest uint32
	switch r.Type {
	case "uint8":
		v, largest = uint32(b[i]), math.MaxUint8
	case "uint16":
		v, largest = uint32(binary.LittleEndian.Uint16(b[2*i:])), math.MaxUint16
	case "uint32":
		v, largest = binary.LittleEndian.Uint32(b[4*i:]), math.MaxUint32
	default:
		return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	if r.Marks && v == largest {
		return float32(math.NaN())
	}
	return float32(v)
}

// into converts numbers, of which b has as many as dst takes, to those that are correlated.
func (r *Raw) into(dst []float32, b []byte) {
	var mark float32
	switch r.Type {
	case "uint8":
		mark = math.MaxUint8
		for i, v := range b[:len(dst)] {
			dst[i] = float32(v)
		}
	case "uint16":
		mark = math.MaxUint16
		for i := range dst {
			dst[i] = float32(binary.LittleEndian.Uint16(b[2*i:]))
		}
	default:
		for i := range dst {
			dst[i] = r.value(b, i)
		}
		return
	}
	if r.Marks {
		for i, v := range dst {
			if v == mark {
				dst[i] = float32(math.NaN())
			}
		}
	}
}

// dense reads the frames as float32.
func (r *Raw) dense(pixels int) func(first int, dst []float32) error {
	var room []byte
	return func(first int, dst []float32) error {
		size := pixels * r.size()
		room = slices.Grow(room[:0], size)[:size]
		for ; len(dst) > 0; first, dst = first+1, dst[pixels:] {
			if err := r.Read(first, room); err != nil {
				return err
			}
			r.into(dst[:pixels], room)
		}
		return nil
	}
}

// source is the kernels of correlations.
func source(precision, per int) rtc.Source {
	number := "float"
	if precision == 64 {
		number = "double"
	}
	return rtc.Source{Name: "correlate.cu", Text: fmt.Sprintf("typedef %s R;\n#define PER %d\n%s", number, per, kernelText)}
}

// feed is the frames of a block on one GPU, as float32, with their means.
type feed struct {
	cuda.Buffers
	cuda.Launcher
	side    *cuda.Stream // for what is fetched while the next block is under way
	raw     [slots]*cuda.Buffer
	frames  *cuda.Buffer
	valid   *cuda.Buffer // pixels that count in means
	count   int          // of these
	partial *cuda.Buffer
	mean    [slots]*cuda.Buffer
	scale   *cuda.Buffer
	marks   [slots]*cuda.Event // when the work on a slot is done
}

// slots is the number of blocks that are under way: while one is on a GPU the next is read.
const slots = 2

// reel reads a movie block by block into page-locked memory and hands each to GPUs.
type reel struct {
	movie     Movie
	size      int // pixels of a frame
	block     int // most frames of a block
	normalize bool
	feeds     []*feed
	slot      [slots]slot
	turn      int
	// work puts the work on a block on the stream of a feed; settled is told when all of that is done.
	work    func(k int, s *slot) error
	settled func(s *slot) error
}

// slot is a block that is under way.
type slot struct {
	number   int
	pinned   *cuda.Pinned // dense frames in the type of the movie; nil for events
	events   Events
	first, n int
	busy     bool
}

// blockOf returns how many frames make a block, and the bytes of a number.
func blockOf(m Movie) (block, width int) {
	width = 4
	if m.Raw != nil && m.Sparse == nil {
		width = m.Raw.size()
	}
	return max(min(blockFrames, staging/(width*m.Height*m.Width)), 1), width
}

// feedBytes is the memory of a feed of a movie on a GPU for blocks of some frames.
func feedBytes(m Movie, block int) int {
	size := m.Height * m.Width
	_, width := blockOf(m)
	if m.Sparse != nil {
		width = 0 // lists are short
	}
	n := 4*block*size + slots*block*width*size + 4*size + 64<<10
	if width == 4 {
		n -= 4 * block * size // float32 is taken as it is
	}
	return n
}

// newReel makes a reel of blocks of at most block frames. valid are the pixels that means are taken of.
func newReel(ctx context.Context, m Movie, block int, valid []int32, normalize bool, devices []*cuda.Device, precision, per int) (r *reel, err error) {
	r = &reel{movie: m, size: m.Height * m.Width, block: block, normalize: normalize}
	defer func() {
		if err != nil {
			r.free()
		}
	}()
	for k := range r.slot {
		r.slot[k].number = k
		if m.Sparse == nil {
			if r.slot[k].pinned, err = devices[0].AllocPinned(r.slotBytes()); err != nil {
				return r, err
			}
		}
	}
	for _, d := range devices {
		f := &feed{count: len(valid)}
		r.feeds = append(r.feeds, f)
		if err = r.fill(ctx, f, d, valid, source(precision, per)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// fill makes the arrays of a feed.
func (r *reel) fill(ctx context.Context, f *feed, d *cuda.Device, valid []int32, text rtc.Source) (err error) {
	f.Device = d
	if f.Module, err = d.Compile(text); err != nil {
		return err
	}
	if f.Stream, err = d.NewStream(0); err != nil {
		return err
	}
	if f.side, err = d.NewStream(0); err != nil {
		return err
	}
	if f.valid, err = f.Put(ctx, f.Stream, valid, "valid pixels"); err != nil {
		return err
	}
	raw, converted := r.slotBytes(), 0
	if r.movie.Sparse != nil {
		raw = 0
	}
	if r.movie.Sparse != nil || r.movie.Raw != nil && r.movie.Raw.Type != "float32" {
		converted = 4 * r.block * r.size
	}
	for _, a := range []struct {
		to    **cuda.Buffer
		bytes int
		what  string
	}{{&f.raw[0], raw, "frames as they are in the file"}, {&f.raw[1], raw, "frames as they are in the file"}, {&f.frames, converted, "frames"}, {&f.mean[0], 8 * r.block, "means of frames"},
		{&f.mean[1], 8 * r.block, "means of frames"}, {&f.scale, 8 * r.block, "means of frames"}, {&f.partial, 8 * r.block * ((len(valid) + 4095) / 4096), "parts of means"}} {
		if *a.to, err = f.Take(a.bytes, a.what); err != nil {
			return err
		}
	}
	return nil
}

// free gives everything back.
func (r *reel) free() {
	for _, f := range r.feeds {
		if f.Stream != nil {
			f.Stream.Close()
		}
		if f.side != nil {
			f.side.Close()
		}
		f.Free()
	}
	for k := range r.slot {
		if r.slot[k].pinned != nil {
			r.slot[k].pinned.Free()
		}
	}
}

// next reads frames first to first+n-1 and starts the work on them. It may return the error of a block before.
func (r *reel) next(ctx context.Context, first, n int) error {
	s := &r.slot[r.turn%slots]
	if err := r.settle(ctx, s); err != nil {
		return err
	}
	r.turn++
	s.first, s.n = first, n
	if err := r.read(s); err != nil {
		return err
	}
	s.busy = true
	for k, f := range r.feeds {
		if err := r.send(ctx, f, s); err != nil {
			return err
		}
		if err := r.work(k, s); err != nil {
			return err
		}
		var err error
		if f.marks[s.number], err = f.Stream.Record(); err != nil {
			return err
		}
	}
	return nil
}

// slotBytes is the memory of a slot.
func (r *reel) slotBytes() int {
	_, width := blockOf(r.movie)
	return r.block * width * r.size
}

// read reads the frames of a slot.
func (r *reel) read(s *slot) error {
	switch m := r.movie; {
	case m.Sparse != nil:
		if err := m.Sparse(s.first, s.n, &s.events); err != nil {
			return err
		}
		return checkEvents(&s.events, s.n, r.size, s.first)
	case m.Raw != nil:
		return m.Raw.Read(s.first, s.pinned.Bytes()[:s.n*m.Raw.size()*r.size])
	default:
		return m.Dense(s.first, s.floats(s.n*r.size))
	}
}

// floats is the memory of a slot as float32.
func (s *slot) floats(n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s.pinned.Bytes()))), n)
}

// value returns pixel p of frame f of a slot.
func (r *reel) value(s *slot, f, p int) float32 {
	switch {
	case r.movie.Sparse != nil:
		for i := s.events.Start[f]; i < s.events.Start[f+1]; i++ {
			if int(s.events.Pixel[i]) == p {
				return s.events.Count[i]
			}
		}
		return 0
	case r.movie.Raw != nil:
		return r.movie.Raw.value(s.pinned.Bytes(), f*r.size+p)
	}
	return s.floats((f + 1) * r.size)[f*r.size+p]
}

// send copies a block to a GPU, makes float32 of it, and takes the means.
func (r *reel) send(ctx context.Context, f *feed, s *slot) error {
	count := s.n * r.size
	all := cuda.Blocks(count, 256)
	if r.movie.Sparse != nil {
		start := make([]int32, 0, s.n+1)
		for _, v := range s.events.Start {
			start = append(start, int32(v))
		}
		lists := cuda.Buffers{Device: f.Device}
		defer lists.Free() // in the order of the stream
		var at [3]*cuda.Buffer
		for k, list := range []any{start, s.events.Pixel, s.events.Count} {
			var err error
			if at[k], err = lists.Put(ctx, f.Stream, list, "events"); err != nil {
				return err
			}
		}
		if err := f.Stream.Fill(f.frames, 0, 4*count, 0); err != nil {
			return err
		}
		f.Run("spread", cuda.Dim{X: s.n}, 256, at[0], at[1], at[2], f.frames, int32(r.size))
	} else {
		from, bytes := any(s.pinned), s.n*r.slotBytes()/r.block
		if s.n < r.block { // page-locked memory is copied as a whole only
			from = s.pinned.Bytes()[:bytes]
		}
		if err := f.Stream.CopyIn(ctx, f.raw[s.number], 0, from); err != nil {
			return err
		}
		marks := int32(0)
		if r.movie.Raw != nil && r.movie.Raw.Marks {
			marks = 1
		}
		if r.movie.Raw != nil && r.movie.Raw.Type != "float32" {
			f.Run("from_"+r.movie.Raw.Type, all, 256, f.raw[s.number], f.frames, int64(count), marks)
		} else {
			f.frames = f.raw[s.number]
		}
	}
	if f.count == 0 {
		return f.Done()
	}
	parts := (f.count + 4095) / 4096
	f.Run("valid_sums", cuda.Dim{X: parts, Y: s.n}, 256, f.frames, f.valid, int32(f.count), int32(r.size), f.partial)
	normalize := int32(0)
	if r.normalize {
		normalize = 1
	}
	f.Run("means", cuda.Dim{X: s.n}, 256, f.partial, int32(parts), float64(f.count), normalize, f.mean[s.number], f.scale)
	return f.Done()
}

// settle waits until the work on a slot is done.
func (r *reel) settle(ctx context.Context, s *slot) error {
	if !s.busy {
		return nil
	}
	s.busy = false
	for _, f := range r.feeds {
		if err := f.marks[s.number].Synchronize(ctx); err != nil {
			return err
		}
	}
	return r.settled(s)
}

// flush waits for all blocks.
func (r *reel) flush(ctx context.Context) error {
	for range slots {
		if err := r.settle(ctx, &r.slot[r.turn%slots]); err != nil {
			return err
		}
		r.turn++
	}
	return nil
}

// frameError describes a frame with pixels that are not finite among some.
func (r *reel) frameError(s *slot, f int, among func(yield func(p int) bool)) error {
	e := &FrameError{Frame: s.first + f}
	for p := range among {
		if v := float64(r.value(s, f, p)); math.IsNaN(v) || math.IsInf(v, 0) {
			if e.Pixels == 0 {
				e.Row, e.Col = p/r.movie.Width, p%r.movie.Width
			}
			e.Pixels++
		}
	}
	return e
}

// gpus returns the GPUs of a backend, none for the processor. Each does a share of the work.
func gpus(b ad.Backend, n ad.Need) ([]*cuda.Device, error) {
	var all []*cuda.Device
	spread := ad.Spread(b)
	for _, one := range spread {
		d, err := ad.DeviceFor(one, n)
		if err != nil {
			return nil, err
		}
		if d != nil {
			all = append(all, d)
		}
	}
	return all, nil
}
