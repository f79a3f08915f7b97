// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	// mostCrossings is the number of elements of other arrays with which an element that is integrated out may interact, on average. With more, as where 200 persons answer 10 of 30 items
	// each, data tell the elements well enough that cheaper gradients of all parameters yield more effective draws per second.
	mostCrossings = 8
	// toldRows is the number of data for each coefficient from which on these are sampled.
	toldRows      = 2
	directions    = 5    // places at which directions of vectors are compared
	sameDirection = 0.99 // cosine of the angle between vectors whose directions are nearly the same
)

// integrateCrossed looks for blocks whose elements interact with few elements of other arrays that are normal too. Arrays that stay although few interact with them are integrated
// out together with the others, if gradients do not become too dear.
func (m *Density) integrateCrossed() *integrator {
	for {
		best := m.integrateBest()
		many, open := best.crossings()
		if many != nil {
			m.sampled = append(m.sampled, many.Inputs...)
			continue
		}
		if n := m.begin(false); open && n.tryTogether(n.order()) && n.size() > best.size() {
			return n
		}
		return best
	}
}

// crossings returns a block whose elements interact with many elements of other arrays that are effects too, or nil, and reports whether there are such arrays that stay.
func (n *integrator) crossings() (many *Block, open bool) {
	readers := graph.Consumers(n.LogProb)
	for b := range n.blocks {
		block, count := &n.blocks[b], 0
		for i, x := range n.Inputs {
			if x.Size() > 1 && graph.Reads(block.Mean, x) && polynomial(readers, n.LogProb, x) && !n.coefficients(i) {
				crossed := n.crossed(block.Inputs, i)
				count += crossed
				open = open || crossed > 0 && !n.integrated(i)
			}
		}
		if count > mostCrossings*block.Size() {
			return block, open
		}
	}
	return nil, open
}

// integrated reports whether a parameter is.
func (n *integrator) integrated(i int) bool {
	return slices.ContainsFunc(n.blocks, func(b Block) bool { return slices.Contains(b.Inputs, i) })
}

// coefficients reports whether a parameter is like the coefficients of a regression in which chains move well: those with given priors, whose precision depends on one number, the
// error of the data, and has nearly the same shape whatever it is, and those with a prior of unknown scale that data tell.
func (m *Density) coefficients(i int) bool {
	switch product, numbers := m.precisionOf(i); numbers {
	case 0:
		return true
	case 1:
		random := tensor.NewStream(0, streamOfTrials, 2)
		return m.parallel(product, &random)
	case 2:
		return m.wideRows(i) >= toldRows*m.Inputs[i].Size()
	}
	return false
}

// untold reports whether a parameter is like the coefficients of a regression whose prior has an unknown scale and of which data tell little.
func (m *Density) untold(i int) bool {
	if _, numbers := m.precisionOf(i); numbers != 2 {
		return false
	}
	rows := m.wideRows(i)
	return rows > 0 && rows < toldRows*m.Inputs[i].Size()
}

// precisionOf returns the product of the precision of a parameter and a random vector, in a row, and how many numbers it depends on.
func (m *Density) precisionOf(i int) (product *ad.Node, numbers int) {
	x := m.Inputs[i]
	random := tensor.NewStream(0, streamOfTrials, 1)
	product = graph.Row(curvature(ad.Grad(m.LogProb, x)[0], x, graph.Like(x, random.NormalTo(make([]float64, x.Size())))))
	for k, u := range m.Inputs {
		if k != i && graph.Reads(product, u) {
			numbers += u.Size()
		}
	}
	return product, numbers
}

// wideRows counts the squares in the log density, as those of residuals, that depend on more than half of the elements of a parameter.
func (m *Density) wideRows(i int) int {
	c, ok := curvaturesOf(m.LogProb, newSight(graph.Consumers(m.LogProb), []*ad.Node{m.Inputs[i]}))
	if !ok {
		return 0
	}
	return c.wide
}

// parallel reports whether a vector that depends on the parameters has nearly the same direction at a few places.
func (m *Density) parallel(v *ad.Node, random *tensor.Stream) bool {
	prog, err := ad.Compile([]*ad.Node{v}, ad.Settings{Inputs: slices.Concat(m.Inputs, m.Given), Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return false
	}
	s := graph.State(prog, len(m.Inputs), m.GivenValues)
	var first []float64
	for range directions {
		if graph.Place(s, len(m.Inputs), -1, random); s.Run() != nil {
			return false
		}
		at := s.Output(0)
		if first == nil {
			first = slices.Clone(at)
		}
		if !(floats.Dot(first, at) > sameDirection*floats.Norm(first, 2)*floats.Norm(at, 2)) {
			return false
		}
	}
	return true
}

// crossed counts the pairs of an element of some parameters and one of another that interact, 0 where elements of the other interact among themselves, as those of coefficients and
// chains do, or where there are too many data to say.
func (m *Density) crossed(of []int, other int) (pairs int) {
	var x []*ad.Node
	size := 0
	for _, i := range of {
		x, size = append(x, m.Inputs[i]), size+m.Inputs[i].Size()
	}
	c, ok := curvaturesOf(m.LogProb, newSight(graph.Consumers(m.LogProb), append(x, m.Inputs[other])))
	if !ok {
		return 0
	}
	neighbours := c.neighbours()
	if neighbours == nil {
		return 0
	}
	for _, with := range neighbours[size:] {
		first, _ := slices.BinarySearch(with, size)
		if first < len(with) {
			return 0
		}
		pairs += first
	}
	return pairs
}
