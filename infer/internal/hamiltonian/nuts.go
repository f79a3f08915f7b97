// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// Tree makes transitions of the no-U-turn sampler: multinomial choice
// within the trajectory, biased towards its new half, and the generalised
// criterion also across the joints of subtrees. It owns all memory a transition
// needs.
//
// References: Hoffman and Gelman, JMLR 15 (2014) 1593; Betancourt,
// arXiv:1701.02434 and arXiv:1601.00225.
type Tree struct {
	Trajectory
	MaxDepth int
	// NoCross skips the turning tests across subtrees.
	NoCross bool
	// MinDepth is the number of doublings without turning tests.
	MinDepth int
	// Time is the length to which a trajectory doubles without tests, in whitened units; 0
	// lets it turn.
	Time float64
	// untested is the number of doublings of this trajectory without tests.
	untested int
	// SoftError is the energy error at which half of the steps are refined, 0 for plain leapfrogs.
	SoftError float64
	// These serve tests: Forward chooses the next side, Decide takes a part of a whole, and Weigh changes the ratio of a soft step. nil: at random, or as
	// it is.
	Forward func() int
	Decide  func(part, whole float64) bool
	Weigh   func(ratio float64) float64
	// soft is nil without soft steps, and levels is their highest.
	soft   *soft
	levels int

	// n is the number of parameters.
	n int
	// z are the places in Mem of the momenta of the ends.
	z [2]int
	// inner is the place in Mem of the momentum where the current doubling began.
	inner int
	// rho is the place in Mem of the sum of all momenta.
	rho   int
	draw  proposal
	stack []subtree
	// Mem is the memory of subtrees and proposals.
	Mem []float64
	// Shift is what log weights are reduced by, so that weights stay in range.
	Shift float64

	eps float64
	// limit bounds the number of doublings.
	limit int
	// Side is the number of the end that moves.
	Side int
	// leaf is the number of leaves of the current doubling.
	leaf int
	// top is the number of subtrees on the stack.
	top int
	// index is the number of the leaf at each end, counted from the start, which is 0.
	index [2]int
}

// NewTree makes the workspace of the transitions of one chain. The random streams are those of momenta, and of
// directions and proposals.
func NewTree(t Density, m *Metric, maxDepth int, maxError float64, momentum, choice *tensor.Stream) *Tree {
	n := t.Dim()
	tr := &Tree{Trajectory: newTrajectory(t, m, maxError, momentum, choice), MaxDepth: maxDepth, n: n, levels: softLevels}
	tr.z, tr.inner, tr.rho = [2]int{tr.room(n), tr.room(n)}, tr.room(n), tr.room(n)
	tr.draw = tr.newProposal()
	return tr
}

// Move makes one transition from p with step eps and leaves the draw in p. If
// it is interrupted or the target fails, p is unchanged.
func (t *Tree) Move(p *Point, eps float64) (*Transition, error) {
	t.DrawMomentum(p)
	for more := t.Begin(p, eps); more; {
		if t.Interrupt() {
			t.Out.Aborted = true
			return &t.Out, nil
		}
		end := &t.Ends[t.Side]
		err := t.advance(end, t.Step())
		if err != nil && !Recoverable(err) {
			t.Out.Steps++
			return &t.Out, err
		}
		h := math.Inf(1)
		if err == nil {
			h = end.Energy()
		}
		t.Next().Hold(t.Mem, end)
		more = t.TakeLeaf(h, math.Exp(-math.Abs(t.H0-h)), err)
	}
	return t.Finish(p), nil
}

// advance moves an end by a step.
func (t *Tree) advance(end *Point, eps float64) error {
	if t.SoftError > 0 {
		return t.softStep(end, eps)
	}
	return t.Leapfrog(end, eps)
}

// decide takes a part of a whole with the probability that it is.
func (t *Tree) decide(part, whole float64) bool {
	if t.Decide != nil {
		return t.Decide(part, whole)
	}
	return t.choice.Float64()*whole < part
}

// Begin makes p, with its momentum and force, the root of a trajectory of steps
// eps. As long as it and took return true, the caller moves the end of the
// current side by step, puts where it has come to into next and calls took.
func (t *Tree) Begin(p *Point, eps float64) bool {
	t.reset(p)
	t.eps, t.limit, t.untested = eps, t.MaxDepth, t.MinDepth
	if t.Time > 0 {
		t.limit = min(t.limit, integrationDepth(t.Time, eps))
		t.untested = t.limit
	}
	return t.double()
}

// reset makes p the only point of the trajectory.
func (t *Tree) reset(p *Point) {
	t.Trajectory.reset(p)
	if t.SoftError > 0 {
		if t.soft == nil {
			t.soft = &soft{from: NewPoint(t.n), to: NewPoint(t.n)}
		}
		t.soft.ratio = [2]float64{}
	}
	t.Out.Weight, t.Shift, t.index = 1, 0, [2]int{}
	for _, at := range [...]int{t.z[0], t.z[1], t.rho} {
		linalg.Assign(t.Mem[at:at+t.n], p.Z)
	}
	t.draw.hold(t.Mem, p)
	t.draw.energy, t.draw.index = t.H0, 0
}

