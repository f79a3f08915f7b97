// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"slices"
	"sort"
)

// synapses holds the synapses onto an area that is not lazy. The seed determines which neurons are
// connected; connections are drawn when a source neuron first fires and are kept as long as there is
// room. Only weights that have changed are stored.
type synapses struct {
	rows   map[int32]*row
	counts []int32 // number of synapses onto each target from the neurons in of
	of     []int32
	learnt []int32 // winners of the last strengthening, in order
	round  int     // number of the last strengthening, from 1
}

// Targets are stored in blocks, by their place within the block.
const (
	blockBits = 14
	blockSize = 1 << blockBits
)

// row holds the synapses of a source neuron.
type row struct {
	links  *links
	to     []int32   // targets of synapses whose weight has changed, in order
	weight []float64 // weights of the synapses onto these targets
	seen   int       // number of the last strengthening that the row was part of
	used   int       // last step in which the neuron fired
	shared bool      // whether to and weight are shared with a copy of the brain
}

// links are the targets of a source neuron; they never change.
type links struct {
	low   []uint16 // place of each target within its block
	start []uint32 // start of each block in low, and the end
}

func newSynapses(n int) *synapses {
	blocks := (n + blockSize - 1) >> blockBits
	return &synapses{rows: map[int32]*row{}, counts: make([]int32, blocks<<blockBits)}
}

// newLinks packs targets, which are in order.
func newLinks(targets []int32, n int) *links {
	blocks := (n + blockSize - 1) >> blockBits
	l := &links{low: make([]uint16, len(targets)), start: make([]uint32, blocks+1)}
	for k, j := range targets {
		l.low[k] = uint16(j & (blockSize - 1))
		l.start[j>>blockBits+1]++
	}
	for i := range blocks {
		l.start[i+1] += l.start[i]
	}
	return l
}

// has reports whether there is a synapse onto j.
func (l *links) has(j int32) bool {
	b := j >> blockBits
	part := l.low[l.start[b]:l.start[b+1]]
	_, ok := slices.BinarySearch(part, uint16(j&(blockSize-1)))
	return ok
}

// each visits all targets in order.
func (l *links) each(visit func(j int32)) {
	for b := range len(l.start) - 1 {
		for _, low := range l.low[l.start[b]:l.start[b+1]] {
			visit(int32(b<<blockBits) + int32(low))
		}
	}
}

func (l *links) bytes() int { return 2*len(l.low) + 4*len(l.start) }

// at returns the weight of the synapse onto j, 0 where there is none.
func (r *row) at(j int32) float64 {
	if k, ok := slices.BinarySearch(r.to, j); ok {
		return r.weight[k]
	}
	if r.links.has(j) {
		return 1
	}
	return 0
}

// draw makes sure that the rows of the source neurons exist.
func (b *Brain) draw(f *fibre, sources []int32) {
	var missing []int32
	for _, i := range sources {
		r := f.synapses.rows[i]
		if r == nil {
			r = &row{}
			f.synapses.rows[i] = r
		}
		r.used = b.step
		if r.links == nil {
			missing = append(missing, i)
		}
	}
	made := make([]*links, len(missing))
	rooms := make([][]int32, b.workers())
	b.parallel(len(missing), func(worker, k int) {
		rooms[worker] = b.connect(rooms[worker][:0], f, int(missing[k]))
		made[k] = newLinks(rooms[worker], f.N)
	})
	for k, i := range missing {
		f.synapses.rows[i].links = made[k]
		b.cached += made[k].bytes()
	}
	b.moved += len(missing) * int(f.P*float64(f.N)) * 2
}

// count updates counts to the neurons that fire: it subtracts those that stopped and adds those that
// started, or counts anew if that is less work.
func (b *Brain) count(f *fibre, sources []int32) {
	w := f.synapses
	in := b.marks(f.from.stored())
	for _, i := range w.of {
		in.add(i)
	}
	var came []int32
	stay := 0
	for _, i := range sources {
		if in.has(i) {
			stay++
		} else {
			came = append(came, i)
		}
	}
	var left []int32
	if len(w.of)-stay >= stay {
		clear(w.counts)
		came = sources
	} else {
		in = b.marks(f.from.stored())
		for _, i := range sources {
			in.add(i)
		}
		for _, i := range w.of {
			if !in.has(i) {
				left = append(left, i)
			}
		}
	}
	w.of = sources
	b.draw(f, left)
	b.draw(f, came)
	w.add(b, left, -1)
	w.add(b, came, 1)
	b.moved += (len(left) + len(came)) * int(f.P*float64(f.N)) * 6
}

// add adds by to the count of every synapse of the sources.
func (w *synapses) add(b *Brain, sources []int32, by int32) {
	rows := make([]*links, len(sources))
	for k, i := range sources {
		rows[k] = w.rows[i].links
	}
	b.parallel(len(w.counts)>>blockBits, func(_, block int) {
		counts := (*[blockSize]int32)(w.counts[block<<blockBits:])
		for _, l := range rows {
			for _, low := range l.low[l.start[block]:l.start[block+1]] {
				counts[low&(blockSize-1)] += by
			}
		}
	})
}

