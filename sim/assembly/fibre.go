// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"slices"
)

// Fibre names a connection and gives its parameters.
type Fibre struct {
	From, To string
	Seed     uint64  // seed of the fibre's connections
	P        float64 // probability of a synapse
	N        int     // number of neurons of the target
}

// fibre holds the synapses from a stimulus or an area to an area, in one of total, rows and
// synapses.
type fibre struct {
	Fibre
	beta     float64
	rule     Rule
	from     *area // source area; nil if the source is a stimulus
	stimulus *stimulus
	target   *area
	planned  bool
	given    bool      // whether the synapses came from SetCSR
	scale    []float64 // for a normalised fibre, 1 over the summed weights onto each target

	inputs []int32   // for a stimulus, the number of synapses onto each target neuron
	total  []float64 // for a stimulus, the summed weight of these synapses
	// for a stimulus onto an area that is not lazy, the targets whose weights have ever changed
	grown    []int32
	moved    []bool      // whether each target is in grown
	rows     rows        // synapses onto a lazy area
	gaps     *gaps       // between synapses
	past     *pastFiring // for a lazy target, when the source fired; nil if never in a defeat
	recent   recentSums
	synapses *synapses // synapses onto an area that is not lazy
}

// Fibres returns the fibres between areas that have been used so far, as the names of their ends, in order.
func (b *Brain) Fibres() (all [][2]string) {
	for name, f := range b.byName {
		if f.stimulus == nil {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(x, y [2]string) int { return slices.Compare(x[:], y[:]) })
	return all
}

// fibre returns the connection between two names, and creates it the first time.
func (b *Brain) fibre(from, to string) (*fibre, error) {
	if f := b.byName[[2]string{from, to}]; f != nil {
		return f, nil
	}
	return b.newFibre(from, to, b.set.P)
}

func (b *Brain) newFibre(from, to string, p float64) (*fibre, error) {
	target, err := b.area(to)
	if err != nil {
		return nil, err
	}
	f, err := b.newEmpty(savedFibre{From: from, To: to, P: p, Beta: target.Beta, Rule: target.Rule})
	if err != nil {
		return nil, err
	}
	switch {
	case f.stimulus != nil:
		if err := b.connectStimulus(f); err != nil {
			b.remove(f)
			return nil, err
		}
	case target.Lazy:
		b.connectFrom(f)
	}
	return f, nil
}

// newEmpty makes a fibre without synapses onto the existing neurons.
func (b *Brain) newEmpty(s savedFibre) (*fibre, error) {
	target, err := b.area(s.To)
	if err != nil {
		return nil, err
	}
	f := &fibre{Fibre: Fibre{From: s.From, To: s.To, Seed: mix(b.set.Seed ^ name64(s.From, s.To)), P: s.P, N: target.N},
		beta: s.Beta, rule: s.Rule, planned: s.Planned, gaps: gapsOf(s.P), target: target, recent: recentSums{}.invalid()}
	if f.stimulus = b.stimulus(s.From); f.stimulus == nil {
		if f.from, err = b.area(s.From); err != nil {
			return nil, fmt.Errorf("%w; it is not a stimulus either", err)
		}
		if target.Lazy {
			f.rows = newRows()
		} else {
			f.synapses = newSynapses(target.N)
		}
	}
	b.insert(f)
	return f, nil
}

// insert adds a fibre to the brain, in place of one between the same names.
func (b *Brain) insert(f *fibre) {
	key := [2]string{f.From, f.To}
	if old := b.byName[key]; old != nil {
		b.fibres[slices.Index(b.fibres, old)] = f
		f.target.into[slices.Index(f.target.into, old)] = f
		if f.from != nil {
			f.from.out[slices.Index(f.from.out, old)] = f
		}
	} else {
		b.fibres = append(b.fibres, f)
		f.target.into = append(f.target.into, f)
		if f.from != nil {
			f.from.out = append(f.from.out, f)
		}
	}
	b.byName[key] = f
}

// remove takes out a fibre that was inserted last.
func (b *Brain) remove(f *fibre) {
	last := func(list []*fibre) []*fibre { return slices.DeleteFunc(list, func(g *fibre) bool { return g == f }) }
	b.fibres, f.target.into = last(b.fibres), last(f.target.into)
	delete(b.byName, [2]string{f.From, f.To})
}

// connectStimulus counts the synapses from a stimulus to the stored neurons.
func (b *Brain) connectStimulus(f *fibre) error {
	n := f.target.stored()
	f.inputs, f.total = make([]int32, n), make([]float64, n)
	if !f.target.Lazy {
		f.moved = make([]bool, n)
	}
	done, err := b.countOnDevice(f)
	if err != nil {
		return err
	}
	if !done {
		b.countHere(f, n)
	}
	for j, c := range f.inputs {
		f.total[j] = float64(c)
	}
	return nil
}

// countHere counts the synapses from a stimulus to n neurons on the processor.
func (b *Brain) countHere(f *fibre, n int) {
	g := *f
	g.N = n
	counts, rows := make([][]int32, b.workers()), make([][]int32, b.workers())
	b.parallel(f.stimulus.size, func(worker, i int) {
		if counts[worker] == nil {
			counts[worker] = make([]int32, n)
		}
		rows[worker] = b.connect(rows[worker][:0], &g, i)
		for _, j := range rows[worker] {
			counts[worker][j]++
		}
	})
	for _, part := range counts {
		for j, c := range part {
			f.inputs[j] += c
		}
	}
}

// connect appends the neurons that source neuron i of f connects to.
func (b *Brain) connect(dst []int32, f *fibre, i int) []int32 {
	from := len(dst)
	if b.set.Connect != nil {
		dst = b.set.Connect(dst, f.Fibre, i)
		if row := dst[from:]; len(row) > 0 && (row[0] < 0 || int(row[len(row)-1]) >= f.N || !slices.IsSorted(row)) {
			panic(fmt.Sprintf("assembly: Settings.Connect gave neuron %d of %s>%s targets that are not in ascending order, from 0 to %d: sort them", i, f.From, f.To, f.N-1))
		}
	} else {
		dst = f.gaps.connections(dst, f.Seed, i, f.N)
	}
	if b.set.NoSelf && f.From == f.To {
		if k, ok := slices.BinarySearch(dst[from:], int32(i)); ok {
			dst = slices.Delete(dst, from+k, from+k+1)
		}
	}
	return dst
}

// SetBeta sets the plasticity of one fibre.
func (b *Brain) SetBeta(from, to string, beta float64) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	if err := f.rule.check("fibre "+from+">"+to, beta, b.set.MaxWeight); err != nil {
		return err
	}
	f.beta = beta
	return nil
}

