// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// mostColumns is the largest number of parameters whose effect a verdict removes from the
// residuals; each costs a simulation.
const mostColumns = 100

// CheckSettings are the settings of Inversion.Check. The zero value is the default.
type CheckSettings struct {
	check.Settings
	Altered  []check.Alteration // changes made to the data before the fit
	Findings []check.Flag
	Priors   []check.Prior // positions of the draws within their priors
	// Drawn says that x is a draw from the posterior and not a fit.
	Drawn bool
	// Relative means that Sigma is not known, so the size of the residuals carries no
	// information.
	Relative bool
	// Sigma replaces the Sigma of the Inversion if it was inferred.
	Sigma float64

	unknown []string // what the fit found undetermined
}

// Check judges a fit or a draw x, in the order of the parameters. It tests residuals against their
// errors, neighbouring pixels, patterns along q, angle and energy, and known kinds of departures (a
// shifted beam centre, a blur, softer or sharper edges, a background, the flux at single energies,
// a rotated or stretched detector). For a fit without a Penalty, it also flags parameters that the data do not determine.
func (v *Inversion) Check(x []float64, s CheckSettings) (check.Verdict, error) {
	c, err := v.newInspection(x, s)
	if err != nil {
		return check.Verdict{}, err
	}
	d, err := c.collect()
	if err != nil {
		return check.Verdict{}, err
	}
	return check.Judge(d, s.Settings)
}

// inspection is the state of a Check: the residuals of an inversion at x.
type inspection struct {
	*linear
	s    CheckSettings
	x    []float64
	mean []float64 // predictions at the pixels or points with data
	all  []float64 // predictions for all pixels, NaN where nothing is detected; nil for curves
	// scale is the standard deviation of each prediction, on the scale of intensities, or
	// of the residuals for curves.
	scale []float64
}

