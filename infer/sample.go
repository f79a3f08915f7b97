// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/lockstep"
	"github.com/euryale-dev/euryale/internal/given"
)

// Sample draws from the target with several chains of the no-U-turn sampler.
//
// It always returns a Fit with the draws finished so far, unless the settings or the
// gradient of a target made by Func are wrong. When ctx is cancelled the error is
// ctx.Err(). A chain that fails does not end the others; the error then joins those of
// the failed chains, each a *DrawError or *InitError. The draws depend on the target,
// the seed and the settings only.
//
// Where the density of a Posterior runs on a GPU, 16 chains or more advance in lock step: a run of one program there makes
// a leapfrog step for each, while trees grow on the processor. GPUs of autodiff.Several share the chains.
func Sample(ctx context.Context, t Target, cfg Settings) (*Fit, error) {
	if err := given.Args("infer.Sample", "ctx", ctx, "t", t); err != nil {
		return nil, err
	}
	cfg, err := cfg.withDefaults(t.Dim())
	if err != nil {
		return nil, err
	}
	fit, err := sample(ctx, t, cfg)
	if ctx.Err() != nil || !cfg.canBeginAgain() {
		return fit, err
	}
	var unfit *laplaceFault
	switch {
	case errors.Is(err, errApart):
		return sample(ctx, t, cfg.withAll("the density was not normal at some draws of a first attempt"))
	case errors.As(err, &unfit):
		return sample(ctx, t, cfg.withAll(unfit.why))
	case err == nil && fit.Stopped == "":
		if a := fit.laplaceAdvice(); a != nil && !a.OK {
			return sample(ctx, t, cfg.withAll("Laplace's approximation was too far off: "+a.Cause))
		}
	}
	return fit, err
}

// sample is Sample with settings that are complete.
func sample(ctx context.Context, t Target, cfg Settings) (*Fit, error) {
	programs, t, err := samplePrograms(t, &cfg)
	if err != nil {
		return nil, err
	}
	cfg.Independent = cfg.Independent || programs != nil
	if t, err = cfg.withoutMarginals(t); err != nil {
		return nil, err
	}
	if t, err = cfg.follow(t); err != nil {
		return nil, err
	}
	r, err := newRun(t, cfg)
	if err != nil {
		return nil, err
	}
	r.programs = programs
	if err := r.cfg.checkFunc(ctx, t); err != nil {
		return nil, err
	}
	errs := r.start(ctx, t)
	return newFit(r), errors.Join(errs...)
}

// run is a set of chains on their way.
type run struct {
	cfg      Settings
	settings string
	names    []string
	chains   []*chain
	// saved is the checkpoint that the run goes on from, nil for none, and pool its last state of the warm-up that chains share.
	saved *snapshot
	pool  []byte
	// programs are those of chains in lock step, nil where each advances alone.
	programs []*lockstep.Program
	// islands move the chains together, nil but for SMC.
	islands  *smcRun
	stop     atomic.Bool
	warnings []string
	// stopped says why the run ended early.
	stopped string
	// cut is the number of draws to keep per chain, 0 for all.
	cut int
	// judged is the number of draws that the stopping rule has seen.
	judged  int
	elapsed time.Duration
	// adapted is how long the rounds of the warm-up took in this program.
	adapted time.Duration
	// before is how long the longest chain had run when the run was resumed.
	before time.Duration

	// sink is nil without a Sink.
	sink *sinkWriter

	mu sync.Mutex
	// states holds the latest saved state of each chain.
	states [][]byte
	// epochs holds the number of the request that each state answers.
	epochs []int64
	want   atomic.Int64
}

func newRun(t Target, cfg Settings) (*run, error) {
	if err := cfg.findBlocks(t); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg}
	if err := r.nameColumns(t); err != nil {
		return nil, err
	}
	var err error
	if cfg.Resume != "" {
		if r.saved, err = readAny(cfg.Resume); err != nil {
			return nil, err
		}
		r.cfg.keepTo(r.saved)
	}
	if r.settings, err = r.cfg.fingerprint(t, r.names); err != nil {
		return nil, fmt.Errorf("infer: the model cannot be evaluated: %w", err)
	}
	if r.saved != nil {
		return r, r.saved.fits(cfg.Resume, r.settings)
	}
	if c := cfg.Checkpoint; c.Path != "" && !c.Overwrite {
		if _, err := os.Stat(c.Path); err == nil {
			return nil, fmt.Errorf("%w %s exists already: set Settings.Resume to continue its run, Checkpoint.Overwrite to replace it, or another path", ErrCheckpoint, c.Path)
		}
	}
	return r, nil
}

// addChains makes the chains of a target.
func (r *run) addChains(t Target) {
	for i := range r.cfg.Chains {
		c := newChain(&r.cfg, r.cfg.FirstChain+i, t.Clone(), &r.stop)
		if r.chains = append(r.chains, c); i > 0 {
			c.pool = r.chains[0].pool
		}
	}
	r.states, r.epochs = make([][]byte, r.cfg.Chains), make([]int64, r.cfg.Chains)
}

