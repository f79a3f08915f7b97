// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// EnsembleSettings says how to sample without gradients; its zero value is the
// default.
type EnsembleSettings struct {
	// Walkers is the number of walkers, even and more than twice the dimension. Default
	// max(32, 4 dim).
	Walkers int
	// Warmup is the number of draws per walker that are dropped. Default 1000.
	Warmup int
	// Draws is the number of draws that are kept per walker. Default 1000.
	Draws int
	Seed  uint64

	// Stretch, Differential and Walk are the shares of the moves: along the line to
	// another walker, by the difference of two others, by a random combination of
	// several. Default 0.4, 0.4, 0.2.
	Stretch, Differential, Walk float64

	// Init holds a start per walker. Default: random.
	Init [][]float64
	// InitRadius bounds random starts, which are uniform within it. Default 2.
	InitRadius float64
	// Parallel is the number of goroutines. Default GOMAXPROCS.
	Parallel int
}

// Ensemble samples a density without its gradient. Each of its walkers proposes a
// move that follows from the positions of the others, so that the scales and linear
// correlations of the parameters make no difference. It needs many more evaluations
// than Sample and suits up to some twenty parameters. logProb is called from several
// goroutines at once; a position where it is -Inf or NaN is rejected. Walkers are not
// independent: judge them by their effective sample size and not by R-hat.
//
// References: Goodman and Weare, doi:10.2140/camcos.2010.5.65 (stretch, walk); ter
// Braak and Vrugt, doi:10.1007/s11222-008-9104-9 (differential).
func Ensemble(ctx context.Context, dim int, logProb func(q []float64) float64, c EnsembleSettings) (_ *Fit, err error) {
	defer given.Caught(&err)
	if err := given.Args("infer.Ensemble", "ctx", ctx, "logProb", logProb); err != nil {
		return nil, err
	}
	if err := c.defaults(dim); err != nil {
		return nil, err
	}
	cfg, err := Settings{Chains: c.Walkers, Warmup: c.Warmup, Draws: c.Draws, Seed: c.Seed, Init: c.Init, InitRadius: c.InitRadius, NoClimb: true}.withDefaults(dim)
	if err != nil {
		return nil, err
	}
	target := Func(dim, func(q, g []float64) float64 {
		clear(g)
		return logProb(q)
	})
	r, err := newRun(target, cfg)
	if err != nil {
		return nil, err
	}
	r.addChains(target)
	e := &ensemble{run: r, cfg: &c, dim: dim}
	begin := time.Now()
	err = e.iterate(ctx)
	r.elapsed = time.Since(begin)
	f := newFit(r)
	f.walkers = true
	return f, err
}

func (c *EnsembleSettings) defaults(dim int) error {
	if c.Walkers == 0 {
		c.Walkers = max(32, 4*dim)
	}
	if c.Warmup == 0 {
		c.Warmup = 1000
	}
	if c.Draws == 0 {
		c.Draws = 1000
	}
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	if c.Stretch == 0 && c.Differential == 0 && c.Walk == 0 {
		c.Stretch, c.Differential, c.Walk = 0.4, 0.4, 0.2
	}
	switch {
	case dim < 1:
		return errors.New("infer: Ensemble: the number of parameters is 0: want at least 1")
	case c.Walkers%2 != 0 || c.Walkers <= 2*dim:
		return fmt.Errorf("infer: Ensemble: there are %d walkers in %d dimensions: want an even number above %d", c.Walkers, dim, 2*dim)
	case c.Stretch < 0 || c.Differential < 0 || c.Walk < 0:
		return fmt.Errorf("infer: Ensemble: the shares of the moves are %g, %g and %g: want numbers of at least 0", c.Stretch, c.Differential, c.Walk)
	}
	return nil
}

// ensemble is a run of walkers. Each half moves by the places of the other, so that its
// walkers can move at the same time.
type ensemble struct {
	run *run
	cfg *EnsembleSettings
	dim int
}

