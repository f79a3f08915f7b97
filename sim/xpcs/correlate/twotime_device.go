// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// stack holds the frames of the pixels of some bins on one GPU: counts (frame, pixel), and the means of the groups of pixels that divide
// them.
type stack struct {
	cuda.Buffers
	spans  []span
	starts []int // first pixel of each span, and the end
	bins   []int // whose groups there are, in order
	groups []int // first group of each bin, and the end

	pixels, group           *cuda.Buffer // places of the pixels, and the group of each within its bin
	members, begin, ends    *cuda.Buffer // pixels by groups, where each group begins, and the first group of each bin
	kept, mean, level       *cuda.Buffer
	sum                     [slots]*cuda.Buffer // of the means of a bin in each frame of a block
	image                   *cuda.Buffer
	divided, sums, matrix   *cuda.Buffer
	library                 *cuda.Buffer // products that a library makes of float32
	delays, single, product *cuda.Buffer
}

const (
	deviceDepth = 4096 // pixels whose products are summed by one launch
	libraryRows = 1024 // of a map that a library multiplies at a time
)

// plan is what a two-time correlation takes of a GPU.
type plan struct {
	fixed   func(block int) int // bytes for blocks of some frames, whatever the number of pixels
	pixel   int                 // bytes of a pixel: its counts, its places and its group
	largest int                 // pixels of the largest bin
	need    ad.Need
}

func (t *twotime) plan() plan {
	n, size := t.movie.Frames, t.movie.Height*t.movie.Width
	p := plan{pixel: 4*n + 16}
	pixels, groups := 0, 0
	for _, b := range t.bins {
		pixels, p.largest, groups = pixels+len(b.pixels), max(p.largest, len(b.pixels)), max(groups, len(b.count))
	}
	p.fixed = func(block int) int {
		row := min(deviceDepth, (p.largest+15)/16*16)
		bytes := feedBytes(t.movie, block) + 8*n*n + n*(row*t.s.Precision/8+16) + 8*size + 8*n*groups + 32<<10
		if t.s.Precision == 32 {
			bytes += 4 * min(libraryRows, n) * n
		}
		if t.s.Ages {
			bytes += 8*n*ageGroups + 8*ageBlocks*ageGroups*len(AgeDelays(n))
		}
		return bytes
	}
	p.need = ad.Need{Name: fmt.Sprintf("a two-time correlation of %d frames of %d x %d pixels", n, t.movie.Height, t.movie.Width), Work: 4*n*pixels + 8*n*n, Least: p.fixed(1) + min(p.largest, tile)*p.pixel}
	return p
}

// runOnGPUs is run on the GPUs that the backend names; it reports whether that was so.
func (t *twotime) runOnGPUs(ctx context.Context, each func(*Map) error) (bool, error) {
	p := t.plan()
	devices, err := gpus(t.s.Backend, p.need)
	if err != nil || len(devices) == 0 {
		return false, err
	}
	block, _ := blockOf(t.movie)
	rooms := make([]int, len(devices))
	for {
		least := math.MaxInt
		for k, d := range devices {
			room, err := d.Room()
			if err != nil {
				return true, err
			}
			rooms[k] = (int(min(room, math.MaxInt64)) - p.fixed(block)) / p.pixel
			least = min(least, rooms[k])
		}
		if least >= min(p.largest, tile) || block == 1 {
			break
		}
		block /= 2
	}
	if slices.Max(rooms) < 1 { // memory that there was a moment ago is taken
		return true, devices[0].Fits(p.need.Name, uint64(p.need.Least))
	}
	// A bin that fits is on one GPU; others are read in several parts by the first.
	readings := t.dealt(rooms, len(devices))
	for i, of := range readings {
		if err := t.reading(ctx, devices, of, i, len(readings), block, each); err != nil {
			return true, err
		}
	}
	return true, nil
}

