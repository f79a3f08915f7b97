// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/memory"
	"github.com/euryale-dev/euryale/tensor"
)

// Settings says how to sample; its zero value is the default.
type Settings struct {
	// These fields say how much is drawn, and from which random numbers.

	// Chains is the number of independent chains. Default 4, since R-hat needs several.
	Chains int
	// Warmup is the number of draws per chain that adapt and are dropped. Default: until the
	// metric has settled, which takes 160 draws or more, and at most 1000; always 1000 where
	// chains adapt independently.
	Warmup int
	// Draws is the number of draws per chain that are kept. Default 1000.
	Draws int
	// Seed is the seed of all random numbers. Default 0, so that runs repeat unless told
	// otherwise.
	Seed uint64

	// These fields choose the sampler and bound its trajectories: trees with NUTS, steps with HMC.

	// Method is how chains move. Default NUTS.
	Method Method
	// MaxTreeDepth bounds the doublings of a trajectory, whose longest then has 2^depth - 1
	// steps. Default 10, at most 20.
	MaxTreeDepth int
	// MinTreeDepth is the number of doublings made before a trajectory may turn. Default 0.
	MinTreeDepth int
	// WarmupTreeDepth is the MaxTreeDepth of the warm-up. Default: the same.
	WarmupTreeDepth int
	// TrajectoryTime is the length of NUTS trajectories in whitened units, in which an
	// independent draw of a normal takes pi/2. They double until they are as long and do not
	// look for turns. Default 0: until they turn.
	TrajectoryTime float64
	// NoCrossChecks skips the turning tests across subtrees, as the algorithm of 2017 does.
	// Trajectories may then go full circle.
	NoCrossChecks bool
	// Steps is the number of leapfrog steps of an HMC trajectory. Default 10.
	Steps int
	// JitterSteps makes HMC draw the number of leapfrog steps from 1 to Steps, so that none
	// resonates.
	JitterSteps bool
	// StepJitter is the relative range, below 1, by which the step size varies from
	// trajectory to trajectory. Default 0.
	StepJitter float64
	// PlainSteps makes every step of NUTS one leapfrog. Default: where more than one in 20
	// trajectories of the warm-up have large energy errors, steps whose energy error is above
	// about 1.5 are made of two, four or more leapfrogs.
	PlainSteps bool
	// MaxEnergyError is the energy error of a divergence. Default 1000.
	MaxEnergyError float64

	// Coordinates says in which coordinates chains move. Default: those that are nearest to
	// independent normal distributions.
	Coordinates CoordinateKind
	// NoMarginals leaves all parameters to the sampler. Default: parameters that are normal
	// given the others and the data, such as the effects of groups in data with normal errors
	// or the states of a random walk, are integrated out exactly and drawn for each draw, unless
	// chains adapt independently or move in declared coordinates.
	NoMarginals bool
	// Laplace integrates parameters out by Laplace's approximation that are normal but for their data, such as effects of groups in
	// counts, and corrects draws by weights; CheckLaplace of Fit.Diagnose fails where these scatter too much (Pareto shape above
	// 0.7). Default: they are sampled, which is right always.
	Laplace bool
	// Independent makes each chain adapt by itself, in the unconstrained parameters of the
	// model, so that its draws do not depend on other chains. Default: the chains of a run learn
	// one metric and choose their coordinates together, unless a setting speaks against it: HMC,
	// StanSchedule, Metropolis, From, StartMetric, StepSize, KeepWarmup, a warm-up below 150
	// draws, or a metric that is dense, in blocks or fixed; and not on GPUs.
	Independent bool

	// These fields say what the warm-up learns, and from where.

	// Metric is what the warm-up learns. Default LowRank.
	Metric MetricKind
	// Blocks are the groups of parameters that share a full covariance under BlockVariance.
	// Parameters are given by name, or by element as theta[3].
	Blocks [][]string
	// StanShrink makes DiagVariance and DenseVariance add 1e-3 as Stan does, which assumes
	// scales near 1.
	StanShrink bool
	// Schedule says when the warm-up learns. Default FisherSchedule.
	Schedule Schedule
	// Statistic is the acceptance statistic that the step size is adapted to. Default
	// Symmetric.
	Statistic Statistic
	// TargetAccept is the target acceptance rate used to adapt the step size, in (0, 1); use
	// 0.9 to 0.99 against divergences. Default 0.8, and 0.88 for chains that come near
	// divergences in the warm-up: docs/decisions/0002.
	TargetAccept float64
	// StartMetric is the metric before adaptation. Default: from the gradient at the start.
	StartMetric *Metric
	// StepSize is the step size before adaptation. Default: a search from 0.1.
	StepSize float64
	// NoWarmup leaves out the adaptation. Chains take StartMetric, or the identity, and
	// StepSize, or a search.
	NoWarmup bool
	// KeepWarmup keeps the draws of the warm-up too, apart from the others.
	KeepWarmup bool

	// These fields say where chains start.

	// From is a fit where chains start: at the ends of its chains, with their metrics and
	// step sizes, and without warm-up unless Warmup is given.
	From *Fit
	// Init holds an unconstrained start per chain, of which nil entries are random. SMC begins its search for modes there too, at any number of
	// places.
	Init [][]float64
	// InitFunc fills a start. It is called until the density there is finite.
	InitFunc func(chain int, random *tensor.Stream, q []float64) error
	// InitRadius bounds random starts, which are uniform within it. Default 2.
	InitRadius float64
	// InitTries is the number of random starts that are tried until one is finite. Default
	// 100.
	InitTries int
	// NoClimb leaves random starts where they are. Otherwise they first ascend to where the
	// density no longer grows fast.
	NoClimb bool
	// NoGradientCheck takes the gradient of a target made by Func or PerChain as it
	// is, for gradients that are inexact on purpose. Default: at three starts it is
	// compared with differences of the log density, see CheckGradient.
	NoGradientCheck bool

	// These fields say which chains this program runs, and how many at once.

	// FirstChain is the number of the first chain, so that chains can run in several
	// programs. Default 0.
	FirstChain int
	// Parallel is the number of chains that run at once. Default GOMAXPROCS.
	Parallel int

	// These fields say what is told and saved while chains run.

	// Progress is told how far the run is, from one goroutine at a time.
	Progress func(Progress)
	// ProgressEvery is the least time between two calls. Default 200 ms.
	ProgressEvery time.Duration
	// Sink takes draws as they are made. Default: none.
	Sink Sink
	// StopWhen ends the run early. Default: never.
	StopWhen StopRule
	// Checkpoint is where the run is saved. Default: nowhere.
	Checkpoint Checkpoint
	// Resume is the checkpoint file to continue from. It is also written to unless
	// Checkpoint.Path is set.
	Resume string

	// integrated says in words which parameters are integrated out.
	integrated []string
	// kept says why parameters that were to be integrated out were left to the sampler, "" where they were not.
	kept string
	// moves says in words in which coordinates chains move, if not in the unconstrained parameters.
	moves []string
	// untilSettled is true where Warmup was not given.
	untilSettled bool
	// settled is true where the metric and the step size have been learned before, in rounds of so many draws.
	settled bool
	rounds  int
	// soft is true where chains refine steps with large energy errors.
	soft bool
	// mayRaise is true where TargetAccept was not given.
	mayRaise bool
	// blockAt holds Blocks as places among the unconstrained parameters.
	blockAt [][]int
}

