// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"
)

// A lazy area knows two things about its neurons that have never fired. Each of them lost every round, and each
// has a rank, which decides between equal inputs as the number does in an area that exists whole. Given the last winner
// of every round, these neurons are independent and alike, and so a new one is drawn without regard to the past
// and then accepted if it lost all earlier rounds: see docs/decisions/0009-assemblies.md.

// rival is the input and the rank of a winner that others have lost to.
type rival struct{ input, rank float64 }

// beaten reports whether a neuron with an input and a rank would have won instead of r.
func (r rival) beaten(input, rank float64) bool {
	return input > r.input || input == r.input && rank < r.rank
}

// belowAll is the rank of a rival that loses against all of the same input.
const belowAll = 2

// defeat is a round that all neurons of a lazy area that never fired have lost.
type defeat struct {
	rival
	set    uint64 // hash of the neurons that fired
	firing []volley
}

// volley is what fired over one fibre.
type volley struct {
	from    string
	winners []int32 // neurons that fired; nil for a stimulus, which fires as a whole
}

// memory is what a lazy area knows about the neurons that have never fired.
type memory struct {
	ranks   []float64 // ranks of the stored neurons, from 0 to 1
	defeats []defeat
	indexed int            // number of defeats that the fibres into the area know
	need    []needed       // of each 64 of these, the least inputs that may have won
	most    int32          // at least as large as each of these inputs
	low     []int32        // those of them that no input at all may have won
	bySet   map[uint64]int // defeats that the fibres know, by hash
}

// clone returns a copy for a copied brain.
func (m memory) clone() memory {
	return memory{ranks: slices.Clone(m.ranks), defeats: slices.Clone(m.defeats)}
}

// bytes of the memory.
func (m *memory) bytes() int {
	sum := 8*cap(m.ranks) + 256*cap(m.need)
	for _, d := range m.defeats {
		sum += 40
		for _, v := range d.firing {
			sum += 48 + 4*len(v.winners)
		}
	}
	return sum
}

// pastFiring says in which defeats of its target the neurons of a fibre's source have fired.
type pastFiring struct {
	stimulus []uint64   // for each 64 defeats, a bit for each in which the stimulus fired
	neurons  []int32    // source neurons that fired in a defeat, or the complements ^i of those that fire now
	fired    [][]uint64 // (64 defeats, index into neurons) the same for each of these neurons; those beyond the end have not fired
	at       []int32    // index into neurons, plus 1, of each source neuron
	firing   []int32    // indices of those that fire now
}

func (p *pastFiring) bytes() int {
	if p == nil {
		return 0
	}
	sum := 4*(cap(p.neurons)+cap(p.at)) + 4*cap(p.firing) + 8*cap(p.stimulus) + 24*cap(p.fired)
	for _, f := range p.fired {
		sum += 8 * cap(f)
	}
	return sum
}

// place returns the index of a source neuron, or -1 if it has not fired in a defeat.
func (p *pastFiring) place(i int32) int {
	if int(i) >= len(p.at) {
		return -1
	}
	return int(p.at[i]) - 1
}

// add notes that neurons fired in a defeat.
func (p *pastFiring) add(v volley, defeat int) {
	block, bit := defeat/64, uint64(1)<<(defeat%64)
	if v.winners == nil {
		p.stimulus = extended(p.stimulus, block+1)
		p.stimulus[block] |= bit
		return
	}
	p.at = extended(p.at, int(slices.Max(v.winners))+1)
	for _, i := range v.winners {
		if p.at[i] == 0 {
			p.neurons = append(p.neurons, i)
			p.at[i] = int32(len(p.neurons))
		}
	}
	p.fired = extended(p.fired, block+1)
	p.fired[block] = extended(p.fired[block], len(p.neurons))
	for _, i := range v.winners {
		p.fired[block][p.at[i]-1] |= bit
	}
}

// extended returns a list with at least n elements, of which new ones are zero.
func extended[T any](list []T, n int) []T {
	if n > cap(list) {
		list = append(make([]T, 0, max(n, 2*cap(list))), list...)
	}
	if from := len(list); n > from {
		list = list[:n]
		clear(list[from:])
	}
	return list
}

// conditional reports whether new neurons of an area are drawn given all that is known about them.
func (b *Brain) conditional(a *area) bool { return a.Lazy && b.set.Lazy == Exact }