// addInputs adds to x the weights of the firing neurons' synapses: 1 for each, and the differences
// of those that have changed.
func (w *synapses) addInputs(b *Brain, f *fibre, x []float64) {
	sources := f.from.winners
	b.count(f, sources)
	for j, c := range w.counts[:len(x)] {
		x[j] += float64(c)
	}
	for _, i := range sources {
		r := w.rows[i]
		for k, j := range r.to {
			x[j] += r.weight[k] - 1
		}
	}
	b.moved += 12 * len(x)
}

// own returns the row of a source neuron for writing, and copies it first if it is shared.
func (w *synapses) own(i int32) *row {
	r := w.rows[i]
	if r.shared {
		r.to, r.weight, r.shared = slices.Clone(r.to), slices.Clone(r.weight), false
	}
	return r
}

// clone shares everything that does not change, and the weights until they do.
func (w *synapses) clone() *synapses {
	c := &synapses{rows: make(map[int32]*row, len(w.rows)), counts: slices.Clone(w.counts), of: w.of, learnt: w.learnt, round: w.round}
	for i, r := range w.rows {
		r.shared = true
		d := *r
		c.rows[i] = &d
	}
	return c
}

// strengthen lets the synapses from sources to winners grow, which b.isWinner marks.
func (w *synapses) strengthen(b *Brain, f *fibre, g growth, sources, winners []int32) {
	sorted := slices.Clone(winners)
	slices.Sort(sorted)
	var fresh []int32 // winners that did not win at the last strengthening
	for _, j := range sorted {
		if _, was := slices.BinarySearch(w.learnt, j); !was {
			fresh = append(fresh, j)
		}
	}
	w.round++
	b.draw(f, sources)
	grow := g.function()
	var hits []int32
	for _, i := range sources {
		r := w.own(i)
		b.moved += 12 * len(r.to)
		if hits = hits[:0]; r.seen == w.round-1 && w.round > 1 && 16*len(fresh) < len(r.links.low) {
			hits = r.known(hits, fresh, b.isWinner[1:])
		} else {
			hits = r.links.among(hits, b.isWinner[1:])
			b.moved += 2 * len(r.links.low)
		}
		r.strengthen(hits, grow)
		r.seen = w.round
	}
	w.learnt = sorted
}

// among appends the targets that are marked.
func (l *links) among(dst []int32, marked []uint8) []int32 {
	for b := range len(l.start) - 1 {
		first := b << blockBits
		part := marked[first:min(first+blockSize, len(marked))]
		for _, low := range l.low[l.start[b]:l.start[b+1]] {
			if part[low] != 0 {
				dst = append(dst, int32(first)+int32(low))
			}
		}
	}
	return dst
}

// known appends the marked targets of a row that already holds all marked ones but fresh.
func (r *row) known(dst, fresh []int32, marked []uint8) []int32 {
	for _, j := range r.to {
		if marked[j] != 0 {
			dst = append(dst, j)
		}
	}
	old := len(dst)
	for _, j := range fresh {
		if _, listed := slices.BinarySearch(r.to, j); !listed && r.links.has(j) {
			dst = append(dst, j)
		}
	}
	if len(dst) > old {
		slices.Sort(dst)
	}
	return dst
}

// strengthen lets the synapses onto targets, which are in order, grow.
func (r *row) strengthen(targets []int32, grow func(float64) float64) {
	k := 0
	for at, j := range targets {
		for k < len(r.to) && r.to[k] < j {
			k++
		}
		if k < len(r.to) && r.to[k] == j {
			r.weight[k] = grow(r.weight[k])
			continue
		}
		r.insert(targets[at:], grow)
		return
	}
}

// insert is strengthen for rows in which synapses change for the first time.
func (r *row) insert(targets []int32, grow func(float64) float64) {
	to, weight := make([]int32, 0, len(r.to)+len(targets)), make([]float64, 0, len(r.to)+len(targets))
	k := 0
	for _, j := range targets {
		for k < len(r.to) && r.to[k] < j {
			to, weight = append(to, r.to[k]), append(weight, r.weight[k])
			k++
		}
		was := 1.0
		if k < len(r.to) && r.to[k] == j {
			was = r.weight[k]
			k++
		}
		to, weight = append(to, j), append(weight, grow(was))
	}
	r.to, r.weight = append(to, r.to[k:]...), append(weight, r.weight[k:]...)
}

// trim frees the links of the neurons that have been silent longest, until the links in memory fit
// the cache size. They are drawn again when the neurons fire.
func (b *Brain) trim() {
	limit := b.set.Cache
	if b.cached <= limit {
		return
	}
	var all []*row
	for _, f := range b.fibres {
		if f.synapses == nil || f.given {
			continue
		}
		for _, r := range f.synapses.rows {
			if r.links != nil && r.used < b.step {
				all = append(all, r)
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].used < all[j].used })
	for _, r := range all {
		if b.cached <= limit {
			return
		}
		b.cached -= r.links.bytes()
		r.links = nil
	}
}