// Checkpoint says where and how often a run is saved. The file is replaced as a
// whole, so a killed run leaves the last complete one.
type Checkpoint struct {
	Path string
	// Every is the time between two writes. Default 1 min; the file is also written at the
	// start and at the end.
	Every time.Duration

	// Overwrite allows a file that is there to be replaced. Default: it is an error, unless
	// resumed from.
	Overwrite bool
	// Patience is how long the last write is tried again if it fails, as it does while a
	// disk is full; before, chains go on. Default 1 min; negative: not at all.
	Patience time.Duration
	// Failing, if given, is told of every write that fails.
	Failing func(err error)
}

// StanSettings returns the settings of Stan 2.21: diagonal metric, its schedule,
// statistic and shrinkage. It serves comparisons.
func StanSettings() Settings {
	return Settings{Metric: DiagVariance, Schedule: StanSchedule, Statistic: Metropolis, TargetAccept: 0.8, StanShrink: true, StepSize: 1, NoClimb: true}
}

// purposes of random streams.
const (
	purposeInit uint32 = iota + 1
	purposeMomentum
	purposeTree
	purposeLinearUse
	// purposeRounds and those after it are of the momenta and trees of rounds of the warm-up.
	purposeRounds uint32 = 1000
)

func (c Settings) withDefaults(dim int) (Settings, error) {
	setInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	setInt(&c.Chains, 4)
	if c.From != nil && c.Warmup == 0 {
		c.NoWarmup = true
	}
	setInt(&c.Steps, 10)
	setInt(&c.Sink.Every, 1)
	if c.Method == SMC {
		c.NoWarmup = true
	}
	if c.Method == HMC {
		c.Statistic = Metropolis
		if c.Steps == 1 && c.TargetAccept == 0 {
			c.TargetAccept = 0.574 // doi:10.1111/1467-9868.00123
		}
	}
	c.untilSettled = c.Warmup == 0
	setInt(&c.Warmup, longestPool)
	setInt(&c.Draws, 1000)
	setInt(&c.MaxTreeDepth, 10)
	setInt(&c.InitTries, 100)
	setInt(&c.Parallel, runtime.GOMAXPROCS(0))
	setFloat := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	c.mayRaise = c.TargetAccept == 0 && c.Schedule == FisherSchedule && c.Statistic == Symmetric
	setFloat(&c.TargetAccept, 0.8)
	setFloat(&c.MaxEnergyError, 1000)
	setFloat(&c.InitRadius, 2)
	if c.ProgressEvery == 0 {
		c.ProgressEvery = 200 * time.Millisecond
	}
	if c.Checkpoint.Path == "" {
		c.Checkpoint.Path = c.Resume
	}
	if c.Checkpoint.Every == 0 {
		c.Checkpoint.Every = time.Minute
	}
	if c.Checkpoint.Patience == 0 {
		c.Checkpoint.Patience = time.Minute
	}
	if c.StopWhen.Every == 0 {
		c.StopWhen.Every = 100
	}
	return c, c.validate(dim)
}

