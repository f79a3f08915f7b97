// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// tile is the number of pixels that are worked on together: the frames of a block of one tile stay in the
// second-level cache.
const tile = 1024

// blockFrames is the largest number of frames of one level whose products are added in the precision of the
// programs before they join the sums in float64.
const blockFrames = 64

type real interface{ float32 | float64 }

// dense holds the sums of levels from base on, for frames that have a number for every pixel. Arrays
// are (tile of pixels, ..., pixel of the tile).
type dense[T real] struct {
	base     int // first level
	per      int // delays at each level
	levels   []*level[T]
	programs []*ad.Program
}

// level holds the sums of one level. Where few new frames come with a block, they wait until there are rows of
// them, since a run of the program costs as much for one as for several.
type level[T real] struct {
	lags     []int
	rows     int // new frames that the program takes at once
	waits    bool
	frames   int       // summed frames so far
	pending  int       // frames whose products are not yet in the sums
	waiting  bool      // whether a summed frame waits for a second one to be summed again
	earlier  []T       // the last 2 per summed frames before the pending ones, and these
	half     []T       // the frame that waits
	products []float64 // sums of products with the frame lag earlier, for each of lags
	head     []float64 // sums of the first lag frames, for each of lags
}

// fewRows is the number of frames that levels wait for.
const fewRows = 4

// newDense makes room for tiles of pixels and as many levels as n frames have delays at.
func newDense[T real](tiles, base, per, n int, s Settings) (*dense[T], error) {
	d := &dense[T]{base: base, per: per}
	delays := Delays(n, per)
	for l := base; len(delays) > 0 && l <= delays[len(delays)-1].Level; l++ {
		lv := &level[T]{lags: lagsAt(l, per), rows: blockFrames >> len(d.levels)}
		keep := 2 * per
		if lv.rows < fewRows {
			lv.rows, lv.waits = fewRows, true
			keep += fewRows
		}
		lv.earlier, lv.half = make([]T, tiles*keep*tile), make([]T, tiles*tile)
		lv.products, lv.head = make([]float64, tiles*len(lv.lags)*tile), make([]float64, tiles*len(lv.lags)*tile)
		prog, err := d.program(lv.lags, lv.rows, l == 0, s)
		if err != nil {
			return nil, err
		}
		d.levels, d.programs = append(d.levels, lv), append(d.programs, prog)
	}
	return d, nil
}

// lagsAt lists the delays of a level in summed frames.
func lagsAt(l, per int) []int {
	var lags []int
	for lag := 1; lag <= 2*per; lag++ {
		if l == 0 || lag > per {
			lags = append(lags, lag)
		}
	}
	return lags
}

// program compiles the products of rows new frames with earlier ones, summed over the new ones: the input
// is (2 per + rows, tile). At level 0 there are also the sum of the new frames, and if frames are
// normalised that of the frames as they were; the second input has the mean of each.
func (d *dense[T]) program(lags []int, rows int, first bool, s Settings) (*ad.Program, error) {
	past := 2 * d.per
	x := ad.Input("frames", past+rows, tile)
	inputs := []*ad.Node{x}
	now := ad.Slice(x, 0, past, past+rows)
	var outs []*ad.Node
	for _, lag := range lags {
		outs = append(outs, ad.SumAxes(ad.Mul(now, ad.Slice(x, 0, past-lag, past-lag+rows)), 0))
	}
	if first {
		outs = append(outs, ad.SumAxes(now, 0))
	}
	if first && s.Normalize {
		means := ad.Input("means", rows, 1)
		inputs, outs = append(inputs, means), append(outs, ad.SumAxes(ad.Mul(now, means), 0))
	}
	return ad.Compile(outs, ad.Settings{Inputs: inputs, Precision: s.Precision, Backend: s.Backend})
}

// worker runs the programs of a dense; each goroutine has its own.
type worker[T real] struct {
	states []*ad.State
	in     [][]T // inputs of the states, (earlier and new frames, tile)
	fresh  [][]T // where new frames of each level go
}

func (d *dense[T]) worker() *worker[T] {
	w := &worker[T]{}
	for i, p := range d.programs {
		st := p.NewState()
		in := input[T](st, 0)
		fresh := in[2*d.per*tile:]
		if d.levels[i].waits {
			fresh = make([]T, fewRows*tile)
		}
		w.states, w.in, w.fresh = append(w.states, st), append(w.in, in), append(w.fresh, fresh)
	}
	return w
}

func input[T real](st *ad.State, i int) []T {
	var in any = st.Input(i)
	if _, narrow := any([]T(nil)).([]float32); narrow {
		in = st.Input32(i)
	}
	return in.([]T)
}

func output[T real](st *ad.State, i int) []T {
	var out any
	if _, narrow := any([]T(nil)).([]float32); narrow {
		out = st.Output32(i)
	} else {
		out = st.Output(i)
	}
	return out.([]T)
}

// means is where the mean of each new frame goes, if frames are normalised.
func (d *dense[T]) means(w *worker[T]) []T { return input[T](w.states[0], 1) }