// dealt gives the bins to GPUs with room for some pixels each, in readings of the movie: the next bin to the one with the least load. A bin without
// room anywhere is read in parts.
func (t *twotime) dealt(rooms []int, devices int) (readings [][][]span) {
	var load []int
	begin := func() {
		readings, load = append(readings, make([][]span, devices)), make([]int, devices)
	}
	for k, b := range t.bins {
		if len(b.pixels) == 0 {
			continue
		}
		most := slices.Index(rooms, slices.Max(rooms)) // at least 1: see reads
		if n := len(b.pixels); n > rooms[most] {
			for from := 0; from < n; from += rooms[most] {
				begin()
				readings[len(readings)-1][most] = []span{{k, from, min(from+rooms[most], n)}}
			}
			load = nil
			continue
		}
		best := -1
		for d := range load {
			// means of all groups of a bin are kept beside its pixels
			if load[d]+len(b.pixels)+2*len(b.count)+2 <= rooms[d] && (best < 0 || load[d] < load[best]) {
				best = d
			}
		}
		if best < 0 {
			begin()
			best = most
		}
		load[best] += len(b.pixels) + 2*len(b.count) + 2
		last := readings[len(readings)-1]
		last[best] = append(last[best], span{k, 0, len(b.pixels)})
	}
	return readings
}

// reading reads the movie once and correlates the spans that the GPUs got.
func (t *twotime) reading(ctx context.Context, devices []*cuda.Device, of [][]span, number, readings, block int, each func(*Map) error) error {
	n := t.movie.Frames
	var used []*cuda.Device
	var stacks []*stack
	for k, list := range of {
		if len(list) > 0 {
			used = append(used, devices[k])
			s := &stack{spans: list}
			s.Device = devices[k]
			stacks = append(stacks, s)
		}
	}
	var valid []int32
	if t.light != nil {
		valid = t.light.maps.valid()
	}
	r, err := newReel(ctx, t.movie, block, valid, false, used, t.s.Precision, 1)
	if err != nil {
		return err
	}
	defer r.free()
	defer func() {
		for _, s := range stacks {
			s.Free()
		}
	}()
	light := t.light
	if number > 0 {
		light = nil
	}
	for k, s := range stacks {
		if err := t.fill(ctx, s, r.feeds[k], block); err != nil {
			return err
		}
		if light != nil && k == 0 {
			if s.image, err = s.Zeros(r.feeds[k].Stream, 8*r.size, "the image"); err != nil {
				return err
			}
		}
	}
	r.work = func(k int, at *slot) error { return t.keep(stacks[k], r.feeds[k], at, r.size) }
	r.settled = func(at *slot) error { return t.settled(ctx, r, stacks, at, light) }
	for done := 0; done < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		some := min(block, n-done)
		end := n
		if light != nil {
			end = light.next(done)
			some = min(some, end-done)
		}
		if err := r.next(ctx, done, some); err != nil {
			return err
		}
		if done += some; done == end && light != nil {
			if err := r.flush(ctx); err != nil {
				return err
			}
			if err := r.feeds[0].Stream.CopyOut(ctx, light.sum, stacks[0].image, 0); err != nil {
				return err
			}
			light.ended()
		}
		t.s.Progress(number*n+done, readings*n)
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return t.correlate(ctx, r, stacks, each)
}

