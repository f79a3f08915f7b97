package nemo

import "slices"

// Matrix holds the synapses from one population to another: by source neuron, in
// order of the targets.
type Matrix struct {
	Rows [][]Synapse
	n    int // targets
}

// Synapse is a connection to a neuron.
type Synapse struct {
	To     int32
	Weight float64
}

// NewMatrix makes the matrix from sources neurons onto targets, row by row.
func NewMatrix(sources, targets int, row func(source int) []Synapse) *Matrix {
	m := &Matrix{n: targets}
	for i := range sources {
		m.Rows = append(m.Rows, row(i))
	}
	return m
}

// Normalize divides the weights onto each neuron by their sum.
func (m *Matrix) Normalize() {
	sum := make([]float64, m.n)
	for _, row := range m.Rows {
		for _, s := range row {
			sum[s.To] += s.Weight
		}
	}
	for _, row := range m.Rows {
		for k := range row {
			row[k].Weight /= sum[row[k].To]
		}
	}
}

// Sum returns the sum of all weights.
func (m *Matrix) Sum() (sum float64) {
	for _, row := range m.Rows {
		for _, s := range row {
			sum += s.Weight
		}
	}
	return sum
}

// add adds what the firing neurons send to x.
func (m *Matrix) add(x []float64, firing []int32) {
	for _, i := range firing {
		for _, s := range m.Rows[i] {
			x[s.To] += s.Weight
		}
	}
}

// strengthen multiplies the weights between neurons that fired and those that do.
func (m *Matrix) strengthen(firing []int32, wins []bool, factor float64) {
	for _, i := range firing {
		row := m.Rows[i]
		for k := range row {
			if wins[row[k].To] {
				row[k].Weight *= factor
			}
		}
	}
}

// Area is a population of N neurons of which K fire at a time, if any do.
type Area struct {
	N, K      int
	Beta      float64   // plasticity
	Recurrent *Matrix   // from the area to itself; nil for none
	Bias      []float64 // of a refracted area: grows where neurons fire and counts against them; nil for none

	Winners []int32 // in order of number; empty when silent
	wins    []bool
	x       []float64
}

// NewArea returns a silent area of n neurons of which k fire, without recurrence.
func NewArea(n, k int, beta float64) *Area {
	return &Area{N: n, K: k, Beta: beta, wins: make([]bool, n), x: make([]float64, n)}
}

// Firing is what fires into an area through a matrix.
type Firing struct {
	Through *Matrix
	Neurons []int32
}

// Step lets inputs, and the area's own winners if it is recurrent, choose new winners,
// and strengthens what chose them if learn. Without any input nothing fires.
//
//	x = sum of weights;  winners = k largest of x - bias, x > 0 somewhere
//	bias_j += beta x_j,  w_ij *= 1 + beta  for winners j
func (a *Area) Step(learn bool, in ...Firing) {
	clear(a.x)
	for _, f := range in {
		f.Through.add(a.x, f.Neurons)
	}
	before := a.Winners
	if a.Recurrent != nil {
		a.Recurrent.add(a.x, before)
	}
	a.Winners = nil
	if slices.ContainsFunc(a.x, func(v float64) bool { return v != 0 }) {
		a.Winners = a.best()
	}
	if learn {
		if a.Bias != nil {
			for _, j := range a.Winners {
				a.Bias[j] += a.Beta * a.x[j]
			}
		}
		a.learn(before, in)
	}
}

// Force makes neurons fire whatever the input is, and learns as Step does.
func (a *Area) Force(neurons []int32, in ...Firing) {
	before := a.Winners
	a.Winners = slices.Clone(neurons)
	a.learn(before, in)
}

// Inhibit silences the area.
func (a *Area) Inhibit() { a.Winners = nil }

func (a *Area) learn(before []int32, in []Firing) {
	for _, j := range a.Winners {
		a.wins[j] = true
	}
	for _, f := range in {
		f.Through.strengthen(f.Neurons, a.wins, 1+a.Beta)
	}
	if a.Recurrent != nil {
		a.Recurrent.strengthen(before, a.wins, 1+a.Beta)
	}
	for _, j := range a.Winners {
		a.wins[j] = false
	}
}

// best returns the k neurons of largest input less bias, the lower number among
// equals.
func (a *Area) best() []int32 {
	value := func(j int32) float64 {
		if a.Bias != nil {
			return a.x[j] - a.Bias[j]
		}
		return a.x[j]
	}
	all := make([]int32, a.N)
	for j := range all {
		all[j] = int32(j)
	}
	slices.SortFunc(all, func(i, j int32) int {
		switch u, v := value(i), value(j); {
		case u > v:
			return -1
		case u < v:
			return 1
		}
		return int(i - j)
	})
	w := slices.Clone(all[:a.K])
	slices.Sort(w)
	return w
}

// Block returns neurons i k to (i+1) k - 1.
func Block(i, k int) []int32 {
	w := make([]int32, k)
	for j := range w {
		w[j] = int32(i*k + j)
	}
	return w
}
