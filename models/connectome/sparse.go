// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/tensor"
)

// Sparse is a fibre whose weights are made row by row, when a source neuron first matters. It is
// made by Listed, LowRank or Mask.Of.
type Sparse struct {
	sources, targets int
	nodes            []*ad.Node // Nodes that the weights are made from
	rows             rows
	err              error
}

// rows makes weights from the values of the Nodes.
type rows interface {
	// row appends the targets, ascending, and the weights of source i.
	row(to []int32, w []float64, i int, in [][]float64) ([]int32, []float64)
	// back adds to d, the gradients of the nodes, what g, the gradient of the weights w
	// of source i, tells.
	back(d [][]float64, i int, to []int32, w, g []float64, in [][]float64)
}

// Listed makes a fibre of edges with weights w [synapses].
//
// Gradient: with respect to w.
func Listed(e *Edges, w *ad.Node) *Sparse {
	if err := e.check(); err != nil {
		return &Sparse{err: err}
	}
	s := &Sparse{sources: e.Sources, targets: e.Targets, nodes: []*ad.Node{w}, rows: listed{e}}
	if w.Err() == nil && w.Size() != e.Len() {
		s.err = fmt.Errorf("there are %d weights, but %s: give one for each", w.Size(), errtext.Count(e.Len(), "synapse"))
	}
	return s
}

type listed struct{ *Edges }

func (e listed) row(to []int32, w []float64, i int, in [][]float64) ([]int32, []float64) {
	a, b := e.Start[i], e.Start[i+1]
	return append(to, e.To[a:b]...), append(w, in[0][a:b]...)
}

func (e listed) back(d [][]float64, i int, _ []int32, _, g []float64, _ [][]float64) {
	for q, v := range g {
		d[0][e.Start[i]+q] += v
	}
}

// LowRank makes a fibre whose synapses a rule (nil for assembly.Bernoulli) draws anew in each run,
// so that they take no memory:
//
//	W_ij = gain exp(u_i . v_j), with gain a scalar, u [sources, rank], v [f.N, rank]
//
// Gradient: with respect to gain, u and v.
func LowRank(f assembly.Fibre, sources int, rule func(dst []int32, f assembly.Fibre, source int) []int32, gain, u, v *ad.Node) *Sparse {
	if rule == nil {
		rule = assembly.Bernoulli
	}
	s := &Sparse{sources: sources, targets: f.N, nodes: []*ad.Node{gain, u, v}}
	for _, n := range s.nodes {
		if err := n.Err(); err != nil {
			return &Sparse{err: err}
		}
	}
	us, vs := u.Shape(), v.Shape()
	if gain.Size() != 1 || len(us) != 2 || len(vs) != 2 || us[0] != sources || vs[0] != f.N || us[1] != vs[1] {
		s.err = fmt.Errorf("the low-rank fibre from %d to %d neurons has gain %v, u %v and v %v: want a scalar, [sources, rank] and [targets, rank]", sources, f.N, gain.Shape(), us, vs)
		return s
	}
	s.rows = lowRank{f, rule, us[1]}
	return s
}

type lowRank struct {
	assembly.Fibre
	rule func(dst []int32, f assembly.Fibre, source int) []int32
	rank int
}

func (l lowRank) row(to []int32, w []float64, i int, in [][]float64) ([]int32, []float64) {
	to = l.rule(to, l.Fibre, i)
	u := in[1][i*l.rank : (i+1)*l.rank]
	for _, j := range to {
		sum := 0.0
		for r, a := range u {
			sum += a * in[2][int(j)*l.rank+r]
		}
		w = append(w, in[0][0]*math.Exp(sum))
	}
	return to, w
}

func (l lowRank) back(d [][]float64, i int, to []int32, w, g []float64, in [][]float64) {
	u, du := in[1][i*l.rank:(i+1)*l.rank], d[1][i*l.rank:(i+1)*l.rank]
	for q, j := range to {
		theta := g[q] * w[q]
		d[0][0] += theta / in[0][0]
		v, dv := in[2][int(j)*l.rank:], d[2][int(j)*l.rank:]
		for r := range u {
			du[r] += theta * v[r]
			dv[r] += theta * u[r]
		}
	}
}

