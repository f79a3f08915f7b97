// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A lazy area stores only neurons that fired: numbers 0, 1, ... in order of their
// first firing. The inputs of all others are drawn when a step needs them, from their
// distribution given that they lost all earlier rounds, and their synapses when they first win.

// The random streams of lazy areas.
const (
	purposeRecruit  uint32 = 502 // inputs of new neurons, and the sources they have
	purposeIncoming uint32 = 503 // synapses from neurons that did not fire
	purposeCount    uint32 = 504 // synapses from a stimulus that did not fire
	purposePast     uint32 = 505 // synapses from what fired in earlier rounds
	purposeComplete uint32 = 506 // ranks of neurons that are stored before they fire
)

// recruit is a new winner.
type recruit struct {
	input int
	rank  float64
	from  int // where the numbers of its sources begin in Brain.arena
	cuts  int // where, in Brain.cuts, the places of those begin that fired in earlier rounds
}

// sources returns which of all that fire connect to a recruit: see target.fired.
func (b *Brain) sources(r recruit) []int32 { return b.arena[r.from : r.from+r.input] }

// pastSources returns the neurons that connect to a recruit among those of the fibre at a place of target.into that fired in
// earlier rounds but not in this one, or the number of those of a stimulus.
func (b *Brain) pastSources(r recruit, at int) []int32 {
	return b.arena[b.cuts[r.cuts+at]:b.cuts[r.cuts+at+1]]
}

// recruits are the new winners of one target in one step.
type recruits struct {
	before  int // stored neurons of the target before the step
	list    []recruit
	contest *contest // how the neurons that never fired fared; nil if they took no part
}

// chooseLazy chooses the winners of a lazy target: among the stored neurons, of which known are those of
// largest input, and new ones, which are numbered from the number of the stored on.
func (b *Brain) chooseLazy(t *target, known []entry) {
	r, d := &t.round, &t.recruits
	src := newRandomStream(b.set.Seed^name64(t.Name), purposeRecruit, b.step)
	r.Winners = make([]int32, 0, t.K)
	d.before = t.stored()
	c := b.contest(t, &src)
	d.contest = c
	fresh, more := c.next(b, t, &src)
	largest := 0.0
	for at := 0; at < len(known) || more; {
		old := at < len(known) && (!more || !c.before(fresh, known[at], t))
		v := float64(fresh.input)
		if old {
			v = known[at].x
		}
		if len(r.Winners) == 0 {
			largest = v
		}
		if !t.fires(v, len(r.Winners), largest) {
			r.Next = v
			c.lost(t, len(r.Winners), largest)
			break
		}
		r.Kth, r.Input = v, r.Input+v
		if old {
			r.Winners = append(r.Winners, known[at].j)
			c.won(v, fresh, old, known[at].j, t)
			at++
			continue
		}
		if !c.conditional {
			fresh.from = len(b.arena)
			c.distribution.sources(b, &src, fresh.input)
		}
		c.won(v, fresh, old, 0, t)
		r.Winners = append(r.Winners, int32(d.before+len(d.list)))
		d.list = append(d.list, fresh)
		fresh, more = c.next(b, t, &src)
	}
}

// contest begins the round of the new neurons of a target.
func (b *Brain) contest(t *target, src *randomStream) *contest {
	if b.conditional(t.area) {
		return b.compete(t)
	}
	c, free := &contest{distribution: b.inputOf(t)}, t.N-t.stored()
	if b.set.Lazy == Normal && free > 2*t.K {
		c.draw = normalCandidates(c.distribution, free, t.K, src)
		return c
	}
	c.order = order{distribution: c.distribution.binomial, left: free}
	c.draw = func() (int, bool) { return c.order.next(src.uniform()) }
	return c
}

