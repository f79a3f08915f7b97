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

// bank holds the sums of the pixels of some parts on one GPU, those of a part beside each other and filled up to whole tiles.
type bank struct {
	cuda.Buffers
	parts         []int // numbers of parts
	from          []int // where each begins, and the end
	index         *cuda.Buffer
	levels        []bankLevel
	total, raw    *cuda.Buffer
	rows          [2]*cuda.Buffer // summed frames of two levels, one after the other
	image         *cuda.Buffer    // sums of all pixels; nil: another GPU has them
	pixels, width int             // pixels, and the bytes of R

	// for g2: averages of pixels, places of pixels by static bins, where each of these begins, the first of each dynamic bin, and ratios of static bins
	averages, left, members, begin, ends, ratios, g2 *cuda.Buffer
	columns                                          []int // of the dynamic bins in a Result
	groups                                           int   // static bins
}

// bankLevel is the sums of a level: see level.
type bankLevel struct {
	lags                        int
	frames, waits               int
	past, products, heads, half *cuda.Buffer
}

// bankBytes is the memory of a pixel on a GPU for blocks of some frames.
func bankBytes(delays []Delay, block int, s Settings) int {
	width := s.Precision / 8
	n := 4 + 8 + 8 + 4*8 + 3*4 + (block/2+1+block/4+1)*width
	for l := 0; l <= delays[len(delays)-1].Level; l++ {
		n += (2*s.PerLevel+1)*width + 16*len(lagsAt(l, s.PerLevel))
	}
	return n
}

// multitauOnGPUs is Multitau on the GPUs that the backend names; it returns nil without an error if that is the processor.
func multitauOnGPUs(ctx context.Context, m Movie, maps *Maps, s Settings) (*Result, error) {
	r := &Result{Frames: m.Frames, Delay: Delays(m.Frames, s.PerLevel)}
	largest := 0 // pixels of the largest bin
	for _, p := range maps.parts(1) {
		largest = max(largest, tiled(len(p.pixels)))
	}
	need := ad.Need{Name: fmt.Sprintf("a multi-tau correlation of frames of %d x %d pixels, whose largest bin has %d,", m.Height, m.Width, largest),
		Work: 4 * m.Frames * m.Height * m.Width, Least: fixedBytes(m, 1) + largest*bankBytes(r.Delay, 1, s)}
	devices, err := gpus(s.Backend, need)
	if err != nil || len(devices) == 0 {
		return nil, err
	}
	s.Backend = ad.CPU{Threads: 1} // for what is left
	block, rooms, err := multitauRooms(devices, m, r.Delay, s, largest)
	if err != nil {
		return nil, err
	}
	// The parts are as small as the processor, which has sums in float64 here, and every GPU want them.
	host := s
	host.Precision = 64
	most := int(min(s.MaxBytes/int64(perPixel(r.Delay, 0, host)), math.MaxInt32))
	for _, room := range rooms {
		most = min(most, max(room-tile, 1))
	}
	parts := maps.parts(most)
	if s.PerPixel != nil && len(parts) > 1 {
		return nil, fmt.Errorf("correlate: the sums of every pixel do not fit into %d bytes, or not on a GPU with room for %d pixels: allow more memory, use the processor, or do not ask for the sums", s.MaxBytes, most)
	}
	readings := shared(parts, rooms)
	r.Passes = len(readings)
	r.prepare(maps, s)
	for i, of := range readings {
		e := &multitauRun{r: r, m: m, maps: maps, s: s, parts: parts, block: block, first: i == 0}
		e.progress = func(done int) { s.Progress(i*m.Frames+done, len(readings)*m.Frames) }
		if err := e.run(ctx, devices, of); err != nil {
			return nil, err
		}
	}
	return r, r.finite(s.Precision)
}

// fixedBytes is the memory of a GPU that does not depend on the number of pixels in bins: frames of a block, and the image.
func fixedBytes(m Movie, block int) int { return feedBytes(m, block) + 8*m.Height*m.Width }

// multitauRooms returns the number of frames in a block, and how many pixels each GPU has room for beside them: at least those of the largest
// bin, for which blocks become as small as needed.
func multitauRooms(devices []*cuda.Device, m Movie, delays []Delay, s Settings, largest int) (block int, rooms []int, err error) {
	rooms = make([]int, len(devices))
	for block, _ = blockOf(m); ; block /= 2 {
		fits := true
		for k, d := range devices {
			room, err := d.Room()
			if err != nil {
				return 0, nil, err
			}
			rooms[k] = (int(min(room, math.MaxInt64)) - fixedBytes(m, block)) / bankBytes(delays, block, s)
			fits = fits && rooms[k] >= largest
		}
		if fits || block == 1 {
			return block, rooms, nil
		}
	}
}

