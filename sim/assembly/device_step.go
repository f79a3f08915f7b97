// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// running is a brain with a plan that steps on a device.
type running struct {
	b     *Brain
	p     *Plan
	trace [][]Round
}

// job is a target that chooses winners in a step.
type job struct {
	*running
	t *target
	m *deviceArea
	k int // candidates that are fetched
}

// together runs one step of brains that are on the same device, with as many launches as for one. After
// an error the brains have left the device. Those whose step was over by then keep it.
func together(runs []*running) error {
	g := runs[0].b.gpu
	var jobs []*job
	for _, r := range runs {
		r.b.begin(r.p)
		for _, t := range r.p.targets {
			if t.takesPart(r.b) {
				jobs = append(jobs, &job{running: r, t: t})
			}
		}
	}
	if err := g.gather(jobs); err != nil {
		for _, r := range runs {
			r.b.step--
			r.b.detach()
		}
		return err
	}
	for _, r := range runs {
		r.b.inhibitRivals(r.p)
		r.b.recruit(r.p)
		for _, t := range r.p.targets {
			r.b.remember(t)
		}
	}
	err := g.learn(runs)
	for _, r := range runs {
		r.b.fire(r.p)
		r.trace = append(r.trace, r.p.rounds())
		if err != nil || r.b.logged > mostLearnt {
			r.b.settle()
		}
		if err != nil {
			r.b.gpu = nil
		}
	}
	if err == nil {
		g.trim(runs)
	}
	return err
}

// launch starts a kernel.
func (g *device) launch(name string, grid, block cuda.Dim, args ...any) error {
	f, err := g.function(name)
	if err != nil {
		return err
	}
	return f.Launch(g.on(), grid, block, 0, args...)
}

const (
	keyBytes    = 16       // of the key of the last winner
	histBytes   = 4 * 2048 // of the histogram
	targetBytes = 80       // of a Target
	mostTargets = 1 << 15  // of a launch
	threads     = 256
	mostBlocks  = 4096 // of one launch along its first axis: blocks go on to further elements
)

func blocksFor(n, each int) int { return max(1, min((n+each-1)/each, mostBlocks)) }

// gather sums the inputs of the targets of jobs, and chooses their candidates.
func (g *device) gather(jobs []*job) error {
	var p packet
	defer p.free()
	var targets, fibres, less table
	size, slots, neurons := 8, 0, 0
	var busy []*job
	for _, j := range jobs {
		m, err := j.b.gpu.area(j.t.area)
		if err != nil {
			return err
		}
		j.m, j.k = m, min(j.t.K+1, j.t.stored())
		if j.k > 0 {
			busy = append(busy, j)
			size += 8 * j.k
		}
	}
	for _, j := range jobs { // also where an area has no neurons yet: fibres hold what follows
		first := fibres.n
		for _, f := range j.t.active {
			if err := j.b.gpu.into(&p, &fibres, j.b, f); err != nil {
				return err
			}
		}
		if err := j.b.gpu.tell(&p, j.m); err != nil {
			return err
		}
		if j.k == 0 {
			continue
		}
		n := j.t.stored()
		neurons, slots = max(neurons, n), max(slots, j.m.slots)
		targets.add(j.m.x, j.m.neurons, [2]int32{int32(n), int32(j.m.slots)}, [2]int32{int32(first), int32(fibres.n - first)},
			j.m.work, j.m.work.At(keyBytes), j.m.work.At(keyBytes+histBytes), uint64(0), uint64(0), [2]int32{int32(j.k), int32(tilesOf(n))})
		j.less(&less)
	}
	results := 8
	for i, at := 0, size; i < len(busy); i++ { // inputs first, then numbers
		targets.words[10*i+8], targets.words[10*i+7] = uint64(results), uint64(at)
		results, at = results+8*busy[i].k, at+4*busy[i].k
	}
	for _, j := range busy {
		size += 4 * j.k
	}
	out, err := g.zeros(size, "winners")
	if err != nil {
		return err
	}
	defer out.Free()
	for i := range busy {
		for w := 7; w <= 8; w++ {
			targets.words[10*i+w] += uint64(out.Uintptr())
		}
	}
	draws, changes, pokes := p.put(p.draws), p.put(p.changes), p.put(p.pokes)
	targetsAt, fibresAt, lessAt := p.put(targets), p.put(fibres), p.put(less)
	if err := p.send(g); err != nil {
		return err
	}
	if err := g.prepare(&p, draws, changes, pokes, out.At(0)); err != nil {
		return err
	}
	if len(busy) == 0 {
		return g.fetch(out, size, jobs, busy)
	}
	fibresPart := p.buffer.At(fibresAt)
	for from := 0; from < len(busy); from += mostTargets {
		if err := g.sum(p.buffer.At(targetsAt+targetBytes*from), fibresPart, min(len(busy)-from, mostTargets), neurons, slots); err != nil {
			return err
		}
	}
	if less.n > 0 {
		if err := g.launch("inhibit", cuda.Blocks(less.n, threads), cuda.Dim{X: threads}, p.buffer.At(lessAt), int32(less.n)); err != nil {
			return err
		}
	}
	for from := 0; from < len(busy); from += mostTargets {
		if err := g.choose(p.buffer.At(targetsAt+targetBytes*from), min(len(busy)-from, mostTargets), neurons); err != nil {
			return err
		}
	}
	return g.fetch(out, size, jobs, busy)
}

