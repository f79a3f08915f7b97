// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/gaussian"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeMarginal is the random stream of parameters that were integrated out.
const purposeMarginal uint32 = 221

// marginal is a target of which normal parameters are integrated out. Its unconstrained parameters are the others.
type marginal struct {
	full    Movable // the target as declared
	outputs Outputs
	move    *Movement
	blocks  []gaussian.Block
	kept    []int // numbers of the inputs that are left
	first   []int // place of each input among the unconstrained parameters
	dim     int   // of the target as declared
	lp      *ad.Node
	prog    *ad.Program // log density and gradient
	recover *ad.Program // means and precisions of the blocks at parameters as declared
	// recovered has the place of each block's mean among the outputs of recover, and their number at the end.
	recovered []int

	laplace *laplaced // nil where the density is exact; lp, prog and recover are then nil
	// tried says that the way to modes is watched, of which there were modes so far, found in runs evaluations.
	tried       bool
	modes, runs int

	run, at *ad.State
	drawn   []float64   // memory of fill
	values  [][]float64 // likewise
}

var (
	_ Movable     = (*marginal)(nil)
	_ Outputs     = (*marginal)(nil)
	_ Explainer   = (*marginal)(nil)
	_ Coordinates = (*marginal)(nil)
)

// integrate returns the target with what can be integrated out, or the target itself. What it is given may change later if that is asked for; otherwise gradients are cheaper.
func integrate(t Target, changing bool) Target {
	full, ok := t.(Movable)
	columns, has := t.(Outputs)
	if !ok || !has {
		return t
	}
	move := movement(full)
	if move == nil || len(move.Inputs) < 2 {
		return t
	}
	density := &gaussian.Density{LogProb: move.LogProb, Inputs: move.Inputs, Given: move.Given, GivenValues: move.GivenValues, Changing: changing}
	blocks, lp := density.Integrate()
	if len(blocks) == 0 {
		return t
	}
	m := newMarginal(full, columns, move, blocks)
	m.lp = lp
	outputs, rest := m.graph()
	var errs [2]error
	m.prog, errs[0] = ad.Compile(outputs, ad.Settings{Inputs: slices.Concat(rest, move.Given), Backend: ad.CPU{Threads: 1}})
	var nodes []*ad.Node
	for i := range blocks {
		m.recovered = append(m.recovered, len(nodes))
		nodes = append(append(nodes, blocks[i].Mean), blocks[i].Precision.Nodes()...)
	}
	m.recovered = append(m.recovered, len(nodes))
	m.recover, errs[1] = ad.Compile(nodes, ad.Settings{Inputs: slices.Concat(move.Inputs, move.Given), Backend: ad.CPU{Threads: 1}})
	if errors.Join(errs[:]...) != nil {
		return t
	}
	return m
}

// newMarginal returns a target without blocks that has no programs yet.
func newMarginal(full Movable, outputs Outputs, move *Movement, blocks []gaussian.Block) *marginal {
	m := &marginal{full: full, outputs: outputs, move: move, blocks: blocks}
	for i, u := range move.Inputs {
		m.first = append(m.first, m.dim)
		if m.dim += u.Size(); !slices.ContainsFunc(blocks, func(b gaussian.Block) bool { return slices.Contains(b.Inputs, i) }) {
			m.kept = append(m.kept, i)
		}
	}
	return m
}

// Dim is the method of Target.
func (m *marginal) Dim() (n int) {
	for _, i := range m.kept {
		n += m.move.Inputs[i].Size()
	}
	return n
}

// Clone is the method of Target.
func (m *marginal) Clone() Target {
	c := *m
	full := m.full.Clone()
	c.full, c.outputs, c.run, c.at, c.modes, c.runs, c.drawn, c.values = full.(Movable), full.(Outputs), nil, nil, 0, 0, nil, nil
	return &c
}