// flags are the options by which the sample commands set fields of a Settings.
var flags = map[string]string{"Chains": "--chains", "Warmup": "--warmup", "Draws": "--draws", "TargetAccept": "--target-accept",
	"MaxTreeDepth": "--max-tree-depth", "Parallel": "--threads"}

// settingError describes a bad setting: what it is in words, then its field, and its flag where there
// is one, and then what is wrong with it.
func settingError(words, field, format string, args ...any) error {
	names := "Settings." + field
	if flag := flags[field]; flag != "" {
		names += ", " + flag + " on the command line"
	}
	return fmt.Errorf("infer: %s (%s) %s", words, names, fmt.Sprintf(format, args...))
}

// validate lists all bad settings at once.
func (c *Settings) validate(dim int) error {
	var errs []error
	want := func(ok bool, words, field, format string, args ...any) {
		if !ok {
			errs = append(errs, settingError(words, field, format, args...))
		}
	}
	want(c.Chains > 0, "the number of chains", "Chains", "is %d: want at least 1", c.Chains)
	want(c.Warmup > 0, "the number of warm-up draws per chain", "Warmup", "is %d: want at least 1; in Go, NoWarmup leaves the warm-up out", c.Warmup)
	want(c.Draws > 0, "the number of draws per chain", "Draws", "is %d: want at least 1", c.Draws)
	want(c.TargetAccept > 0 && c.TargetAccept < 1, "the target acceptance rate", "TargetAccept", "is %g: want a number between 0 and 1, such as 0.9", c.TargetAccept)
	want(c.MaxTreeDepth > 0 && c.MaxTreeDepth <= 20, "the largest tree depth", "MaxTreeDepth", "is %d: want 1 to 20", c.MaxTreeDepth)
	want(c.MinTreeDepth >= 0 && c.MinTreeDepth <= c.MaxTreeDepth, "the smallest tree depth", "MinTreeDepth", "is %d: want 0 to the largest tree depth, %d", c.MinTreeDepth, c.MaxTreeDepth)
	want(c.WarmupTreeDepth >= 0 && c.WarmupTreeDepth <= 20, "the largest tree depth of the warm-up", "WarmupTreeDepth", "is %d: want 1 to 20, or 0 for that of the sampling", c.WarmupTreeDepth)
	want(c.TrajectoryTime >= 0 && !math.IsInf(c.TrajectoryTime, 1), "the length of trajectories", "TrajectoryTime", "is %g: want a positive number, or 0 for trajectories that end when they turn", c.TrajectoryTime)
	want(c.Metric != BlockVariance || len(c.Blocks) > 0, "the metric", "Metric", "is BlockVariance, but there are no blocks: name the parameters of each in Settings.Blocks")
	want(len(c.Blocks) == 0 || c.Metric == BlockVariance, "the blocks of parameters", "Blocks", "are given, but the metric has none: set Settings.Metric to BlockVariance")
	want(c.MaxEnergyError > 0, "the energy error of a divergence", "MaxEnergyError", "is %g: want a positive number", c.MaxEnergyError)
	want(c.StepSize >= 0, "the initial step size", "StepSize", "is %g: want a positive number, or 0 for a search", c.StepSize)
	want(c.InitRadius > 0, "the radius of random starts", "InitRadius", "is %g: want a positive number", c.InitRadius)
	want(c.InitTries > 0, "the number of random starts to try", "InitTries", "is %d: want at least 1", c.InitTries)
	want(c.Parallel > 0, "the number of chains that run at once", "Parallel", "is %d: want at least 1", c.Parallel)
	want(c.FirstChain >= 0, "the number of the first chain", "FirstChain", "is %d: want 0 or more", c.FirstChain)
	want(c.Method >= NUTS && c.Method <= SMC, "the method", "Method", "is %d: want NUTS, HMC or SMC", c.Method)
	if c.Method == SMC {
		want(dim > 0, "the method", "Method", "is SMC, but there are no parameters to sample: declare at least one")
		want(c.From == nil && c.InitFunc == nil && c.FirstChain == 0 && !c.Sink.Only && !c.StopWhen.active(), "the method", "Method",
			"is SMC, whose points move together from the priors: leave From, InitFunc, FirstChain, Sink.Only and StopWhen out")
	}
	want(c.Steps > 0, "the number of leapfrog steps", "Steps", "is %d: want at least 1", c.Steps)
	want(c.StepJitter >= 0 && c.StepJitter < 1, "the relative range of the step size", "StepJitter", "is %g: want at least 0 and less than 1", c.StepJitter)
	want(c.Sink.Every > 0, "the number of draws between two that the sink gets", "Sink.Every", "is %d: want at least 1", c.Sink.Every)
	want(!c.Sink.Only || c.Sink.Write != nil, "the sink", "Sink.Only", "is to be the only place of the draws, but has no Write, so they would be lost: set Settings.Sink.Write")
	want(c.StopWhen.After >= 0, "the number of draws before the run may stop early", "StopWhen.After", "is %d: want 0 or more", c.StopWhen.After)
	want(!c.Sink.Only || !c.StopWhen.active(), "the rule for stopping early", "StopWhen", "needs draws that Settings.Sink.Only does not keep: keep them, or stop by MaxTime alone")
	want(c.From == nil || c.From.dim() == dim, "the fit to start from", "From", "has %d unconstrained parameters, but the model has %d: give a fit of the same model", c.From.dim(), dim)
	want(c.Metric >= LowRank && c.Metric <= FixedMetric, "the metric", "Metric", "is %d: want one of the MetricKind constants", c.Metric)
	want(c.Schedule == FisherSchedule || c.Schedule == StanSchedule, "the schedule of the warm-up", "Schedule", "is %d: want FisherSchedule or StanSchedule", c.Schedule)
	want(c.Statistic == Symmetric || c.Statistic == Metropolis, "the acceptance statistic", "Statistic", "is %d: want Symmetric or Metropolis", c.Statistic)
	want(len(c.Init) == 0 || len(c.Init) == c.Chains || c.Method == SMC, "the list of starts", "Init", "has length %d, but the number of chains is %d: give one start per chain", len(c.Init), c.Chains)
	for i, q := range c.Init {
		want(q == nil || len(q) == dim, "the start of chain "+strconv.Itoa(i), fmt.Sprintf("Init[%d]", i), "has length %d, but the number of unconstrained parameters is %d: give one number for each", len(q), dim)
	}
	if need := float64(c.Chains) * 8 * float64(dim+12); !c.Sink.Only && !c.StopWhen.active() && c.StopWhen.MaxTime <= 0 {
		need *= float64(c.Draws) + float64(c.warmup())
		want(need <= float64(memory.Limit()), "the number of draws per chain", "Draws", "is %d, which takes %.2g GB of memory for %s, but there are only %.2g GB: ask for fewer draws; in Go, a Sink with Only set takes any number", c.Draws, need/1e9, errtext.Count(c.Chains, "chain"), float64(memory.Limit())/1e9)
	}
	want(c.Chains <= 1<<20, "the number of chains", "Chains", "is %d: want at most %d", c.Chains, 1<<20)
	if c.StartMetric != nil {
		want(c.StartMetric.m.Fits(dim), "the metric to start from", "StartMetric", "has dimension %d, but the number of unconstrained parameters is %d: give one of the same model", c.StartMetric.Dim(), dim)
	}
	return errors.Join(errs...)
}

