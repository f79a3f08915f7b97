package optim

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// lane is one fit in progress: Levenberg-Marquardt on normal equations, scaled
// like those of method LM. Its numbers depend on its row alone.
type lane struct {
	busy   bool
	row    int
	points int // residuals that count
	phase  phase

	x, trial []float64
	longest  []float64 // columns so far
	d        []float64 // 1/longest, 1 for none
	h        []float64 // d J^T J d
	g        []float64 // d J^T f
	column   []float64 // lengths of the columns at x, scaled
	y        []float64 // scaled step
	free     []bool    // parameters that no bound stops

	// Where h has lost the digits that the step needs: the triangle of J d, and
	// Q^T f.
	orthogonal bool
	r, qtf     []float64

	cost, size  float64 // |f|
	radius, par float64
	predicted   float64 // relative decrease of the cost
	slope       float64 // of the cost along the step, relative
	length      float64 // of the step
	last        float64 // length of the last polishing step
	polishes    int
	nfev        int
	status      Status
}

type phase uint8

const (
	fresh     phase = iota // the outputs will be those of the start
	trying                 // of a step to judge
	polishing              // of a Gauss-Newton step after convergence
)

func laneFloats(n int) int { return 2*n*n + 9*n }

func newLane(n int, mem *linalg.Arena) lane {
	v := lane{free: make([]bool, n)}
	for _, p := range []*[]float64{&v.x, &v.trial, &v.longest, &v.d, &v.g, &v.column, &v.y, &v.qtf} {
		*p = mem.Floats(n)
	}
	v.h, v.r = mem.Floats(n*n), mem.Floats(n*n)
	return v
}

func (v *lane) reset(row, points int) {
	v.busy, v.row, v.points, v.phase = true, row, points, fresh
	v.orthogonal, v.par, v.radius, v.nfev, v.polishes, v.status = false, 0, 0, 0, 0, none
	clear(v.longest)
}

// advance reads the outputs of a lane, and ends its fit or puts the next trial.
func (t *stepper) advance(c *batchWorker, l int, v *lane) {
	v.nfev++
	gramOf(t.gram, c.out[1:t.n+1], c.out[0], l)
	cost := t.costOf(c, l)
	switch v.phase {
	case fresh:
		if v.cost = cost; !linalg.Finite(cost) || !t.linearise(v) {
			c.res.fail(v.row, v.x, fmt.Errorf("the residual or its derivative is not finite at the start %v: choose another start or mask the point", v.x))
			v.busy = false
			return
		}
		v.phase = trying
		t.bind(v)
		if v.radius = t.s.FirstStep * v.scaledSize(); v.radius == 0 || !linalg.Finite(v.radius) {
			v.radius = t.s.FirstStep
		}
		t.propose(c, l, v, true)
	case trying:
		t.judge(c, l, v, cost)
	case polishing:
		t.judgePolish(c, l, v, cost)
	}
}

// judge takes or rejects the trial, as method LM does.
func (t *stepper) judge(c *batchWorker, l int, v *lane, cost float64) {
	actual := farUp
	if linalg.Finite(cost) && cost < 100*v.cost {
		actual = 1 - cost/v.cost
	}
	ratio := 0.0
	if v.predicted > 0 {
		ratio = actual / v.predicted
	}
	v.radius, v.par = stretch(v.radius, v.par, actual, ratio, v.slope, v.length)
	accepted := ratio > 1e-4
	if accepted && !t.accept(v, cost) {
		t.finish(c, l, v, Stuck)
		return
	}
	size := v.scaledSize()
	if end := settled(t.s.FTol, t.s.XTol, actual, v.predicted, ratio, v.radius, size); end != none {
		t.converged(c, l, v, end)
		return
	}
	if accepted {
		t.bind(v)
	}
	t.propose(c, l, v, accepted)
}

// accept moves to the trial; false where its derivative is not finite.
func (t *stepper) accept(v *lane, cost float64) bool {
	v.x, v.trial = v.trial, v.x
	v.cost = cost
	return t.linearise(v)
}

// scaledSize is the length of the scaled parameters.
func (v *lane) scaledSize() float64 {
	s := 0.0
	for k, x := range v.x {
		u := x / v.d[k]
		s += u * u
	}
	return math.Sqrt(s)
}

