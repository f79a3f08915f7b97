// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// synapse is a connection to a neuron.
type synapse struct {
	to     int32
	weight float32
}

// recentSums caches the inputs from a formed assembly: as long as the same neurons fire, inputs grow
// only by the growth of the same synapses.
type recentSums struct {
	from, to int       // changes of the winners of source and target that the cache is valid for; -1 for none
	sum      []float64 // inputs of the stored target neurons from the source's winners
	grown    []place   // synapses between winners
}

// place identifies a synapse by its source neuron and its position in that row.
type place struct{ source, at int32 }

// addRows is addInputs for rows onto a lazy area.
func (f *fibre) addRows(b *Brain, x []float64) {
	r := &f.recent
	if r.from != f.from.changes || len(r.sum) != len(x) {
		r.sum = append(r.sum[:0], make([]float64, len(x))...)
		synapses := 0
		for _, i := range f.from.winners {
			synapses += len(f.rows[i])
			for _, s := range f.rows[i] {
				r.sum[s.to] += float64(s.weight)
			}
		}
		b.moved += 16 * synapses
		r.from, r.to = f.from.changes, -1
	}
	for j, v := range r.sum {
		x[j] += v
	}
	b.moved += 16 * len(x)
}

// strengthenRows is strengthen for rows onto a lazy area.
func (f *fibre) strengthenRows(b *Brain, g growth, sources []int32, to int) {
	r := &f.recent
	if r.from != f.from.changes || r.to != to {
		r.grown = r.grown[:0]
		for _, i := range sources {
			r.grown = b.among(r.grown, i, f.rows[i])
		}
	}
	grow, row, source := g.function(), []synapse(nil), int32(-1)
	plain, factor := g.rule == Hebb && g.most == largestWeight, 1+g.beta
	for _, p := range r.grown {
		if p.source != source {
			source, row = p.source, f.own(b, p.source)
		}
		s := &row[p.at]
		was := float64(s.weight)
		if plain {
			s.weight = float32(min(was*factor, largestWeight))
		} else {
			s.weight = float32(grow(was))
		}
		if int(s.to) < len(r.sum) {
			r.sum[s.to] += float64(s.weight) - was
		}
	}
	b.moved += 20 * len(r.grown)
	r.to = to
}

// among appends the synapses of a row that lead to winners. It has no branches, because whether a
// neuron fires is hard to predict.
func (b *Brain) among(dst []place, source int32, row []synapse) []place {
	n := len(dst)
	for cap(dst) < n+len(row) {
		dst = append(dst[:cap(dst)], place{})
	}
	dst = dst[:n+len(row)]
	for k, s := range row {
		dst[n] = place{source, int32(k)}
		n += int(b.isWinner[s.to])
	}
	b.moved += 8 * len(row)
	return dst[:n]
}

// own returns the row of a source neuron onto a lazy area for writing, and copies it first if it is
// shared.
func (f *fibre) own(b *Brain, i int32) []synapse {
	if f.shared[i] {
		f.rows[i], f.shared[i] = append(b.newRow(len(f.rows[i])), f.rows[i]...), false
	}
	return f.rows[i]
}

// link gives a source neuron a synapse of weight 1 onto a new neuron of a lazy area.
func (f *fibre) link(b *Brain, i, j int32) {
	f.own(b, i)
	row := &f.rows[i]
	if len(*row) == cap(*row) {
		*row = append(b.newRow(2*len(*row)+4), *row...)
	}
	*row = append(*row, synapse{j, 1})
	b.linked(f, i, j)
}

// newRow returns an empty row with room for n synapses, cut from a larger slab.
func (b *Brain) newRow(n int) []synapse {
	if n > len(b.rowRoom) {
		b.rowRoom = make([]synapse, max(n, min(1<<14, 1<<10+4*b.rowsMade)))
		b.rowsMade += len(b.rowRoom)
	}
	row := b.rowRoom[:0:n]
	b.rowRoom = b.rowRoom[n:]
	return row
}
