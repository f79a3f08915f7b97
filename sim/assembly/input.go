// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "math"

// gather sums the weights onto every stored neuron of a target.
func (b *Brain) gather(t *target) {
	n := t.stored()
	if len(b.x) < n {
		b.x = make([]float64, max(n, min(2*n, t.N)))
	}
	t.x = b.x[:n]
	if t.countable() {
		b.sumCounts(t)
		return
	}
	clear(t.x)
	for _, f := range t.active {
		b.addInputs(t.x, f)
	}
}

// inhibit subtracts from the inputs of neurons that have fired, and rounds all inputs. Inputs that
// are pure counts need neither.
func (b *Brain) inhibit(t *target) {
	if t.countable() {
		return
	}
	t.inhibitFired(b, t.x)
	for j, v := range t.x {
		t.x[j] = rounded(v)
	}
}

// rounded keeps 32 bits of an input's mantissa, so that sums of the same weights in different orders
// are equal and the lower number wins.
func rounded(x float64) float64 { return roundedTo(roundedBits, x) }

// roundedTo rounds away the trailing bits of an input's mantissa.
func roundedTo(bits int, x float64) float64 {
	return math.Float64frombits((math.Float64bits(x) + 1<<(bits-1)) &^ (1<<bits - 1))
}

// roundedBits is the number of trailing bits of an input that are zero.
const roundedBits = 20

// singleBits is the same where an input is compared with those of new neurons: weights of lazy areas are float32, but ten
// synapses of weight 1.1 are to equal eleven of weight 1, as they do in areas that exist whole.
const singleBits = 32

// countable reports whether most inputs are counts of synapses of weight 1.
func (t *target) countable() bool {
	if t.Lazy || t.Refraction > 0 || len(t.recent) > 0 {
		return false
	}
	for _, f := range t.active {
		if f.scale != nil {
			return false
		}
	}
	return true
}

// sumCounts sets x to the number of synapses onto each neuron, and adds the differences of weights
// that have changed.
func (b *Brain) sumCounts(t *target) {
	x := t.x
	counts := make([][]int32, len(t.active))
	for k, f := range t.active {
		if counts[k] = f.inputs; f.synapses != nil {
			b.count(f, f.from.winners)
			counts[k] = f.synapses.counts
		}
	}
	b.parallel((len(x)+blockSize-1)>>blockBits, func(_, block int) {
		from, to := block<<blockBits, min((block+1)<<blockBits, len(x))
		part := x[from:to]
		clear(part)
		for _, c := range counts {
			for j, n := range c[from:to] {
				part[j] += float64(n)
			}
		}
	})
	b.moved += (8 + 4*len(counts)) * len(x)
	for _, f := range t.active {
		f.addGrown(x)
	}
	for _, f := range t.active {
		f.eachGrown(func(to []int32) {
			for _, j := range to {
				x[j] = rounded(x[j])
			}
		})
	}
}

// addGrown adds, for firing synapses that have changed, the difference of their weights from 1.
func (f *fibre) addGrown(x []float64) {
	if f.stimulus != nil {
		for _, j := range f.grown {
			x[j] += f.total[j] - float64(f.inputs[j])
		}
		return
	}
	for _, i := range f.from.winners {
		r := f.synapses.rows[i]
		for k, j := range r.to {
			x[j] += r.weight[k] - 1
		}
	}
}

// eachGrown visits the targets of the firing synapses that have changed.
func (f *fibre) eachGrown(visit func(to []int32)) {
	if f.stimulus != nil {
		visit(f.grown)
		return
	}
	for _, i := range f.from.winners {
		visit(f.synapses.rows[i].to)
	}
}