// SetP sets the probability of a synapse of one fibre, before it is part of a plan.
func (b *Brain) SetP(from, to string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("assembly: fibre %s>%s has synapses with probability %g: want 0 to 1", from, to, p)
	}
	f, err := b.fibre(from, to)
	if err != nil || f.P == p {
		return err
	}
	if f.planned || f.given || f.scale != nil {
		return fmt.Errorf("assembly: fibre %s>%s already has its synapses: set their probability before it is part of a plan, normalised, or given synapses", from, to)
	}
	b.detach()
	g, err := b.newFibre(from, to, p)
	if err == nil {
		g.beta, g.rule = f.beta, f.rule
	}
	return err
}

// firing returns the number of neurons of the source that fire.
func (f *fibre) firing() int {
	if f.stimulus != nil {
		return f.stimulus.size
	}
	return len(f.from.winners)
}

// sources returns the neurons of the source that fire; for a stimulus, none.
func (f *fibre) sources() []int32 {
	if f.stimulus != nil {
		return nil
	}
	return f.from.winners
}

// addInputs adds the weights from the firing neurons of f's source to x.
func (b *Brain) addInputs(x []float64, f *fibre) {
	switch {
	case f.scale != nil:
		b.addScaled(x, f)
	case f.stimulus != nil:
		for j, w := range f.total {
			x[j] += w
		}
		b.moved += 16 * len(x)
	case f.synapses != nil:
		f.synapses.addInputs(b, f, x)
	default:
		f.addRows(b, x)
	}
}

// strengthen lets the synapses grow between the neurons that fired before and the winners, which
// b.isWinner marks. to is the value of the target's changes once the winners fire.
func (b *Brain) strengthen(f *fibre, g growth, sources, winners []int32, to int) {
	if g.none() {
		return
	}
	switch {
	case f.stimulus != nil:
		grow := g.function()
		for _, j := range winners {
			if n := float64(f.inputs[j]); n > 0 {
				if f.moved != nil && !f.moved[j] {
					f.moved[j] = true
					f.grown = append(f.grown, j)
				}
				f.total[j] = n * grow(f.total[j]/n)
			}
		}
	case f.synapses != nil:
		f.synapses.strengthen(b, f, g, sources, winners)
	default:
		f.strengthenRows(b, g, sources, to)
	}
}

// Weight returns the weight of a synapse, 0 if there is none. For a stimulus it is the sum over its
// synapses onto the neuron, whatever source is.
func (b *Brain) Weight(from, to string, source, target int) (float64, error) {
	f, err := b.fibre(from, to)
	if err != nil {
		return 0, err
	}
	if target < 0 || target >= f.target.stored() || f.from != nil && (source < 0 || source >= f.from.stored()) {
		return 0, fmt.Errorf("assembly: there is no synapse from neuron %d to %d of %s>%s: name neurons that exist", source, target, from, to)
	}
	b.settle()
	w := f.weight(b, int32(source), int32(target))
	if f.scale != nil {
		w *= f.scale[target]
	}
	return w, nil
}

func (f *fibre) weight(b *Brain, source, target int32) float64 {
	switch {
	case f.stimulus != nil:
		return f.total[target]
	case f.synapses != nil:
		b.draw(f, []int32{source})
		return f.synapses.rows[source].at(target)
	}
	sum := 0.0
	f.rows.each(source, func(to int32, w float32) {
		if to == target {
			sum = float64(w)
		}
	})
	return sum
}