// sum starts the kernels that sum the inputs of y targets.
func (g *device) sum(t, fibres cuda.Part, y, neurons, slots int) error {
	if err := g.launch("gather", cuda.Dim{X: blocksFor(neurons, threads), Y: y}, cuda.Dim{X: threads}, t, fibres); err != nil || slots == 0 {
		return err
	}
	return g.launch("correct", cuda.Dim{X: blocksFor(slots, 32), Y: y}, cuda.Dim{X: 32, Y: 8}, t, fibres)
}

// choose starts the kernels that find the candidates of y targets.
func (g *device) choose(t cuda.Part, y, neurons int) error {
	one := cuda.Dim{X: threads}
	var err error
	for _, shift := range []int32{53, 42, 31, 20} {
		if err == nil {
			err = g.launch("count", cuda.Dim{X: blocksFor(neurons, 8*threads), Y: y}, one, t, shift)
		}
		if err == nil {
			err = g.launch("find", cuda.Dim{X: y}, one, t, shift)
		}
	}
	for _, k := range []struct {
		name string
		grid cuda.Dim
	}{{"tally", cuda.Dim{X: blocksFor(neurons, tile), Y: y}}, {"offsets", cuda.Dim{X: y}}, {"collect", cuda.Dim{X: blocksFor(neurons, tile), Y: y}}} {
		if err == nil {
			err = g.launch(k.name, k.grid, one, t)
		}
	}
	return err
}

// fetch gives each job its candidates and lets it choose.
func (g *device) fetch(out *cuda.Buffer, size int, jobs, busy []*job) error {
	words := make([]uint64, (size+7)/8)
	if err := g.on().CopyOut(context.Background(), words[:size/8], out, 0); err != nil {
		return err
	}
	if size%8 != 0 {
		last := make([]uint32, 1)
		if err := g.on().CopyOut(context.Background(), last, out, size/8*8); err != nil {
			return err
		}
		words[size/8] = uint64(last[0])
	}
	if words[0] != 0 {
		return g.overflow(words[0])
	}
	at, number := 1, 2
	for _, j := range busy {
		number += 2 * j.k
	}
	for _, j := range busy {
		list := make([]entry, j.k)
		for i := range list {
			list[i] = entry{math.Float64frombits(words[at]), int32(words[number/2] >> (32 * (number % 2)))}
			at, number = at+1, number+1
		}
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.j, b.j)) })
		j.b.chooseOf(j.t, list)
	}
	for _, j := range jobs {
		if j.k == 0 {
			j.b.chooseOf(j.t, nil)
		}
	}
	return nil
}

// overflow is the error of a row that is longer than any of 1e20 rows should be.
func (g *device) overflow(n uint64) error {
	return fmt.Errorf("assembly: a row has %d connections on %v, more than there is room for: please report this", n, g.d)
}

// prepare draws rows, changes counts and sets single numbers.
func (g *device) prepare(p *packet, draws, changes, pokes int, full cuda.Part) error {
	one := cuda.Dim{X: threads}
	if p.draws.n > 0 {
		if err := g.launch("draw", cuda.Dim{X: p.draws.n}, one, p.buffer.At(draws), full); err != nil {
			return err
		}
	}
	for from := 0; from < p.changes.n; from += 1 << 15 {
		n := min(p.changes.n-from, 1<<15)
		if err := g.launch("change", cuda.Dim{X: 8, Y: n}, one, p.buffer.At(changes+24*from)); err != nil {
			return err
		}
	}
	if p.pokes.n > 0 {
		return g.launch("poke", cuda.Blocks(p.pokes.n, threads), one, p.buffer.At(pokes), int32(p.pokes.n))
	}
	return nil
}

// into adds a fibre to the table of those that reach a target, and what must be done before it is read.
func (g *device) into(p *packet, fibres *table, b *Brain, f *fibre) error {
	m, err := g.fibre(b, f)
	if err != nil {
		return err
	}
	switch {
	case f.stimulus != nil:
		if err := m.extend(g, p, f); err != nil {
			return err
		}
		counts := m.inputs
		if f.target.Lazy {
			counts = nil
		}
		fibres.add(counts, m.total, m.scale, uint64(0), uint64(0), uint64(0), 0.0)
		return nil
	case f.synapses != nil:
		if err := g.count(p, b, f, m); err != nil {
			return err
		}
	}
	if err := g.settlePending(p, b, f, m); err != nil {
		return err
	}
	from, err := g.area(f.from)
	if err != nil {
		return err
	}
	var sources []int32
	for _, i := range f.from.winners {
		s := i
		if from.slot != nil {
			s = from.slot[i]
		}
		if s >= 0 && int(s) < m.rows {
			sources = append(sources, s)
		}
	}
	base := 1.0
	if f.synapses == nil {
		base = 0
	}
	fibres.add(m.counts, uint64(0), m.scale, m.weights, p.ints(sources), [2]int32{int32(len(sources)), int32(m.stride)}, base)
	return nil
}