// fill makes the arrays of a stack.
func (t *twotime) fill(ctx context.Context, s *stack, f *feed, block int) (err error) {
	n := t.movie.Frames
	var pixels, group, members []int32
	begin, ends := []int32{0}, []int32{0}
	for _, sp := range s.spans {
		b := &t.bins[sp.bin]
		s.starts = append(s.starts, len(pixels))
		for i := sp.from; i < sp.to; i++ {
			pixels, group = append(pixels, int32(b.pixels[i])), append(group, int32(b.static[i]))
		}
		s.bins, s.groups = append(s.bins, sp.bin), append(s.groups, len(begin)-1)
		of := make([][]int32, len(b.count))
		for i, p := range b.pixels {
			of[b.static[i]] = append(of[b.static[i]], int32(p))
		}
		for _, list := range of {
			members = append(members, list...)
			begin = append(begin, int32(len(members)))
		}
		ends = append(ends, int32(len(begin)-1))
	}
	s.starts, s.groups = append(s.starts, len(pixels)), append(s.groups, len(begin)-1)
	for _, a := range []struct {
		to **cuda.Buffer
		of []int32
	}{{&s.pixels, pixels}, {&s.group, group}, {&s.members, members}, {&s.begin, begin}, {&s.ends, ends}} {
		if *a.to, err = s.Put(ctx, f.Stream, a.of, "places of pixels"); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		to    **cuda.Buffer
		bytes int
		what  string
	}{{&s.kept, 4 * n * len(pixels), "frames"}, {&s.mean, 8 * n * (len(begin) - 1), "means of static bins"}, {&s.level, 8 * n * len(s.bins), "means of frames"},
		{&s.sum[0], 8 * block * len(s.bins), "means of frames"}, {&s.sum[1], 8 * block * len(s.bins), "means of frames"}} {
		if *a.to, err = s.Take(a.bytes, a.what); err != nil {
			return err
		}
	}
	return nil
}

// keep puts what a stack takes of a block on the stream.
func (t *twotime) keep(s *stack, f *feed, at *slot, size int) error {
	groups, pixels, bins := s.groups[len(s.bins)], s.starts[len(s.spans)], len(s.bins)
	mean := s.mean.At(8 * at.first * groups)
	f.Run("group_means", cuda.Dim{X: (groups + 7) / 8, Y: at.n}, 256, f.frames, s.begin, s.members, int32(groups), int32(size), mean)
	f.Run("bin_means", cuda.Dim{X: (bins + 31) / 32, Y: at.n}, 32, mean, s.begin, s.ends, int32(bins), int32(groups), s.level.At(8*at.first*bins), s.sum[at.number])
	f.Run("keep", cuda.Dim{X: (pixels + 255) / 256, Y: at.n}, 256, f.frames, s.pixels, int64(pixels), int32(size), s.kept.At(4*at.first*pixels))
	if s.image != nil {
		f.Run("add_image", cuda.Blocks(size, 256), 256, f.frames, int32(size), int32(at.n), s.image)
	}
	return f.Done()
}

// settled looks whether the frames of a block are numbers, and takes their means.
func (t *twotime) settled(ctx context.Context, r *reel, stacks []*stack, at *slot, light *intensities) error {
	for k, s := range stacks {
		bins := len(s.bins)
		sums := make([]float64, at.n*bins)
		if err := r.feeds[k].side.CopyOut(ctx, sums, s.sum[at.number], 0); err != nil {
			return err
		}
		for i, v := range sums {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return r.frameError(at, i/bins, func(yield func(int) bool) {
					for _, p := range t.bins[s.bins[i%bins]].pixels {
						if !yield(p) {
							return
						}
					}
				})
			}
		}
	}
	if light == nil {
		return nil
	}
	means := make([]float64, at.n)
	if err := r.feeds[0].side.CopyOut(ctx, means, r.feeds[0].mean[at.number], 0); err != nil {
		return err
	}
	light.means(means)
	return nil
}

// correlate computes the maps of the spans that are kept, those of the first GPU first.
func (t *twotime) correlate(ctx context.Context, r *reel, stacks []*stack, each func(*Map) error) error {
	n := t.movie.Frames
	type place struct{ stack, span int }
	var order []place
	for k, s := range stacks {
		for i := range s.spans {
			order = append(order, place{k, i})
		}
	}
	slices.SortStableFunc(order, func(a, b place) int { return stacks[a.stack].spans[a.span].bin - stacks[b.stack].spans[b.span].bin })
	waiting := map[int]bool{} // stacks with a map that is not fetched
	launched := 0
	start := func() error { // the next maps, one on each GPU
		for launched < len(order) && !waiting[order[launched].stack] {
			p := order[launched]
			if err := t.product(ctx, r.feeds[p.stack], stacks[p.stack], p.span); err != nil {
				return err
			}
			waiting[p.stack] = true
			launched++
		}
		return nil
	}
	for _, p := range order {
		if err := start(); err != nil {
			return err
		}
		if err := t.fetch(ctx, r.feeds[p.stack], stacks[p.stack], p.span, n, each); err != nil {
			return err
		}
		waiting[p.stack] = false
	}
	return nil
}

