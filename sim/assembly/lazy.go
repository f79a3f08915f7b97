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
// exact distribution given that they are new, and their synapses when they first win. Losers
// are forgotten: a lazy area is not quite a fixed random graph.

// The random streams of lazy areas.
const (
	purposeRecruit  uint32 = 502 // inputs of new neurons, and the sources they have
	purposeIncoming uint32 = 503 // synapses from neurons that did not fire
	purposeCount    uint32 = 504 // synapses from a stimulus that did not fire
)

// recruit is a new winner.
type recruit struct {
	input   int
	sources []int32 // neurons that connect to it, among all that fired: see target.fired
}

// recruits are the new winners of one target in one step.
type recruits struct {
	before int // support of the target before the step
	list   []recruit
}

// chooseLazy chooses the winners of a lazy target: among the stored neurons, of which known are those of
// largest input, and new ones, which are numbered from the support on.
func (b *Brain) chooseLazy(t *target, known []entry) {
	r, d := &t.round, &t.recruits
	src := newRandomStream(b.set.Seed^name64(t.Name), purposeRecruit, b.step)
	r.Winners = make([]int32, 0, t.K)
	d.before = t.support
	distribution := b.inputOf(t)
	draw := b.candidates(t, distribution, &src)
	have, more := draw()
	largest := 0.0
	for at := 0; at < len(known) || more; {
		old := at < len(known) && (!more || known[at].x >= float64(have))
		v := float64(have)
		if old {
			v = known[at].x
		}
		if len(r.Winners) == 0 {
			largest = v
		}
		if !t.fires(v, len(r.Winners), largest) {
			r.Next = v
			break
		}
		r.Kth, r.Input = v, r.Input+v
		if old {
			r.Winners = append(r.Winners, known[at].j)
			at++
			continue
		}
		r.Winners = append(r.Winners, int32(d.before+len(d.list)))
		d.list = append(d.list, recruit{input: have, sources: distribution.sources(b, &src, have)})
		have, more = draw()
	}
	r.First = len(d.list)
}

// candidates returns a function that gives the inputs of new neurons, the largest
// first, until there are no more.
func (b *Brain) candidates(t *target, distribution *inputDistribution, src *randomStream) func() (int, bool) {
	free := t.N - t.support
	if b.set.Lazy == Normal && free > 2*t.K {
		return normalCandidates(distribution, free, t.K, src)
	}
	o := order{distribution: distribution.binomial, left: free}
	return func() (int, bool) { return o.next(src.uniform()) }
}

// normalCandidates draws k candidates from a normal distribution above the quantile that k of free neurons
// exceed, as the reference implementation does.
func normalCandidates(distribution *inputDistribution, free, k int, src *randomStream) func() (int, bool) {
	alpha := float64(distribution.quantile(float64(k) / float64(free)))
	fired, mean, variance := distribution.moments()
	sd := math.Sqrt(variance)
	n := distuv.UnitNormal
	tail := n.Survival((alpha - mean) / sd)
	list := make([]int, k)
	for i := range list {
		z := -n.Quantile(src.uniform() * tail)
		if sd == 0 {
			z = 0
		}
		list[i] = min(int(math.Round(mean+sd*z)), fired)
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
	for j := n - m; j < n; j++ {
		v := int32(src.below(j + 1))
		if in.has(v) {
			v = int32(j)
		}
		in.add(v)
		b.arena = append(b.arena, v)
	}
	return b.arena[from:len(b.arena):len(b.arena)]
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
	for _, t := range p.targets {
		t.support += len(t.recruits.list)
	}
	for _, t := range p.targets {
		if len(t.recruits.list) > 0 {
			for _, f := range t.into {
				b.connectInto(f, t)
			}
		}
	}
	for _, t := range p.targets {
		if len(t.recruits.list) > 0 {
			for _, f := range t.out {
				b.connectFrom(f)
			}
		}
	}
}

// connectInto gives fibre f its synapses onto the recruits of its target, from the neurons that its
// source had before the step.
func (b *Brain) connectInto(f *fibre, t *target) {
	d := t.recruits
	first, active := t.place(f)
	if f.stimulus != nil {
		for k, r := range d.list {
			n := b.synapses(f, int32(d.before+k), r, first, active)
			f.inputs, f.total = append(f.inputs, int32(n)), append(f.total, float64(n))
		}
		return
	}
	fires := b.marks(len(f.rows))
	if active {
		for _, w := range f.from.winners {
			fires.add(w)
		}
	}
	for k, r := range d.list {
		b.incoming(f, int32(d.before+k), r, first, fires)
	}
}

// synapses returns the number of neurons of a stimulus that connect to neuron j.
func (b *Brain) synapses(f *fibre, j int32, r recruit, first int, active bool) (n int) {
	if !active {
		src := newRandomStream(f.Seed, purposeCount, int(j))
		return b.binomial(f.stimulus.size, f.P).quantile(src.uniform())
	}
	for _, s := range r.sources {
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

// incoming connects neuron j: to the firing neurons that it was drawn with, and to the others with
// the probability of the fibre.
func (b *Brain) incoming(f *fibre, j int32, r recruit, first int, fires *marks) {
	b.room = Bernoulli(b.room[:0], Fibre{Seed: mix(f.Seed + uint64(purposeIncoming)), P: f.P, N: len(f.rows)}, int(j))
	b.moved += 12 * (len(b.room) + len(r.sources)) // numbers of neurons read, synapses written
	for _, i := range b.room {
		if !fires.has(i) {
			f.link(b, i, j)
		}
	}
	for _, s := range r.sources {
		if at := int(s) - first; at >= 0 && at < len(f.from.winners) && fires.has(f.from.winners[at]) {
			f.link(b, f.from.winners[at], j)
		}
	}
}

// connectFrom gives the recruits of a source their synapses onto all known neurons of a lazy target,
// including those recruited in this step.
func (b *Brain) connectFrom(f *fibre) {
	if f.synapses != nil {
		return
	}
	for len(f.rows) < f.from.stored() {
		f.rows = append(f.rows, b.known(f, len(f.rows), f.target.support))
		f.shared = append(f.shared, false)
	}
}

// known returns the synapses of a source neuron onto the n known neurons of a lazy
// target.
func (b *Brain) known(f *fibre, source, n int) []synapse {
	g := *f
	g.N = n
	b.room = b.connect(b.room[:0], &g, source)
	b.moved += 12 * len(b.room)
	row := b.newRow(len(b.room) + len(b.room)/2 + 4) // more are linked as neurons are recruited
	for _, j := range b.room {
		row = append(row, synapse{j, 1})
		b.linked(f, int32(source), j)
	}
	return row
}