// normalCandidates draws k candidates from a normal distribution above the quantile that k of free neurons
// exceed, as the reference implementation does.
func normalCandidates(distribution *inputDistribution, free, k int, src *randomStream) func() (int, bool) {
	alpha := float64(distribution.quantile(float64(k) / float64(free)))
	fired, mean, variance := distribution.moments()
	sd := math.Sqrt(variance)
	tail := math.Erfc((alpha-mean)/(sd*math.Sqrt2)) / 2 // distuv's Survival is 0 beyond 8 standard deviations
	list := make([]int, k)
	for i := range list {
		v := mean - sd*distuv.UnitNormal.Quantile(src.uniform()*tail)
		switch {
		case sd == 0:
			v = mean
		case math.IsInf(v, 0): // the tail is that of one number
			v = alpha
		}
		list[i] = min(int(math.Round(v)), fired)
	}
	slices.SortFunc(list, func(a, b int) int { return b - a })
	return func() (int, bool) {
		if len(list) == 0 {
			return 0, false
		}
		m := list[0]
		list = list[1:]
		return m, true
	}
}

// subset returns m distinct numbers below n, uniformly (Floyd's method). They are valid until the
// end of the step.
func (b *Brain) subset(src *randomStream, n, m int) []int32 {
	from := len(b.arena)
	if n > 1<<20 && m < n/64 {
		return b.fewOfMany(src, n, m)
	}
	in := b.marks(n)
	b.arena = slices.Grow(b.arena, m)[:from+m]
	list := b.arena[from : from+m : from+m]
	for k := range list {
		j := n - m + k
		v := int32(src.below(j + 1))
		if in.has(v) {
			v = int32(j)
		}
		in.add(v)
		list[k] = v
	}
	return list
}

// keep makes b.room as large as a list that began there.
func (b *Brain) keep(list []int32) {
	if cap(list) > cap(b.room) {
		b.room = list
	}
}

// fewOfMany is subset without a mark for each number.
func (b *Brain) fewOfMany(src *randomStream, n, m int) []int32 {
	from, in := len(b.arena), make(map[int32]bool, m)
	for j := n - m; j < n; j++ {
		v := int32(src.below(j + 1))
		if in[v] {
			v = int32(j)
		}
		in[v] = true
		b.arena = append(b.arena, v)
	}
	return b.arena[from:len(b.arena):len(b.arena)]
}

// marks is a set of small numbers that can be emptied in constant time.
type marks struct {
	at    []uint32
	round uint32
}

// marks returns an empty set for numbers below n; it is valid until the next call.
func (b *Brain) marks(n int) *marks {
	m := &b.marked
	if m.round++; len(m.at) < n || m.round == 0 {
		m.at, m.round = make([]uint32, 2*n), 1
	}
	return m
}

func (m *marks) has(i int32) bool { return m.at[i] == m.round }
func (m *marks) add(i int32)      { m.at[i] = m.round }

// recruit gives the new winners of all targets of a step their synapses.
func (b *Brain) recruit(p *Plan) {
	b.store(p.targets)
	for _, t := range p.targets {
		b.rememberDefeat(t)
	}
}

// store stores the recruits of areas, with their synapses.
func (b *Brain) store(targets []*target) {
	for _, t := range targets {
		t.area.fired = append(t.area.fired, make([]bool, len(t.recruits.list))...)
		if b.conditional(t.area) {
			for _, r := range t.recruits.list {
				t.memory.ranks = append(t.memory.ranks, r.rank)
			}
		}
	}
	for _, t := range targets {
		if len(t.recruits.list) > 0 {
			for at := range t.into {
				b.connectInto(t, at)
			}
		}
	}
	for _, t := range targets {
		if len(t.recruits.list) > 0 {
			for _, f := range t.out {
				b.connectFrom(f)
			}
		}
	}
}

