package infer

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// trajectory makes transitions of the no-U-turn sampler: multinomial choice
// within the trajectory, biased towards its new half, and the generalised
// criterion also across the joints of subtrees. It owns all memory a transition
// needs.
//
// References: Hoffman and Gelman, JMLR 15 (2014) 1593; Betancourt,
// arXiv:1701.02434 and arXiv:1601.00225.
type trajectory struct {
	system
	maxDepth int
	maxError float64 // energy error of a divergence
	noCross  bool    // skip the tests across joints
	steps    int     // of HMC, 0 for NUTS
	minDepth int     // doublings without tests
	time     float64 // doubled to, without tests; 0 for until it turns
	untested int     // doublings of this trajectory without tests

	jitterSteps bool           // HMC draws the number of steps from 1..steps
	momentum    *tensor.Stream // momenta
	choice      *tensor.Stream // directions and proposals
	forward     func() int     // the next side, for tests; nil for a random one
	interrupt   func() bool    // asked before every step

	ends  [2]point // backward, forward
	n     int      // parameters
	z     [2]int   // in mem: momenta of the ends
	inner int      // and where the current doubling began
	rho   int      // and the sum of all
	draw  proposal
	stack []subtree
	mem   []float64 // of subtrees and proposals
	out   transition
	h0    float64
	shift float64 // of weights, so that they stay in range

	eps   float64
	limit int    // doublings to make at most
	side  int    // of ends that moves
	leaf  int    // leaves of the current doubling
	top   int    // subtrees on the stack
	index [2]int // leaf number of each end, start is 0
}

// transition describes what a transition did.
type transition struct {
	depth, steps  int
	divergent     bool
	turned        bool
	index         int       // leaf of the draw, 0 is the start
	weight        float64   // sum of exp(H0 - H) over exp(shift)
	accept        float64   // sum over leaves of min(1, exp(H0 - H))
	symmetric     float64   // sum over leaves of 2 min(1, e^D)/(1 + e^D), D = H0 - H
	energy        float64   // of the draw
	energyError   float64   // of the draw, H - H0
	maxError      float64   // largest |H - H0| of a leaf
	message       string    // why it diverged
	startedAt     []float64 // where the trajectory that diverged began
	divergedAt    []float64 // and ended
	divergedError float64
	aborted       bool
}

func newTrajectory(t Target, m *Metric, maxDepth int, maxError float64, momentum, choice *tensor.Stream) *trajectory {
	n := t.Dim()
	tr := &trajectory{
		system:   system{target: t, metric: m, v: make([]float64, n)},
		maxDepth: maxDepth, maxError: maxError, momentum: momentum, choice: choice,
		ends: [2]point{newPoint(n), newPoint(n)}, n: n,
	}
	tr.z, tr.inner, tr.rho = [2]int{tr.room(n), tr.room(n)}, tr.room(n), tr.room(n)
	tr.draw = tr.newProposal()
	tr.interrupt = func() bool { return false }
	return tr
}

// move makes one transition from p with step eps and leaves the draw in p. If
// it is interrupted or the target fails, p is unchanged.
func (t *trajectory) move(p *point, eps float64) (*transition, error) {
	t.kick(p)
	for more := t.begin(p, eps); more; {
		if t.interrupt() {
			t.out.aborted = true
			return &t.out, nil
		}
		end := &t.ends[t.side]
		err := t.leapfrog(end, t.step())
		if err != nil && !recoverable(err) {
			t.out.steps++
			return &t.out, err
		}
		h := math.Inf(1)
		if err == nil {
			h = end.energy()
		}
		t.next().hold(t.mem, end)
		more = t.took(h, math.Exp(-math.Abs(t.h0-h)), err)
	}
	return t.settle(p), nil
}

// kick draws the momentum at p.
func (t *trajectory) kick(p *point) {
	t.metric.force(p.w, p.g)
	t.momentum.NormalTo(p.z)
}

// begin makes p, with its momentum and force, the root of a trajectory of steps
// eps. As long as it and took return true, the caller moves the end of the
// current side by step, puts where it has come to into next and calls took.
func (t *trajectory) begin(p *point, eps float64) bool {
	t.reset(p)
	t.eps, t.limit, t.untested = eps, t.maxDepth, t.minDepth
	if t.time > 0 {
		t.limit = min(t.limit, integrationDepth(t.time, eps))
		t.untested = t.limit
	}
	return t.double()
}