func (r *run) nameColumns(t Target) error {
	if o, ok := t.(Outputs); ok {
		r.names = o.Names()
		if len(r.names) != o.Len() {
			return fmt.Errorf("infer: the target has %d names for %d outputs: make Names and Len agree", len(r.names), o.Len())
		}
	} else {
		for i := range t.Dim() {
			r.names = append(r.names, fmt.Sprintf("q[%d]", i))
		}
	}
	seen := map[string]bool{}
	for _, name := range r.names {
		if seen[name] {
			return fmt.Errorf("infer: two outputs are called %q: give each a name of its own", name)
		}
		seen[name] = true
	}
	return nil
}

// resume loads the chains from the checkpoint, if there is one, and makes sure that the target is
// still the same function.
func (r *run) resume() error {
	s := r.saved
	if s == nil {
		return nil
	}
	if s.machine != thisMachine() {
		r.warnings = append(r.warnings, fmt.Sprintf("the run was started with %s and resumed with %s, so draws may differ in the last bits", s.machine, thisMachine()))
	}
	for i, c := range r.chains {
		for k, id := range s.ids {
			if id != c.id {
				continue
			}
			if r.cfg.Method == SMC { // newSMC loads them
				r.states[i] = s.states[k]
				continue
			}
			if err := c.load(s.states[k]); err != nil {
				return fmt.Errorf("%w %s: chain %d: %w", ErrCheckpoint, r.cfg.Resume, id, err)
			}
			if err := c.verify(); err != nil {
				return fmt.Errorf("%w %s: %w", ErrCheckpoint, r.cfg.Resume, err)
			}
			r.states[i] = s.states[k]
			r.before = max(r.before, c.times[0]+c.times[1])
			c.publish()
		}
	}
	return nil
}

// verify evaluates the target where a resumed chain stands.
func (c *chain) verify() (err error) {
	if !c.started {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = c.fault(&PanicError{Value: v})
		}
	}()
	lp, err := c.target.LogProbGrad(c.p.Q, make([]float64, len(c.p.Q)))
	if err != nil {
		return c.fault(err)
	}
	if d := math.Abs(lp - c.p.Lp); !(d <= 1e-8*math.Max(1, math.Abs(c.p.Lp))) {
		return fmt.Errorf("chain %d was saved at log density %.17g, but the model gives %.17g there: resume with the same model and data", c.id, c.p.Lp, lp)
	}
	return nil
}

// start makes the chains of a target, runs them and returns what went wrong.
func (r *run) start(ctx context.Context, t Target) []error {
	if err := r.adapt(ctx, t); err != nil {
		return []error{err}
	}
	if r.cfg.Method == SMC {
		var err error
		if r.islands, err = newSMC(r, t); err != nil {
			return []error{err}
		}
	}
	return r.sample(ctx)
}

// sample runs the chains and returns what went wrong.
func (r *run) sample(ctx context.Context) []error {
	begin := time.Now()
	if r.cfg.Checkpoint.Path != "" { // a folder that cannot be written to shows now, not in an hour
		if err := r.write(); err != nil {
			return []error{err}
		}
	}
	if err := r.open(); err != nil {
		return []error{err}
	}
	release := context.AfterFunc(ctx, func() { r.stop.Store(true) })
	defer release()
	var wg sync.WaitGroup
	if r.programs != nil {
		wg.Go(func() { r.sampleInLanes(r.programs) })
	}
	places := make(chan struct{}, r.cfg.Parallel)
	finished := make(chan struct{})
	if r.islands != nil {
		wg.Go(r.islands.sample)
	}
	for i, c := range r.chains {
		if r.programs != nil || r.islands != nil {
			break
		}
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			r.runChain(ctx, i, c)
		})
	}
	go func() {
		wg.Wait()
		close(finished)
	}()
	errs := append(r.monitor(ctx, begin, finished), r.close()...)
	r.elapsed = r.before + r.adapted + time.Since(begin)
	r.cutAt(len(r.finishedRows()))
	said := false // chains that share their search for a start all say the same
	for _, c := range r.chains {
		var start *InitError
		if errors.As(c.err, &start) {
			if said {
				continue
			}
			said = true
		}
		if c.err != nil {
			errs = append(errs, c.err)
		}
	}
	if err := ctx.Err(); err != nil && !r.complete() {
		errs = append(errs, err)
	}
	return errs
}

func (r *run) runChain(ctx context.Context, i int, c *chain) {
	if ctx.Err() == nil {
		c.view.running.Store(true)
		c.run(func() { r.answer(i, c) })
		c.view.running.Store(false)
	}
	r.keepState(i, c, math.MaxInt64)
}

// answer saves the chain's state if the monitor asked for it.
func (r *run) answer(i int, c *chain) {
	if want := r.want.Load(); want > r.epochs[i] {
		r.keepState(i, c, want)
	}
}

func (r *run) keepState(i int, c *chain, epoch int64) {
	if r.cfg.Checkpoint.Path == "" {
		return
	}
	b := c.save()
	r.mu.Lock()
	r.states[i], r.epochs[i] = b, epoch
	r.mu.Unlock()
}

// complete reports whether every chain made all its draws, or enough.
func (r *run) complete() bool {
	if r.cut > 0 {
		return true
	}
	for _, c := range r.chains {
		if c.done < c.total() {
			return false
		}
	}
	return true
}
