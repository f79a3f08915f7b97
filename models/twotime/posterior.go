// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// Normal holds the mean and the standard deviation of a normal prior.
type Normal struct{ Mean, SD float64 }

// Priors holds the priors of a posterior.
type Priors struct {
	// Motion holds a distribution for each parameter of the motion, by name; the name log_NAME
	// gives that of the natural logarithm of NAME.
	Motion map[string]dist.Dist
	// Fixed holds the values of parameters of the motion that have no prior.
	Fixed map[string]float64
	// Ordered says that of two components the reference diffuses no faster than the sample in the
	// middle of the measurement; otherwise the two can be exchanged.
	Ordered bool
	// Contrast and Offset are the priors of each angle, which are independent of each other. Zero
	// values stand for 0.3 +- 0.2 and 1 +- 0.1.
	Contrast, Offset Normal
	bySlope          map[string]bool // rates whose slope in time the data tell
}

func (p *Priors) defaults() {
	if p.Contrast == (Normal{}) {
		p.Contrast = Normal{0.3, 0.2}
	}
	if p.Offset == (Normal{}) {
		p.Offset = Normal{1, 0.1}
	}
}

// Likelihood says how the noise of entries of c2 is taken into account.
type Likelihood string

const (
	ByCells     Likelihood = "cells"       // likelihood of means over cells of lag and age, with the covariance that speckles and photons give them
	ByFrames    Likelihood = "wishart"     // likelihood of Gaussian fluctuations with the covariance of the frames and a free count per pixel; for few frames
	ByPairs     Likelihood = "pairs"       // likelihood of all pairs, raised to the power that makes up for shared frames on average
	Independent Likelihood = "independent" // likelihood of independent entries with the errors given, which makes posteriors too narrow
)

// PosteriorSettings are the settings of a posterior. The zero value is the default.
type PosteriorSettings struct {
	Likelihood Likelihood // kind of likelihood. Default ByCells
	Binning    Binning    // bins of lag and age, for ByCells
	Pixels     int        // number of pixels that are simulated for the covariance of the cells. Default 8000 of up to 200 frames, 4000 of more
	Threads    int        // number of threads. Default 1
	Seed       uint64     // seed of the simulated pixels and of the search for the mode
	// Backend runs the log density. For ByPairs and Independent it runs only the passes over the
	// pairs, whose data stay on a GPU and where several chains overlap. Simulations and the errors
	// of fits stay on the CPU. Default: the CPU
	Backend ad.Backend
	// Progress is called with what New does, and with the fraction that is done, 0 to 1. It may be
	// called by several goroutines, one at a time.
	Progress func(what string, done float64)
}

// Posterior is the posterior of the motion. Contrasts and offsets are integrated out, except with
// ByFrames.
type Posterior struct {
	*infer.Posterior
	likelihood Likelihood
	angles     int
	data       *Data
	priors     *Priors
	// Power is the power to which the likelihood was raised: that of independent entries for
	// ByPairs and, without errors of the entries, for Independent; that of Gaussian fluctuations
	// for ByFrames. It is 0 for ByCells.
	Power float64
	// Mode is where the search for the mode ended, for ByCells and ByFrames; nil for the others.
	Mode  *infer.Mode
	cells *byCells // likewise
}

// New returns the posterior of the motion. Its density is 0 where the parameters have no meaning in
// the model; see transport.Setup.Domain. ByCells first looks for the mode, and simulates pixels
// there for the covariance of the cells.
func New(ctx context.Context, d Data, p Priors, s PosteriorSettings) (*Posterior, error) {
	if err := given.Args("twotime.New", "ctx", ctx); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	p.defaults()
	if !(p.Contrast.SD > 0 && p.Offset.SD > 0) {
		return nil, fmt.Errorf("twotime: the priors of contrast %+v and of offset %+v need standard deviations above 0", p.Contrast, p.Offset)
	}
	switch s.Likelihood {
	case "", ByCells:
		return newByCells(ctx, &d, &p, s)
	case ByFrames:
		return newByFrames(ctx, &d, &p, s)
	case ByPairs, Independent:
		return newByPairs(ctx, &d, &p, s)
	}
	return nil, fmt.Errorf("twotime: the likelihood is %q: want %s, %s, %s or %s", s.Likelihood, ByCells, ByPairs, ByFrames, Independent)
}

