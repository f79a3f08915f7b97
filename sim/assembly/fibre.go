package assembly

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// fibre holds the synapses from a stimulus or an area to an area.
type fibre struct {
	Fibre
	beta  float64
	total []float32   // of a stimulus: summed weight per target neuron
	rows  [][]synapse // of an area: by source neuron; nil until it first fires
}

// synapse is a connection to a neuron.
type synapse struct {
	to     int32
	weight float32
}

// fibre returns the connection between two names, and makes it the first time.
func (b *Brain) fibre(from, to string) (*fibre, error) {
	if f := b.fibres[[2]string{from, to}]; f != nil {
		return f, nil
	}
	target, err := b.area(to)
	if err != nil {
		return nil, err
	}
	f := &fibre{Fibre: Fibre{From: from, To: to, Seed: mix(b.set.Seed ^ name64(from, to)), P: b.set.P, N: target.N}, beta: target.Beta}
	if s := b.stimulus(from); s != nil {
		f.total = make([]float32, target.stored())
		f.N = target.stored()
		var row []int32
		for i := range s.size {
			row = b.connect(row[:0], f, i)
			for _, j := range row {
				f.total[j]++
			}
		}
	} else {
		source, err := b.area(from)
		if err != nil {
			return nil, fmt.Errorf("%w; nor is it a stimulus", err)
		}
		f.rows = make([][]synapse, source.stored())
		if target.Lazy {
			for i := range f.rows {
				f.rows[i] = b.known(f, i, target.support)
			}
		}
	}
	f.N = target.N
	b.fibres[[2]string{from, to}] = f
	return f, nil
}

// SetBeta sets the plasticity of one fibre.
func (b *Brain) SetBeta(from, to string, beta float64) error {
	f, err := b.fibre(from, to)
	if err != nil {
		return err
	}
	if !(beta >= 0) {
		return fmt.Errorf("assembly: fibre %s>%s has plasticity %g: want 0 or more", from, to, beta)
	}
	f.beta = beta
	return nil
}

// connect appends what source neuron i of f connects to.
func (b *Brain) connect(dst []int32, f *fibre, i int) []int32 {
	if b.set.Connect != nil {
		return b.set.Connect(dst, f.Fibre, i)
	}
	return Bernoulli(dst, f.Fibre, i)
}

// purposeConnect is the random stream of connections.
const purposeConnect uint32 = 501

// Bernoulli appends the connections of a source neuron: each target with the
// probability of the fibre, independently, by the gaps between them.
func Bernoulli(dst []int32, f Fibre, source int) []int32 {
	switch {
	case f.P <= 0:
		return dst
	case f.P >= 1:
		for j := range f.N {
			dst = append(dst, int32(j))
		}
		return dst
	}
	src := tensor.NewStream(f.Seed, purposeConnect, uint32(source))
	scale := 1 / math.Log1p(-f.P)
	for j := -1.0; ; {
		j += 1 + math.Floor(math.Log(1-src.Float64())*scale)
		if j >= float64(f.N) {
			return dst
		}
		dst = append(dst, int32(j))
	}
}

// row returns the synapses of a source neuron.
func (b *Brain) row(f *fibre, source int32) []synapse {
	if f.rows[source] == nil {
		f.rows[source] = b.known(f, int(source), f.N)
	}
	return f.rows[source]
}

// gather adds the weights from the firing neurons of f's source to x, in the order
// in which they fire.
func (b *Brain) gather(x []float32, f *fibre) {
	if f.total != nil {
		for j, w := range f.total {
			x[j] += w
		}
		return
	}
	source, _ := b.area(f.From)
	for _, i := range source.winners {
		for _, s := range b.row(f, i) {
			x[s.to] += s.weight
		}
	}
}

// strengthen multiplies the weights between neurons that fired before and those
// that do now.
func (b *Brain) strengthen(f *fibre, sources, winners []int32) {
	grow := func(w float32) float32 {
		v := float64(w) * (1 + f.beta)
		if b.set.MaxWeight > 0 {
			v = min(v, b.set.MaxWeight)
		}
		return float32(v)
	}
	if f.total != nil {
		for _, j := range winners {
			f.total[j] = float32(float64(f.total[j]) * (1 + f.beta))
		}
		return
	}
	for _, i := range sources {
		row := b.row(f, i)
		for k := range row {
			if b.isWinner[row[k].to] {
				row[k].weight = grow(row[k].weight)
			}
		}
	}
}

// Weight returns the weight of a synapse, 0 where there is none; of a stimulus the
// sum of its synapses onto the neuron, whatever source is.
func (b *Brain) Weight(from, to string, source, target int) (float64, error) {
	f, err := b.fibre(from, to)
	if err != nil {
		return 0, err
	}
	if target < 0 || target >= f.N || f.rows != nil && (source < 0 || source >= len(f.rows)) {
		return 0, fmt.Errorf("assembly: no synapse from neuron %d to %d of %s>%s", source, target, from, to)
	}
	if f.total != nil {
		return float64(f.total[target]), nil
	}
	row := b.row(f, int32(source))
	if k, ok := slices.BinarySearchFunc(row, int32(target), func(s synapse, t int32) int { return int(s.to - t) }); ok {
		return float64(row[k].weight), nil
	}
	return 0, nil
}