// over returns the target for other data of the same model, which was integrated with Changing.
func (m *marginal) over(p *Posterior) *marginal {
	c, move := *m, *m.move
	move.GivenValues = p.givenValues()
	c.full, c.outputs, c.move, c.run, c.at, c.drawn, c.values = p, p, &move, nil, nil, nil, nil
	return &c
}

// graph returns the log density and its gradient, and the parameters that are left.
func (m *marginal) graph() (outputs, rest []*ad.Node) {
	for _, i := range m.kept {
		rest = append(rest, m.move.Inputs[i])
	}
	return append([]*ad.Node{m.lp}, ad.Grad(m.lp, rest...)...), rest
}

// LogProbGrad is the log density of the parameters that are left.
func (m *marginal) LogProbGrad(q, g []float64) (float64, error) {
	if m.laplace != nil {
		return m.laplaceGrad(q, g)
	}
	if m.run == nil {
		m.run = graph.State(m.prog, len(m.kept), m.move.GivenValues)
	}
	copy(m.run.InputSpan(0, len(m.kept)), q)
	if err := m.run.Run(); err != nil {
		return math.NaN(), atPoint(err)
	}
	copy(g, m.run.OutputSpan(1, 1+len(m.kept)))
	return m.run.Output(0)[0], m.run.Err()
}

// atPoint returns an error of a program as one that concerns the point alone, if it does.
func atPoint(err error) error {
	var fault interface{ AtPoint() bool }
	if errors.As(err, &fault) && fault.AtPoint() {
		return Reject(err)
	}
	return err
}

// put writes the parameters that are left into those of the target as declared.
func (m *marginal) put(q, all []float64) {
	for _, i := range m.kept {
		q = q[copy(all[m.first[i]:m.first[i]+m.move.Inputs[i].Size()], q):]
	}
}

// project returns the parameters that are left of those of the target as declared.
func (m *marginal) project(q []float64) []float64 {
	out := make([]float64, 0, len(q))
	for _, i := range m.kept {
		out = append(out, q[m.first[i]:m.first[i]+m.move.Inputs[i].Size()]...)
	}
	return out
}

// expand writes the parameters of the target as declared into all: those that are left are q, and the others are drawn given them, the last block first, by a
// random stream that belongs to the bits of q. It returns the log density of what was drawn.
func (m *marginal) expand(q, all []float64) (log float64, err error) {
	src := tensor.NewStream(seedOf(q), purposeMarginal, 0)
	return m.fill(q, all, &src)
}

// fill is expand with random numbers from src, and the means where that is nil.
func (m *marginal) fill(q, all []float64, src *tensor.Stream) (log float64, err error) {
	if m.laplace != nil {
		log, _, err = m.weigh(q, all, src)
		return log, err
	}
	if m.at == nil {
		m.at = graph.State(m.recover, len(m.move.Inputs), m.move.GivenValues)
	}
	span := m.at.InputSpan(0, len(m.move.Inputs))
	clear(span)
	m.put(q, span)
	for k, b := range slices.Backward(m.blocks) {
		if err := m.at.Run(); err != nil {
			return math.NaN(), err
		}
		m.values = m.values[:0]
		for i := m.recovered[k] + 1; i < m.recovered[k+1]; i++ {
			m.values = append(m.values, m.at.Output(i))
		}
		m.drawn = slices.Grow(m.drawn[:0], b.Size())
		x := m.drawn[:b.Size()]
		log += gaussian.Draw(x, m.at.Output(m.recovered[k]), b.Precision, m.values, src)
		for _, i := range b.Inputs {
			x = x[copy(span[m.first[i]:m.first[i]+m.move.Inputs[i].Size()], x):]
		}
	}
	copy(all, span)
	return log, m.at.Err()
}

// Names is the method of Outputs.
func (m *marginal) Names() []string { return m.outputs.Names() }

// Len is the method of Outputs.
func (m *marginal) Len() int { return m.outputs.Len() }

// Write is the method of Outputs.
func (m *marginal) Write(q, out []float64) error {
	all := make([]float64, m.dim)
	if _, err := m.expand(q, all); err != nil {
		return err
	}
	return m.outputs.Write(all, out)
}