// less lists what inhibits the neurons of a target.
func (j *job) less(list *table) {
	t := j.t
	if t.Refraction == 0 && len(t.recent) == 0 {
		return
	}
	x := make([]float64, t.stored())
	t.inhibitFired(j.b, x)
	for i, v := range x {
		if v != 0 {
			list.add(j.m.x.At(8*i), -v)
		}
	}
}

// learn strengthens synapses by what the step has put into the logs of brains.
func (g *device) learn(runs []*running) error {
	var p packet
	defer p.free()
	var list table
	winners, sources := 0, 0
	for _, r := range runs {
		for _, t := range r.p.targets {
			if l := r.b.lastLearnt(t); l != nil {
				for k, f := range l.fibres {
					if err := r.b.gpu.learning(&p, &list, r.b, f, l, k); err != nil {
						return err
					}
					winners, sources = max(winners, len(l.winners)), max(sources, len(l.sources[k]))
				}
			}
		}
	}
	if list.n == 0 {
		return nil
	}
	full, err := g.zeros(8, "fault")
	if err != nil {
		return err
	}
	defer full.Free()
	draws, changes, pokes, at := p.put(p.draws), p.put(p.changes), p.put(p.pokes), p.put(list)
	if err := p.send(g); err != nil {
		return err
	}
	if err := g.prepare(&p, draws, changes, pokes, full.At(0)); err != nil {
		return err
	}
	if p.draws.n > 0 {
		over := make([]uint64, 1)
		if err := g.on().CopyOut(context.Background(), over, full, 0); err != nil {
			return err
		}
		if over[0] != 0 {
			return g.overflow(over[0])
		}
	}
	for from := 0; from < list.n; from += 1 << 15 {
		n := min(list.n-from, 1<<15)
		grid := cuda.Dim{X: (winners + 31) / 32, Y: max(1, min((sources+7)/8, 1<<12)), Z: n}
		if err := g.launch("learn", grid, cuda.Dim{X: 32, Y: 8}, p.buffer.At(at+96*from)); err != nil {
			return err
		}
	}
	return nil
}

// lastLearnt returns what a target learnt in the step that is ending, or nil.
func (b *Brain) lastLearnt(t *target) *learnt {
	for i := len(b.log) - 1; i >= 0 && len(b.log)-i <= len(b.areas) && b.log[i].step == b.step; i-- {
		if b.log[i].target == t.area {
			return &b.log[i]
		}
	}
	return nil
}

// learning adds fibre k of an entry of the log to the table of what learns.
func (g *device) learning(p *packet, list *table, b *Brain, f *fibre, l *learnt, k int) error {
	m, err := g.fibre(b, f)
	if err != nil {
		return err
	}
	rule := l.growth[k]
	single := int32(0)
	if f.synapses == nil && f.stimulus == nil {
		single = 1
	}
	last := []any{[2]int32{int32(rule.rule), single}, rule.beta, rule.most}
	none := uint64(0)
	if f.stimulus != nil {
		if err := m.extend(g, p, f); err != nil {
			return err
		}
		neurons := p.ints(l.winners)
		list.add(append([]any{none, m.total, m.inputs, none, none, none, neurons, [2]int32{0, int32(len(l.winners))}, none}, last...)...)
		return nil
	}
	from, to, err := g.ends(f)
	if err != nil {
		return err
	}
	// All slots come first, so that the array is widened once: what settlePending sets must not move after it.
	sources, slots := from.slotsOf(l.sources[k]), to.slotsOf(l.winners)
	for _, s := range m.pending {
		from.slotOf(s.from)
		to.slotOf(s.to)
	}
	if err := g.widen(f, m, from.slots, to.slots); err != nil {
		return err
	}
	if err := errors.Join(g.settlePending(p, b, f, m), g.tell(p, to)); err != nil {
		return err
	}
	var addresses any = none
	if f.synapses != nil {
		if err := g.rows(p, b, f, m, l.sources[k]); err != nil {
			return err
		}
		at := len(p.words)
		for _, i := range l.sources[k] {
			p.words = append(p.words, addressOf(m.list[i].at))
		}
		addresses = place8(at)
	}
	list.add(append([]any{m.weights, none, none, addresses, p.ints(sources), p.ints(slots), p.ints(l.winners),
		[2]int32{int32(len(sources)), int32(len(slots))}, [2]int32{int32(m.stride)}}, last...)...)
	return nil
}

// trim frees the rows of neurons that have not fired in the last step where those on the device are more than
// a brain is to keep.
func (g *device) trim(runs []*running) {
	for _, r := range runs {
		if g := r.b.gpu; g != nil && g.drawn > r.b.set.Cache {
			for _, f := range r.b.fibres {
				if m := g.fibres[f]; m != nil {
					m.forget(g, r.b.step)
				}
			}
		}
	}
}