// tiled rounds a number of pixels up to whole tiles.
func tiled(n int) int { return (n + tile - 1) / tile * tile }

// shared deals parts to GPUs with room for some pixels each, the next to the one with the least load, and to further readings when all are full.
func shared(parts []part, rooms []int) (readings [][][]int) {
	var load []int
	for k, p := range parts {
		n := tiled(len(p.pixels))
		best := -1
		for d := range load {
			if load[d]+n <= rooms[d] && (best < 0 || load[d] < load[best]) {
				best = d
			}
		}
		if best < 0 {
			load, best = make([]int, len(rooms)), 0
			readings = append(readings, make([][]int, len(rooms)))
		}
		load[best] += n
		last := readings[len(readings)-1]
		last[best] = append(last[best], k)
	}
	return readings
}

// multitauRun is one reading of a movie.
type multitauRun struct {
	r        *Result
	m        Movie
	maps     *Maps
	s        Settings
	parts    []part
	block    int
	first    bool // whether it is the first reading
	progress func(done int)

	reel  *reel
	banks []*bank
	trace []float64
	done  int // frames whose work was started
}

func (e *multitauRun) run(ctx context.Context, devices []*cuda.Device, of [][]int) (err error) {
	var used []*cuda.Device
	for k, list := range of {
		if len(list) > 0 {
			used = append(used, devices[k])
			e.banks = append(e.banks, &bank{parts: list, width: e.s.Precision / 8})
		}
	}
	if e.reel, err = newReel(ctx, e.m, e.block, e.maps.valid(), e.s.Normalize, used, e.s.Precision, e.s.PerLevel); err != nil {
		return err
	}
	defer e.reel.free()
	defer func() {
		for _, b := range e.banks {
			b.Free()
		}
	}()
	for k, b := range e.banks {
		b.Device = used[k]
		if err := e.fill(ctx, b, e.reel.feeds[k], k == 0 && e.first); err != nil {
			return err
		}
	}
	e.reel.work, e.reel.settled = e.work, e.settled(ctx)
	saxs := map[int][]float64{}
	for k, part := range e.r.Parts {
		if err := e.read(ctx, part.Frames); err != nil {
			return err
		}
		if err := e.g2(ctx, part.G2, part.Err); err != nil {
			return err
		}
		err := e.each(ctx, false, func(p *pass[float64], number int) error {
			if saxs[number] == nil {
				saxs[number] = make([]float64, len(p.raw))
			}
			partStatic(e.r, p, k, saxs[number])
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := e.read(ctx, e.m.Frames); err != nil {
		return err
	}
	if err := e.g2(ctx, e.r.G2, e.r.Err); err != nil {
		return err
	}
	return e.each(ctx, e.s.Covariance || e.s.PerPixel != nil, func(p *pass[float64], _ int) error {
		takeIntensities(e.r, p)
		if e.s.PerPixel != nil { // with the same g2, up to rounding
			if err := takePixels(e.r, p); err != nil {
				return err
			}
		}
		if e.s.Covariance {
			return p.covariances(e.r)
		}
		return nil
	})
}

// g2 computes g2 of all bins so far.
func (e *multitauRun) g2(ctx context.Context, g2, errs [][]float64) error {
	for k, b := range e.banks {
		f, bins := e.reel.feeds[k], len(b.columns)
		if bins == 0 {
			continue
		}
		if err := f.Stream.Copy(b.left, 0, b.total, 0, 8*b.pixels); err != nil {
			return err
		}
		grid, pixels := cuda.Blocks(b.pixels, 256), int64(b.pixels)
		level := 0
		for i, d := range e.r.Delay {
			for ; level < d.Level; level++ {
				if lv := b.levels[level]; lv.waits == 1 {
					f.Run("leave", grid, 256, b.left, lv.half, pixels)
				}
			}
			lv := b.levels[level]
			pairs := lv.frames - d.Lag
			if pairs < 1 {
				continue
			}
			f.Run("averages", grid, 256, lv.past, lv.products, lv.heads, b.left, pixels, int32(slices.Index(lagsAt(d.Level, e.s.PerLevel), d.Lag)), int32(d.Lag), float64(pairs), float64(int(1)<<d.Level), b.averages)
			f.Run("ratios", cuda.Dim{X: (b.groups + 7) / 8}, 256, b.averages, pixels, b.begin, b.members, int32(b.groups), b.ratios)
			f.Run("bin_g2", cuda.Dim{X: bins}, 256, b.averages, pixels, b.begin, b.members, b.ends, b.ratios, b.g2.At(16*i*bins))
		}
		if err := f.Done(); err != nil {
			return err
		}
		out := make([]float64, 2*bins*len(e.r.Delay))
		if err := f.Stream.CopyOut(ctx, out, b.g2, 0); err != nil {
			return err
		}
		for i, d := range e.r.Delay {
			if b.levels[d.Level].frames-d.Lag < 1 {
				continue
			}
			for c, column := range b.columns {
				g2[i][column], errs[i][column] = out[2*(i*bins+c)], out[2*(i*bins+c)+1]
			}
		}
	}
	return nil
}

// fill makes the arrays of a bank.
func (e *multitauRun) fill(ctx context.Context, b *bank, f *feed, image bool) (err error) {
	var index []int32
	for _, k := range b.parts {
		b.from = append(b.from, len(index))
		index = append(index, e.parts[k].pixels...)
		for len(index)%tile != 0 {
			index = append(index, -1)
		}
	}
	b.pixels = len(index)
	b.from = append(b.from, b.pixels)
	if b.index, err = b.Put(ctx, f.Stream, index, "places of pixels"); err != nil {
		return err
	}
	for l := 0; l <= e.r.Delay[len(e.r.Delay)-1].Level; l++ {
		lv := bankLevel{lags: len(lagsAt(l, e.s.PerLevel))}
		for _, a := range []struct {
			to    **cuda.Buffer
			bytes int
			what  string
		}{{&lv.past, 2 * e.s.PerLevel * b.width, "frames of levels"}, {&lv.half, b.width, "frames of levels"}, {&lv.products, 8 * lv.lags, "sums of products"}, {&lv.heads, 8 * lv.lags, "sums of first frames"}} {
			if *a.to, err = b.Zeros(f.Stream, a.bytes*b.pixels, a.what); err != nil {
				return err
			}
		}
		b.levels = append(b.levels, lv)
	}
	for k := range b.rows {
		if b.rows[k], err = b.Take((e.block>>(k+1)+1)*b.width*b.pixels, "frames of levels"); err != nil {
			return err
		}
	}
	if b.total, err = b.Zeros(f.Stream, 8*b.pixels, "sums of pixels"); err != nil {
		return err
	}
	if b.raw, err = b.Zeros(f.Stream, 8*b.pixels, "sums of pixels"); err != nil {
		return err
	}
	if err := e.group(ctx, b, f); err != nil || !image {
		return err
	}
	b.image, err = b.Zeros(f.Stream, 8*e.reel.size, "the image")
	return err
}

// group makes what g2 needs: pixels by static bins, these by dynamic bins.
func (e *multitauRun) group(ctx context.Context, b *bank, f *feed) (err error) {
	var members []int32
	begin, ends := []int32{0}, []int32{0}
	for i, k := range b.parts {
		for _, bin := range e.parts[k].members() {
			of := make([][]int32, len(bin.count))
			for j, p := range bin.pixels {
				of[bin.static[j]] = append(of[bin.static[j]], int32(b.from[i]+p))
			}
			for _, list := range of {
				members = append(members, list...)
				begin = append(begin, int32(len(members)))
			}
			ends = append(ends, int32(len(begin)-1))
		}
		for _, bin := range e.parts[k].bins {
			b.columns = append(b.columns, slices.Index(e.r.Bins, bin+1))
		}
	}
	b.groups = len(begin) - 1
	for _, a := range []struct {
		to **cuda.Buffer
		of []int32
	}{{&b.members, members}, {&b.begin, begin}, {&b.ends, ends}} {
		if *a.to, err = b.Put(ctx, f.Stream, a.of, "places of pixels"); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		to    **cuda.Buffer
		bytes int
	}{{&b.averages, 24 * b.pixels}, {&b.left, 8 * b.pixels}, {&b.ratios, 8 * b.groups}, {&b.g2, 16 * len(b.columns) * len(e.r.Delay)}} {
		if *a.to, err = b.Take(a.bytes, "averages of pixels"); err != nil {
			return err
		}
	}
	return nil
}

// read reads up to frame end.
func (e *multitauRun) read(ctx context.Context, end int) error {
	for e.done < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(e.block, end-e.done)
		if err := e.reel.next(ctx, e.done, n); err != nil {
			return err
		}
		e.done += n
		for _, b := range e.banks {
			b.advance(n)
		}
		e.progress(e.done)
	}
	return e.reel.flush(ctx)
}

// advance counts frames that were added.
func (b *bank) advance(n int) {
	for k := range b.levels {
		lv := &b.levels[k]
		lv.frames += n
		all := lv.waits + n
		n, lv.waits = all/2, all%2
	}
}

// work adds the frames of a block to the sums of a bank.
func (e *multitauRun) work(k int, s *slot) error {
	b, f := e.banks[k], e.reel.feeds[k]
	grid, n, pixels := cuda.Blocks(b.pixels, 128), s.n, int64(b.pixels)
	for l := range b.levels {
		lv := &b.levels[l]
		next := any(nil)
		if l+1 < len(b.levels) {
			next = b.rows[l%2]
		}
		if l == 0 {
			f.Run("first_level", grid, 128, f.frames, b.index, f.scale, int32(e.reel.size), pixels, int32(n), int32(lv.frames), int32(lv.waits), lv.past, lv.products, lv.heads, b.total, b.raw, lv.half, next)
		} else {
			f.Run("next_level", grid, 128, b.rows[(l+1)%2], pixels, int32(n), int32(lv.frames), int32(lv.waits), lv.past, lv.products, lv.heads, lv.half, next)
		}
		if n = (lv.waits + n) / 2; n == 0 {
			break
		}
	}
	if b.image != nil {
		f.Run("add_image", cuda.Blocks(e.reel.size, 256), 256, f.frames, int32(e.reel.size), int32(s.n), b.image)
	}
	return f.Done()
}

// settled takes the means of the frames of a block.
func (e *multitauRun) settled(ctx context.Context) func(s *slot) error {
	return func(s *slot) error {
		f, means := e.reel.feeds[0], make([]float64, s.n)
		if err := f.side.CopyOut(ctx, means, f.mean[s.number], 0); err != nil {
			return err
		}
		e.trace = append(e.trace, means...)
		for k, v := range means {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return e.reel.frameError(s, k, func(yield func(int) bool) {
					for p, b := range e.maps.Static {
						if b > 0 && !yield(p) {
							return
						}
					}
				})
			}
		}
		return nil
	}
}

// each fetches the sums of one part after another, as a pass on the processor has them: those of delays only if all is true.
func (e *multitauRun) each(ctx context.Context, all bool, take func(p *pass[float64], number int) error) error {
	for k, b := range e.banks {
		for i, number := range b.parts {
			p, err := e.fetch(ctx, e.reel.feeds[k], b, i, all)
			if err != nil {
				return err
			}
			if err := take(p, number); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *multitauRun) fetch(ctx context.Context, f *feed, b *bank, i int, all bool) (*pass[float64], error) {
	part := e.parts[b.parts[i]]
	pixels := b.from[i+1] - b.from[i]
	tiles := pixels / tile
	a := &pass[float64]{s: e.s, movie: e.m, maps: e.maps, part: part, tiles: tiles, done: e.done, trace: e.trace}
	row := make([]float64, pixels)
	var short []float32
	// get fetches row r of an array of doubles, or of R.
	get := func(from *cuda.Buffer, r, width int) error {
		if width == 8 {
			return f.Stream.CopyOut(ctx, row, from, 8*(r*b.pixels+b.from[i]))
		}
		if short == nil {
			short = make([]float32, pixels)
		}
		if err := f.Stream.CopyOut(ctx, short, from, 4*(r*b.pixels+b.from[i])); err != nil {
			return err
		}
		for k, v := range short {
			row[k] = float64(v)
		}
		return nil
	}
	var fail error
	// rows fetches rows as (tile, row, pixel).
	rows := func(from *cuda.Buffer, count, width int) []float64 {
		to := make([]float64, count*pixels)
		for r := range count {
			if fail == nil {
				fail = get(from, r, width)
			}
			for at := range tiles {
				copy(to[(at*count+r)*tile:][:tile], row[at*tile:])
			}
		}
		return to
	}
	a.dense = &dense[float64]{per: e.s.PerLevel}
	for l, lv := range b.levels {
		if !all {
			break
		}
		a.dense.levels = append(a.dense.levels, &level[float64]{lags: lagsAt(l, e.s.PerLevel), frames: lv.frames, waiting: lv.waits == 1,
			earlier: rows(lv.past, 2*e.s.PerLevel, b.width), half: rows(lv.half, 1, b.width), products: rows(lv.products, lv.lags, 8), head: rows(lv.heads, lv.lags, 8)})
	}
	a.total, a.raw = rows(b.total, 1, 8), rows(b.raw, 1, 8)
	if i == 0 && b.image != nil && fail == nil {
		a.rest = make([]float64, e.reel.size)
		fail = f.Stream.CopyOut(ctx, a.rest, b.image, 0)
	}
	return a, fail
}