// connectInto gives the fibre at a place of t.into its synapses onto the recruits of t, from the neurons that its
// source had before the step.
func (b *Brain) connectInto(t *target, at int) {
	d, f := t.recruits, t.into[at]
	first, active := t.place(f)
	if f.stimulus != nil {
		for k, r := range d.list {
			n := b.synapses(f, int32(d.before+k), r, first, active)
			if !active && f.past != nil {
				for _, drawn := range b.pastSources(r, at) {
					n = int(drawn)
				}
			}
			f.inputs, f.total = append(f.inputs, int32(n)), append(f.total, float64(n))
		}
		return
	}
	firing := []int32(nil)
	if active {
		firing = f.from.winners
	}
	unknown := b.unknown(f, firing)
	f.widen(t.stored())
	for k, r := range d.list {
		j := int32(d.before + k)
		sources := b.incoming(f, j, unknown)
		if f.past != nil {
			sources = append(sources, b.pastSources(r, at)...)
		}
		sources = appendIn(sources, b.sources(r), firing, first)
		b.keep(sources)
		f.rows.link(sources, j)
		b.linked(f, sources, j)
		b.moved += 8 * len(sources)
	}
}

// appendIn appends those of some sources among all that fire whose numbers begin at first, which fire over one fibre. It has no
// branch for each, because the order of the sources is random.
func appendIn(dst, sources, firing []int32, first int) []int32 {
	if len(firing) == 0 {
		return dst
	}
	n := len(dst)
	dst = slices.Grow(dst, len(sources))[:n+len(sources)]
	for _, s := range sources {
		at := uint64(int(s) - first)
		in := (at - uint64(len(firing))) >> 63 &^ (at >> 63)
		dst[n] = firing[at*in]
		n += int(in)
	}
	return dst[:n]
}

// unknown returns the neurons of f's source that neither fire nor have fired in a defeat: whether these connect to a new neuron
// is not known yet. It is valid until the end of the step.
func (b *Brain) unknown(f *fibre, firing []int32) []int32 {
	n, count := f.rows.sources(), len(firing)
	if f.past != nil {
		count += len(f.past.neurons) - len(f.past.firing)
	}
	if count == n {
		return nil
	}
	known := b.marks(n)
	for _, i := range firing {
		known.add(i)
	}
	if f.past != nil {
		for _, i := range f.past.neurons {
			known.add(max(i, ^i))
		}
	}
	from := len(b.arena)
	for i := range int32(n) {
		if !known.has(i) {
			b.arena = append(b.arena, i)
		}
	}
	return b.arena[from:len(b.arena):len(b.arena)]
}

// synapses returns the number of neurons of a stimulus that connect to neuron j.
func (b *Brain) synapses(f *fibre, j int32, r recruit, first int, active bool) (n int) {
	if !active {
		src := newRandomStream(f.Seed, purposeCount, int(j))
		return b.binomial(f.stimulus.size, f.P).quantile(src.uniform())
	}
	for _, s := range b.sources(r) {
		if int(s) >= first && int(s) < first+f.stimulus.size {
			n++
		}
	}
	return n
}

// place returns where the firing neurons of f begin among all that fire into t.
func (t *target) place(f *fibre) (first int, active bool) {
	for _, g := range t.active {
		if g == f {
			return first, true
		}
		first += g.firing()
	}
	return 0, false
}

// incoming returns those of some source neurons that connect to neuron j, with the probability of the fibre. They are in
// b.room.
func (b *Brain) incoming(f *fibre, j int32, sources []int32) []int32 {
	list := f.gaps.connections(b.room[:0], mix(f.Seed+uint64(purposeIncoming)), int(j), len(sources))
	for n, k := range list {
		list[n] = sources[k]
	}
	return list
}

// connectFrom gives the recruits of a source their synapses onto all known neurons of a lazy target,
// including those recruited in this step.
func (b *Brain) connectFrom(f *fibre) {
	if f.synapses != nil {
		return
	}
	known := *f
	known.N = f.target.stored()
	f.widen(known.N)
	for i := f.rows.sources(); i < f.from.stored(); i++ {
		targets := b.connect(b.room[:0], &known, i)
		b.keep(targets)
		f.rows.begin(targets, nil)
		b.linkedFrom(f, int32(i), targets)
		b.moved += 8 * len(targets)
	}
}