// index tells the fibres into an area about its defeats.
func (b *Brain) index(a *area) {
	m := &a.memory
	if m.bySet == nil {
		m.bySet = map[uint64]int{}
	}
	for ; m.indexed < len(m.defeats); m.indexed++ {
		d := &m.defeats[m.indexed]
		m.bySet[d.set] = m.indexed
		if m.indexed%64 == 0 {
			m.need = append(m.need, needed{})
		}
		m.limit(m.indexed)
		for _, v := range d.firing {
			f := b.byName[[2]string{v.from, a.Name}]
			if f.past == nil {
				f.past = &pastFiring{}
			}
			f.past.add(v, m.indexed)
		}
	}
}

// limit finds out which inputs may have won a defeat.
func (m *memory) limit(i int) {
	x := m.defeats[i].input
	need := int32(math.Ceil(max(0, min(x, math.MaxInt32))))
	m.need[i/64].set(i%64, need)
	if m.most = max(m.most, need); x <= 0 && !slices.Contains(m.low, int32(i)) {
		m.low = append(m.low, int32(i))
	}
}

// firingSet returns a hash of what fires into a target, which does not depend on the order.
func (t *target) firingSet() (hash uint64) {
	for _, f := range t.active {
		if f.firing() > 0 {
			hash += f.hash(f.sources())
		}
	}
	return hash
}

// hash returns a hash of the firing neurons of f's source.
func (f *fibre) hash(winners []int32) (hash uint64) {
	if f.stimulus != nil {
		return mix(f.Seed)
	}
	for _, i := range winners {
		hash += mix(f.Seed + mix(uint64(i)+1))
	}
	return hash
}

// negligible is the expected number of neurons below which it is of no interest whether they lost a round.
const negligible = 1e-6

// rememberDefeat notes that the neurons of a target which never fired have lost a round, unless they would all but
// certainly have done so.
func (b *Brain) rememberDefeat(t *target) {
	c := t.recruits.contest
	if c == nil || !c.conditional || !c.over || float64(t.N)*c.distribution.above(rival{c.last.input, belowAll}) < negligible {
		return
	}
	m := &t.memory
	if i, ok := m.bySet[c.set]; ok {
		if d := &m.defeats[i]; !d.beaten(c.last.input, c.last.rank) { // else what would win now would have won then
			d.rival = c.last
			m.limit(i)
		}
		return
	}
	d := defeat{rival: c.last, set: c.set}
	for _, f := range t.active {
		if f.firing() > 0 {
			d.firing = append(d.firing, volley{f.From, f.sources()})
		}
	}
	m.defeats = append(m.defeats, d)
}

// above returns the probability that a neuron with an input of this distribution beats a rival.
func (b *binomial) above(r rival) float64 {
	m := math.Ceil(r.input)
	switch {
	case m <= float64(b.from) && (m < float64(b.from) || m > r.input):
		return 1
	case m > float64(b.from+len(b.tail)):
		return 0
	case m > r.input:
		return b.exceeds(int(m) - 1)
	}
	return b.exceeds(int(m)) + min(r.rank, 1)*(b.exceeds(int(m)-1)-b.exceeds(int(m)))
}

// exceeds returns P(X > m).
func (b *binomial) exceeds(m int) float64 {
	switch i := m - b.from; {
	case i < 0:
		return 1
	case i < len(b.tail):
		return b.tail[i]
	}
	return 0
}

// hasLost draws the synapses of a new neuron from all that fired in earlier rounds, and reports whether it lost these. Its
// sources are the last in b.arena.
func (b *Brain) hasLost(t *target, r recruit, proposal int) bool {
	m := &t.memory
	if len(m.defeats) == 0 {
		return true
	}
	past := b.inputs(m, r.rank)
	if past.winsAtZero() || past.addAll(b.fired, b.sources(r)) {
		return false
	}
	b.cuts = append(b.cuts, len(b.arena))
	for _, f := range t.into {
		if f.past != nil && b.addPast(past, t, f, proposal) {
			return false
		}
		b.cuts = append(b.cuts, len(b.arena))
	}
	return true
}

// forget gives back the memory of the last recruit.
func (b *Brain) forget(r recruit) { b.arena, b.cuts = b.arena[:r.from], b.cuts[:r.cuts] }