// Mask is a fibre whose synapses exist with a probability that has a gradient: the
// concrete relaxation of a random graph (Maddison, Mnih and Teh, arXiv:1611.00712) with
// fixed random numbers u_ij,
//
//	W_ij = jitter_ij sigmoid((logit p + logit u_ij)/Tau)
type Mask struct {
	Sources, Targets int
	Seed             uint64
	Tau              float64 // temperature of the relaxation. Default 0.1
	// Straight makes W_ij 0 or 1 in the forward pass: the random graph itself.
	Straight bool
	// Jitter spreads the weights evenly over 1 to 1 + Jitter, to break ties.
	Jitter float64

	lock sync.Mutex
	from float64     // least logit u among the candidates
	have []candidate // candidates by source
}

// candidate lists the targets of a source that may matter, with exp(-logit(u)/Tau) and the weight of
// an existing synapse.
type candidate struct {
	to         []int32
	fall, full []float64
}

// negligible is the mask below which a synapse counts as absent.
const negligible = 1e-8

// purposeMask is the random stream of masks; the stream's number is the source.
const purposeMask uint32 = 512

// Of makes the fibre whose synapses exist with the probability that has the given logit, a scalar.
// The random numbers are drawn once and kept.
//
// Gradient: with respect to logitP; with Straight it is that of the soft mask.
//
// On a device each source is one block of threads that draws its random numbers anew.
func (m *Mask) Of(logitP *ad.Node) *Sparse {
	s := &Sparse{sources: m.Sources, targets: m.Targets, nodes: []*ad.Node{logitP}, rows: m}
	if m.Tau == 0 {
		m.Tau = 0.1
	}
	if !(m.Tau > 0 && m.Jitter >= 0) || m.Sources < 1 || m.Targets < 1 {
		s.err = fmt.Errorf("the mask from %d to %d neurons has temperature %g and jitter %g: want at least 1 neuron each, a temperature above 0 and jitter of at least 0", m.Sources, m.Targets, m.Tau, m.Jitter)
	}
	return s
}

// candidates returns the candidates of a source for masks of at least negligible at logit p.
func (m *Mask) candidates(i int, logitP float64) candidate {
	m.lock.Lock()
	defer m.lock.Unlock()
	least := -logitP + m.Tau*math.Log(negligible)
	if m.have == nil || least < m.from {
		m.have, m.from = make([]candidate, m.Sources), least-0.5
	}
	c := &m.have[i]
	if c.to == nil {
		c.to = []int32{}
		src := tensor.NewStream(m.Seed, purposeMask, uint32(i))
		for j := range m.Targets {
			u, extra := src.Float64(), float64(src.Float32())
			if l := math.Log(u) - math.Log1p(-u); l >= m.from {
				c.to, c.fall, c.full = append(c.to, int32(j)), append(c.fall, math.Exp(-l/m.Tau)), append(c.full, 1+m.Jitter*extra)
			}
		}
	}
	return *c
}

func (m *Mask) row(to []int32, w []float64, i int, in [][]float64) ([]int32, []float64) {
	c := m.candidates(i, in[0][0])
	to, w = slices.Grow(to, len(c.to)), slices.Grow(w, len(c.to))
	fall := math.Exp(-in[0][0] / m.Tau)
	for q, e := range c.fall {
		v := 1 / (1 + fall*e)
		if v < negligible {
			continue
		}
		if m.Straight {
			v = math.Round(v)
		}
		to, w = append(to, c.to[q]), append(w, c.full[q]*v)
	}
	return to, w
}

func (m *Mask) back(d [][]float64, i int, to []int32, w, g []float64, in [][]float64) {
	c := m.candidates(i, in[0][0])
	at, sum, fall := 0, 0.0, math.Exp(-in[0][0]/m.Tau)
	for q, j := range to {
		for c.to[at] != j {
			at++
		}
		v := w[q] / c.full[at]
		if m.Straight {
			v = 1 / (1 + fall*c.fall[at])
		}
		sum += g[q] * c.full[at] * v * (1 - v)
	}
	d[0][0] += sum / m.Tau
}

