// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
)

// Simulator predicts how an assembly forms when a stimulus is projected into an area: it computes
// the overlap of the neurons that fire in successive steps, as a mean over random graphs whose
// random numbers are fixed, so that it is a function of plasticity and connection probability. The
// zero value is the default.
//
// Which neurons win is chaotic: as the cap becomes hard, gradients of soft dynamics lose touch with
// the slope of the mean. The default Temperature is warm enough for useful gradients, but then
// overlaps are off by some hundredths; Corrected removes that error, and Emulated replaces the soft
// dynamics by a surface fitted to hard ones.
type Simulator struct {
	N, K     int // neurons of the area, and number that fire at a time. Default 1000 and 30
	Stimulus int // number of neurons of the stimulus. Default K
	Steps    int // number of steps. Default 10
	Graphs   int // number of random graphs. Default 8
	// Temperature is the temperature of the cap, a CappedSimplex, in units of a synapse's weight.
	// Default 1.5.
	Temperature float64
	// Tau is the temperature of the graph's edges; see Mask. Default 0.05.
	Tau float64
	// Jitter is the spread of the weights, which breaks ties. Default 0.5.
	Jitter float64
	Seed   uint64 // seed of the graphs
	// Beta and P are the medians of the priors, about which Corrected and Emulated are fitted. If K
	// P is below 1, most neurons have no input at all. Default 0.1.
	Beta, P float64

	surface *surface // surface of the logits of overlaps; nil for none
	alone   bool     // whether the surface replaces the dynamics, rather than correcting them
}

func (s Simulator) defaults() Simulator {
	count := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	count(&s.N, 1000)
	count(&s.K, 30)
	count(&s.Stimulus, s.K)
	count(&s.Steps, 10)
	count(&s.Graphs, 8)
	set(&s.Temperature, 1.5)
	set(&s.Tau, 0.05)
	set(&s.Jitter, 0.5)
	set(&s.Beta, 0.1)
	set(&s.P, 0.1)
	return s
}

func (s Simulator) check() error {
	if s.N < 1 || s.K < 1 || s.K >= s.N || s.Stimulus < 1 || s.Steps < 2 || s.Graphs < 1 {
		return fmt.Errorf("connectome: %d of %s fire in %s of %s, with a stimulus of %s: want fewer neurons firing than there are, at least 2 steps, 1 graph and 1 neuron of the stimulus", s.K, errtext.Count(s.N, "neuron"), errtext.Count(s.Steps, "step"), errtext.Count(s.Graphs, "graph"), errtext.Count(s.Stimulus, "neuron"))
	}
	if !(s.Temperature > 0 && s.Tau > 0 && s.Jitter >= 0) {
		return fmt.Errorf("connectome: the temperatures are %g and %g, the jitter %g: want temperatures above 0 and jitter of at least 0", s.Temperature, s.Tau, s.Jitter)
	}
	if !(s.Beta > 0 && s.P > 0 && s.P < 1) || math.IsInf(s.Beta, 1) {
		return fmt.Errorf("connectome: the prior medians of plasticity and probability are %g and %g: want both above 0, and the probability below 1", s.Beta, s.P)
	}
	return nil
}

// centre returns the medians of the priors of log beta and logit p.
func (s Simulator) centre() (logBeta, logitP float64) {
	return math.Log(s.Beta), math.Log(s.P / (1 - s.P))
}

// Overlaps returns the overlaps of steps 2, 3, ... with the step before, as a share of K,
// [Steps-1]. Its arguments are scalars: the logarithm of the plasticity and the logit of the
// connection probability.
//
// Gradient: with respect to both, first order.
func (s Simulator) Overlaps(logBeta, logitP *ad.Node) *ad.Node {
	if s = s.defaults(); s.check() != nil {
		return fault(s.check())
	}
	if s.alone {
		return ad.Sigmoid(s.surface.of(s.centred(logBeta, logitP)))
	}
	if err := s.fits(s.Graphs, false); err != nil {
		return fault(err)
	}
	soft := s.dynamics(logBeta, logitP, false)
	if s.surface == nil {
		return soft
	}
	safe := ad.Clip(soft, least, 1-least)
	logit := ad.Sub(ad.Log(safe), ad.Log1p(ad.Neg(safe)))
	return ad.Sigmoid(ad.Add(logit, s.surface.of(s.centred(logBeta, logitP))))
}

// centred returns the position in the design, -1 to 1 on both axes.
func (s Simulator) centred(logBeta, logitP *ad.Node) (x, y *ad.Node) {
	b, p := s.centre()
	scaled := func(v *ad.Node, centre float64) *ad.Node {
		return ad.Clip(ad.Scale(1/reach, ad.Shift(v, -centre)), -1, 1)
	}
	return scaled(logBeta, b), scaled(logitP, p)
}

