// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// ADVISettings says how to fit; its zero value is the default.
type ADVISettings struct {
	// FullRank selects a full covariance. Default: independent parameters (mean field).
	FullRank bool
	// Steps bounds the number of steps. Default 10000.
	Steps int
	// Gradients is the number of draws per gradient. Default 1 for mean field, 4 for full
	// rank.
	Gradients int
	// ELBODraws is the number of draws that estimate the bound when progress is judged.
	// Default 100.
	ELBODraws int
	// Tolerance ends the ascent: it is the relative change of the bound over the last ten
	// judgements. Default 0.01.
	Tolerance float64
	// Draws is the number of draws of the result. Default 1000.
	Draws int
	Seed  uint64
	// Init is the centre of the approximation from which the ascent starts, in unconstrained
	// coordinates. Default 0.
	Init []float64
}

// ADVI fits a normal distribution in unconstrained space to the posterior by ascending the
// evidence lower bound with the reparametrised gradient:
//
//	q = mu + L u, u ~ N(0, 1);  ELBO = E[log p(q)] + sum log L_ii + const
//
// The learning rate of Adam is the best of a few, tried first.
//
// Reference: Kucukelbir et al., JMLR 18 (2017) 14.
func ADVI(ctx context.Context, t Target, c ADVISettings) (_ *Approximation, err error) {
	defer given.Caught(&err)
	if err := given.Args("infer.ADVI", "ctx", ctx, "t", t); err != nil {
		return nil, err
	}
	n := t.Dim()
	if n == 0 {
		return nil, errors.New("infer: ADVI: the target has no parameters to fit: declare at least one")
	}
	if c.Init != nil && len(c.Init) != n {
		return nil, fmt.Errorf("infer: ADVI: Init has %d numbers: want %d, one for each unconstrained parameter", len(c.Init), n)
	}
	c.defaults()
	a := &advi{density: density{target: t.Clone()}, cfg: &c, n: n, src: tensor.NewStream(c.Seed, purposeADVI, 0)}
	x, err := a.tune(ctx)
	if err != nil {
		return nil, err
	}
	message, err := a.ascend(ctx, x)
	if err != nil {
		return nil, err
	}
	return a.result(t, x, message)
}

func (c *ADVISettings) defaults() {
	perGradient := 1
	if c.FullRank {
		perGradient = 4
	}
	for _, s := range []struct {
		v *int
		d int
	}{{&c.Steps, 10000}, {&c.Gradients, perGradient}, {&c.ELBODraws, 100}, {&c.Draws, 1000}} {
		if *s.v <= 0 {
			*s.v = s.d
		}
	}
	if c.Tolerance == 0 {
		c.Tolerance = 0.01
	}
}

// advi is a fit on its way. Its variables x are mu, then log L_ii, then for full
// rank the rows of L below the diagonal.
type advi struct {
	density
	cfg *ADVISettings
	n   int
	src tensor.Stream
	lr  float64
}

func (a *advi) start() []float64 {
	size := 2 * a.n
	if a.cfg.FullRank {
		size += a.n * (a.n - 1) / 2
	}
	x := make([]float64, size)
	copy(x, a.cfg.Init)
	return x
}

// place sets q = mu + L u.
func (a *advi) place(q, x, u []float64) {
	below := x[2*a.n:]
	for i := range q {
		q[i] = x[i] + math.Exp(x[a.n+i])*u[i]
		if a.cfg.FullRank {
			q[i] += linalg.FastDot(below[:i], u[:i])
			below = below[i:]
		}
	}
}

// gradient fills g with the falling direction of the bound at x: minus an
// estimate of its gradient.
func (a *advi) gradient(g, x []float64) error {
	u, q, d := make([]float64, a.n), make([]float64, a.n), make([]float64, a.n)
	clear(g)
	for range a.cfg.Gradients {
		lp := math.Inf(-1)
		for try := 0; !linalg.Finite(lp) || !linalg.AllFinite(d); try++ {
			if try == 100 {
				return errors.New("infer: ADVI: the density was not finite at any of 100 draws: choose an Init around which it is finite")
			}
			var err error
			a.place(q, x, a.src.NormalTo(u))
			if lp, err = a.at(q, d); err != nil {
				return err
			}
		}
		w := -1 / float64(a.cfg.Gradients)
		below := g[2*a.n:]
		for i, v := range d {
			g[i] += w * v
			g[a.n+i] += w * v * u[i] * math.Exp(x[a.n+i])
			if a.cfg.FullRank {
				linalg.AddScaled(below[:i], w*v, u[:i])
				below = below[i:]
			}
		}
	}
	for i := range a.n {
		g[a.n+i]-- // of the entropy
	}
	return nil
}