// double chooses the side on which the trajectory doubles next, if it may.
func (t *Tree) double() bool {
	if t.Out.Depth >= t.limit {
		return false
	}
	t.leaf, t.top = 0, 0
	if t.Forward != nil {
		t.Side = t.Forward()
	} else {
		t.Side = int(t.choice.Uint32() & 1)
	}
	end := t.z[t.Side]
	linalg.Assign(t.Mem[t.inner:t.inner+t.n], t.Mem[end:end+t.n])
	return true
}

// Step is the signed step of the side that moves.
func (t *Tree) Step() float64 {
	if t.Side == 0 {
		return -t.eps
	}
	return t.eps
}

// TakeLeaf adds the leaf in next to the trajectory; its energy is h and e =
// exp(-|H0 - h|). It returns false when the trajectory is complete.
func (t *Tree) TakeLeaf(h, e float64, err error) bool {
	s := &t.stack[t.top]
	t.index[t.Side] += 2*t.Side - 1
	if !t.weighLeaf(s, h, e) {
		t.diverge(&t.Ends[t.Side], h-t.H0, err)
		return false
	}
	s.level, s.at = 0, segment{s.Room.First, s.Room.First, s.Room.First}
	s.Draw.energy, s.Draw.index = h, t.index[t.Side]
	t.top++
	for n := t.leaf; n&1 == 1; n >>= 1 {
		t.top--
		if !t.merge(&t.stack[t.top-1], &t.stack[t.top]) {
			t.Out.Turned = true
			return false
		}
	}
	if t.leaf++; t.leaf < 1<<t.Out.Depth {
		return true
	}
	return t.join(&t.stack[0])
}

// weighLeaf records what a leaf of energy h tells and gives s its weight. It
// returns false where the step diverged.
func (t *Tree) weighLeaf(s *subtree, h, e float64) bool {
	o, d := &t.Out, t.H0-h
	o.Steps++
	if t.SoftError > 0 { // the step size follows what plain leapfrogs would do
		plain := t.H0 - t.soft.first
		o.rate(plain, math.Exp(-math.Abs(plain)))
	} else {
		o.rate(d, e)
	}
	o.MaxError = max(o.MaxError, math.Abs(d))
	if !(-d <= t.MaxError) {
		return false
	}
	if t.SoftError > 0 {
		d += t.soft.ratio[t.Side]
		e = math.Exp(-math.Abs(d))
	}
	s.weight = t.weigh(d, e)
	return true
}

// join adds a complete subtree, the new half, to the trajectory.
func (t *Tree) join(sub *subtree) bool {
	t.Out.Depth++
	if sub.weight >= t.Out.Weight || t.decide(sub.weight, t.Out.Weight) {
		t.draw, sub.Draw = sub.Draw, t.draw
	}
	t.Out.Weight += sub.weight
	cross, whole := t.straight(segment{t.z[1-t.Side], t.inner, t.rho}, sub.at, t.rho)
	t.Out.Turned = t.Out.Depth > t.untested && !(whole && (cross || t.NoCross))
	end := t.z[t.Side]
	linalg.Assign(t.Mem[end:end+t.n], t.Mem[sub.at.last:sub.at.last+t.n])
	return !t.Out.Turned && t.double()
}

// Finish leaves the draw of a complete trajectory in p, where it began.
func (t *Tree) Finish(p *Point) *Transition {
	if t.Out.Divergent {
		t.Out.StartedAt = append([]float64(nil), p.Q...)
	}
	d := &t.draw
	q, g := d.Vectors(t.Mem, len(p.Q))
	linalg.Assign(p.Q, q)
	linalg.Assign(p.G, g)
	p.Lp = d.Lp
	t.Out.Energy, t.Out.EnergyError, t.Out.Index = d.energy, d.energy-t.H0, d.index
	return &t.Out
}

// maxWeight bounds the logarithm of a leaf's weight; sums of 2^20 leaves stay
// far from overflow.
const maxWeight = 300

// weigh returns the weight of a leaf with energy H0 - d, where e = exp(-|d|). One
// that would be too large becomes the unit of all weights.
func (t *Tree) weigh(d, e float64) float64 {
	if t.Shift == 0 && d <= maxWeight {
		if d > 0 {
			return 1 / e
		}
		return e
	}
	if d > t.Shift+maxWeight {
		f := math.Exp(t.Shift - d)
		t.Out.Weight *= f
		for i := range t.stack {
			t.stack[i].weight *= f
		}
		t.Shift = d
	}
	return math.Exp(d - t.Shift)
}
