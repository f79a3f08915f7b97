// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// DrawStat is what the sampler recorded about one draw.
type DrawStat struct {
	// LogProb is the log density of the draw in unconstrained space.
	LogProb float64
	// AcceptanceRate is the mean over the trajectory of min(1, exp(H0 - H)).
	AcceptanceRate float64
	// SymmetricRate is the mean over the trajectory of the Symmetric statistic.
	SymmetricRate float64
	StepSize      float64
	// Energy is the Hamiltonian at the draw.
	Energy float64
	// EnergyError is the change of the energy from the start of the trajectory to the draw.
	EnergyError float64
	// MaxEnergyError is the largest absolute change of the energy in the trajectory.
	MaxEnergyError float64
	TreeDepth      int
	// Steps is the number of leapfrog steps, each of which takes one gradient.
	Steps int
	// Index is the place of the draw in the trajectory, counted from the start, which is 0.
	Index     int
	Diverging bool
	// ReachedMax is true where the trajectory ended at the largest tree depth.
	ReachedMax bool
}

// Divergence is a trajectory that could not be followed.
type Divergence struct {
	// Chain and Draw are where it happened. Draw counts from 0 within its phase.
	Chain, Draw int
	// Warmup is true in the warm-up.
	Warmup bool
	Start  []float64
	// Momentum is the momentum at Start.
	Momentum []float64
	// End is the unconstrained place where the energy error became too large.
	End         []float64
	EnergyError float64
	Message     string
}

// maxDivergences bounds the records a chain keeps; all are counted.
const maxDivergences = 1000

var errInterrupted = errors.New("interrupted")

// chain is one chain with its workspace. Everything that later draws depend on
// is in save and load.
type chain struct {
	cfg    *Settings
	id     int
	target Target
	// outputs computes the columns of draws, nil to store the unconstrained draws alone.
	outputs Outputs
	stop    *atomic.Bool
	// given is where the chain starts, in its own coordinates, nil where it is to be found.
	given []float64
	// pool is the mode search that the chains of a run share.
	pool *modeSearch
	// give hands a draw to the Sink. It is nil without one.
	toSink func(SinkDraw) error

	// tree makes transitions of the no-U-turn sampler and fixed those of HMC; the other is nil. tr is what both have.
	tree             *hamiltonian.Tree
	fixed            *hamiltonian.FixedLength
	tr               *hamiltonian.Trajectory
	ad               *warmup.Adapter
	p                hamiltonian.Point
	momentum, choice tensor.Stream

	started bool
	// done is the number of finished draws, warm-up included.
	done int
	// warmupGrads is the number of gradients up to the end of the warm-up.
	warmupGrads int
	warm, kept  record
	divergences []Divergence
	// divergent is the number of kept draws that diverged.
	divergent int
	times     [2]time.Duration
	weights   []float64 // logarithms of those of decide, of every proposal
	left      []float64 // memory of all
	err       error

	view liveView
}

// record holds draws in the order they were made.
type record struct {
	// rows are the unconstrained draws.
	rows [][]float64
	// outputs are the columns of the draws, nil without Outputs.
	outputs [][]float64
	stats   []DrawStat
	// room is memory for the next rows.
	spare []float64
}

// reserve makes room for n draws.
func (r *record) reserve(n int, outputs bool) {
	r.rows, r.stats = make([][]float64, 0, n), make([]DrawStat, 0, n)
	if outputs {
		r.outputs = make([][]float64, 0, n)
	}
}

// row returns n numbers from the room.
func (r *record) row(n int) []float64 {
	if len(r.spare) < n {
		r.spare = make([]float64, max(n, min(64*n, 1<<16)))
	}
	row := r.spare[:n:n]
	r.spare = r.spare[n:]
	return row
}

func newChain(cfg *Settings, id int, t Target, stop *atomic.Bool) *chain {
	n := t.Dim()
	c := &chain{cfg: cfg, id: id, target: t, stop: stop, p: hamiltonian.NewPoint(n), ad: warmup.NewAdapter(cfg.adaptation(), n), pool: &modeSearch{}}
	c.outputs, _ = t.(Outputs)
	c.momentum = tensor.NewStream(cfg.Seed, purposeMomentum, uint32(id))
	c.choice = tensor.NewStream(cfg.Seed, purposeTree, uint32(id))
	if cfg.Method == HMC {
		c.fixed = hamiltonian.NewFixedLength(t, &c.ad.Metric, cfg.Steps, cfg.MaxEnergyError, &c.momentum, &c.choice)
		c.fixed.Jitter = cfg.JitterSteps
		c.tr = &c.fixed.Trajectory
	} else {
		c.tree = hamiltonian.NewTree(t, &c.ad.Metric, cfg.MaxTreeDepth, cfg.MaxEnergyError, &c.momentum, &c.choice)
		c.tree.NoCross, c.tree.MinDepth, c.tree.Time = cfg.NoCrossChecks, cfg.MinTreeDepth, cfg.TrajectoryTime
		if c.tr = &c.tree.Trajectory; cfg.soft {
			c.tree.SoftError = softError
		}
	}
	c.tr.Interrupt = stop.Load
	return c
}

