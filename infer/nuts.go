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
	forward     func() bool    // the next direction
	interrupt   func() bool    // asked before every step

	ends  [2]point // backward, forward
	inner []float64
	rho   []float64
	draw  proposal
	stack []subtree
	out   transition
	h0    float64
	shift float64 // of weights, so that they stay in range
	index [2]int  // leaf number of each end, start is 0
}

// subtree is a finished binary subtree. A single leaf uses only first.
type subtree struct {
	level            int
	first, last, rho []float64 // momenta of the first and last leaf, sum of all
	weight           float64   // sum of exp(H0 - H) over exp(shift)
	draw             proposal
}

// proposal is a leaf chosen from a subtree.
type proposal struct {
	q, g       []float64
	lp, energy float64
	index      int
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
		ends:  [2]point{newPoint(n), newPoint(n)},
		inner: make([]float64, n), rho: make([]float64, n), draw: newProposal(n),
	}
	tr.forward = func() bool { return tr.choice.Uint32()&1 == 1 }
	tr.interrupt = func() bool { return false }
	return tr
}

func newProposal(n int) proposal {
	b := make([]float64, 2*n)
	return proposal{q: b[:n:n], g: b[n:]}
}

// move makes one transition from p with step eps and leaves the draw in p. If
// it is interrupted or the target fails, p is unchanged.
func (t *trajectory) move(p *point, eps float64) (*transition, error) {
	t.metric.force(p.w, p.g)
	t.momentum.NormalTo(p.z)
	t.begin(p)
	limit := t.maxDepth
	t.untested = t.minDepth
	if t.time > 0 {
		limit = min(limit, integrationDepth(t.time, eps))
		t.untested = limit
	}
	for t.out.depth < limit {
		ok, err := t.double(eps)
		if err != nil || t.out.aborted {
			return &t.out, err
		}
		if !ok {
			break
		}
	}
	if t.out.divergent {
		t.out.startedAt = append([]float64(nil), p.q...)
	}
	copy(p.q, t.draw.q)
	copy(p.g, t.draw.g)
	p.lp = t.draw.lp
	t.out.energy, t.out.energyError, t.out.index = t.draw.energy, t.draw.energy-t.h0, t.draw.index
	return &t.out, nil
}

func (t *trajectory) begin(p *point) {
	t.out = transition{weight: 1}
	t.shift = 0
	t.ends[0].set(p)
	t.ends[1].set(p)
	t.index = [2]int{}
	copy(t.rho, p.z)
	t.h0 = p.energy()
	t.draw.keep(p, t.h0, 0)
}

// double extends the trajectory by as many leaves as it has. It returns false
// when the trajectory is complete.
func (t *trajectory) double(eps float64) (bool, error) {
	side, dir := 0, -1
	if t.forward() {
		side, dir = 1, 1
	}
	end, far := &t.ends[side], &t.ends[1-side]
	copy(t.inner, end.z)
	sub, err := t.grow(end, eps, side, dir)
	if sub == nil || err != nil {
		return false, err
	}
	t.out.depth++
	if sub.weight >= t.out.weight || t.choice.Float64()*t.out.weight < sub.weight {
		t.draw, sub.draw = sub.draw, t.draw
	}
	t.out.weight += sub.weight
	rho := sub.rho
	if sub.level == 0 {
		rho = sub.first
	}
	straight := t.noCross || ahead(far.z, sub.first, t.rho, sub.first) && ahead(t.inner, end.z, rho, t.inner)
	axpy(t.rho, 1, rho)
	t.out.turned = t.out.depth > t.untested && (!straight || !ahead(far.z, end.z, t.rho, nil))
	return !t.out.turned, nil
}

// grow builds a subtree of 2^depth leaves from end and returns it, or nil when
// it turned, diverged or was interrupted.
func (t *trajectory) grow(end *point, eps float64, side, dir int) (*subtree, error) {
	top := 0
	for leaf := range 1 << t.out.depth {
		if t.interrupt() {
			t.out.aborted = true
			return nil, nil
		}
		t.index[side] += dir
		s := t.slot(top)
		if ok, err := t.leaf(end, float64(dir)*eps, t.index[side], s); !ok {
			return nil, err
		}
		top++
		for n := leaf; n&1 == 1; n >>= 1 {
			top--
			if !t.merge(&t.stack[top-1], &t.stack[top]) {
				t.out.turned = true
				return nil, nil
			}
		}
	}
	return &t.stack[0], nil
}

// slot returns place k of the stack, which grows at most once per depth.
func (t *trajectory) slot(k int) *subtree {
	for len(t.stack) <= k {
		n := len(t.v)
		b := make([]float64, 3*n)
		t.stack = append(t.stack, subtree{first: b[:n:n], last: b[n : 2*n : 2*n], rho: b[2*n:], draw: newProposal(n)})
	}
	return &t.stack[k]
}

// leaf moves end by one step and stores it as a subtree of one leaf. It returns
// false when the step diverged.
func (t *trajectory) leaf(end *point, eps float64, index int, s *subtree) (bool, error) {
	err := t.leapfrog(end, eps)
	t.out.steps++
	if err != nil && !recoverable(err) {
		return false, err
	}
	h := math.Inf(1)
	if err == nil {
		h = end.energy()
	}
	d := t.h0 - h
	e := math.Exp(-math.Abs(d))
	t.out.symmetric += 2 * e / (1 + e)
	if d >= 0 {
		t.out.accept++
	} else {
		t.out.accept += e
	}
	t.out.maxError = math.Max(t.out.maxError, math.Abs(d))
	if !(-d <= t.maxError) {
		t.diverge(end, -d, err)
		return false, nil
	}
	s.level, s.weight = 0, t.weigh(d, e)
	copy(s.first, end.z)
	s.draw.keep(end, h, index)
	return true, nil
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

// merge joins the neighbours a and b, b being later in time of construction,
// into a. It returns false when the trajectory turns within them.
func (t *trajectory) merge(a, b *subtree) bool {
	free := t.out.depth < t.untested
	if a.level == 0 {
		for i, z := range a.first {
			a.rho[i] = z + b.first[i]
		}
		if !free && !ahead(a.first, b.first, a.rho, nil) {
			return false
		}
		a.last, b.first = b.first, a.last
	} else {
		if !free && !t.noCross && !(ahead(a.first, b.first, a.rho, b.first) && ahead(a.last, b.last, b.rho, a.last)) {
			return false
		}
		axpy(a.rho, 1, b.rho)
		if !free && !ahead(a.first, b.last, a.rho, nil) {
			return false
		}
		a.last, b.last = b.last, a.last
	}
	a.level++
	weight := a.weight + b.weight
	if t.choice.Float64()*weight < b.weight {
		a.draw, b.draw = b.draw, a.draw
	}
	a.weight = weight
	return true
}

func (p *proposal) keep(at *point, energy float64, index int) {
	copy(p.q, at.q)
	copy(p.g, at.g)
	p.lp, p.energy, p.index = at.lp, energy, index
}

// ahead reports whether both momenta a and b still point along the sum rho +
// extra; extra may be nil. NaN does not.
func ahead(a, b, rho, extra []float64) bool {
	var x, y float64
	b, rho = b[:len(a)], rho[:len(a)]
	if extra == nil {
		for i, r := range rho {
			x += a[i] * r
			y += b[i] * r
		}
	} else {
		for i, r := range rho {
			r += extra[i]
			x += a[i] * r
			y += b[i] * r
		}
	}
	return x > 0 && y > 0
}
