package nemo

import "fmt"

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

// NewMatrix makes the matrix from sources neurons onto targets, row by row. It returns
// an error where a synapse leads outside the targets.
func NewMatrix(sources, targets int, row func(source int) []Synapse) (*Matrix, error) {
	if sources < 1 || targets < 1 {
		return nil, fmt.Errorf("nemo: a matrix from %d neurons to %d: want at least one of each", sources, targets)
	}
	m := &Matrix{Rows: make([][]Synapse, sources), n: targets}
	for i := range m.Rows {
		m.Rows[i] = row(i)
		for _, s := range m.Rows[i] {
			if s.To < 0 || int(s.To) >= targets {
				return nil, fmt.Errorf("nemo: a synapse from neuron %d to %d: the targets are 0 to %d", i, s.To, targets-1)
			}
		}
	}
	return m, nil
}

// Sources returns how many neurons the matrix leads from.
func (m *Matrix) Sources() int { return len(m.Rows) }

// Targets returns how many neurons the matrix leads to.
func (m *Matrix) Targets() int { return m.n }

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
			if v := sum[row[k].To]; v != 0 {
				row[k].Weight /= v
			}
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

// between checks that m leads from one population to another.
func (m *Matrix) between(what string, sources, targets int) error {
	switch {
	case m == nil:
		return fmt.Errorf("nemo: no matrix %s: want one of %d by %d neurons", what, sources, targets)
	case len(m.Rows) != sources || m.n != targets:
		return fmt.Errorf("nemo: the matrix %s is of %d by %d neurons: want %d by %d", what, len(m.Rows), m.n, sources, targets)
	}
	return nil
}

// onto checks that m leads to so many targets.
func (m *Matrix) onto(what string, targets int) error {
	switch {
	case m == nil:
		return fmt.Errorf("nemo: no matrix %s: want one onto %d neurons", what, targets)
	case m.n != targets:
		return fmt.Errorf("nemo: the matrix %s leads to %d neurons: want %d", what, m.n, targets)
	}
	return nil
}