// add adds rows new frames of a tile of pixels, which are in w.fresh[0]. At level 0 their sums join total, and those
// of the frames as they were join raw, unless it is nil.
func (d *dense[T]) add(w *worker[T], at, rows int, total, raw []float64) error {
	past := 2 * d.per
	for i, lv := range d.levels {
		if rows == 0 {
			return nil
		}
		fresh := w.fresh[i][:rows*tile]
		if err := d.multiply(w, i, at, rows); err != nil {
			return err
		}
		if d.base+i == 0 {
			accumulate(total[at*tile:][:tile], output[T](w.states[i], len(lv.lags)))
			if raw != nil {
				accumulate(raw[at*tile:][:tile], output[T](w.states[i], len(lv.lags)+1))
			}
		}
		for r := lv.frames; r < min(lv.frames+rows, past); r++ {
			for k, lag := range lv.lags {
				if r < lag {
					accumulate(lv.head[(at*len(lv.lags)+k)*tile:][:tile], fresh[(r-lv.frames)*tile:][:tile])
				}
			}
		}
		var next []T
		if i+1 < len(d.levels) {
			next = w.fresh[i+1]
		}
		rows = pair(next, lv.half[at*tile:][:tile], fresh, lv.waiting)
	}
	return nil
}

// multiply adds the products of rows new frames of level i, or lets them wait.
func (d *dense[T]) multiply(w *worker[T], i, at, rows int) error {
	lv, past := d.levels[i], 2*d.per
	if !lv.waits {
		earlier := lv.earlier[at*past*tile:][:past*tile]
		copy(w.in[i], earlier)
		if err := d.run(w, i, at, rows); err != nil {
			return err
		}
		copy(earlier, w.in[i][rows*tile:])
		return nil
	}
	pending := lv.pending
	if pending+rows > lv.rows {
		if err := d.settle(w, i, at, pending); err != nil {
			return err
		}
		pending = 0
	}
	copy(lv.earlier[(at*(past+lv.rows)+past+pending)*tile:], w.fresh[i][:rows*tile])
	if pending += rows; pending == lv.rows {
		return d.settle(w, i, at, pending)
	}
	return nil
}

// settle adds the products of the pending frames of a tile.
func (d *dense[T]) settle(w *worker[T], i, at, pending int) error {
	lv, past := d.levels[i], 2*d.per
	kept := lv.earlier[at*(past+lv.rows)*tile:][:(past+lv.rows)*tile]
	copy(w.in[i], kept[:(past+pending)*tile])
	if err := d.run(w, i, at, pending); err != nil {
		return err
	}
	copy(kept, w.in[i][pending*tile:][:past*tile])
	return nil
}

// run runs the program of level i on rows new frames.
func (d *dense[T]) run(w *worker[T], i, at, rows int) error {
	lv := d.levels[i]
	clear(w.in[i][(2*d.per+rows)*tile:])
	if err := w.states[i].Run(); err != nil {
		return err
	}
	for k := range lv.lags {
		accumulate(lv.products[(at*len(lv.lags)+k)*tile:][:tile], output[T](w.states[i], k))
	}
	return nil
}

// advance counts rows new frames, after every tile has had them.
func (d *dense[T]) advance(rows int) {
	for _, lv := range d.levels {
		lv.frames += rows
		if lv.waits {
			if lv.pending+rows > lv.rows {
				lv.pending = 0
			}
			lv.pending = (lv.pending + rows) % lv.rows
		}
		odd := rows
		if lv.waiting {
			odd++
		}
		rows, lv.waiting = odd/2, odd%2 == 1
	}
}

// flush adds the products of all pending frames.
func (d *dense[T]) flush(workers []*worker[T], tiles int) error {
	errs := make([]error, len(workers))
	parallel.Do(len(workers), tiles, func(who, at int) {
		for i, lv := range d.levels {
			if lv.pending > 0 {
				if err := d.settle(workers[who], i, at, lv.pending); err != nil {
					errs[who] = err
				}
			}
		}
	})
	for _, lv := range d.levels {
		lv.pending = 0
	}
	return first(errs)
}

// pair sums frames by two. A frame that waits in half is the first; the last, if it has no second, waits there.
func pair[T real](next, half, rows []T, waiting bool) (n int) {
	if waiting {
		if next != nil {
			sum(next[:tile], half, rows[:tile])
		}
		rows, n = rows[tile:], 1
	}
	for ; len(rows) >= 2*tile; rows, n = rows[2*tile:], n+1 {
		if next != nil {
			sum(next[n*tile:][:tile], rows[:tile], rows[tile:2*tile])
		}
	}
	copy(half, rows)
	return n
}

func accumulate[T real](to []float64, v []T) {
	v = v[:len(to)]
	for ; len(to) >= 4; to, v = to[4:], v[4:] {
		to[0] += float64(v[0])
		to[1] += float64(v[1])
		to[2] += float64(v[2])
		to[3] += float64(v[3])
	}
	for i := range to {
		to[i] += float64(v[i])
	}
}

func sum[T real](to, a, b []T) {
	a, b = a[:len(to)], b[:len(to)]
	for i := range to {
		to[i] = a[i] + b[i]
	}
}

// moments returns, for pixel p, delay k of a level and the sum of the pixel over the summed frames of the
// level, the sums of products, of the earlier frames and of the later ones over all pairs.
func (lv *level[T]) moments(p, k int, total float64) (products, earlier, later float64) {
	at, j := p/tile, p%tile
	lag, keep := lv.lags[k], len(lv.earlier)/len(lv.half)
	past := keep
	if lv.waits {
		past -= lv.rows
	}
	i := (at*len(lv.lags)+k)*tile + j
	tail := 0.0
	for r := past - lag; r < past; r++ {
		tail += float64(lv.earlier[(at*keep+r)*tile+j])
	}
	return lv.products[i], total - tail, total - lv.head[i]
}

// moments returns, for pixel p and delay k of level i, the sums over all pairs of products, earlier and later
// frames; total is the sum of the pixel over the frames of the first level.
func (d *dense[T]) moments(i, p, k int, total float64) (products, earlier, later float64) {
	for _, lv := range d.levels[:i] {
		if lv.waiting {
			total -= float64(lv.half[p])
		}
	}
	return d.levels[i].moments(p, k, total)
}