// Hard computes Overlaps with hard assemblies in the random graphs themselves.
func (s Simulator) Hard(beta, p float64) ([]float64, error) {
	if s = s.defaults(); s.check() != nil {
		return nil, s.check()
	}
	if err := s.fits(s.Graphs, true); err != nil {
		return nil, err
	}
	if !(beta > 0 && p > 0 && p < 1) || math.IsInf(beta, 1) {
		return nil, fmt.Errorf("connectome: the plasticity is %g and the probability %g: want both above 0, and the probability below 1", beta, p)
	}
	v, err := ad.Numbers(s.dynamics(ad.Scalar(math.Log(beta)), ad.Scalar(math.Log(p/(1-p))), true))
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// dynamics runs the steps in all graphs.
func (s Simulator) dynamics(logBeta, logitP *ad.Node, hard bool) *ad.Node {
	d := Dynamics{Steps: s.Steps, K: ad.Scalar(float64(s.K)), Cap: KCap{Kind: CappedSimplex, Temperature: s.Temperature, Hard: hard}}
	beta, graphs := ad.Exp(logBeta), make([]*ad.Node, s.Graphs)
	for r := range graphs {
		mask := func(f, sources int) *Sparse {
			m := &Mask{Sources: sources, Targets: s.N, Seed: s.Seed<<32 + uint64(2*r+f), Tau: s.Tau, Jitter: s.Jitter, Straight: hard}
			return m.Of(logitP)
		}
		y := UnrollSparse(ad.Full(1, s.Stimulus), mask(0, s.Stimulus), mask(1, s.N), beta, d)
		graphs[r] = ad.SumAxes(ad.Mul(ad.Slice(y, 0, 1, s.Steps), ad.Slice(y, 0, 0, s.Steps-1)), 1)
	}
	return ad.Scale(1/float64(s.K*s.Graphs), ad.AddN(graphs...))
}

// priorSD is the standard deviation of the priors of log beta and logit p.
const priorSD = 0.5

// Model returns the distribution of measured overlaps of successive steps, o[0] that of the
// second step with the first:
//
//	log_beta ~ Normal(log Beta, 0.5),  logit_p ~ Normal(logit P, 0.5),  log_kappa ~ Normal(log 100, 1)
//	o_t ~ BetaBinomial(K, kappa mean_t, kappa (1 - mean_t)), mean_t of Overlaps
//
// The data determine p and K mainly through their product kp, the mean number of synapses from the
// firing neurons; K/N is known.
func (s Simulator) Model(o []int) (*infer.Model, error) {
	s = s.defaults()
	if err := s.Check(o); err != nil {
		return nil, err
	}
	if err := s.fits(s.Graphs, false); err != nil && !s.alone {
		return nil, err
	}
	m := infer.NewModel("projection")
	b, p := s.centre()
	logBeta := m.Param("log_beta", dist.Normal(b, priorSD))
	logitP := m.Param("logit_p", dist.Normal(p, priorSD))
	logKappa := m.Param("log_kappa", dist.Normal(math.Log(100), 1))
	m.Deterministic("beta", ad.Exp(logBeta))
	m.Deterministic("kp", ad.Scale(float64(s.K), ad.Sigmoid(logitP)))
	mean := ad.Clip(s.Overlaps(logBeta, logitP), 1e-4, 1-1e-4)
	kappa := ad.Exp(logKappa)
	distribution := dist.BetaBinomial(float64(s.K), ad.Mul(kappa, mean), ad.Mul(kappa, ad.Sub(ad.Scalar(1), mean)))
	m.Observe("overlap", distribution, floats(o))
	return m, nil
}

// Check returns an error for measured overlaps that Model would refuse, before the time is spent on
// Emulated or Corrected.
func (s Simulator) Check(o []int) error {
	s = s.defaults()
	if err := errors.Join(s.check(), counts("overlap", o, s.K)); err != nil {
		return err
	}
	if len(o) != s.Steps-1 {
		return fmt.Errorf("connectome: there are %d overlaps of %s: want %d, one for each step after the first, with the step before it", len(o), errtext.Count(s.Steps, "step"), s.Steps-1)
	}
	return nil
}

// FitSimulator samples plasticity and connection probability from measured overlaps; columns:
// log_beta, logit_p, log_kappa, beta, kp. Each gradient runs the simulator, which takes tens of
// milliseconds for the default one, unless it is Emulated.
func FitSimulator(ctx context.Context, s Simulator, o []int, c infer.Settings) (*infer.Fit, error) {
	if err := given.Args("connectome.FitSimulator", "ctx", ctx); err != nil {
		return nil, err
	}
	return sampled(ctx, func() (*infer.Model, error) { return s.Model(o) }, c)
}
