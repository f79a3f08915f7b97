// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// block is some rows of a matrix of pairs, and the columns of its tiles: the first of them has the diagonal.
type block struct {
	from, to int
	begins   []int // of columns; the last ends at the last frame
}

const (
	mostRows = 40
	wide     = 12 // columns of a tile, in rows; the first tile of a block has up to half as much again
)

// blocks divides the pairs of n frames so that tiles have few shapes: all blocks but the first have the same number of rows.
func blocks(n int) (rows int, all []block) {
	count := (n + mostRows - 1) / mostRows
	rows = (n + count - 1) / count
	for to := n - (count-1)*rows; to <= n; to += rows {
		b := block{from: max(0, to-rows), to: to}
		width := n - b.from
		first := width
		for first > wide*rows*3/2 {
			first -= wide * rows
		}
		for begin := b.from; begin < n; begin += wide * rows {
			b.begins = append(b.begins, begin)
			if begin == b.from {
				begin += first - wide*rows
			}
		}
		all = append(all, b)
	}
	return rows, all
}

// weighting says how the pairs of a tile count.
type weighting int

const (
	alike    weighting = iota // all the same
	masked                    // those from some distance on
	weighted                  // as given
)

// shape is what a program of a tile depends on.
type shape struct {
	columns   int
	form      transport.Form
	weighting weighting
	curvature bool // whether products of derivatives are wanted
}

// tileProgram computes sums over a tile.
type tileProgram struct {
	program       *ad.Program
	rows, columns int // lines of them
	y, w, indices int // inputs; the indices of rows, then those of columns
	tables        int // input: the derivatives of the channels at the columns
	sums          []*ad.Node
	outs          []*ad.Node
	products      map[[2]*ad.Node]*ad.Node
	// of a sum: the output over columns, of each row; the next output is over rows, of each column
	g, gg, yg int
	by        []channelSums
	pairs     []channelPair
}

// channelSums are sums of derivatives by a channel: alone, times g and times y.
type channelSums struct{ one, g, y int }

// channelPair is a product of derivatives by two channels.
type channelPair struct {
	a, b       int
	sum        int
	output     int // sums over columns of products with the tables of a and, if it differs, of b
	width, atB int // how many these are, and where those of b begin
}

// sum makes outputs of the sums of a node, once.
func (t *tileProgram) sum(v *ad.Node) int {
	for i, s := range t.sums {
		if s == v {
			return i
		}
	}
	t.sums = append(t.sums, v)
	t.outs = append(t.outs, ad.SumAxes(v, 1), ad.SumAxes(v, 0))
	return len(t.sums) - 1
}

// product makes a node, once.
func (t *tileProgram) product(a, b *ad.Node) *ad.Node {
	if a == nil {
		return b
	}
	key := [2]*ad.Node{a, b}
	if t.products[key] == nil {
		t.products[key] = ad.Mul(a, b)
	}
	return t.products[key]
}

// newTile compiles the program of a shape. channels are the numbers of parameters of each.
func newTile(s *transport.Setup, rows int, sh shape, channels []int, band, precision int) (*tileProgram, error) {
	tile := s.Tile(rows, sh.columns, sh.form, precision)
	t := &tileProgram{rows: len(tile.Rows), columns: len(tile.Columns), products: map[[2]*ad.Node]*ad.Node{}}
	in := append(append([]*ad.Node{}, tile.Rows...), tile.Columns...)
	input := func(name string, dims ...int) *ad.Node {
		in = append(in, ad.Input(name, dims...))
		return in[len(in)-1]
	}
	t.y = len(in)
	y := input("y", rows, sh.columns)
	var w *ad.Node
	switch sh.weighting {
	case weighted:
		t.w = len(in)
		w = input("w", rows, sh.columns)
		y = ad.Mul(w, y)
	case masked:
		t.indices = len(in)
		i, j := input("i", rows, 1), input("j", sh.columns)
		w = ad.Less(ad.Shift(i, float64(band)), j)
	}
	g := tile.G
	wg := t.product(w, g)
	t.g, t.gg, t.yg = t.sum(wg), t.sum(t.product(g, wg)), t.sum(t.product(y, g))
	for _, slope := range tile.Slopes {
		t.by = append(t.by, channelSums{t.sum(t.product(w, slope)), t.sum(t.product(slope, wg)), t.sum(t.product(y, slope))})
	}
	if sh.curvature {
		total := 0
		for _, k := range channels {
			total += k
		}
		t.tables = len(in)
		tables := input("tables", sh.columns, total)
		from := make([]int, len(channels)+1)
		for c, k := range channels {
			from[c+1] = from[c] + k
		}
		for a := range channels {
			for b := a; b < len(channels); b++ {
				m := t.product(tile.Slopes[b], t.product(w, tile.Slopes[a]))
				p := channelPair{a: a, b: b, sum: t.sum(m)}
				t.pairs = append(t.pairs, p)
			}
		}
		for i := range t.pairs { // after all sums
			p := &t.pairs[i]
			m := t.sums[p.sum]
			p.output = len(t.outs)
			if p.b <= p.a+1 {
				p.width, p.atB = from[p.b+1]-from[p.a], from[p.b]-from[p.a]
				t.outs = append(t.outs, ad.MatMul(m, ad.Slice(tables, 1, from[p.a], from[p.b+1])))
				continue
			}
			of := func(c int) *ad.Node { return ad.Slice(tables, 1, from[c], from[c+1]) }
			p.width, p.atB = channels[p.a]+channels[p.b], channels[p.a]
			t.outs = append(t.outs, ad.MatMul(m, ad.Concat(1, of(p.a), of(p.b))))
		}
	}
	var err error
	t.program, err = ad.Compile(t.outs, ad.Settings{Inputs: in, Precision: precision, Backend: ad.CPU{Threads: 1}})
	t.outs, t.sums, t.products = nil, t.sums[:len(t.sums):len(t.sums)], nil
	return t, err
}

// store is data as passes read them, and the programs for them. It is safe for concurrent use.
type store[T float32 | float64] struct {
	data   *Data
	rows   int
	blocks []block
	angles []packed[T]

	lock     sync.Mutex
	programs map[shape]*tileProgram
}

func newStore[T float32 | float64](d *Data) *store[T] {
	s := &store[T]{data: d, programs: map[shape]*tileProgram{}}
	s.rows, s.blocks = blocks(len(d.Setup.Times))
	for k := range d.C2 {
		s.angles = append(s.angles, pack[T](d, k))
	}
	return s
}

// precision is that of the numbers in bits.
func precision[T float32 | float64]() int {
	if _, ok := any(T(0)).(float32); ok {
		return 32
	}
	return 64
}

// program returns the program of a shape.
func (s *store[T]) program(sh shape, channels []int) (*tileProgram, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if p := s.programs[sh]; p != nil {
		return p, nil
	}
	one := s.data.Setup
	one.Angles = one.Angles[:1]
	p, err := newTile(&one, s.rows, sh, channels, s.data.Band, precision[T]())
	if err != nil {
		return nil, err
	}
	s.programs[sh] = p
	return p, nil
}
