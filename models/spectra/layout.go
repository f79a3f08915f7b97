// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// layout is what stars with spectra of the same arms and wavelengths share: constants and programs. Their
// parameters are velocities, rotation, and those of the library.
type layout struct {
	f          *Fitter
	spectra    []Spectrum // of one of the stars
	velocities int        // 1, or the number of exposures
	velocity   []int      // which of them each spectrum has
	each       []*layout  // of the spectra that have each velocity; this layout itself if there is one
	names      []string
	fixed      []bool
	values     []float64 // of those that are fixed
	arms       []*spectra.Arm
	templates  []*Templates
	pixels     int
	batch      int // stars that are fitted side by side; 0 until it is known
	programs   map[string]*ad.Program
	unused     map[*ad.Program][]*places // on GPUs, for the next call
}

// layout returns the layout of a star that has been checked.
func (f *Fitter) layout(star *Star) (*layout, error) {
	_, exposure := f.exposures(star)
	key := ""
	for i := range star.Spectra {
		key += fmt.Sprintf("%s@%d ", star.Spectra[i].shape(), exposure[i])
	}
	if l := f.layouts[key]; l != nil {
		return l, nil
	}
	l, err := f.newLayout(star)
	if err == nil {
		f.layouts[key] = l
	}
	return l, err
}

func (f *Fitter) newLayout(star *Star) (*layout, error) {
	l := &layout{f: f, spectra: star.Spectra, programs: map[string]*ad.Program{}}
	var labels []string
	labels, l.velocity = f.exposures(star)
	l.velocities = len(labels)
	for k := range labels {
		name := Vel
		if f.s.PerExposure {
			name = fmt.Sprintf("%s[%d]", Vel, k)
		}
		l.names, l.fixed, l.values = append(l.names, name), append(l.fixed, f.fixed[0]), append(l.values, f.values[0])
	}
	l.names, l.fixed, l.values = append(l.names, f.names[1:]...), append(l.fixed, f.fixed[1:]...), append(l.values, f.values[1:]...)
	for i := range star.Spectra {
		s := &star.Spectra[i]
		t, err := f.library.Arm(s.Arm)
		if err != nil {
			return nil, fmt.Errorf("spectrum %d: %w", i, err)
		}
		arm, err := f.arm(s, t)
		if err != nil {
			return nil, fmt.Errorf("spectrum %d: %w", i, err)
		}
		l.arms, l.templates, l.pixels = append(l.arms, arm), append(l.templates, t), l.pixels+len(s.Lam)
	}
	l.each = []*layout{l}
	if l.velocities > 1 {
		l.each = nil
		for k := range labels {
			one, err := f.layout(l.part(star, k))
			if err != nil {
				return nil, err
			}
			l.each = append(l.each, one)
		}
	}
	return l, nil
}

// general returns the position among the parameters of the Fitter of parameter k: 0 for all velocities.
func (l *layout) general(k int) int { return max(0, k-l.velocities+1) }

// bounds returns the bounds of the parameters.
func (l *layout) bounds() (lower, upper []float64) {
	lo, hi := l.f.bounds()
	for k := range l.names {
		lower, upper = append(lower, lo[l.general(k)]), append(upper, hi[l.general(k)])
	}
	return lower, upper
}

// arm returns the constants of a spectrum's arm and wavelengths, which layouts share.
func (f *Fitter) arm(s *Spectrum, t *Templates) (*spectra.Arm, error) {
	key := s.shape()
	if a := f.arms[key]; a != nil {
		return a, nil
	}
	a, err := spectra.NewArm(spectra.ArmSettings{
		Name: s.Arm, Template: t.Lam, Linear: !t.Log, Observed: s.Lam, Continuum: f.s.Continuum, Chebyshev: f.s.Chebyshev, Polynomials: f.polynomials(),
		Rotation: f.s.Rotation, MinVel: f.s.MinVel, MaxVel: f.s.MaxVel,
	})
	if err == nil {
		f.arms[key] = a
	}
	return a, err
}

// graph is the likelihood of b stars.
type graph struct {
	vel       []*ad.Node
	vsini, u  *ad.Node
	inputs    []*ad.Node
	exposures []spectra.Exposure
	like      *spectra.Likelihood
	// prior is minus twice the logarithm of the prior density, and penalty that of being outside of the
	// library, as ChiSquare has it.
	prior, penalty *ad.Node
	total          *ad.Node
}

// build makes the graph of stars, or of one star at many velocities, whose data and parameters are inputs.
func (l *layout) build(stars, velocities int) *graph {
	g := &graph{vsini: ad.Input("vsini", stars), u: ad.Input("u", stars, len(l.f.library.Params))}
	for k := range l.velocities {
		g.vel = append(g.vel, ad.Input(l.names[k], max(stars, velocities)))
	}
	g.inputs = g.params()
	l.complete(g, func(_ int, name string, shape ...int) *ad.Node {
		x := ad.Input(name, append([]int{stars}, shape...)...)
		g.inputs = append(g.inputs, x)
		return x
	})
	return g
}