// propose ends the fit where the gradient is small or the evaluations are used
// up, else puts the next trial. here says that the outputs are those of x.
func (t *stepper) propose(c *batchWorker, l int, v *lane, here bool) {
	if slope := v.cosine(); slope < t.s.GTol || slope == 0 {
		t.converged(c, l, v, GradientSmall)
		return
	}
	if v.nfev >= t.s.MaxEvaluations {
		t.finish(c, l, v, MaxEvaluations)
		return
	}
	for {
		t.solve(v, 0)
		if here && t.minute < dull && !v.orthogonal {
			t.factorJacobian(c, l, v)
			t.solve(v, 0)
		}
		v.par = t.within(v, v.radius, v.par)
		t.box(v)
		v.length = linalg.Norm(v.y)
		if t.expect(v); v.predicted > 0 {
			break
		}
		// Bounds spoil the step, or rounding does: a shorter one leads downhill.
		if v.radius = 0.25 * min(v.radius, v.length); !(v.radius > 0x1p-52*v.scaledSize()) {
			t.converged(c, l, v, StepSmall)
			return
		}
	}
	if v.nfev == 1 {
		v.radius = min(v.radius, v.length)
	}
	for k, y := range v.y {
		v.trial[k] = t.clipped(k, v.x[k]+v.d[k]*y)
	}
	c.put(l, v.trial)
}

// cosine is the largest cosine between the residuals and a free column.
func (v *lane) cosine() float64 {
	worst := 0.0
	for k, g := range v.g {
		if v.column[k] > 0 && v.free[k] && v.size > 0 {
			worst = max(worst, math.Abs(g)/(v.column[k]*v.size))
		}
	}
	return worst
}

// expect computes what the model predicts for y.
func (t *stepper) expect(v *lane) {
	n := len(v.y)
	slope, curve := linalg.Dot(v.g, v.y), 0.0
	for i, y := range v.y {
		curve += y * linalg.Dot(v.h[i*n:(i+1)*n], v.y)
	}
	v.predicted = -(slope + curve/2) / v.cost
	v.slope = slope / (2 * v.cost)
}

// converged starts to polish, or ends.
func (t *stepper) converged(c *batchWorker, l int, v *lane, end Status) {
	v.status = end
	if t.s.NoPolish || v.cost == 0 {
		t.finish(c, l, v, end)
		return
	}
	t.bind(v)
	v.phase, v.last = polishing, math.Inf(1)
	t.polish(c, l, v)
}

// polish puts a Gauss-Newton step. One after which, at the rate of the last two,
// nothing would be left to gain is taken without a trial.
func (t *stepper) polish(c *batchWorker, l int, v *lane) {
	before := v.length
	t.gaussNewton(v)
	v.length = linalg.Norm(v.y)
	rate := min(1, v.length/before)
	size, inside := 0.0, linalg.AllFinite(v.y)
	for k, y := range v.y {
		x := v.x[k] + v.d[k]*y
		size = max(size, math.Abs(v.d[k]*y)/max(math.Abs(v.x[k]), 1e-300))
		inside = inside && x == t.clipped(k, x)
		v.trial[k] = x
	}
	switch {
	case !inside || size < 1e-15 || v.length >= v.last || size > 1e-2 || v.polishes >= 10:
		t.finish(c, l, v, v.status)
	case size*rate < 1e-10 && size < 1e-5:
		t.expect(v)
		copy(v.x, v.trial)
		v.cost *= 1 - max(0, v.predicted)
		t.finish(c, l, v, v.status)
	default:
		v.last = v.length
		v.polishes++
		c.put(l, v.trial)
	}
}

func (t *stepper) judgePolish(c *batchWorker, l int, v *lane, cost float64) {
	if !(cost <= v.cost*(1+1e-11)) {
		t.finish(c, l, v, v.status)
		return
	}
	if !t.accept(v, cost) {
		t.finish(c, l, v, Stuck)
		return
	}
	t.bind(v)
	if t.factor(v, 0); t.minute < dull {
		t.factorJacobian(c, l, v)
	}
	t.polish(c, l, v)
}

// finish stores the fit and frees the lane.
func (t *stepper) finish(c *batchWorker, l int, v *lane, end Status) {
	v.status, v.busy = end, false
	c.store(v)
}
