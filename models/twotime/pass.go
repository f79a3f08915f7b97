// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// passes computes sums over all pairs. It belongs to one goroutine, and uses several.
type passes[T float32 | float64] struct {
	*store[T]
	frames *transport.Frames
	views  []transport.View // of each angle
	hands  []hand[T]
	jobs   []job
}

// job is some blocks of an angle: results are added up in the order of jobs, whoever does them.
type job struct {
	angle  int
	blocks []block
}

// jobsEach is the number of jobs of an angle.
const jobsEach = 4

func newPasses[T float32 | float64](s *store[T], threads int) (*passes[T], error) {
	p := &passes[T]{store: s, views: make([]transport.View, len(s.angles)), hands: make([]hand[T], max(1, threads))}
	var err error
	if p.frames, err = s.data.Setup.NewFrames(); err != nil {
		return nil, err
	}
	for i := range p.hands {
		p.hands[i] = hand[T]{store: s, frames: p.frames, states: map[shape]*ad.State{}, limit: factorLimit[T]()}
	}
	n := len(s.data.Setup.Times)
	for angle := range s.angles {
		rest, count := s.blocks, jobsEach
		for ; len(rest) > 0; count-- {
			pairs := func(b block) int { return (b.to - b.from) * (n - b.from) }
			left := 0
			for _, b := range rest {
				left += pairs(b)
			}
			k, done := 1, pairs(rest[0])
			for k < len(rest) && (count <= 1 || (done+pairs(rest[k])/2)*count < left) {
				done += pairs(rest[k])
				k++
			}
			p.jobs = append(p.jobs, job{angle, rest[:k]})
			rest = rest[k:]
		}
	}
	return p, nil
}