// complete adds the likelihood to a graph that has the parameters. data makes a Node of what a star has of
// spectrum i: flux, err, good, or band.
func (l *layout) complete(g *graph, data func(i int, name string, shape ...int) *ad.Node) {
	type graphed struct{ flux, outside *ad.Node }
	made := map[*Templates]graphed{}
	for i, s := range l.spectra {
		n, t := len(s.Lam), l.templates[i]
		m, ok := made[t]
		if !ok {
			m.flux, m.outside = t.LogFlux(g.u)
			made[t] = m
		}
		e := spectra.Exposure{Arm: l.arms[i], Vel: g.vel[l.velocity[i]], Template: m.flux, Outside: m.outside, Flux: data(i, "flux", n), Err: data(i, "err", n), Good: data(i, "good", n)}
		if s.Resolution != nil {
			e.Band = data(i, "band", 2*s.Resolution.Half+1, n)
		}
		if floor := l.f.s.Floor[s.Arm]; floor > 0 {
			e.Floor = ad.Scalar(floor)
		}
		g.exposures = append(g.exposures, e)
		p := ad.Scale(10*float64(l.pixels), m.outside)
		if g.penalty == nil {
			g.penalty = p
		} else {
			g.penalty = ad.Add(g.penalty, p)
		}
	}
	vsini := g.vsini
	if l.f.s.Rotation.None {
		vsini = nil
	}
	g.like = spectra.NewLikelihood(nil, vsini, g.exposures...)
	g.prior = ad.Full(0, g.vel[0].Shape()...)
	for k := range l.names {
		if p, ok := l.f.s.Priors[l.f.names[l.general(k)]]; ok {
			g.prior = ad.Add(g.prior, ad.Scale(-2, p.LogProb(g.parameter(k))))
		}
	}
	g.total = ad.Add(g.like.ChiSquare, g.prior)
}

// parameter returns parameter k of all stars: velocities, rotation, then those of the library.
func (g *graph) parameter(k int) *ad.Node {
	switch v := len(g.vel); {
	case k < v:
		return g.vel[k]
	case k == v:
		return g.vsini
	default:
		return column(g.u, k-v-1)
	}
}

// params lists the parameters as package sim/spectra takes them.
func (g *graph) params() []*ad.Node { return append(slices.Clone(g.vel), g.vsini, g.u) }

// program returns a program by its name, for one of the backends that share the stars.
func (l *layout) program(name string, on int, outputs func() (*graph, []*ad.Node)) (*ad.Program, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	key := fmt.Sprintf("%s on %d", name, on)
	if p := l.programs[key]; p != nil {
		return p, nil
	}
	g, outs := outputs()
	s := ad.Settings{Inputs: g.inputs, Backend: wide(ad.Spread(l.f.s.Backend)[on])}
	if name == "search" {
		s.Precision, s.Backend = l.f.s.Precision, ad.Spread(l.f.s.Backend)[on]
	}
	p, err := ad.Compile(outs, s)
	if err != nil {
		return nil, fmt.Errorf("spectra: %w", err)
	}
	l.programs[key] = p
	return p, nil
}

// search returns the program of the search: the objective of each star, its gradient, and an approximation
// of its Hessian that is positive definite but for priors, all without the penalty for being outside of the
// library, and that penalty and its gradient.
func (l *layout) search(on int) (*ad.Program, error) {
	return l.program("search", on, func() (*graph, []*ad.Node) { return l.searchOf(l.batch) })
}

func (l *layout) searchOf(stars int) (*graph, []*ad.Node) {
	g := l.build(stars, 0)
	gradient, hessian := l.withPriors(g)
	return g, []*ad.Node{ad.Sub(g.total, g.penalty), gradient, hessian, g.penalty, gradientOf(g.penalty, g)}
}

// withPriors returns the gradient of the objective without penalties, and the Gauss-Newton approximation of
// its Hessian, to which priors add theirs.
func (l *layout) withPriors(g *graph) (gradient, hessian *ad.Node) {
	gradient, hessian = g.like.GaussNewton(g.params()...)
	if len(l.f.s.Priors) == 0 {
		return gradient, hessian
	}
	return ad.Add(gradient, gradientOf(g.prior, g)), ad.Add(hessian, spectra.Hessian(g.prior, g.params()...))
}

// gradientOf returns the gradient of a number for each star, with the parameters in a last axis.
func gradientOf(y *ad.Node, g *graph) *ad.Node {
	d := ad.Grad(y, g.params()...)
	for k := range len(d) - 1 {
		d[k] = rows(d[k])
	}
	return ad.Concat(-1, d...)
}

// Outputs of the program that describes stars at their minima.
const (
	outTotal = iota
	outChiSquare
	outHessian
	outGradient
	outSpectra // the first of some for each spectrum
)

const (
	ofTrue = iota
	ofContinuumOnly
	ofFit
	ofRaw
	ofCoefficients
	ofResiduals
	ofScaled   // template over error
	ofJacobian // derivatives of the model over its error, at fixed coefficients
	perSpectrum
)

// describe returns the program that describes stars at their minima.
func (l *layout) describe(on int) (*ad.Program, error) {
	return l.program("describe", on, func() (*graph, []*ad.Node) {
		g := l.build(l.described(), 0)
		outs := []*ad.Node{g.total, g.like.ChiSquare, spectra.Hessian(g.total, g.params()...), gradientOf(g.total, g)}
		only := spectra.ContinuumOnly(g.exposures...)
		for i, s := range g.like.Spectra {
			outs = append(outs, s.TrueChiSquare, only[i].TrueChiSquare, ad.Mul(s.Continuum, s.Model), s.Model, s.Coefficients, s.Residuals, s.Scaled(), s.Jacobian(g.params()...))
		}
		return g, outs
	})
}

// scan returns the program of one star at many velocities: the objective, and the templates of the spectra over the errors.
func (l *layout) scan(on int) (*ad.Program, error) {
	return l.program("scan", on, func() (*graph, []*ad.Node) {
		g := l.build(1, l.f.s.Velocities)
		outs := []*ad.Node{g.total}
		for _, s := range g.like.Spectra {
			outs = append(outs, s.Scaled())
		}
		return g, outs
	})
}

// wide returns a backend for programs of 64 bits.
func wide(b ad.Backend) ad.Backend {
	return ad.WithGPUs(b, func(c ad.CUDA) ad.CUDA {
		c.Storage, c.Weights, c.TF32 = "", "", false
		return c
	})
}