// Explain is the method of Explainer.
func (m *marginal) Explain(q []float64) string {
	e, ok := m.full.(Explainer)
	all := make([]float64, m.dim)
	if _, err := m.fill(q, all, nil); err != nil || !ok {
		return ""
	}
	return e.Explain(all)
}

// Coordinates is the method of Coordinates.
func (m *marginal) Coordinates() (names []string) {
	all := coordinates(m.full)
	for _, i := range m.kept {
		names = append(names, all[m.first[i]:m.first[i]+m.move.Inputs[i].Size()]...)
	}
	return names
}

// Movement is that of the parameters that are left.
func (m *marginal) Movement() *Movement {
	if m.laplace != nil { // its density is no graph
		return nil
	}
	out := &Movement{LogProb: m.lp, Given: m.move.Given, GivenValues: m.move.GivenValues}
	number := map[int]int{}
	for k, i := range m.kept {
		number[i] = k
		out.Inputs, out.Names = append(out.Inputs, m.move.Inputs[i]), append(out.Names, m.move.Names[i])
	}
	gone := func(n *ad.Node) bool {
		return slices.ContainsFunc(m.blocks, func(b gaussian.Block) bool {
			return slices.ContainsFunc(b.Inputs, func(i int) bool { return graph.Reads(n, m.move.Inputs[i]) })
		})
	}
	for _, l := range m.move.Located {
		if k, left := number[l.Input]; left && !slices.ContainsFunc(l.nodes(), gone) {
			l.Input = k
			out.Located = append(out.Located, l)
		}
	}
	out.elements = make([]int, len(out.Inputs))
	for k, u := range out.Inputs {
		for _, b := range m.blocks {
			if graph.Reads(b.Mean, u) {
				out.elements[k] += b.Size()
			}
		}
	}
	for _, i := range m.move.Heavy {
		if k, left := number[i]; left {
			out.Heavy = append(out.Heavy, k)
		}
	}
	for _, i := range m.move.Positive {
		if k, left := number[i]; left {
			out.Positive = append(out.Positive, k)
		}
	}
	return out
}

// priorPoints draws from the priors of the target as declared, without the parameters that are integrated out.
func (m *marginal) priorPoints(n int, seed uint64, posterior func(i int) []float64) ([][]float64, error) {
	p, ok := m.full.(priorPointer)
	if !ok {
		return nil, errors.New("infer: the target has no priors to draw from")
	}
	points, err := p.priorPoints(n, seed, posterior)
	for i := range points {
		points[i] = m.project(points[i])
	}
	return points, err
}

func (m *marginal) fingerprint() (string, error) {
	f, _, err := fingerprintOf(m.full)
	return f + " without " + fmt.Sprint(m.names()), err
}

// names are those of the parameters that are integrated out.
func (m *marginal) names() (names []string) {
	for _, b := range m.blocks {
		for _, i := range b.Inputs {
			names = append(names, m.move.Names[i])
		}
	}
	return names
}

// told says in words what is integrated out.
func (m *marginal) told() string {
	return joined(m.names()) + map[bool]string{true: " is", false: " are"}[len(m.names()) == 1] + " integrated out " + map[bool]string{true: "exactly", false: "by Laplace's approximation, corrected by weights,"}[m.laplace == nil] + " and drawn back"
}

// marginalOf returns the target with parameters integrated out that a target is, in whatever coordinates, or nil.
func marginalOf(t Target) *marginal {
	if m := movedOf(t); m != nil {
		t = m.Target
	}
	m, _ := t.(*marginal)
	return m
}

// whole returns unconstrained parameters with those that are integrated out, which have their conditional means.
func whole(t Target, q []float64) []float64 {
	m := marginalOf(t)
	if m == nil {
		return q
	}
	all := make([]float64, m.dim)
	if _, err := m.fill(q, all, nil); err != nil {
		fillNaN(all)
	}
	return all
}