// CoordinateKind says in which coordinates the chains of a Posterior move. Draws are those of its parameters either way.
type CoordinateKind int

const (
	// ChosenCoordinates are those that the warm-up finds nearest to independent normal distributions: parameters with an unknown location and scale are
	// taken relative to their conditional distributions, and positive ones get another transform.
	ChosenCoordinates CoordinateKind = iota
	// DeclaredCoordinates are the unconstrained parameters of the model.
	DeclaredCoordinates
)

// warmup returns the number of draws that adapt.
func (c *Settings) warmup() int {
	if c.NoWarmup {
		return 0
	}
	return c.Warmup
}

// untilSettled is the Warmup in the fingerprint of a run that ends it when the metric has settled.
const untilSettled = "until settled"

// fingerprint lists what the draws depend on, one item per line. The numbers of
// chains and draws are left out: a run may be resumed for more.
func (c *Settings) fingerprint(t Target, names []string) (string, error) {
	var b strings.Builder
	item := func(name string, v any) { fmt.Fprintf(&b, "%s=%v\n", name, v) }
	item("Seed", c.Seed)
	pools := c.pools(t.Dim())
	if pools && c.untilSettled {
		item("Warmup", untilSettled)
	} else {
		item("Warmup", c.warmup())
	}
	if c.Method == SMC {
		item("Rounds", smcRules)
	}
	if pools {
		item("Rounds", roundRules)
		item("Coordinates", c.Coordinates)
		item("PlainSteps", c.PlainSteps)
		if c.integrated != nil {
			item("Integrated", c.integrated)
		}
	}
	item("Metric", c.Metric)
	item("Schedule", c.Schedule)
	item("Statistic", c.Statistic)
	item("TargetAccept", c.TargetAccept)
	item("mayRaise", c.mayRaise)
	item("MaxTreeDepth", c.MaxTreeDepth)
	item("Blocks", c.blockAt)
	item("MinTreeDepth", c.MinTreeDepth)
	item("WarmupTreeDepth", c.WarmupTreeDepth)
	item("TrajectoryTime", c.TrajectoryTime)
	item("MaxEnergyError", c.MaxEnergyError)
	item("StanShrink", c.StanShrink)
	item("NoCrossChecks", c.NoCrossChecks)
	item("KeepWarmup", c.KeepWarmup)
	item("StepSize", c.StepSize)
	item("Method", c.Method)
	item("Steps", c.Steps)
	item("JitterSteps", c.JitterSteps)
	item("StepJitter", c.StepJitter)
	item("From", c.From.adaptation())
	item("InitRadius", c.InitRadius)
	item("NoClimb", c.NoClimb)
	item("FirstChain", c.FirstChain)
	item("StartMetric", c.metricHash())
	item("parameters", t.Dim())
	h := fnv.New64a()
	h.Write([]byte(strings.Join(names, "\n")))
	item("names", fmt.Sprintf("%x", h.Sum64()))
	f, has, err := fingerprintOf(t)
	if has {
		item("model", fmt.Sprintf("%x", sha256.Sum256([]byte(f))))
	}
	return b.String(), err
}

