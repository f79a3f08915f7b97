package infer

import "math"

// Method is how a chain moves.
type Method int

const (
	// NUTS lets each trajectory turn by itself. The default.
	NUTS Method = iota
	// HMC makes Config.Steps leapfrogs and accepts the end or stays, the
	// Metropolis-adjusted Langevin algorithm where Steps is 1. It serves
	// comparisons and densities whose good trajectory length is known; Symmetric
	// adapts the step to NUTS's trees, so Metropolis is what it adapts to.
	//
	// Reference: Neal, arXiv:1206.1901.
	HMC
)

// static makes one transition of HMC from p and leaves the draw in p.
func (t *trajectory) static(p *point, eps float64) (*transition, error) {
	t.kick(p)
	t.reset(p)
	steps := t.steps
	if t.jitterSteps {
		steps = 1 + int(t.choice.Float64()*float64(t.steps))
	}
	end := &t.ends[1]
	for range steps {
		if t.interrupt() {
			t.out.aborted = true
			return &t.out, nil
		}
		err := t.leapfrog(end, eps)
		t.out.steps++
		if err != nil && !recoverable(err) {
			return &t.out, err
		}
		h := math.Inf(1)
		if err == nil {
			h = end.energy()
		}
		t.out.maxError = math.Max(t.out.maxError, math.Abs(h-t.h0))
		if !(h-t.h0 <= t.maxError) {
			t.diverge(end, h-t.h0, err)
			break
		}
	}
	t.accept(p, end)
	return &t.out, nil
}

// accept moves p to the end of a trajectory or stays.
func (t *trajectory) accept(p, end *point) {
	d := math.Inf(-1)
	if !t.out.divergent {
		d = t.h0 - end.energy()
	}
	rate := math.Exp(math.Min(d, 0))
	n := float64(t.out.steps)
	t.out.accept, t.out.symmetric = rate*n, rate*n // rates are means over steps
	t.out.energy = t.h0
	if t.out.divergent {
		t.out.startedAt = append([]float64(nil), p.q...)
	}
	if t.choice.Float64() < rate {
		t.out.energy, t.out.energyError, t.out.index = end.energy(), -d, t.out.steps
		copy(p.q, end.q)
		copy(p.g, end.g)
		p.lp = end.lp
	}
}