// total returns the draws the chain is to make.
func (c *chain) total() int { return c.cfg.warmup() + c.cfg.Draws }

// run makes draws until the chain is complete, stopped or fails; after is
// called between draws.
func (c *chain) run(after func()) {
	defer given.CaughtAs(&c.err, c.fault)
	for from := time.Now(); c.done < c.total() && !c.stop.Load(); {
		phase := c.phase()
		err := c.step()
		now := time.Now()
		c.times[phase] += now.Sub(from)
		from = now
		if errors.Is(err, errInterrupted) {
			return
		}
		if err != nil {
			c.err = err
			return
		}
		c.publish()
		after()
	}
}

// phase is 0 in the warm-up, 1 later.
func (c *chain) phase() int { return c.phaseOf(c.done) }

func (c *chain) phaseOf(draw int) int {
	if draw < c.cfg.warmup() {
		return 0
	}
	return 1
}

// step makes one draw, the first time after finding a start. When interrupted
// it leaves the chain as before.
func (c *chain) step() error {
	if !c.started {
		if err := c.begin(); err != nil {
			return err
		}
	}
	momentum, choice, count := c.momentum, c.choice, c.tr.Count
	decides := c.decides()
	before := hamiltonian.Point{}
	if decides {
		before = hamiltonian.NewPoint(len(c.p.Q))
		before.Set(&c.p)
	}
	out, err := c.move()
	if err != nil {
		return c.fault(err)
	}
	if out.Aborted {
		c.momentum, c.choice, c.tr.Count = momentum, choice, count
		return errInterrupted
	}
	if decides {
		if err := c.decide(&before); err != nil {
			return c.fault(err)
		}
	}
	return c.keep(out)
}

// keep records a transition and learns from it.
func (c *chain) keep(out *hamiltonian.Transition) error {
	if err := errors.Join(c.record(out), c.agree()); err != nil {
		return c.fault(err)
	}
	if c.phase() == 0 {
		if err := c.ad.Update(c.tr, &c.p, c.done, out); err != nil {
			return c.fault(err)
		}
		c.warmupGrads = c.tr.Count
	}
	c.done++
	return nil
}

func (c *chain) begin() error {
	if err := c.findStart(&c.p); err != nil {
		var init *InitError
		if errors.As(err, &init) {
			return err
		}
		return c.fault(err)
	}
	if from := c.cfg.From; from != nil {
		c.ad.Resume(from.chains[(c.id-c.cfg.FirstChain)%len(from.chains)].ad)
	} else if err := c.ad.Begin(c.tr, &c.p); err != nil {
		return c.fault(err)
	}
	c.started = true
	c.warmupGrads = c.tr.Count
	return nil
}

func (c *chain) move() (*hamiltonian.Transition, error) {
	if len(c.p.Q) == 0 {
		return &hamiltonian.Transition{Energy: -c.p.Lp}, nil
	}
	eps := c.nextStep()
	if c.fixed != nil {
		return c.fixed.Move(&c.p, eps)
	}
	return c.tree.Move(&c.p, eps)
}

// nextStep returns the step of the next transition, and bounds the depth of a tree.
func (c *chain) nextStep() float64 {
	if c.tree != nil {
		c.tree.MaxDepth = c.ad.Depth(c.done)
	}
	eps := c.ad.StepSize
	if j := c.cfg.StepJitter; j > 0 {
		eps *= 1 + j*(2*c.choice.Float64()-1)
	}
	return eps
}

// record stores the draw at p.
func (c *chain) record(out *hamiltonian.Transition) error {
	warm := c.phase() == 0
	if out.Divergent {
		c.noteDivergence(out, warm)
	}
	r := &c.kept
	if warm {
		if r = &c.warm; !c.cfg.KeepWarmup {
			return nil
		}
	} else if out.Divergent {
		c.divergent++
	}
	stat := DrawStat{
		LogProb: c.p.Lp, AcceptanceRate: out.Rate(false), SymmetricRate: out.Rate(true), StepSize: c.ad.StepSize,
		Energy: out.Energy, EnergyError: out.EnergyError, MaxEnergyError: out.MaxError, TreeDepth: out.Depth,
		Steps: out.Leapfrogs(), Index: out.Index, Diverging: out.Divergent,
		ReachedMax: out.Depth == c.cfg.MaxTreeDepth && !out.Turned && !out.Divergent,
	}
	if r.stats == nil {
		r.reserve(min(c.total()-c.done, 1<<12), c.outputs != nil)
	}
	if err := c.add(r, stat); err != nil || c.toSink == nil {
		return err
	}
	stat = r.stats[len(r.stats)-1]
	d := SinkDraw{Chain: c.id, Draw: c.done, Warmup: warm, Unconstrained: last(r.rows), Values: last(r.columns()), Stat: stat}
	if !warm {
		d.Draw -= c.cfg.warmup()
	}
	err := c.toSink(d)
	if c.cfg.Sink.Only {
		r.rows, r.outputs, r.stats = r.rows[:0], r.outputs[:0], r.stats[:0]
	}
	return err
}

