// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "fmt"

// Normalize divides the weights of a fibre onto each neuron by their sum, which makes all neurons
// of the target equally easy to excite. Weights keep growing from there; a MaxWeight bounds them
// before the division. The target must not be lazy.
func (b *Brain) Normalize(from, to string) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	if f.target.Lazy {
		return fmt.Errorf("assembly: fibre %s>%s leads to a lazy area, most of whose neurons do not exist yet: normalize only fibres into other areas", from, to)
	}
	b.detach()
	sum := make([]float64, f.target.N)
	f.each(b, func(_, to int32, w float64) { sum[to] += w })
	for j, s := range sum {
		if s > 0 {
			sum[j] = 1 / s
		}
	}
	f.scale = sum
	return nil
}

// each visits the synapses of a fibre as they are stored, by source and then target; for a stimulus,
// whose neurons fire as one, it visits their sums.
func (f *fibre) each(b *Brain, visit func(from, to int32, w float64)) {
	b.settle()
	switch {
	case f.stimulus != nil:
		for j, w := range f.total {
			if w != 0 {
				visit(0, int32(j), w)
			}
		}
	case f.synapses != nil:
		var room []int32
		for i := range int32(f.from.stored()) {
			r := f.synapses.rows[i]
			if r == nil || r.links == nil {
				room = b.connect(room[:0], f, int(i))
				r = f.synapses.with(i, newLinks(room, f.N))
			}
			k := 0
			r.links.each(func(j int32) {
				w := 1.0
				if k < len(r.to) && r.to[k] == j {
					w = r.weight[k]
					k++
				}
				visit(i, j, w)
			})
		}
	default:
		for i := range int32(f.rows.sources()) {
			f.rows.each(i, func(to int32, w float32) { visit(i, to, float64(w)) })
		}
	}
}

// with returns the row of a source neuron, with links that are not kept in memory.
func (w *synapses) with(i int32, l *links) *row {
	r := row{links: l}
	if old := w.rows[i]; old != nil {
		r.to, r.weight = old.to, old.weight
	}
	return &r
}

// addScaled is addInputs for a normalised fibre.
func (b *Brain) addScaled(x []float64, f *fibre) {
	plain := *f
	plain.scale = nil
	y := make([]float64, len(x))
	b.addInputs(y, &plain)
	for j, v := range y {
		x[j] += f.scale[j] * v
	}
}