// run computes the products of the columns 1, g, dg/dtheta and y-1 of each angle into gram, square matrices. Those of two derivatives are
// there with curvature only.
func (p *passes[T]) run(ctx context.Context, theta []float64, curvature bool, gram [][]float64) error {
	if err := p.frames.Set(theta); err != nil {
		return err
	}
	parallel.Do(len(p.hands), len(p.views), func(_, angle int) { p.frames.View(&p.views[angle], angle, false) })
	results, errs := make([]totals, len(p.jobs)), make([]error, len(p.jobs))
	parallel.Do(len(p.hands), len(p.jobs), func(worker, at int) {
		if errs[at] = ctx.Err(); errs[at] == nil {
			j := p.jobs[at]
			results[at], errs[at] = p.hands[worker].do(j, &p.views[j.angle], len(theta), curvature)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	k := len(theta) + 3
	for angle, a := range p.angles {
		g := gram[angle]
		clear(g)
		for at, j := range p.jobs {
			if j.angle == angle {
				results[at].add(g, len(theta))
			}
		}
		if a.whole != nil { // 1 is still to be taken off
			for i := 1; i < k-1; i++ {
				g[i*k+k-1] -= g[i]
			}
		}
		if err := a.complete(g, k); err != nil {
			return err
		}
	}
	return nil
}

// totals are sums of a job, by parameters.
type totals struct {
	g, gg, yg float64
	one, by   []float64 // of derivatives, and of those times g
	y         []float64 // times y
	products  []float64 // of two derivatives
}

func newTotals(p int) totals {
	return totals{one: make([]float64, p), by: make([]float64, p), y: make([]float64, p), products: make([]float64, p*p)}
}

// add adds t to the upper triangle of products of columns.
func (t *totals) add(gram []float64, p int) {
	k := p + 3
	gram[1] += t.g
	gram[k+1] += t.gg
	gram[k+k-1] += t.yg
	for i := range p {
		gram[2+i] += t.one[i]
		gram[k+2+i] += t.by[i]
		gram[(2+i)*k+k-1] += t.y[i]
		for j := i; j < p; j++ {
			gram[(2+i)*k+2+j] += t.products[i*p+j]
		}
	}
}

// hand is what a goroutine works with.
type hand[T float32 | float64] struct {
	*store[T]
	frames     *transport.Frames
	limit      float64 // of the logarithms of factors
	states     map[shape]*ad.State
	view       transport.View // for direct tiles
	first      [][]float64    // derivatives of channels at the rows of a tile, by the parameters of all channels
	second     [][]float64    // at the columns
	scratch    []float64
	accumulate [][2][]float64 // sums of a job at each frame, over later and over earlier ones
}

// factorLimit is how large the logarithm of a product of factors may be in the pairs of a tile that have no meaning, so that its square is
// finite.
func factorLimit[T float32 | float64]() float64 {
	if precision[T]() == 32 {
		return 30
	}
	return 250
}

// do computes a job.
func (h *hand[T]) do(j job, view *transport.View, parameters int, curvature bool) (totals, error) {
	out := newTotals(parameters)
	n := len(h.data.Setup.Times)
	var direct bool // whether h.view is that of the angle
	for at := 0; at < len(j.blocks); {
		form := h.form(j.blocks[at])
		v := view
		if form == transport.Direct && !h.data.Setup.Customary {
			if !direct {
				h.frames.View(&h.view, j.angle, true)
				direct = true
			}
			v = &h.view
		}
		for _, a := range h.accumulate {
			clear(a[0])
			clear(a[1])
		}
		var t *tileProgram
		for at < len(j.blocks) && h.form(j.blocks[at]) == form {
			b := j.blocks[at]
			at++
			for k, begin := range b.begins {
				end := n
				if k+1 < len(b.begins) {
					end = b.begins[k+1]
				}
				var err error
				if t, err = h.tile(&out, part{b, begin, end, j.angle, v}, form, curvature); err != nil {
					return out, err
				}
			}
		}
		h.finish(&out, t, v)
	}
	return out, nil
}

// form is how a block is computed.
func (h *hand[T]) form(b block) transport.Form {
	if h.frames.Factors(b.from, b.to, h.limit) {
		return transport.Factored
	}
	return transport.Direct
}

// finish takes sums at frames to the parameters.
func (h *hand[T]) finish(out *totals, t *tileProgram, v *transport.View) {
	out.g += floats.Sum(h.accumulate[t.g][0])
	out.gg += floats.Sum(h.accumulate[t.gg][0])
	out.yg += floats.Sum(h.accumulate[t.yg][0])
	for c, s := range t.by {
		channel := &v.Channels[c]
		for i, k := range channel.Parameters {
			along := func(sum int) float64 {
				a := h.accumulate[sum]
				return floats.Dot(a[0], channel.First[i]) + floats.Dot(a[1], channel.Second[i])
			}
			out.one[k] += along(s.one)
			out.by[k] += along(s.g)
			out.y[k] += along(s.y)
		}
	}
}

// part is a tile: rows of a block with some columns, at an angle.
type part struct {
	block
	begin, end int // columns
	angle      int
	view       *transport.View
}

// ref is the frame that lines and tables are relative to.
func (p *part) ref() int { return p.to - 1 }

// tile computes the sums of a tile.
func (h *hand[T]) tile(out *totals, p part, form transport.Form, curvature bool) (*tileProgram, error) {
	sh := shape{columns: p.end - p.begin, form: form, curvature: curvature}
	if form == transport.Factored && p.view.Apart(p.from, p.to, p.begin, h.data.Band+1, precision[T]()) {
		sh.form = transport.Apart
	}
	switch {
	case h.angles[p.angle].w != nil:
		sh.weighting = weighted
	case p.begin-(p.to-1) <= h.data.Band || p.to-p.from < h.rows:
		sh.weighting = masked
	}
	channels := make([]int, len(p.view.Channels))
	for c := range channels {
		channels[c] = len(p.view.Channels[c].Parameters)
	}
	t, err := h.program(sh, channels)
	if err != nil {
		return nil, err
	}
	st := h.states[sh]
	if st == nil {
		st = t.program.NewState()
		h.states[sh] = st
	}
	h.fill(t, st, p, sh)
	if err := st.Run(); err != nil {
		return nil, err
	}
	h.collect(t, st, p)
	if curvature {
		h.products(out, t, st, p.view, p.to-p.from)
	}
	return t, nil
}

// fill writes the inputs of a tile.
func (h *hand[T]) fill(t *tileProgram, st *ad.State, p part, sh shape) {
	for k, line := range p.view.Rows {
		setLine(input[T](st, k), line, p.from, p.to, p.ref())
	}
	for k, line := range p.view.Columns {
		setLine(input[T](st, t.rows+k), line, p.begin, p.end, p.ref())
	}
	n, a := len(h.data.Setup.Times), &h.angles[p.angle]
	y := input[T](st, t.y)
	var w, rows []T
	switch sh.weighting {
	case weighted:
		w = input[T](st, t.w)
	case masked:
		rows = input[T](st, t.indices)
		columns := input[T](st, t.indices+1)
		for c := range columns {
			columns[c] = T(p.begin + c)
		}
	}
	for r := range h.rows {
		i := p.from + r
		if i >= p.to {
			i = n // no frame
		}
		a.values(y[r*sh.columns:(r+1)*sh.columns], n, i, p.begin)
		if w != nil {
			fill(w[r*sh.columns:(r+1)*sh.columns], a.w, n, i, p.begin)
		}
		if rows != nil {
			rows[r] = T(i)
		}
	}
	if sh.curvature {
		h.tables(p)
		to, width := input[T](st, t.tables), len(h.second)
		for k, column := range h.second {
			for c, x := range column {
				to[c*width+k] = T(x)
			}
		}
	}
}

// collect adds the sums of a tile to those of the job.
func (h *hand[T]) collect(t *tileProgram, st *ad.State, p part) {
	n := len(h.data.Setup.Times)
	for len(h.accumulate) < len(t.sums) {
		h.accumulate = append(h.accumulate, [2][]float64{make([]float64, n), make([]float64, n)})
	}
	for s := range t.sums {
		over, under := h.accumulate[s][0][p.from:], h.accumulate[s][1][p.begin:]
		for r, x := range output[T](st, 2*s)[:p.to-p.from] {
			over[r] += float64(x)
		}
		for c, x := range output[T](st, 2*s+1) {
			under[c] += float64(x)
		}
	}
}

// setLine writes a line at frames from..to-1; beyond them it is that of the reference.
func setLine[T float32 | float64](in []T, line transport.Line, from, to, ref int) {
	base, rest := 0.0, line.Values[ref]
	if line.Relative {
		base, rest = line.Values[ref], 0
	}
	for i, x := range line.Values[from:to] {
		in[i] = T(x - base)
	}
	for i := to - from; i < len(in); i++ {
		in[i] = T(rest)
	}
}

// tables writes the derivatives of all channels at the rows and the columns of a tile, relative to those at a frame: what is added to the
// first and taken off the second has no effect, but less is lost to rounding.
func (h *hand[T]) tables(p part) {
	k := 0
	room := func(tables [][]float64, n int) [][]float64 {
		if k == len(tables) {
			tables = append(tables, nil)
		}
		tables[k] = slices.Grow(tables[k][:0], n)[:n]
		return tables
	}
	h.first, h.second = h.first[:cap(h.first)], h.second[:cap(h.second)]
	for _, c := range p.view.Channels {
		for i := range c.Parameters {
			h.first, h.second = room(h.first, p.to-p.from), room(h.second, p.end-p.begin)
			shift := (c.First[i][p.ref()] - c.Second[i][p.ref()]) / 2
			for r, x := range c.First[i][p.from:p.to] {
				h.first[k][r] = x - shift
			}
			for r, x := range c.Second[i][p.begin:p.end] {
				h.second[k][r] = x + shift
			}
			k++
		}
	}
	h.first, h.second = h.first[:k], h.second[:k]
}

// products adds the products of derivatives of a tile,
//
//	sum M_ij (u_i + v_j) (u_i + v_j)^T
//
// with M the products of derivatives by two channels and u and v those of the channels by the parameters.
func (h *hand[T]) products(out *totals, t *tileProgram, st *ad.State, v *transport.View, rows int) {
	starts := make([]int, len(v.Channels)+1)
	for c := range v.Channels {
		starts[c+1] = starts[c] + len(v.Channels[c].Parameters)
	}
	p := len(out.one)
	for _, pair := range t.pairs {
		a, b := &v.Channels[pair.a], &v.Channels[pair.b]
		over, under := output[T](st, 2*pair.sum)[:rows], output[T](st, 2*pair.sum+1)
		products := output[T](st, pair.output)
		for i, ki := range a.Parameters {
			u, w := h.first[starts[pair.a]+i], h.second[starts[pair.a]+i]
			h.scratch = slices.Grow(h.scratch[:0], rows+len(w))[:rows+len(w)]
			scaledU, scaledV := h.scratch[:rows], h.scratch[rows:]
			for r, x := range over {
				scaledU[r] = float64(x) * u[r]
			}
			for c, x := range under {
				scaledV[c] = float64(x) * w[c]
			}
			for j, kj := range b.Parameters {
				other := h.first[starts[pair.b]+j]
				sum := floats.Dot(scaledU, other) + floats.Dot(scaledV, h.second[starts[pair.b]+j])
				for r := range rows {
					row := products[r*pair.width : (r+1)*pair.width]
					sum += u[r]*float64(row[pair.atB+j]) + other[r]*float64(row[i])
				}
				out.products[ki*p+kj] += sum
				if pair.a != pair.b {
					out.products[kj*p+ki] += sum
				}
			}
		}
	}
}

func input[T float32 | float64](st *ad.State, i int) []T {
	if v, ok := any(st.Input(i)).([]T); ok && v != nil {
		return v
	}
	return any(st.Input32(i)).([]T)
}

func output[T float32 | float64](st *ad.State, i int) []T {
	if v, ok := any(st.Output(i)).([]T); ok && v != nil {
		return v
	}
	return any(st.Output32(i)).([]T)
}
