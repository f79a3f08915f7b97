// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// recentSums caches the inputs from a formed assembly: as long as the same neurons fire, inputs grow
// only by the growth of the same synapses.
type recentSums struct {
	from, to int       // changes of the winners of source and target that the cache is valid for; -1 for none
	visited  int       // changes of the winners of the source that f.rows visits; -1 for none
	targets  int       // number of target neurons that the cache is valid for
	sum      []float64 // inputs of target neurons j from the source's winners, at j+1
	grown    []place   // synapses between winners
}

// invalid returns the cache without anything that is valid.
func (r recentSums) invalid() recentSums {
	r.from, r.to, r.visited = -1, -1, -1
	return r
}

// addRows is addInputs for rows onto a lazy area.
func (f *fibre) addRows(b *Brain, x []float64) {
	r := &f.recent
	if r.from != f.from.changes || r.targets != len(x) {
		r.sum = append(r.sum[:0], make([]float64, len(x)+1)...)
		f.visit(f.from.winners) // anew, because rows have grown
		b.moved += 64 * f.rows.add(r.sum)
		r.from, r.to, r.targets = f.from.changes, -1, len(x)
	}
	for j, v := range r.sum[1 : 1+len(x)] {
		x[j] += v
	}
	b.moved += 16 * len(x)
}

// strengthenRows is strengthen for rows onto a lazy area.
func (f *fibre) strengthenRows(b *Brain, g growth, sources []int32, to int) {
	r := &f.recent
	if r.from != f.from.changes || r.to != to {
		var chunks int
		if r.visited != f.from.changes {
			f.visit(sources)
		}
		r.grown, chunks = f.rows.among(r.grown[:0], b.isWinner)
		b.moved += 64 * chunks
	}
	r.sum = extended(r.sum, f.target.stored()+1)
	for left := r.grown; ; f.rows = f.rows.widened() {
		if left = left[f.rows.strengthen(left, r.sum, g):]; len(left) == 0 {
			break
		}
	}
	b.moved += 20 * len(r.grown)
	r.to = to
}

// visit chooses the firing neurons of the source in f.rows.
func (f *fibre) visit(sources []int32) {
	f.rows.visit(sources)
	f.recent.visited = f.from.changes
}

// widen makes room for synapses onto n neurons of a lazy area.
func (f *fibre) widen(n int) {
	if !f.rows.holds(n) {
		f.rows = f.rows.widened()
	}
}

// begin gives a new source neuron its synapses onto a lazy area.
func (f *fibre) begin(targets []int32, weights []float32) {
	f.widen(f.target.stored())
	for !f.rows.begin(targets, weights) {
		f.rows = f.rows.widened()
	}
}