// elbo estimates the bound at x.
func (a *advi) elbo(x []float64) (float64, error) {
	u, q, g := make([]float64, a.n), make([]float64, a.n), make([]float64, a.n)
	entropy, sum := float64(a.n)*(0.5+halfLog2Pi), 0.0
	for i := range a.n {
		entropy += x[a.n+i]
	}
	for range a.cfg.ELBODraws {
		a.place(q, x, a.src.NormalTo(u))
		lp, err := a.at(q, g)
		if err != nil {
			return 0, err
		}
		sum += lp / float64(a.cfg.ELBODraws)
	}
	return entropy + sum, nil
}

// tune tries learning rates for a few steps and returns where the best got.
func (a *advi) tune(ctx context.Context) (best []float64, err error) {
	top := math.Inf(-1)
	for _, lr := range []float64{0.3, 0.1, 0.03, 0.01} {
		x := a.start()
		if err := a.steps(ctx, x, &optim.Descent{Rule: optim.Adam{}, LR: lr}, 50); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		bound, err := a.elbo(x)
		if err != nil {
			return nil, err
		}
		if bound > top {
			top, best, a.lr = bound, x, lr
		}
	}
	if best == nil {
		return nil, errors.New("infer: ADVI: no learning rate reached a finite bound: set Init nearer to the posterior")
	}
	return best, nil
}

func (a *advi) steps(ctx context.Context, x []float64, d *optim.Descent, n int) error {
	g := make([]float64, len(x))
	for range n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.gradient(g, x); err != nil {
			return err
		}
		d.Step(x, g)
	}
	return nil
}

// ascend moves x until the bound no longer changes, its steps shrinking; x ends as
// the average of the last part.
func (a *advi) ascend(ctx context.Context, x []float64) (message string, err error) {
	d := &optim.Descent{Rule: optim.Adam{}, LR: a.lr, Average: 0.99,
		Schedule: func(lr float64, step int) (float64, float64) { return lr / math.Sqrt(1+float64(step)/100), math.NaN() }}
	var changes []float64
	before := math.Inf(-1)
	const between = 100
	for range a.cfg.Steps / between {
		if err := a.steps(ctx, x, d, between); err != nil {
			return "", err
		}
		bound, err := a.elbo(d.Averaged())
		if err != nil {
			return "", err
		}
		changes = append(changes, math.Abs(bound-before)/math.Max(1, math.Abs(bound)))
		before = bound
		if recent := changes[max(0, len(changes)-10):]; len(changes) >= 5 && median(recent) < a.cfg.Tolerance {
			copy(x, d.Averaged())
			return "", nil
		}
	}
	if v := d.Averaged(); v != nil {
		copy(x, v)
	}
	return fmt.Sprintf("The bound did not settle in %d steps: allow more steps.", a.cfg.Steps), nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// result draws from the distribution at x.
func (a *advi) result(t Target, x []float64, message string) (*Approximation, error) {
	var q [][]float64
	var logP, logQ []float64
	u, g := make([]float64, a.n), make([]float64, a.n)
	logDet := 0.0
	for i := range a.n {
		logDet += x[a.n+i]
	}
	for range a.cfg.Draws {
		v := make([]float64, a.n)
		a.place(v, x, a.src.NormalTo(u))
		lp, err := a.at(v, g)
		if err != nil {
			return nil, err
		}
		q, logP = append(q, v), append(logP, lp)
		logQ = append(logQ, -logDet-float64(a.n)*halfLog2Pi-linalg.FastDot(u, u)/2)
	}
	bound, err := a.elbo(x)
	if err != nil {
		return nil, err
	}
	out, err := newApproximation("ADVI", t, q, logP, logQ)
	if err == nil {
		out.ELBO, out.Gradients, out.Message = bound, a.calls, message
	}
	return out, err
}