func (t *trajectory) reset(p *point) {
	t.out = transition{weight: 1}
	t.shift = 0
	t.ends[0].set(p)
	t.ends[1].set(p)
	t.index = [2]int{}
	for _, at := range [...]int{t.z[0], t.z[1], t.rho} {
		assign(t.mem[at:at+t.n], p.z)
	}
	t.h0 = p.energy()
	t.draw.hold(t.mem, p)
	t.draw.energy, t.draw.index = t.h0, 0
}

// double chooses the side on which the trajectory doubles next, if it may.
func (t *trajectory) double() bool {
	if t.out.depth >= t.limit {
		return false
	}
	t.leaf, t.top = 0, 0
	if t.forward != nil {
		t.side = t.forward()
	} else {
		t.side = int(t.choice.Uint32() & 1)
	}
	end := t.z[t.side]
	assign(t.mem[t.inner:t.inner+t.n], t.mem[end:end+t.n])
	return true
}

// step is the signed step of the side that moves.
func (t *trajectory) step() float64 {
	if t.side == 0 {
		return -t.eps
	}
	return t.eps
}

// took adds the leaf in next to the trajectory; its energy is h and e =
// exp(-|H0 - h|). It returns false when the trajectory is complete.
func (t *trajectory) took(h, e float64, err error) bool {
	s := &t.stack[t.top]
	t.index[t.side] += 2*t.side - 1
	if !t.weighed(s, h, e) {
		t.diverge(&t.ends[t.side], h-t.h0, err)
		return false
	}
	s.level, s.at = 0, stretch{s.room.first, s.room.first, s.room.first}
	s.draw.energy, s.draw.index = h, t.index[t.side]
	t.top++
	for n := t.leaf; n&1 == 1; n >>= 1 {
		t.top--
		if !t.merge(&t.stack[t.top-1], &t.stack[t.top]) {
			t.out.turned = true
			return false
		}
	}
	if t.leaf++; t.leaf < 1<<t.out.depth {
		return true
	}
	return t.join(&t.stack[0])
}

// weighed records what a leaf of energy h tells and gives s its weight. It
// returns false where the step diverged.
func (t *trajectory) weighed(s *subtree, h, e float64) bool {
	o, d := &t.out, t.h0-h
	o.steps++
	o.symmetric += 2 * e / (1 + e)
	if d >= 0 {
		o.accept++
	} else {
		o.accept += e
	}
	o.maxError = max(o.maxError, math.Abs(d))
	if !(-d <= t.maxError) {
		return false
	}
	s.weight = t.weigh(d, e)
	return true
}

// join adds a complete subtree, the new half, to the trajectory.
func (t *trajectory) join(sub *subtree) bool {
	t.out.depth++
	if sub.weight >= t.out.weight || t.choice.Float64()*t.out.weight < sub.weight {
		t.draw, sub.draw = sub.draw, t.draw
	}
	t.out.weight += sub.weight
	cross, whole := t.straight(stretch{t.z[1-t.side], t.inner, t.rho}, sub.at, t.rho)
	t.out.turned = t.out.depth > t.untested && !(whole && (cross || t.noCross))
	end := t.z[t.side]
	assign(t.mem[end:end+t.n], t.mem[sub.at.last:sub.at.last+t.n])
	return !t.out.turned && t.double()
}

// settle leaves the draw of a complete trajectory in p, where it began.
func (t *trajectory) settle(p *point) *transition {
	if t.out.divergent {
		t.out.startedAt = append([]float64(nil), p.q...)
	}
	d := &t.draw
	q, g := d.vectors(t.mem, len(p.q))
	assign(p.q, q)
	assign(p.g, g)
	p.lp = d.lp
	t.out.energy, t.out.energyError, t.out.index = d.energy, d.energy-t.h0, d.index
	return &t.out
}

// maxWeight bounds the logarithm of a leaf's weight; sums of 2^20 leaves stay
// far from overflow.
const maxWeight = 300

// weigh returns the weight of a leaf with energy H0 - d, where e = exp(-|d|). One
// that would be too large becomes the unit of all weights.
func (t *trajectory) weigh(d, e float64) float64 {
	if t.shift == 0 && d <= maxWeight {
		if d > 0 {
			return 1 / e
		}
		return e
	}
	if d > t.shift+maxWeight {
		f := math.Exp(t.shift - d)
		t.out.weight *= f
		for i := range t.stack {
			t.stack[i].weight *= f
		}
		t.shift = d
	}
	return math.Exp(d - t.shift)
}

func (t *trajectory) diverge(end *point, energyError float64, err error) {
	t.out.divergent = true
	t.out.message = complaint(end, energyError, t.maxError, err)
	t.out.divergedAt = append([]float64(nil), end.q...)
	t.out.divergedError = energyError
}
