package assembly

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
	"gonum.org/v1/gonum/stat/distuv"
)

// A lazy area stores only neurons that fired: numbers 0, 1, ... in order of their
// first firing. The inputs of all others are drawn when a step needs them, from their
// exact law given that they are new, and their synapses when they first win. Losers
// are forgotten: a lazy area is not quite a fixed random graph.

// The random streams of lazy areas.
const (
	purposeRecruit  uint32 = 502 // inputs of new neurons and which sources they have
	purposeIncoming uint32 = 503 // synapses from neurons that did not fire
	purposeCount    uint32 = 504 // of a stimulus that did not fire
)

// recruit is a new winner.
type recruit struct {
	input   int
	sources []int32 // that connect to it, of all that fired: see target.fired
}

// drawn are the recruits of one target in one step.
type drawn struct {
	before int // support before
	list   []recruit
}

// fired returns how many neurons fire into a target.
func (b *Brain) fired(t target) (n int) {
	for _, f := range t.fibres {
		n += b.firing(f)
	}
	return n
}

// firing returns how many neurons of a fibre's source fire.
func (b *Brain) firing(f *fibre) int {
	if s := b.stimulus(f.From); s != nil {
		return s.size
	}
	a, _ := b.area(f.From)
	return len(a.winners)
}

// selectLazy returns the round of a lazy target with known inputs x, new winners
// numbered from the support on, and what is known of those.
func (b *Brain) selectLazy(t target, x []float32) (r Round, d drawn) {
	r.Area = t.Name
	src := tensor.NewStream(mix(b.set.Seed^name64(t.Name)), purposeRecruit, uint32(b.step))
	d.before = t.support
	var known []int32
	if len(x) > 0 {
		known, _, _ = top(x, min(t.K+1, len(x)))
	}
	k := b.fired(t)
	draw := b.candidates(t, k, &src)
	have, more := draw()
	at := 0
	var inputs []float64
	for len(inputs) <= t.K && (at < len(known) || more) {
		if at < len(known) && (!more || x[known[at]] >= float32(have)) {
			inputs = append(inputs, float64(x[known[at]]))
			if len(r.Winners) < t.K {
				r.Winners = append(r.Winners, known[at])
			}
			at++
			continue
		}
		inputs = append(inputs, float64(have))
		if len(r.Winners) < t.K {
			r.Winners = append(r.Winners, int32(d.before+len(d.list)))
			d.list = append(d.list, recruit{input: have, sources: b.subset(&src, k, have)})
			have, more = draw()
		}
	}
	if len(inputs) > len(r.Winners) {
		r.Next = inputs[len(r.Winners)]
	}
	for _, x := range inputs[:len(r.Winners)] {
		r.Input += x
	}
	r.Kth, r.First = inputs[len(r.Winners)-1], len(d.list)
	return r, d
}

// candidates returns a function that gives the inputs of new neurons, the largest
// first, until there are no more.
func (b *Brain) candidates(t target, fired int, src *tensor.Stream) func() (int, bool) {
	free := t.N - t.support
	law := b.binomial(fired)
	if b.set.Lazy == Normal && free > t.K {
		return normalCandidates(law, fired, b.set.P, free, t.K, src)
	}
	o := order{law: law, left: free}
	return func() (int, bool) { return o.next(1 - src.Float64()) }
}

// normalCandidates draws k candidates from a normal law above the quantile that k of
// free neurons exceed, as the reference implementation does.
func normalCandidates(law *binomial, fired int, p float64, free, k int, src *tensor.Stream) func() (int, bool) {
	alpha := float64(law.quantile(float64(k) / float64(free)))
	mean, sd := float64(fired)*p, math.Sqrt(float64(fired)*p*(1-p))
	n := distuv.UnitNormal
	tail := n.Survival((alpha - mean) / sd)
	list := make([]int, k)
	for i := range list {
		z := -n.Quantile((1 - src.Float64()) * tail)
		if sd == 0 {
			z = 0
		}
		list[i] = min(int(math.Round(mean+sd*z)), fired)
	}
	sortDown(list)
	return func() (int, bool) {
		if len(list) == 0 {
			return 0, false
		}
		m := list[0]
		list = list[1:]
		return m, true
	}
}

func sortDown(v []int) {
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && v[j] > v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
}

// binomial returns the law of the input from n firing neurons.
func (b *Brain) binomial(n int) *binomial {
	if b.laws == nil || len(b.laws) > 64 {
		b.laws = map[int]*binomial{}
	}
	l := b.laws[n]
	if l == nil {
		l = newBinomial(n, b.set.P)
		b.laws[n] = l
	}
	return l
}

