package infer

import "math"

// findStep returns a step near eps that one leapfrog from p accepts with
// probability about 0.8: it doubles or halves until it crosses. The momentum is
// fresh at every try.
func (t *trajectory) findStep(p *point, eps float64) (float64, error) {
	limit := math.Log(0.8)
	at := &t.ends[0]
	t.metric.force(p.w, p.g)
	for try, grow := 0, false; ; try++ {
		t.momentum.NormalTo(p.z)
		at.set(p)
		h0 := at.energy()
		err := t.leapfrog(at, eps)
		if err != nil && !recoverable(err) {
			return 0, err
		}
		d := h0 - at.energy()
		if err != nil {
			d = math.Inf(-1)
		}
		if try == 0 {
			grow = d > limit
		} else if grow != (d > limit) {
			return eps, nil
		}
		if grow {
			eps *= 2
		} else {
			eps /= 2
		}
		if eps > 1e7 {
			return 0, ErrImproper
		}
		if eps == 0 {
			return 0, ErrNoStep
		}
	}
}

// dualAverage adapts the logarithm of the step size so that a statistic of the
// trajectories meets its target on average.
//
//	eta = 1/(c+t0),  sbar = (1-eta) sbar + eta (delta - a)
//	log eps = mu - sbar sqrt(c)/gamma,  xbar = (1-c^-kappa) xbar + c^-kappa log eps
//
// Reference: Hoffman and Gelman, JMLR 15 (2014) 1593, section 3.2.
type dualAverage struct {
	delta      float64
	mu         float64
	count      float64 // c
	sbar, xbar float64
	maxLog     float64 // bound of log eps
}

const (
	dualGamma = 0.05
	dualT0    = 10 // and kappa is 3/4
)

// restart forgets all but the target and pulls towards 10 eps.
func (d *dualAverage) restart(eps float64) {
	d.mu, d.count, d.sbar, d.xbar = math.Log(10*eps), 0, 0, 0
}

// update takes the statistic of a trajectory and returns the next step size.
func (d *dualAverage) update(accept float64) float64 {
	d.count++
	eta := 1 / (d.count + dualT0)
	d.sbar = (1-eta)*d.sbar + eta*(d.delta-math.Min(accept, 1))
	root := math.Sqrt(d.count)
	x := math.Min(d.mu-d.sbar*root/dualGamma, d.maxLog)
	k := 1 / (root * math.Sqrt(root)) // c^-kappa
	d.xbar = (1-k)*d.xbar + k*x
	return math.Exp(x)
}

// final returns the step size to keep.
func (d *dualAverage) final() float64 { return math.Exp(d.xbar) }