func (c *Settings) metricHash() string {
	if c.StartMetric == nil {
		return "none"
	}
	var w checkpoint.Encoder
	c.StartMetric.m.Save(&w)
	return fmt.Sprintf("%x", sha256.Sum256(w.Encoded()))
}

// adaptation returns what the warm-up of a chain needs to know.
func (c *Settings) adaptation() warmup.Settings {
	s := warmup.Settings{
		Draws: c.warmup(), TargetAccept: c.TargetAccept, MayRaise: c.mayRaise, StepSize: c.StepSize,
		Kind: c.Metric, Schedule: c.Schedule, Statistic: c.Statistic,
		Estimator: c.estimator, MaxDepth: c.MaxTreeDepth, WarmupDepth: c.WarmupTreeDepth, Settled: c.settled,
	}
	if c.settled {
		s.Kind, s.MayRaise = FixedMetric, false
	}
	if c.StartMetric != nil {
		s.StartMetric = &c.StartMetric.m
	}
	return s
}

// estimator makes what learns the metric.
func (c *Settings) estimator(dim int) warmup.Estimator {
	if c.settled {
		return warmup.NewEstimator(FixedMetric, dim, false)
	}
	if c.Metric == BlockVariance {
		return warmup.NewBlockEstimator(c.blockAt, dim, c.StanShrink)
	}
	return warmup.NewEstimator(c.Metric, dim, c.StanShrink)
}
