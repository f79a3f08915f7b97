package assembly

import "math"

// inputs returns the summed weights onto every stored neuron of a target, less what
// counts against it.
func (b *Brain) inputs(t target) []float64 {
	n := t.stored()
	if len(b.x) < n {
		b.x = make([]float64, max(n, min(2*n, t.N)))
	}
	x := b.x[:n]
	if t.countable() {
		b.sumCounts(x, t)
	} else {
		clear(x)
		for _, f := range t.active {
			b.gather(x, f)
		}
		t.weary(b, x)
		for j, v := range x {
			x[j] = level(v)
		}
	}
	return x
}

// level rounds an input to 32 bits after the binary point of its mantissa, so that
// sums of the same weights in another order are equal, and the lower number wins.
func level(x float64) float64 {
	return math.Float64frombits((math.Float64bits(x) + 1<<(levelBits-1)) &^ (1<<levelBits - 1))
}

const levelBits = 20

// countable reports whether most inputs are numbers of synapses of weight 1.
func (t target) countable() bool {
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

// sumCounts sets x to the number of synapses onto each neuron, and adds what the
// weights that have changed differ by. On a device: a thread for each target neuron,
// and a scatter-add of the few weights that have changed.
func (b *Brain) sumCounts(x []float64, t target) {
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
	b.prof.moved((8 + 4*len(counts)) * len(x))
	for _, f := range t.active {
		f.addGrown(x)
	}
	for _, f := range t.active {
		f.eachGrown(func(to []int32) {
			for _, j := range to {
				x[j] = level(x[j])
			}
		})
	}
}

// addGrown adds what the weights of firing synapses that have changed differ from 1.
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

// eachGrown visits the targets of firing synapses that have changed.
func (f *fibre) eachGrown(visit func(to []int32)) {
	if f.stimulus != nil {
		visit(f.grown)
		return
	}
	for _, i := range f.from.winners {
		visit(f.synapses.rows[i].to)
	}
}