func last(rows [][]float64) []float64 { return rows[len(rows)-1] }

// add appends the draw at p and its outputs to r.
func (c *chain) add(r *record, stat DrawStat) error {
	q := r.row(c.width())
	place, outputs := c.p.Q, c.outputs
	if m := marginalOf(c.target); m != nil {
		if place = q; outputs != nil {
			outputs = m.outputs
		}
	}
	change, err := c.all(c.p.Q, q)
	if err != nil {
		return err
	}
	if outputs != nil {
		row := r.row(outputs.Len())
		if err := writeOrNaN(outputs, place, row); err != nil {
			return err
		}
		r.outputs = append(r.outputs, row)
	}
	stat.LogProb += change
	r.rows = append(r.rows, q)
	r.stats = append(r.stats, stat)
	return nil
}

// width is the number of unconstrained parameters of the target as declared.
func (c *chain) width() int {
	if m := marginalOf(c.target); m != nil {
		return m.dim
	}
	return len(c.p.Q)
}

// all writes all unconstrained parameters at a place where the sampler was into q, and returns what their log density has more than that of the place.
func (c *chain) all(place, q []float64) (change float64, err error) {
	m := marginalOf(c.target)
	if m == nil {
		logDet, err := c.declared(place, q)
		return -logDet, err
	}
	c.left = slices.Grow(c.left[:0], len(place))
	left := c.left[:len(place)]
	logDet, err := c.declared(place, left)
	if err != nil {
		return math.NaN(), err
	}
	log, err := m.expand(left, q)
	if err != nil && !hamiltonian.Recoverable(err) {
		return math.NaN(), err
	}
	return log - logDet, nil
}

func fillNaN(x []float64) {
	for i := range x {
		x[i] = math.NaN()
	}
}

// declared writes the unconstrained parameters of a place where the sampler was, but for those that are integrated out, into q, and returns the logarithm of the determinant of the
// map, which is 0 unless the sampler moves in other coordinates.
func (c *chain) declared(place, q []float64) (logDet float64, err error) {
	if m := movedOf(c.target); m != nil {
		return m.Declared(place, q)
	}
	copy(q, place)
	return 0, nil
}

// coordinatesOf returns the sampler's coordinates of unconstrained parameters.
func (c *chain) coordinatesOf(q []float64) ([]float64, error) {
	z := slices.Clone(q)
	if m := movedOf(c.target); m != nil {
		if err := m.coordinatesAt(q, z); err != nil {
			return nil, err
		}
		if !linalg.AllFinite(z) {
			return nil, errors.New("infer: the coordinates of a place are not finite")
		}
	}
	return z, nil
}

// placeOf returns the unconstrained parameters of a place where the sampler was, or NaN where they cannot be computed.
func (c *chain) placeOf(place []float64) []float64 {
	q := make([]float64, c.width())
	if _, err := c.all(place, q); err != nil {
		fillNaN(q)
	}
	return q
}

func (c *chain) noteDivergence(out *hamiltonian.Transition, warm bool) {
	if len(c.divergences) == maxDivergences {
		return
	}
	draw := c.done
	if !warm {
		draw -= c.cfg.warmup()
	}
	momentum := make([]float64, len(c.p.Z))
	c.ad.Metric.Momentum(momentum, c.p.Z)
	c.divergences = append(c.divergences, Divergence{
		Chain: c.id, Draw: draw, Warmup: warm, Start: c.placeOf(out.StartedAt), Momentum: momentum,
		End: c.placeOf(out.DivergedAt), EnergyError: out.DivergedError, Message: out.Message,
	})
}

// fault names chain and draw of an error, and the parameter that has run away
// where the density is unbounded. A density is not unbounded because its priors are wide.
func (c *chain) fault(err error) error {
	scale := ""
	if errors.Is(err, ErrImproper) {
		scale = c.scaleOfPriors()
	}
	switch {
	case scale != "":
		err = fmt.Errorf("%w: %s", ErrScale, scale)
	case errors.Is(err, ErrInfinite), errors.Is(err, ErrImproper):
		err = c.nameRunaway(err)
	}
	return &DrawError{Chain: c.id, Draw: c.done, Warmup: c.phase() == 0, Err: err}
}