// product puts the work on the products of a span on the stream.
func (t *twotime) product(ctx context.Context, f *feed, s *stack, i int) (err error) {
	n, sp := t.movie.Frames, s.spans[i]
	b := &t.bins[sp.bin]
	width := t.s.Precision / 8
	row := min(deviceDepth, (sp.to-sp.from+15)/16*16)
	library := s.Device.Libraries().HasBLAS()
	if s.matrix == nil {
		largest := 0
		for _, one := range s.spans {
			largest = max(largest, min(deviceDepth, (one.to-one.from+15)/16*16))
		}
		if s.divided, err = s.Take(width*n*largest, "divided counts"); err != nil {
			return err
		}
		if s.sums, err = s.Take(8*n, "sums of frames"); err != nil {
			return err
		}
		if s.matrix, err = s.Take(8*n*n, "a two-time map"); err != nil {
			return err
		}
		if library && width == 4 {
			if s.library, err = s.Take(4*min(libraryRows, n)*n, "products of frames"); err != nil {
				return err
			}
		}
	}
	if sp.from == 0 {
		if err := f.Stream.Fill(s.sums, 0, 8*n, 0); err != nil {
			return err
		}
		if err := f.Stream.Fill(s.matrix, 0, 8*n*n, 0); err != nil {
			return err
		}
	} else if err := t.resume(ctx, f, s); err != nil {
		return err
	}
	ages := t.agesOf(b)
	if ages != nil {
		if err := t.beginAges(ctx, f, s, ages, sp.from > 0); err != nil {
			return err
		}
	}
	total, groups := s.starts[len(s.spans)], s.groups[len(s.bins)]
	mean, level := s.mean.At(8*s.groups[i]), s.level.At(8*i)
	for from := sp.from; from < sp.to; from += row {
		some := min(row, sp.to-from)
		at := s.starts[i] + from - sp.from
		f.Run("divide", cuda.Dim{X: n}, 256, s.kept.At(4*at), int64(total), s.group.At(4*at), int32(some), mean, int32(groups), s.divided, int32(row), s.sums)
		if err := f.Done(); err != nil {
			return err
		}
		if err := t.multiplyOn(f, s, row, library); err != nil {
			return err
		}
		if ages != nil {
			bins := int32(len(s.bins))
			f.Run("age_singles", cuda.Dim{X: n}, 256, s.divided, int32(row), int32(some), int32(from), int32(ages.Groups), level, bins, s.single)
			f.Run("age_products", cuda.Dim{X: ages.Blocks, Y: len(ages.Delays)}, 256, s.divided, int32(n), int32(row), int32(some), int32(from), int32(ages.Groups), s.delays, level, bins, s.product)
		}
	}
	if sp.to == len(b.pixels) {
		f.Run("finish", cuda.Dim{X: (n + 255) / 256, Y: n}, 256, s.matrix, s.sums, int32(n), float64(len(b.pixels)))
	}
	return f.Done()
}

