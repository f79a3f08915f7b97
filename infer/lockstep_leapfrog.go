package infer

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
)

// leapfrogProgram makes whole leapfrogs in the program: momenta, places and energies too
// are vectors over the lanes. Every metric is a dense factor there, so that all
// lanes are alike.
type leapfrogProgram struct {
	state      *ad.State
	dim, lanes int
	given      int   // place of the data among the inputs
	batched    []int // inputs that have lanes

	from, to     []float64 // inputs and outputs q, z, w, each element in all lanes
	factor       []float64 // F by rows
	eps, h0      []float64
	g, lp, h, e  []float64
	metrics      []hamiltonian.Metric // that factor holds, by lane
	column, unit []float64
}

// newLeapfrogProgram compiles the leapfrog of a posterior. See system.leapfrog, here with
//
//	h = |z|^2/2 - lp,  e = exp(-|H0 - h|)
func newLeapfrogProgram(p *Posterior, batched []*ad.Node, lanes int) (func() integrator, error) {
	d := p.dim
	q, z, w, f := ad.Input("q", d), ad.Input("z", d), ad.Input("w", d), ad.Input("F", d, d)
	eps, h0 := ad.Input("eps"), ad.Input("H0")
	half := ad.Scale(0.5, eps)
	z1 := ad.Add(z, ad.Mul(half, w))
	q1 := ad.Add(q, ad.Mul(eps, ad.SumAxes(ad.Mul(f, ad.Reshape(z1, 1, d)), 1)))
	lp, g := p.densityAt(q1)
	w1 := ad.SumAxes(ad.Mul(f, ad.Reshape(g, d, 1)), 0)
	z2 := ad.Add(z1, ad.Mul(half, w1))
	h := ad.Sub(ad.Scale(0.5, ad.Sum(ad.Square(z2))), lp)
	e := ad.Exp(ad.Neg(ad.Abs(ad.Sub(h0, h))))
	own := []*ad.Node{q, z, w, f, eps, h0}
	inputs, batched := slices.Concat(own, p.inputs[len(p.model.params):], p.places()), slices.Concat(own, batched)
	prog, err := ad.Compile([]*ad.Node{q1, z2, w1, g, lp, h, e}, ad.Settings{Inputs: inputs, Batch: lanes, Batched: batched, Isolate: true, Backend: ad.CPU{Threads: 1}})
	return func() integrator { return startLeapfrogProgram(prog, p, lanes, placesOf(inputs, batched)) }, err
}

func startLeapfrogProgram(prog *ad.Program, p *Posterior, lanes int, batched []int) *leapfrogProgram {
	s, d := prog.NewState(), p.dim
	m := &leapfrogProgram{
		state: s, dim: d, lanes: lanes, given: 6, batched: batched, from: s.InputSpan(0, 3), to: s.OutputSpan(0, 3),
		factor: s.Input(3), eps: s.Input(4), h0: s.Input(5), g: s.Output(3), lp: s.Output(4), h: s.Output(5), e: s.Output(6),
		metrics: make([]hamiltonian.Metric, lanes), column: make([]float64, d), unit: make([]float64, d),
	}
	for lane := range lanes {
		m.measure(lane, &hamiltonian.Metric{})
	}
	spreadData(s, m.given, p, lanes)
	return m
}

// densityAt returns log density and gradient at the vector q of all parameters.
func (p *Posterior) densityAt(q *ad.Node) (lp, g *ad.Node) {
	k, at := len(p.model.params), 0
	pieces := make([]*ad.Node, k)
	for i, u := range p.inputs[:k] {
		pieces[i] = ad.Reshape(ad.Slice(q, 0, at, at+u.Size()), u.Shape()...)
		at += u.Size()
	}
	out := ad.Substitute(p.graph, p.inputs[:k], pieces)
	for i, x := range out[1:] {
		pieces[i] = ad.Reshape(x, x.Size())
	}
	return apart(out[0]), ad.Concat(0, pieces...)
}

// apart returns a sum of sums with each of them term by term, see total.
func apart(lp *ad.Node) *ad.Node {
	switch op := lp.Op(); {
	case op == nil:
	case op.Name == "add":
		return op.Apply(apart(lp.In()[0]), apart(lp.In()[1]))
	case op.Name == "sum" && len(lp.Shape()) == 0:
		return total(lp.In()[0])
	}
	return lp
}

// total returns the sum of all elements, term by term: one that is the same
// for all elements, or in all lanes, then costs next to nothing.
func total(n *ad.Node) *ad.Node {
	if op := n.Op(); op != nil && (op.Name == "add" || op.Name == "sub") {
		x, y := n.In()[0], n.In()[1]
		x, y = total(ad.Broadcast(x, n.Shape()...)), total(ad.Broadcast(y, n.Shape()...))
		return op.Apply(x, y)
	}
	return ad.Sum(n)
}