func (v *Inversion) newInspection(x []float64, s CheckSettings) (*inspection, error) {
	l, err := v.linear()
	if err != nil {
		return nil, err
	}
	if len(x) != len(v.names()) {
		return nil, fmt.Errorf("morph: the check got %s for %s: pass one for each, as Fit returns them", errtext.Count(len(x), "number"), errtext.Count(len(v.names()), "parameter"))
	}
	c := &inspection{linear: l, s: s, x: x}
	if err := l.move(x); err != nil {
		return nil, err
	}
	if v.Curves == nil {
		if err := c.predict(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// predict fills mean, all and scale for images.
func (c *inspection) predict() error {
	flat := c.pattern.Intensity.Float64s()
	seen, err := ad.Numbers(c.here(c.scene.measured(ad.Const(flat, len(flat)), momentaOf(c.pattern))))
	if err != nil {
		return err
	}
	c.all = seen[0]
	for _, i := range c.index {
		c.mean = append(c.mean, c.all[i])
	}
	sigma := c.sigma()
	if c.s.Sigma > 0 {
		sigma = c.s.Sigma
	}
	for i, m := range c.mean {
		switch c.Loss {
		case PoissonLoss:
			c.scale = append(c.scale, math.Sqrt(max(m, 1e-30))/CountStrength(m))
		case SquareLoss:
			c.scale = append(c.scale, sigma)
		default:
			c.scale = append(c.scale, sigma*(c.mean[i]+c.Eps))
		}
	}
	return nil
}

// here replaces the parameters in a Node of the scene by their values at x.
func (c *inspection) here(n *ad.Node) *ad.Node {
	from, to, rest := c.params, []*ad.Node{}, c.x
	for _, p := range c.Params {
		k := len(p.Start)
		if k == 1 {
			to = append(to, ad.Scalar(rest[0]))
		} else {
			to = append(to, ad.Const(rest[:k:k], k))
		}
		rest = rest[k:]
	}
	return ad.Substitute([]*ad.Node{n}, from, to)[0]
}

// collect gathers the data to be judged.
func (c *inspection) collect() (check.Data, error) {
	d := check.Data{Relative: c.s.Relative, Drawn: c.s.Drawn, Altered: c.s.Altered, Priors: c.s.Priors, Findings: append(c.s.Findings, c.unphysical()...)}
	if c.dropped > 0 {
		d.Altered = append(d.Altered, c.left())
	}
	r := make([]float64, len(c.comparison.data))
	if err := c.residuals(r, c.x); err != nil {
		return d, err
	}
	d.Z = r
	for i := range r {
		r[i] = -r[i]
	}
	if c.s.Sigma > 0 {
		for i := range r {
			r[i] *= c.sigma() / c.s.Sigma
		}
	}
	if c.Loss == PoissonLoss {
		if err := c.counts(d.Z); err != nil {
			return d, err
		}
	}
	if err := c.columns(&d); err != nil {
		return d, err
	}
	if c.Curves != nil {
		d.Axes = c.curveAxes()
		return d, nil
	}
	d.Mean = c.mean
	d.Axes, d.Grid = c.imageAxes(), c.grid()
	d.Directions = c.departures()
	return d, nil
}

// left reports the measured values that the Loss cannot take.
func (c *inspection) left() check.Alteration {
	total := c.dropped + len(c.index)
	a := check.Alteration{Kind: "pixels left out", Count: c.dropped, Note: float64(c.dropped) < 0.02*float64(total)}
	were := errtext.Agree(c.dropped, "was", "were")
	a.Text = fmt.Sprintf("%d of %s %s not above 0 and %s left out, because the logarithm does not exist there, so dim pixels are missing", c.dropped, errtext.Count(total, "value"), errtext.Agree(c.dropped, "is", "are"), were)
	a.Remedy = "the loss poisson for counts, or else square"
	if c.Loss == PoissonLoss {
		a.Text = fmt.Sprintf("%d of %s %s below 0, as counts never are, and %s left out", c.dropped, errtext.Count(total, "count"), errtext.Agree(c.dropped, "is", "are"), were)
		a.Remedy = "use the counts as they were measured, without subtracting a background, or use the loss square"
	}
	return a
}

// columns adds the Jacobian, unless there are too many parameters.
func (c *inspection) columns(d *check.Data) error {
	names := c.names()
	if len(names) > mostColumns || 3*len(names) > len(d.Z) {
		d.Findings = append(d.Findings, check.Flag{Kind: check.KindSize, Note: true,
			Text: fmt.Sprintf("the noise that %s absorb was not allowed for, so residuals that are too small say nothing", errtext.Count(len(names), "parameter"))})
		d.Many = true
		return nil
	}
	j := make([]float64, len(names)*len(d.Z))
	if err := c.derivatives(j); err != nil {
		return err
	}
	if c.s.Sigma > 0 {
		for i := range j {
			j[i] *= c.sigma() / c.s.Sigma
		}
	}
	d.Names, d.Jacobian = names, j
	if c.s.Drawn || c.scene.Penalty != nil {
		return nil // a prior or the penalty may determine what the data do not
	}
	if r, err := spreadOf(j, names); err == nil { // Judge tells what is wrong with j
		d.Unknown = slices.Clone(r.Undetermined)
	}
	for _, u := range c.s.unknown {
		if !slices.Contains(d.Unknown, u) {
			d.Unknown = append(d.Unknown, u)
		}
	}
	return nil
}

// unphysical flags order parameters and volume fractions outside 0 to 1.
func (c *inspection) unphysical() (out []check.Flag) {
	for k, m := range c.fractions() {
		for _, f := range []struct {
			what  string
			field *tensor.Tensor
		}{{"volume fraction", m.Vfrac}, {"order parameter", m.S}} {
			if f.field == nil {
				continue
			}
			low, high := math.Inf(1), math.Inf(-1)
			for _, v := range f.field.Float64s() {
				low, high = min(low, v), max(high, v)
			}
			if low < -1e-6 || high > 1+1e-6 {
				out = append(out, check.Flag{Kind: "unphysical", Where: fmt.Sprintf("material %d", k+1),
					Text:   fmt.Sprintf("the %s of material %d reaches from %.3g to %.3g: want 0 to 1", f.what, k+1, low, high),
					Remedy: "bound the parameters, or look for another minimum"})
			}
		}
	}
	return out
}