// multiplyOn adds the products of divided counts to the map: by cuBLAS where that is found.
func (t *twotime) multiplyOn(f *feed, s *stack, row int, library bool) error {
	n := t.movie.Frames
	tiles := (n + 63) / 64
	if !library {
		f.Run("products", cuda.Dim{X: tiles * (tiles + 1) / 2}, 256, s.divided, int32(n), int32(row), s.matrix)
		return f.Done()
	}
	for first := 0; first < n; first += libraryRows {
		rows := min(libraryRows, n-first)
		m := cuda.MatMul{M: rows, N: n - first, K: row, A: s.divided.At(first * row * t.s.Precision / 8), B: s.divided.At(first * row * t.s.Precision / 8), TransB: true}
		if t.s.Precision == 64 {
			m.Type, m.Beta, m.C, m.LDC = cuda.Float64, 1, s.matrix.At(8*(first*n+first)), n
		} else {
			m.Type, m.C = cuda.Float32, s.library.At(0)
		}
		if err := s.Device.Libraries().MatMul(f.Stream, m); err != nil {
			return err
		}
		if t.s.Precision == 32 {
			f.Run("add_block", cuda.Blocks(rows*(n-first), 256), 256, s.library, int32(first), int32(rows), int32(n), s.matrix)
		}
	}
	return f.Done()
}

// agesOf returns sums for ages of a bin, empty ones, or nil if they are not wanted or nothing scatters.
func (t *twotime) agesOf(b *bin) *ageSums {
	if !t.s.Ages {
		return nil
	}
	return newAgeSums(t.movie.Frames, b, nil, t.s.threads())
}

// beginAges makes room for the sums of ages and sets them to 0, or to those of the parts of a bin before.
func (t *twotime) beginAges(ctx context.Context, f *feed, s *stack, ages *ageSums, goesOn bool) (err error) {
	n := t.movie.Frames
	if s.delays == nil {
		var delays []int32
		for _, d := range ages.Delays {
			delays = append(delays, int32(d))
		}
		if s.delays, err = s.Put(ctx, f.Stream, delays, "delays"); err != nil {
			return err
		}
		if s.single, err = s.Take(8*n*ageGroups, "sums of groups"); err != nil {
			return err
		}
		if s.product, err = s.Take(8*ageBlocks*ageGroups*len(delays), "sums of groups"); err != nil {
			return err
		}
	}
	if goesOn {
		if err := f.Stream.CopyIn(ctx, s.single, 0, t.part.single); err != nil {
			return err
		}
		return f.Stream.CopyIn(ctx, s.product, 0, t.part.product)
	}
	if err := f.Stream.Fill(s.single, 0, s.single.Size(), 0); err != nil {
		return err
	}
	return f.Stream.Fill(s.product, 0, s.product.Size(), 0)
}

// partial is what is known of a bin whose pixels are read in several parts.
type partial struct{ c2, sums, single, product []float64 }

// resume sends what is known of the bin so far.
func (t *twotime) resume(ctx context.Context, f *feed, s *stack) error {
	if err := f.Stream.CopyIn(ctx, s.matrix, 0, t.part.c2); err != nil {
		return err
	}
	return f.Stream.CopyIn(ctx, s.sums, 0, t.part.sums)
}

// fetch brings a map down and gives it to each, or keeps what is known of a bin that is read in parts.
func (t *twotime) fetch(ctx context.Context, f *feed, s *stack, i, n int, each func(*Map) error) error {
	sp := s.spans[i]
	b := &t.bins[sp.bin]
	if t.part.c2 == nil { // the same memory for all bins
		t.part.c2, t.part.sums = make([]float64, n*n), make([]float64, n)
	}
	if err := f.Stream.CopyOut(ctx, t.part.c2, s.matrix, 0); err != nil {
		return err
	}
	ages := t.agesOf(b)
	if ages != nil {
		t.part.single, t.part.product = ages.single, ages.product
		if err := f.Stream.CopyOut(ctx, ages.single, s.single, 0); err != nil {
			return err
		}
		if err := f.Stream.CopyOut(ctx, ages.product, s.product, 0); err != nil {
			return err
		}
	}
	if sp.to < len(b.pixels) {
		return f.Stream.CopyOut(ctx, t.part.sums, s.sums, 0)
	}
	return each(&Map{Bin: t.number[sp.bin], Pixels: len(b.pixels), Frames: n, C2: t.part.c2, Ages: ages.done(t.part.c2)})
}
