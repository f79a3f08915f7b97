package correlate

import (
	"context"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// bank holds the sums of the pixels of some parts on one GPU, those of a part beside each other and filled up to whole tiles.
type bank struct {
	buffers
	parts         []int // numbers of parts
	from          []int // where each begins, and the end
	index         *cuda.Buffer
	levels        []bankLevel
	total, raw    *cuda.Buffer
	rows          [2]*cuda.Buffer // summed frames of two levels, one after the other
	image         *cuda.Buffer    // sums of all pixels; nil: another GPU has them
	pixels, width int             // pixels, and the bytes of R
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
	n := 4 + 8 + 8 + (block/2+1+block/4+1)*width
	for l := 0; l <= delays[len(delays)-1].Level; l++ {
		n += (2*s.PerLevel+1)*width + 16*len(lagsAt(l, s.PerLevel))
	}
	return n
}

// multitauOnGPUs is Multitau on the GPUs that the backend names; it returns nil without an error if that is the processor.
func multitauOnGPUs(ctx context.Context, m Movie, maps *Maps, s Settings) (*Result, error) {
	r := &Result{Frames: m.Frames, Delay: Delays(m.Frames, s.PerLevel)}
	size := m.Height * m.Width
	block, _ := blockOf(m)
	each := bankBytes(r.Delay, block, s)
	largest := 0 // pixels of the largest bin
	bins := maps.parts(1)
	for _, p := range bins {
		largest = max(largest, tiled(len(p.pixels)))
	}
	smallest := feedBytes(m, 1) + largest*bankBytes(r.Delay, 1, s) + 8*size
	need := ad.Need{Name: fmt.Sprintf("a multi-tau correlation of frames of %d x %d pixels, whose largest bin has %d,", m.Height, m.Width, largest),
		Work: 4 * m.Frames * size, Least: smallest}
	devices, err := gpus(s.Backend, need)
	if err != nil || len(devices) == 0 {
		return nil, err
	}
	s.Backend = ad.CPU{Threads: 1} // for what is left
	// The parts are as small as the processor, which has sums in float64 here, and every GPU want them.
	host := s
	host.Precision = 64
	most := int(min(s.MaxBytes/int64(perPixel(r.Delay, 0, host)), math.MaxInt32))
	rooms := make([]int, len(devices))
	for {
		fits := true
		for k, d := range devices {
			room, err := d.Room()
			if err != nil {
				return nil, err
			}
			rooms[k] = (int(min(room, math.MaxInt64)) - feedBytes(m, block) - 8*size) / each
			fits = fits && rooms[k] >= largest
		}
		if fits || block == 1 {
			break
		}
		block /= 2
		each = bankBytes(r.Delay, block, s)
	}
	for _, room := range rooms {
		most = min(most, max(room-tile, 1))
	}
	parts := maps.parts(most)
	if s.PerPixel != nil {
		if len(parts) > 1 {
			return nil, fmt.Errorf("correlate: the sums of every pixel do not fit into %d bytes, or not on a GPU with room for %d pixels: raise MaxBytes, or do not ask for them", s.MaxBytes, most)
		}
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
	var valid []int32
	for i, b := range e.maps.Static {
		if b > 0 {
			valid = append(valid, int32(i))
		}
	}
	if e.reel, err = newReel(ctx, e.m, e.block, valid, e.s.Normalize, used, e.s.Precision, e.s.PerLevel); err != nil {
		return err
	}
	defer e.reel.free()
	defer func() {
		for _, b := range e.banks {
			b.free()
		}
	}()
	for k, b := range e.banks {
		b.d = used[k]
		if err := e.fill(ctx, b, e.reel.feeds[k], k == 0 && e.first); err != nil {
			return err
		}
	}
	e.reel.work, e.reel.settled = e.work, e.settled(ctx)
	saxs := map[int][]float64{}
	for k := range e.r.Parts {
		if err := e.read(ctx, e.r.Parts[k].Frames); err != nil {
			return err
		}
		err := e.each(ctx, func(p *pass[float64], number int) error {
			if saxs[number] == nil {
				saxs[number] = make([]float64, len(p.raw))
			}
			return takePart(e.r, p, k, saxs[number])
		})
		if err != nil {
			return err
		}
	}
	if err := e.read(ctx, e.m.Frames); err != nil {
		return err
	}
	return e.each(ctx, func(p *pass[float64], _ int) error { return take(e.r, p) })
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
	if b.index, err = b.put(ctx, f.on, index, 4*b.pixels, "places of pixels"); err != nil {
		return err
	}
	for l := 0; l <= e.r.Delay[len(e.r.Delay)-1].Level; l++ {
		lv := bankLevel{lags: len(lagsAt(l, e.s.PerLevel))}
		for _, a := range []struct {
			to    **cuda.Buffer
			bytes int
			what  string
		}{{&lv.past, 2 * e.s.PerLevel * b.width, "frames of levels"}, {&lv.half, b.width, "frames of levels"}, {&lv.products, 8 * lv.lags, "sums of products"}, {&lv.heads, 8 * lv.lags, "sums of first frames"}} {
			if *a.to, err = b.take(f.on, a.bytes*b.pixels, a.what, true); err != nil {
				return err
			}
		}
		b.levels = append(b.levels, lv)
	}
	for k := range b.rows {
		if b.rows[k], err = b.take(f.on, (e.block>>(k+1)+1)*b.width*b.pixels, "frames of levels", false); err != nil {
			return err
		}
	}
	if b.total, err = b.take(f.on, 8*b.pixels, "sums of pixels", true); err != nil {
		return err
	}
	if b.raw, err = b.take(f.on, 8*b.pixels, "sums of pixels", true); err != nil || !image {
		return err
	}
	b.image, err = b.take(f.on, 8*e.reel.size, "the image", true)
	return err
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
			f.run("first_level", grid, 128, f.frames, b.index, f.scale, int32(e.reel.size), pixels, int32(n), int32(lv.frames), int32(lv.waits), lv.past, lv.products, lv.heads, b.total, b.raw, lv.half, next)
		} else {
			f.run("next_level", grid, 128, b.rows[(l+1)%2], pixels, int32(n), int32(lv.frames), int32(lv.waits), lv.past, lv.products, lv.heads, lv.half, next)
		}
		if n = (lv.waits + n) / 2; n == 0 {
			break
		}
	}
	if b.image != nil {
		f.run("add_image", cuda.Blocks(e.reel.size, 256), 256, f.frames, int32(e.reel.size), int32(s.n), b.image)
	}
	return f.done()
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

// each fetches the sums of one part after another, as a pass on the processor has them.
func (e *multitauRun) each(ctx context.Context, take func(p *pass[float64], number int) error) error {
	for k, b := range e.banks {
		for i, number := range b.parts {
			p, err := e.fetch(ctx, e.reel.feeds[k], b, i)
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

func (e *multitauRun) fetch(ctx context.Context, f *feed, b *bank, i int) (*pass[float64], error) {
	part := e.parts[b.parts[i]]
	pixels := b.from[i+1] - b.from[i]
	tiles := pixels / tile
	a := &pass[float64]{s: e.s, movie: e.m, maps: e.maps, part: part, tiles: tiles, done: e.done, trace: e.trace}
	row := make([]float64, pixels)
	var short []float32
	// get fetches row r of an array of doubles, or of R.
	get := func(from *cuda.Buffer, r, width int) error {
		if width == 8 {
			return f.on.CopyOut(ctx, row, from, 8*(r*b.pixels+b.from[i]))
		}
		if short == nil {
			short = make([]float32, pixels)
		}
		if err := f.on.CopyOut(ctx, short, from, 4*(r*b.pixels+b.from[i])); err != nil {
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
		a.dense.levels = append(a.dense.levels, &level[float64]{lags: lagsAt(l, e.s.PerLevel), frames: lv.frames, waiting: lv.waits == 1,
			earlier: rows(lv.past, 2*e.s.PerLevel, b.width), half: rows(lv.half, 1, b.width), products: rows(lv.products, lv.lags, 8), head: rows(lv.heads, lv.lags, 8)})
	}
	a.total, a.raw = rows(b.total, 1, 8), rows(b.raw, 1, 8)
	if i == 0 && b.image != nil && fail == nil {
		a.rest = make([]float64, e.reel.size)
		fail = f.on.CopyOut(ctx, a.rest, b.image, 0)
	}
	return a, fail
}