func (m *leapfrogProgram) load(lane int, p *Posterior) { load(m.state, m.given, lane, m.lanes, p) }

func (m *leapfrogProgram) place(lane int, t *hamiltonian.Trajectory, moved bool) {
	m.eps[lane] = t.Step()
	if !moved {
		return
	}
	m.h0[lane] = t.H0
	if held := &m.metrics[lane]; !held.Same(t.Metric) {
		*held = *t.Metric
		m.measure(lane, held)
	}
	end, k := &t.Ends[t.Side], m.dim*m.lanes
	scatter(m.from[:k], end.Q, lane, m.lanes)
	scatter(m.from[k:2*k], end.Z, lane, m.lanes)
	scatter(m.from[2*k:], end.W, lane, m.lanes)
}

// measure writes a metric into a lane.
func (m *leapfrogProgram) measure(lane int, metric *hamiltonian.Metric) {
	for j := range m.unit {
		clear(m.unit)
		m.unit[j] = 1
		metric.Velocity(m.column, m.unit)
		for i, v := range m.column {
			m.factor[(i*m.dim+j)*m.lanes+lane] = v
		}
	}
}

func (m *leapfrogProgram) run() error {
	if err := m.state.Run(); err != nil {
		return err
	}
	copy(m.from, m.to)
	return nil
}

func (m *leapfrogProgram) fetch(lane int, t *hamiltonian.Trajectory) (h, e float64) {
	s, d, n := t.Next(), m.dim, m.lanes
	q, g := s.Draw.Vectors(t.Mem, d)
	z := t.Mem[s.Room.First : s.Room.First+d]
	fromQ, fromZ, fromG, at := m.from, m.from[d*n:], m.g, lane
	for i := range z {
		q[i], z[i], g[i] = fromQ[at], fromZ[at], fromG[at]
		at += n
	}
	s.Draw.Lp = m.lp[lane]
	if h, e = m.h[lane], m.e[lane]; math.IsNaN(h) {
		return math.Inf(1), 0
	}
	return h, e
}

func (m *leapfrogProgram) leave(lane int, end *hamiltonian.Point) {
	d, n := m.dim, m.lanes
	gather(end.Q, m.from, lane, n)
	gather(end.Z, m.from[d*n:], lane, n)
	gather(end.W, m.from[2*d*n:], lane, n)
	gather(end.G, m.g, lane, n)
	end.Lp = m.lp[lane]
}

func (m *leapfrogProgram) alone(lane int, t *hamiltonian.Trajectory) error {
	end, k := &t.Ends[t.Side], m.dim*m.lanes
	gather(end.Q, m.from, lane, m.lanes)
	gather(end.Z, m.from[k:], lane, m.lanes)
	gather(end.W, m.from[2*k:], lane, m.lanes)
	err := t.Leapfrog(end, t.Step())
	t.Count-- // the lock-step runner counts it
	return err
}

func (m *leapfrogProgram) imitate(lane, other int) {
	imitate(m.state, lane, other, m.lanes, m.batched)
	m.metrics[lane] = hamiltonian.Metric{Scale: make([]float64, 1)} // none that a tree has
}

func (m *leapfrogProgram) park(lane int, q []float64) {
	m.eps[lane] = 0
	scatter(m.from[:m.dim*m.lanes], q, lane, m.lanes)
}

// spreadData gives the inputs from the first on the data of a posterior, in all lanes.
func spreadData(s *ad.State, first int, p *Posterior, lanes int) {
	for i, v := range p.given() {
		if to := s.Input(first + i); len(to) == len(v) {
			copy(to, v)
		} else {
			for lane := range lanes {
				scatter(to, v, lane, lanes)
			}
		}
	}
}

// load puts the data of a posterior into a lane.
func load(s *ad.State, first, lane, lanes int, p *Posterior) {
	for i, v := range p.given() {
		if to := s.Input(first + i); len(to) != len(v) {
			scatter(to, v, lane, lanes)
		}
	}
}

// imitate gives a lane the numbers of another in some inputs.
func imitate(s *ad.State, lane, other, lanes int, inputs []int) {
	for _, i := range inputs {
		v := s.Input(i)
		for at := 0; at < len(v); at += lanes {
			v[at+lane] = v[at+other]
		}
	}
}

// placesOf returns the inputs of a program that are among nodes.
func placesOf(inputs, nodes []*ad.Node) (at []int) {
	for i, n := range inputs {
		if slices.Contains(nodes, n) {
			at = append(at, i)
		}
	}
	return at
}

// scatter writes v, and gather reads it, where element i of a lane is at
// i*lanes + lane.
func scatter(to, v []float64, lane, lanes int) {
	for _, x := range v {
		to[lane] = x
		lane += lanes
	}
}

func gather(v, from []float64, lane, lanes int) {
	for i := range v {
		v[i] = from[lane]
		lane += lanes
	}
}