// UnrollSparse is Unroll for one stimulus with sparse weights, as one operation; it returns the
// activities of all steps, [steps, n]. beta and wr may be nil. d.K must be a constant; d.Normalize
// cannot be used with sparse weights.
//
//	h = s W_s + y W_r,  y' = cap(h),  W *= 1 + beta pre y'^T
//
// Only rows of neurons that fire are made. The gradient continues from where the forward run ended,
// or repeats it if another run came between, and goes back by dividing plasticity out of the
// weights step by step, so that it needs only the activities, one W and one G of those rows, and no
// copy per step. Weights that MaxWeight has cut are recorded. The quotients are accurate to about
// 1e-16 in each step, so that no checkpoints are needed in float64.
//
// Gradient: with respect to the stimulus, beta and what the weights are made from;
// first order.
//
// On a device a step is a scatter-add of rows, a selection and a pass over the rows of
// firing neurons, one block of threads for each row.
func UnrollSparse(stimulus *ad.Node, ws, wr *Sparse, beta *ad.Node, d Dynamics) *ad.Node {
	r, err := newSparseRun(stimulus, ws, wr, beta, d)
	if err != nil {
		return fault(fmt.Errorf("connectome: %w", err))
	}
	n := ws.targets
	c := &ad.Custom{Name: "connectome.unroll",
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{d.Steps, n}, nil },
		Forward: func(out []float64, in ...[]float64) error {
			r.keep(r.forward(out, in), in)
			return nil
		},
		Adjoint: func(dIn [][]float64, g, out []float64, in ...[]float64) error {
			r.kept(out, in).back(dIn, g)
			return nil
		}}
	in := append([]*ad.Node{stimulus}, ws.nodes...)
	if wr != nil {
		in = append(in, wr.nodes...)
	}
	if beta != nil {
		in = append(in, beta)
	}
	return ad.Call(c, in...)
}

func newSparseRun(stimulus *ad.Node, ws, wr *Sparse, beta *ad.Node, d Dynamics) (*sparseRun, error) {
	r := &sparseRun{ws: ws, wr: wr, plastic: beta != nil, Dynamics: d, n: ws.targets, m: ws.sources}
	for _, s := range []*Sparse{ws, wr} {
		if s != nil && s.err != nil {
			return nil, s.err
		}
	}
	if wr != nil && (wr.sources != r.n || wr.targets != r.n) {
		return nil, fmt.Errorf("the recurrent weights lead from %d to %d neurons: want %d of each", wr.sources, wr.targets, r.n)
	}
	if stimulus.Err() == nil && stimulus.Size() != r.m {
		return nil, fmt.Errorf("the stimulus has %s, but its fibre has %s: give one for each", errtext.Count(stimulus.Size(), "element"), errtext.Count(r.m, "source"))
	}
	if beta != nil && beta.Err() == nil && beta.Size() != 1 {
		return nil, fmt.Errorf("the plasticity has shape %v: want a scalar", beta.Shape())
	}
	if d.Normalize || d.Steps < 1 || d.Cap.T != nil || !(d.Cap.Temperature > 0 || d.Cap.Hard) {
		return nil, fmt.Errorf("the dynamics have Normalize %v, %s and temperature %g: sparse weights need Normalize off, at least 1 step and a constant temperature above 0", d.Normalize, errtext.Count(d.Steps, "step"), d.Cap.Temperature)
	}
	if d.K == nil {
		return nil, errors.New("the dynamics have no K: set it to the number of neurons that fire")
	}
	v, err := ad.Numbers(d.K)
	if err != nil {
		return nil, fmt.Errorf("the number K of neurons that fire must be a constant: %w", err)
	}
	if r.k = v[0][0]; !(r.k > 0) {
		return nil, fmt.Errorf("%g of %s are to fire: want more than 0", r.k, errtext.Count(r.n, "neuron"))
	}
	r.k = min(r.k, float64(r.n))
	return r, nil
}
