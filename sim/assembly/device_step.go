// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// running is a brain with a plan that steps on a device.
type running struct {
	b      *Brain
	p      *Plan
	trace  [][]Round
	jobs   []job
	packet packet
	x      []float64 // inputs of one target
	list   []entry   // candidates of one target

	neurons, slots   int // of the largest target
	winners, sources int // of what learns most
	err              error
}

// job is a target that chooses winners in a step.
type job struct {
	t  *target
	k  int // candidates that are fetched
	at int // place of the candidates in the results of the brain, in words
}

// lockstep is brains on one device that step together. What the processor does for them, it does side by side,
// and each launch serves all of them.
type lockstep struct {
	runs    []*running
	workers int
	packets []*packet // of the brains, in their order
	bundle  bundle
	words   []uint64 // results
}

func newLockstep(plans ...*Plan) *lockstep {
	l := &lockstep{workers: plans[0].brain.workers()}
	for _, p := range plans {
		r := &running{b: p.brain, p: p}
		l.runs, l.packets = append(l.runs, r), append(l.packets, &r.packet)
	}
	return l
}

// each does a part of a step for every brain, on several threads, and returns the error of the first brain
// that has one.
func (l *lockstep) each(do func(r *running) error) error {
	parallel.Do(l.workers, len(l.runs), func(_, k int) { l.runs[k].err = do(l.runs[k]) })
	for _, r := range l.runs {
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// step runs one step, with as many launches as for one brain. After an error the brains have left the device.
// Those whose step was over by then keep it.
func (l *lockstep) step() error {
	g := l.runs[0].b.gpu
	if err := l.gather(g); err != nil {
		l.each(func(r *running) error {
			r.b.step--
			r.b.detach()
			return nil
		})
		return err
	}
	err := l.learn(g)
	l.each(func(r *running) error {
		r.end(err != nil)
		return nil
	})
	return err
}

// end makes the winners of a step fire.
func (r *running) end(failed bool) {
	b := r.b
	b.fire(r.p)
	r.trace = append(r.trace, r.p.rounds())
	if failed || b.logged > mostLearnt {
		b.settle()
	}
	if failed {
		b.gpu = nil
		return
	}
	b.gpu.trim(b)
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
	mostTargets = 1 << 15  // of a launch
	threads     = 256
	mostBlocks  = 4096 // of one launch along its first axis: blocks go on to further elements
)

func blocksFor(n, each int) int { return max(1, min((n+each-1)/each, mostBlocks)) }

// gather sums the inputs of all targets, finds their candidates and fetches them.
func (l *lockstep) gather(g *device) error {
	if err := l.each((*running).prepare); err != nil {
		return err
	}
	u := &l.bundle
	defer u.free()
	if err := u.send(g, l.workers, l.packets...); err != nil {
		return err
	}
	if err := g.prepare(u); err != nil {
		return err
	}
	neurons, slots := 0, 0
	for _, r := range l.runs {
		neurons, slots = max(neurons, r.neurons), max(slots, r.slots)
	}
	busy := u.rows[targetTable]
	for from := 0; from < busy; from += mostTargets {
		if err := g.sum(u.from(targetTable, from), u.from(intoTable, 0), min(busy-from, mostTargets), neurons, slots); err != nil {
			return err
		}
	}
	if n := u.rows[lessTable]; n > 0 {
		if err := g.launch("inhibit", cuda.Blocks(n, threads), cuda.Dim{X: threads}, u.from(lessTable, 0), int32(n)); err != nil {
			return err
		}
	}
	for from := 0; from < busy; from += mostTargets {
		if err := g.choose(u.from(targetTable, from), min(busy-from, mostTargets), neurons); err != nil {
			return err
		}
	}
	l.words = slices.Grow(l.words[:0], u.size)[:u.size]
	if err := g.on().CopyOut(context.Background(), l.words, u.results, 0); err != nil {
		return err
	}
	return g.overflow(l.words[0])
}

// prepare begins a step of a brain and makes the tables of its targets.
func (r *running) prepare() error {
	b, g, p := r.b, r.b.gpu, &r.packet
	b.begin(r.p)
	p.reset()
	r.jobs, r.neurons, r.slots = r.jobs[:0], 0, 0
	for _, t := range r.p.targets {
		if !t.takesPart(b) {
			continue
		}
		m, err := g.area(t.area)
		if err != nil {
			return err
		}
		first, n := p.rows(intoTable), t.stored()
		for _, f := range t.active { // also where an area has no neurons yet: fibres hold what follows
			if err := g.into(p, b, f); err != nil {
				return err
			}
		}
		if err := g.tell(p, m); err != nil {
			return err
		}
		j := job{t, min(t.K+1, n), p.results}
		if b.conditional(t.area) {
			j.k = n // all, because the device knows nothing of ranks
		}
		r.jobs = append(r.jobs, j)
		if j.k == 0 {
			continue
		}
		r.neurons, r.slots = max(r.neurons, n), max(r.slots, m.slots)
		p.results += j.k + (j.k+1)/2 // inputs first, then numbers
		work := addressOf(m.work)
		p.add(targetTable, addressOf(m.x), addressOf(m.neurons), pair32(n, m.slots), pair32(first, p.rows(intoTable)-first),
			work, work+keyBytes, work+keyBytes+histBytes, uint64(8*(j.at+j.k)), uint64(8*j.at), pair32(j.k, tilesOf(n)))
		r.less(t, m)
	}
	return nil
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

// choose chooses the winners of a job among its candidates, which words hold.
func (r *running) choose(j job, words []uint64) {
	number := func(i int32) int32 { return int32(words[j.k+int(i)/2] >> (32 * (i % 2))) }
	r.x, r.list = slices.Grow(r.x[:0], j.k)[:j.k], r.list[:0]
	if r.b.conditional(j.t.area) {
		for i, w := range words[:j.k] {
			r.x[number(int32(i))] = math.Float64frombits(w)
		}
		j.t.x = r.x
		r.b.chooseOf(j.t, r.b.best(j.t))
		return
	}
	for i, w := range words[:j.k] {
		r.x[i] = math.Float64frombits(w)
	}
	for _, i := range top(r.x, j.k) { // among equals those of lower number come first, as they do in words
		r.list = append(r.list, entry{r.x[i], number(i)})
	}
	r.b.chooseOf(j.t, r.list)
}

// overflow returns the error of a row that has n connections, more than any of 1e20 rows should, or nil if n is 0.
func (g *device) overflow(n uint64) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("assembly: a row has %d connections on %v, more than there is room for: please report this", n, g.d)
}

// prepare draws rows, changes counts and sets single numbers.
func (g *device) prepare(u *bundle) error {
	one := cuda.Dim{X: threads}
	if n := u.rows[rowTable]; n > 0 {
		if err := g.launch("draw", cuda.Dim{X: n}, one, u.from(rowTable, 0), u.results); err != nil {
			return err
		}
	}
	all := u.rows[changeTable]
	for from := 0; from < all; from += 1 << 15 {
		if err := g.launch("change", cuda.Dim{X: 8, Y: min(all-from, 1<<15)}, one, u.from(changeTable, from)); err != nil {
			return err
		}
	}
	if n := u.rows[pokeTable]; n > 0 {
		return g.launch("poke", cuda.Blocks(n, threads), one, u.from(pokeTable, 0), int32(n))
	}
	return nil
}

// into adds a fibre to the table of those that reach a target, and what must be done before it is read.
func (g *device) into(p *packet, b *Brain, f *fibre) error {
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
		p.add(intoTable, addressOf(counts), addressOf(m.total), addressOf(m.scale), 0, 0, 0, 0)
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
	sources, firing := p.begin(), 0
	for _, s := range f.from.winners {
		if from.slot != nil {
			s = from.slot[s]
		}
		if s >= 0 && int(s) < m.rows {
			p.lists = append(p.lists, s)
			firing++
		}
	}
	base := 1.0
	if f.synapses == nil {
		base = 0
	}
	p.add(intoTable, addressOf(m.counts), 0, addressOf(m.scale), addressOf(m.weights), sources, pair32(firing, m.stride), math.Float64bits(base))
	return nil
}

// less lists what inhibits the neurons of a target.
func (r *running) less(t *target, m *deviceArea) {
	if t.Refraction == 0 && len(t.recent) == 0 {
		return
	}
	n := t.stored()
	r.x = slices.Grow(r.x[:0], n)[:n]
	clear(r.x)
	t.inhibitFired(r.b, r.x)
	for i, v := range r.x {
		if v != 0 {
			r.packet.add(lessTable, addressOf(m.x)+8*uint64(i), math.Float64bits(-v))
		}
	}
}

// learn chooses the winners of all targets and strengthens synapses by what the step has put into the logs.
func (l *lockstep) learn(g *device) error {
	if err := l.each(func(r *running) error { return r.learn(l.words[r.packet.at.results:]) }); err != nil {
		return err
	}
	winners, sources, all := 0, 0, 0
	for _, r := range l.runs {
		winners, sources, all = max(winners, r.winners), max(sources, r.sources), all+r.packet.rows(learningTable)
	}
	if all == 0 {
		return nil
	}
	u := &l.bundle
	defer u.free()
	if err := u.send(g, l.workers, l.packets...); err != nil {
		return err
	}
	if err := g.prepare(u); err != nil {
		return err
	}
	if u.rows[rowTable] > 0 {
		over := l.words[:1]
		if err := g.on().CopyOut(context.Background(), over, u.results, 0); err != nil {
			return err
		}
		if err := g.overflow(over[0]); err != nil {
			return err
		}
	}
	for from := 0; from < all; from += 1 << 15 {
		grid := cuda.Dim{X: (winners + 31) / 32, Y: max(1, min((sources+7)/8, 1<<12)), Z: min(all-from, 1<<15)}
		if err := g.launch("learn", grid, cuda.Dim{X: 32, Y: 8}, u.from(learningTable, from)); err != nil {
			return err
		}
	}
	return nil
}

// learn chooses the winners of a brain's targets and makes the tables of what they learn.
func (r *running) learn(results []uint64) error {
	b, p := r.b, &r.packet
	for _, j := range r.jobs {
		r.choose(j, results[j.at:])
	}
	b.inhibitRivals(r.p)
	b.recruit(r.p)
	for _, t := range r.p.targets {
		b.remember(t)
	}
	p.reset()
	r.winners, r.sources = 0, 0
	for _, t := range r.p.targets {
		if l := b.lastLearnt(t); l != nil {
			for _, f := range l.fibres {
				if err := b.gpu.learning(p, b, f, l.winners); err != nil {
					return err
				}
				r.winners, r.sources = max(r.winners, len(l.winners)), max(r.sources, len(f.sources))
			}
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

// learning adds a fibre of an entry of the log to the table of what learns.
func (g *device) learning(p *packet, b *Brain, t taught, winners []int32) error {
	f := t.fibre
	m, err := g.fibre(b, f)
	if err != nil {
		return err
	}
	kind, beta, most := pair32(int(t.growth.rule), 0), math.Float64bits(t.growth.beta), math.Float64bits(t.growth.most)
	if f.stimulus != nil {
		if err := m.extend(g, p, f); err != nil {
			return err
		}
		p.add(learningTable, 0, addressOf(m.total), addressOf(m.inputs), 0, 0, 0, p.ints(winners), pair32(0, len(winners)), 0, kind, beta, most)
		return nil
	}
	from, to, err := g.ends(f)
	if err != nil {
		return err
	}
	// All slots come first, so that the array is widened once: what settlePending sets must not move after it.
	sources, slots := p.slots(from, t.sources), p.slots(to, winners)
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
	var rows uint64
	if f.synapses != nil {
		if err := g.rows(p, b, f, m, t.sources); err != nil {
			return err
		}
		rows = p.begin()
		for _, i := range t.sources {
			at := m.rowOf(i)
			p.lists = append(p.lists, int32(uint32(at)), int32(at>>32))
		}
	} else {
		kind = pair32(int(t.growth.rule), 1)
	}
	p.add(learningTable, addressOf(m.weights), 0, 0, rows, sources, slots, p.ints(winners),
		pair32(len(t.sources), len(winners)), pair32(m.stride, 0), kind, beta, most)
	return nil
}

// trim frees the rows of neurons that have not fired in the last step where those on the device are more than
// a brain is to keep.
func (g *device) trim(b *Brain) {
	if g.drawn <= b.set.Cache {
		return
	}
	for _, f := range b.fibres {
		if m := g.fibres[f]; m != nil {
			m.forget(g, b.step)
		}
	}
}