// subset returns m different numbers below n, uniformly (Floyd's method).
func (b *Brain) subset(src *tensor.Stream, n, m int) []int32 {
	list := make([]int32, 0, m)
	in := b.marks(n)
	for j := n - m; j < n; j++ {
		v := int32(src.Float64() * float64(j+1))
		if in.has(v) {
			v = int32(j)
		}
		in.add(v)
		list = append(list, v)
	}
	return list
}

// marks is a set of small numbers that is emptied at once.
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

// connectRecruits gives the new neurons of all targets of a step their synapses.
// Supports have grown already.
func (b *Brain) connectRecruits(p *Plan, all []drawn) {
	for i, t := range p.targets {
		if len(all[i].list) == 0 {
			continue
		}
		for _, f := range b.fibres {
			if f.To == t.Name {
				b.connectInto(f, t, all[i])
			}
		}
	}
	for i, t := range p.targets {
		for _, f := range b.fibres {
			if f.From == t.Name && len(all[i].list) > 0 {
				b.connectFrom(f, t.area, all[i].before)
			}
		}
	}
}

// connectInto gives fibre f its synapses onto the recruits of its target, from the
// neurons its source had before the step.
func (b *Brain) connectInto(f *fibre, t target, d drawn) {
	first, active := b.place(t, f)
	if stim := b.stimulus(f.From); stim != nil {
		for k, r := range d.list {
			f.total = append(f.total, float32(b.count(f, stim, int32(d.before+k), r, first, active)))
		}
		return
	}
	a, _ := b.area(f.From)
	sources := a.N
	if a.Lazy {
		sources = len(f.rows) // those that were there before the step
	}
	fires := b.marks(sources)
	if active {
		for _, w := range a.winners {
			fires.add(w)
		}
	}
	for k, r := range d.list {
		b.incoming(f, a, int32(d.before+k), r, first, fires)
	}
}

// count returns how many neurons of a stimulus connect to neuron j.
func (b *Brain) count(f *fibre, stim *stimulus, j int32, r recruit, first int, active bool) (n int) {
	if !active {
		src := tensor.NewStream(f.Seed, purposeCount, uint32(j))
		return b.binomial(stim.size).quantile(1 - src.Float64())
	}
	for _, s := range r.sources {
		if int(s) >= first && int(s) < first+stim.size {
			n++
		}
	}
	return n
}

// place returns where the firing neurons of f begin among all that fire into t.
func (b *Brain) place(t target, f *fibre) (first int, active bool) {
	for _, g := range t.fibres {
		if g == f {
			return first, true
		}
		first += b.firing(g)
	}
	return 0, false
}

// incoming connects neuron j: to the firing neurons that it was drawn with, to others
// with probability P.
func (b *Brain) incoming(f *fibre, a *area, j int32, r recruit, first int, fires *marks) {
	sources := a.N
	if a.Lazy {
		sources = len(f.rows)
	}
	b.room = Bernoulli(b.room[:0], Fibre{Seed: mix(f.Seed + uint64(purposeIncoming)), P: f.P, N: sources}, int(j))
	for _, i := range b.room {
		if !fires.has(i) {
			f.rows[i] = append(f.rows[i], synapse{j, 1})
		}
	}
	for _, s := range r.sources {
		if at := int(s) - first; at >= 0 && at < len(a.winners) && fires.has(a.winners[at]) {
			w := a.winners[at]
			f.rows[w] = append(f.rows[w], synapse{j, 1})
		}
	}
}

// connectFrom gives the recruits of a source their synapses onto all known neurons of
// the target, those recruited in this step too.
func (b *Brain) connectFrom(f *fibre, source *area, before int) {
	for len(f.rows) < source.support {
		i := len(f.rows)
		f.rows = append(f.rows, nil)
		if target, _ := b.area(f.To); target.Lazy {
			f.rows[i] = b.known(f, i, target.support)
		}
	}
}

// known returns the synapses of a source neuron onto the n known neurons of a lazy
// target.
func (b *Brain) known(f *fibre, source, n int) []synapse {
	g := f.Fibre
	g.N = n
	b.room = b.connect(b.room[:0], &fibre{Fibre: g}, source)
	row := make([]synapse, len(b.room))
	for i, j := range b.room {
		row[i] = synapse{j, 1}
	}
	return row
}