func (e *ensemble) iterate(ctx context.Context) error {
	chains := e.run.chains
	var errs []error
	for _, c := range chains {
		if err := c.findStart(&c.p); err != nil {
			errs = append(errs, err)
		}
		c.ad.StepSize, c.started = 1, true
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	half := len(chains) / 2
	for i := range e.cfg.Warmup + e.cfg.Draws {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if i == e.cfg.Warmup/4 || i == e.cfg.Warmup/2 {
			e.gather()
		}
		for _, side := range []int{0, half} {
			others := chains[half-side : half-side+half]
			e.forEach(chains[side:side+half], func(c *chain) { e.move(c, others) })
		}
		for _, c := range chains {
			if c.err != nil {
				return c.err
			}
		}
	}
	return nil
}

// gather puts walkers that lag far behind, where the density is so low that no draw in a lifetime would
// lie there, beside ones that do not: half-way between two of them. It is done in the warm-up only.
func (e *ensemble) gather() {
	chains := e.run.chains
	sorted := slices.Clone(chains)
	slices.SortStableFunc(sorted, func(a, b *chain) int { return cmp.Compare(b.p.Lp, a.p.Lp) })
	good := sorted[:len(sorted)/2]
	least := good[len(good)-1].p.Lp - 30 - 5*float64(e.dim)
	for i, c := range sorted {
		if c.p.Lp >= least {
			continue
		}
		a, b := good[i%len(good)], good[(i+1+i/len(good))%len(good)]
		to := c.tr.Ends[0]
		for k := range to.Q {
			to.Q[k] = (a.p.Q[k] + b.p.Q[k]) / 2
		}
		lp, err := c.tr.Target.LogProbGrad(to.Q, to.G)
		switch {
		case err != nil && !hamiltonian.Recoverable(err):
			c.err = c.fault(err)
		case err == nil && lp > c.p.Lp && !math.IsInf(lp, 1):
			copy(c.p.Q, to.Q)
			c.p.Lp = lp
		}
	}
}

func (e *ensemble) forEach(walkers []*chain, f func(c *chain)) {
	parallel.Do(e.cfg.Parallel, len(walkers), func(_, i int) {
		defer given.Caught(&walkers[i].err)
		f(walkers[i])
	})
}

// move proposes a place for walker c from those of others, and records where it
// ends.
func (e *ensemble) move(c *chain, others []*chain) {
	to := c.tr.Ends[0]
	logRatio := e.propose(to.Q, c, others)
	lp, err := c.tr.Target.LogProbGrad(to.Q, to.G)
	c.tr.Count++
	out := &hamiltonian.Transition{Steps: 1}
	switch {
	case err != nil && !hamiltonian.Recoverable(err):
		c.err = c.fault(err)
		return
	case math.IsInf(lp, 1):
		c.err = c.fault(ErrInfinite)
		return
	case err == nil && !math.IsNaN(lp):
		out.Accept = math.Exp(math.Min(0, logRatio+lp-c.p.Lp))
	}
	if c.choice.Float64() < out.Accept {
		copy(c.p.Q, to.Q)
		c.p.Lp, out.Index = lp, 1
	}
	out.Symmetric, out.Energy = out.Accept, -c.p.Lp
	if c.err = c.record(out); c.err != nil {
		return
	}
	if c.done++; c.done <= c.cfg.warmup() {
		c.warmupGrads = c.tr.Count
	}
}

// propose fills q and returns the log of the factor that makes the move fair.
func (e *ensemble) propose(q []float64, c *chain, others []*chain) float64 {
	s := &c.choice
	pick := func() []float64 { return others[int(s.Float64()*float64(len(others)))].p.Q }
	u := s.Float64() * (e.cfg.Stretch + e.cfg.Differential + e.cfg.Walk)
	switch {
	case u < e.cfg.Stretch:
		const a = 2.0
		r := s.Float64()*(a-1) + 1
		z, from := r*r/a, pick()
		for i := range q {
			q[i] = from[i] + z*(c.p.Q[i]-from[i])
		}
		return float64(e.dim-1) * math.Log(z)
	case u < e.cfg.Stretch+e.cfg.Differential:
		gamma := 2.38 / math.Sqrt(2*float64(e.dim))
		if s.Float64() < 0.1 { // now and then a whole step, from mode to mode
			gamma = 1
		}
		a, b := pick(), pick()
		for i := range q {
			q[i] = c.p.Q[i] + gamma*(a[i]-b[i])*(1+1e-5*s.Normal())
		}
		return 0
	}
	return e.walk(q, c, pick, s)
}

// walk adds a random combination of three walkers about their mean.
func (e *ensemble) walk(q []float64, c *chain, pick func() []float64, s *tensor.Stream) float64 {
	const n = 3
	var from [n][]float64
	var z [n]float64
	for k := range from {
		from[k], z[k] = pick(), s.Normal()
	}
	for i := range q {
		mean := 0.0
		for k := range from {
			mean += from[k][i] / n
		}
		q[i] = c.p.Q[i]
		for k := range from {
			q[i] += z[k] * (from[k][i] - mean)
		}
	}
	return 0
}