// findFired notes in which defeats the neurons that fire into t fired before, for hasLost.
func (b *Brain) findFired(t *target) {
	b.fired = extended(b.fired, len(t.memory.need))[:len(t.memory.need)]
	for block := range b.fired {
		b.fired[block] = append(b.fired[block][:0], make([]uint64, t.fired())...)
	}
	for _, f := range t.into {
		if f.past != nil {
			f.past.silence()
		}
	}
	first := 0
	for _, f := range t.active {
		if f.past != nil {
			f.past.findFired(b, f, first)
		}
		first += f.firing()
	}
}

// silence notes that no neuron fires.
func (p *pastFiring) silence() {
	for _, k := range p.firing {
		p.neurons[k] = ^p.neurons[k]
	}
	p.firing = p.firing[:0]
}

// findFired is Brain.findFired for the neurons of one fibre, of which the first has the given place among all that fire.
func (p *pastFiring) findFired(b *Brain, f *fibre, first int) {
	for block, bits := range p.stimulus {
		for s := range f.firing() {
			b.fired[block][first+s] = bits
		}
	}
	for s, i := range f.sources() {
		k := p.place(i)
		if k < 0 {
			continue
		}
		p.neurons[k], p.firing = ^i, append(p.firing, int32(k))
		for block, fired := range p.fired {
			if k < len(fired) {
				b.fired[block][first+s] = fired[k]
			}
		}
	}
}

// addPast draws the synapses of a new neuron from those neurons of a fibre that fired in earlier rounds and do not
// fire now, and reports whether the neuron would have won one of these rounds. It appends the sources to b.arena,
// or for a stimulus their number.
func (b *Brain) addPast(in inputs, t *target, f *fibre, proposal int) (won bool) {
	p := f.past
	key := mix(f.Seed + mix(uint64(b.step)) + uint64(purposePast)<<32)
	if f.stimulus != nil {
		if slices.Contains(t.active, f) {
			return false
		}
		src := newRandomStream(key, purposePast, proposal)
		n := b.binomial(f.stimulus.size, f.P).quantile(src.uniform())
		b.arena = append(b.arena, int32(n))
		return in.addTimes(p.stimulus, n)
	}
	drawn := f.gaps.connections(b.room[:0], key, proposal, len(p.neurons))
	b.keep(drawn)
	from, n := len(b.arena), 0
	b.arena = slices.Grow(b.arena, len(drawn))
	sources := b.arena[from : from+len(drawn)]
	for _, k := range drawn { // without branches, as appendIn
		i := p.neurons[k]
		drawn[n], sources[n] = k, i
		n += int(uint32(^i) >> 31)
	}
	b.arena = b.arena[:from+n]
	return in.addAll(p.fired, drawn[:n])
}

// wholeFrom is the fraction of a lazy area's neurons that, once stored, makes it store all.
const wholeFrom = 1.0 / 3

// storeWhole stores all neurons of those targets of which so many are stored that the number of the others matters:
// drawing new neurons ignores that there is one less with each that fires.
func (b *Brain) storeWhole(p *Plan) {
	var whole []*target
	for _, t := range p.targets {
		n := t.stored()
		if !b.conditional(t.area) || n == t.N || float64(n) < wholeFrom*float64(t.N) {
			continue
		}
		b.index(t.area)
		w := &target{area: t.area, recruits: recruits{before: n}}
		b.findFired(w)
		src := newRandomStream(b.set.Seed^name64(t.Name), purposeComplete, b.step)
		for try, most := 0, 100*t.N; n < t.N; try++ {
			r := recruit{rank: src.uniform(), from: len(b.arena), cuts: len(b.cuts)}
			if !b.hasLost(w, r, try) {
				if try < most {
					b.forget(r)
					continue
				}
				for len(b.cuts) <= r.cuts+len(w.into) { // nearly all tries are in vain only if hardly any neuron could have lost
					b.cuts = append(b.cuts, len(b.arena))
				}
			}
			w.recruits.list, n = append(w.recruits.list, r), n+1
		}
		whole = append(whole, w)
	}
	b.store(whole)
	for _, w := range whole {
		w.area.memory = memory{ranks: w.memory.ranks}
		for _, f := range w.into {
			f.past = nil
		}
	}
}