// motion starts a model with the parameters of the motion.
func motion(d *Data, p *Priors) (*infer.Model, []*ad.Node, error) {
	m := infer.NewModel("two-time")
	names := d.Setup.Names()
	var theta []*ad.Node
	for name, prior := range p.Motion {
		if !slices.Contains(names, strings.TrimPrefix(name, "log_")) {
			return nil, nil, fmt.Errorf("twotime: there is no parameter %s to give a prior: choose from %s, each also with log_ before it", name, strings.Join(names, ", "))
		}
		if err := CheckPrior(name, prior); err != nil {
			return nil, nil, err
		}
	}
	for name, v := range p.Fixed {
		if !slices.Contains(names, name) || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, fmt.Errorf("twotime: %s cannot be fixed at %g: choose from %s, and give a finite value", name, v, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		_, fixed := p.Fixed[name]
		given := 0
		for _, is := range []bool{fixed, has(p.Motion, name), has(p.Motion, "log_"+name)} {
			if is {
				given++
			}
		}
		if given != 1 {
			return nil, nil, fmt.Errorf("twotime: give one prior of %s or of log_%s, or a fixed value", name, name)
		}
	}
	for k := 0; k < len(names); k++ {
		if v, fixed := p.Fixed[names[k]]; fixed {
			theta = append(theta, m.Deterministic(names[k], ad.Scalar(v)))
			continue
		}
		if isRate(names[k]) && p.parted(names[k], names[k+1], names[k+2]) {
			theta = append(theta, p.rate(m, &d.Setup, names[k:k+3])...)
			k += 2
			continue
		}
		if prior, plain := p.Motion[names[k]]; plain {
			theta = append(theta, m.Param(names[k], prior))
		} else {
			theta = append(theta, m.Deterministic(names[k], ad.Exp(m.Param("log_"+names[k], p.Motion["log_"+names[k]]))))
		}
	}
	m.AddLogProb("domain", domain(&d.Setup, theta))
	if p.Ordered && d.Setup.Model == transport.TwoComponent {
		logG := d.Setup.LogMean()
		rate := func(v []*ad.Node) *ad.Node { return ad.Add(ad.Mul(v[0], ad.Exp(ad.Scale(logG, v[1]))), v[2]) }
		m.AddLogProb("order", ad.Where(ad.Greater(rate(theta), rate(theta[3:])), ad.Scalar(math.Inf(-1)), ad.Scalar(0)))
	}
	return m, theta, nil
}

func has[T any](m map[string]T, name string) bool {
	_, ok := m[name]
	return ok
}

// parted reports whether a rate a t^b + c is sampled by its logarithm in the middle of the measurement and the share of c in it. Data tell
// these, while a and c make up for each other.
func (p *Priors) parted(rate, power, offset string) bool {
	b, ok := p.Motion[power]
	if !ok {
		return false
	}
	if lower, upper := b.Support.Ends(); !math.IsInf(lower, -1) || !math.IsInf(upper, 1) {
		return false
	}
	c, plain := p.Motion[offset]
	if !plain {
		return false
	}
	lower, upper := c.Support.Ends()
	a, plain := p.Motion[rate]
	if !plain {
		a = p.Motion["log_"+rate]
	}
	// a prior with limits is sampled within them
	if l, u := a.Support.Ends(); !math.IsInf(u, 1) || plain && l != 0 || !plain && !math.IsInf(l, -1) {
		return false
	}
	return math.IsInf(upper, 1) && (lower == 0 || math.IsInf(lower, -1))
}

// rate declares the parameters of a rate a t^b + c under their priors, by what data tell of it: the logarithm u of the rate at the geometric
// mean time g, b or, with bySlope, its slope d u/d log t there, and the share s of c in it: b = slope/(1-s), a = (1-s) e^u g^-b, c = s e^u. It
// returns a, b and c.
func (p *Priors) rate(m *infer.Model, s *transport.Setup, names []string) []*ad.Node {
	logG := s.LogMean()
	size, inLogs := p.Motion["log_"+names[0]]
	if !inLogs {
		size = p.Motion[names[0]]
	}
	middle := 0.0
	if v, err := dist.Numbers(size); err == nil && inLogs && size.Name == "normal" {
		middle = v[0][0]
	}
	u := m.Flat("log_rate_"+names[0], dist.AffineTransform(middle, 1))
	within := dist.UpperTransform(1)
	if lower, _ := p.Motion[names[2]].Support.Ends(); lower == 0 {
		within = dist.IntervalTransform(0, 1)
	}
	share := m.Flat("share_"+names[2], within)
	rest := ad.Sub(ad.Scalar(1), share)
	var b *ad.Node
	if p.bySlope[names[0]] {
		b = m.Deterministic(names[1], ad.Div(m.Flat("slope_"+names[0], dist.AffineTransform(0, 0.5)), rest))
		m.AddLogProb("prior of "+names[1], ad.Sub(p.Motion[names[1]].LogProb(b), ad.Log(rest)))
	} else {
		b = m.Param(names[1], p.Motion[names[1]])
		m.Deterministic("slope_"+names[0], ad.Mul(b, rest))
	}
	logA := ad.AddN(u, ad.Log(rest), ad.Scale(-logG, b))
	a, c := m.Deterministic(names[0], ad.Exp(logA)), m.Deterministic(names[2], ad.Mul(share, ad.Exp(u)))
	density := size.LogProb(a)
	if inLogs {
		density = ad.Sub(size.LogProb(m.Deterministic("log_"+names[0], logA)), logA)
	}
	// the determinant of (a, c) by (u, s) is e^2u g^-b
	m.AddLogProb("prior of "+names[0], ad.AddN(density, p.Motion[names[2]].LogProb(c), ad.Scale(2, u), ad.Scale(-logG, b)))
	return []*ad.Node{a, b, c}
}

// domain is 0 where rates and fractions have a meaning, and minus infinity elsewhere.
func domain(s *transport.Setup, theta []*ad.Node) *ad.Node {
	sum := ad.Scalar(0)
	if s.Customary {
		return sum
	}
	wrong := func(bad *ad.Node) { sum = ad.Add(sum, ad.Where(bad, ad.Scalar(math.Inf(-1)), ad.Scalar(0))) }
	ends := []float64{s.Times[0], s.Times[len(s.Times)-1]}
	for i, name := range s.Names() {
		if !isRate(name) {
			continue
		}
		if s.Times[0] == 0 {
			wrong(ad.LessEqual(theta[i+1], ad.Scalar(-1)))
		}
		for _, t := range ends {
			if name != "v0" && t > 0 {
				wrong(ad.Less(ad.Add(ad.Mul(theta[i], ad.Exp(ad.Scale(math.Log(t), theta[i+1]))), theta[i+2]), ad.Scalar(0)))
			}
		}
	}
	if s.Model == transport.TwoComponent {
		for _, t := range ends {
			f := ad.Add(ad.Mul(theta[9], ad.Exp(ad.Mul(theta[10], ad.Shift(ad.Neg(theta[11]), t)))), theta[12])
			wrong(ad.Less(f, ad.Scalar(0)))
			wrong(ad.Greater(f, ad.Scalar(1)))
		}
	}
	return sum
}

// products are weighted sums over the data of each angle, as vectors (angles): of g g, g and g y of a model g, and of 1, y and y y of the data
// y = c2 - 1.
type products struct {
	gg, g, gy   *ad.Node
	ones, y, yy []float64
}

// integrated returns the log density of the data without contrasts and offsets, and their distribution given the motion: (5, angles), of means
// of contrast and offset-1, and the triangle of their covariance.
func (s products) integrated(p *Priors) (logProb, conditional *ad.Node) {
	angles := len(s.ones)
	pc, po := 1/(p.Contrast.SD*p.Contrast.SD), 1/(p.Offset.SD*p.Offset.SD)
	mc, mo := p.Contrast.Mean, p.Offset.Mean-1
	third, toOffset, rest := make([]float64, angles), make([]float64, angles), make([]float64, angles)
	for k := range angles {
		third[k], toOffset[k], rest[k] = s.ones[k]+po, s.y[k]+po*mo, s.yy[k]+pc*mc*mc+po*mo*mo
	}
	a, b, c := ad.Shift(s.gg, pc), s.g, ad.Const(third) // precision of contrast and offset: [a b; b c]
	hc, ho := ad.Shift(s.gy, pc*mc), ad.Const(toOffset)
	det := ad.Sub(ad.Mul(c, a), ad.Square(b))
	contrast := ad.Div(ad.Sub(ad.Mul(c, hc), ad.Mul(ho, b)), det)
	offset := ad.Div(ad.Sub(ad.Mul(ho, a), ad.Mul(b, hc)), det)
	// sum of squares at the best contrast and offset, beliefs included
	left := ad.Sub(ad.Const(rest), ad.Add(ad.Mul(hc, contrast), ad.Mul(ho, offset)))
	sd := ad.Sqrt(ad.Div(c, det))                       // of contrast
	along := ad.Neg(ad.Div(b, ad.Sqrt(ad.Mul(c, det)))) // of offset, for each sd of contrast
	across := ad.Sqrt(ad.Reciprocal(c))                 // of offset, by itself
	return ad.Scale(-0.5, ad.Sum(ad.Add(left, ad.Log(det)))), ad.Stack(0, contrast, offset, sd, along, across)
}

// newByPairs takes every entry by itself. Without errors of the entries their scatter about the mode of the cells is taken for them; ByPairs
// raises the likelihood to the power that entries which share frames call for.
func newByPairs(ctx context.Context, d *Data, p *Priors, s PosteriorSettings) (*Posterior, error) {
	power := 1.0
	if s.Likelihood == ByPairs || d.Sigma == nil {
		first, err := newByCells(ctx, d, p, s)
		if err != nil {
			return nil, err
		}
		at, err := first.point(first.Mode.Unconstrained)
		if err != nil {
			return nil, err
		}
		of, err := newScorer(ctx, d, at, p.free(d.Setup.Names()), Individual, s.Threads)
		if err != nil {
			return nil, err
		}
		all := of.together()
		if power = float64(all.Entries) / of.squares(); s.Likelihood == ByPairs {
			if power, err = all.power(); err != nil {
				return nil, err
			}
		}
	}
	m, theta, err := motion(d, p) // in the coordinates that the cells found best
	if err != nil {
		return nil, err
	}
	logProb, conditional, on, err := pairsDensity(ctx, d, *p, power, s.Backend, theta)
	if err != nil {
		return nil, err
	}
	post, err := finished(m, logProb, conditional, d, p, s.Likelihood, nil)
	if err != nil {
		return nil, err
	}
	post.Power = power
	post.RunsOn(on)
	return post, nil
}

// free returns the parameters that have a prior.
func (p *Priors) free(names []string) (all []string) {
	for _, name := range names {
		if !has(p.Fixed, name) {
			all = append(all, name)
		}
	}
	return all
}

// compiled compiles a model for a backend; nil is the processor.
func compiled(m *infer.Model, b ad.Backend) (*infer.Posterior, error) {
	if b == nil {
		return m.Compile()
	}
	return m.CompileOn(b)
}

// finished completes a model by its data.
func finished(m *infer.Model, logProb, conditional *ad.Node, d *Data, p *Priors, l Likelihood, b ad.Backend) (*Posterior, error) {
	m.AddLogProb("data", logProb)
	m.Deterministic("scales", conditional)
	post, err := compiled(m, b)
	if err != nil {
		return nil, err
	}
	return &Posterior{Posterior: post, likelihood: l, angles: len(d.Setup.Angles), data: d, priors: p}, nil
}

// Scales returns contrast and offset of each angle for every draw of a posterior. If they were
// integrated out, they are drawn from their distribution given the motion. The first index is the
// angle, then chain and draw.
func (p *Posterior) Scales(fit *infer.Fit, seed uint64) (contrast, offset [][][]float64) {
	for k := range p.angles {
		if p.likelihood == ByFrames {
			contrast, offset = append(contrast, fit.Draws(fmt.Sprintf("contrast[%d]", k))), append(offset, fit.Draws(fmt.Sprintf("offset[%d]", k)))
			continue
		}
		var of [5][][]float64
		for i := range of {
			of[i] = fit.Draws(fmt.Sprintf("scales[%d, %d]", i, k))
		}
		c, o := make([][]float64, fit.Chains()), make([][]float64, fit.Chains())
		for chain := range c {
			z := tensor.NewStream(seed, uint32(k), uint32(chain))
			for draw := range fit.Len(chain) {
				u := z.Normal()
				c[chain] = append(c[chain], of[0][chain][draw]+of[2][chain][draw]*u)
				o[chain] = append(o[chain], 1+of[1][chain][draw]+of[3][chain][draw]*u+of[4][chain][draw]*z.Normal())
			}
		}
		contrast, offset = append(contrast, c), append(offset, o)
	}
	return contrast, offset
}
