// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// judge computes the verdict about the model. names are the names of the residuals' Jacobian
// columns, in the order of the components.
func (f *Fit) judge(ctx context.Context, w *worker, r *optim.Result, s Settings, names []string, dropped []check.Alteration) {
	d := check.FromFit(r)
	s.release(ctx, w.problem, r, d.Bounds)
	for i, n := range d.Names {
		d.Names[i] = names[slices.Index(r.Names, n)]
	}
	for i, b := range d.Bounds {
		d.Bounds[i].Name = names[slices.Index(r.Names, b.Name)]
	}
	if f.Cost <= f.Curve.rounding() { // rounding errors have no pattern to find, and pull at no bound
		d.Z, d.Bounds = make([]float64, len(d.Z)), nil
	}
	if f.bounded(); f.Curve.unjudged {
		f.Check = check.Unjudged(f.Curve.few[0], f.Curve.few[1])
		return
	}
	d.Relative = f.Curve.unknown()
	d.Axes = []check.Axis{f.Curve.axis(f.Model)}
	d.Altered = slices.Concat(dropped, f.Curve.altered())
	d.Findings = append(d.Findings, f.Curve.readings(f.Model)...)
	if f.Curve.white == nil { // residuals that were made independent belong to no single point
		d.Mean, d.Sigma = slices.Clone(f.Curve.Y), f.Curve.Err
		for i, z := range d.Z {
			if d.Sigma != nil {
				z *= d.Sigma[i]
			}
			d.Mean[i] -= z
		}
	}
	if need := mostDepartures * len(f.Curve.X); len(w.columns) < need {
		w.columns = make([]float64, need)
	}
	d.Directions = f.Model.departures(f.Curve, f.X, d.Mean, d.Sigma, w.columns)
	var err error
	if f.Check, err = w.verdicts.Judge(d, check.Settings{}); err != nil {
		f.Check = unjudged(err)
	}
	for i, flag := range f.Check.Flags {
		if k := slices.Index(names, flag.Where); flag.Kind == check.KindBound && k >= 0 {
			if f.physical(flag.Where, f.X[f.Model.index(flag.Where)]) {
				f.Check.Flags[i].Remedy = otherTerm
			}
			if text := f.doubt(flag.Where, w.problem.Lower[k], w.problem.Upper[k]); text != "" {
				f.Check.Flags[i].Remedy = text + "; " + f.Check.Flags[i].Remedy
			}
		}
	}
}

// unjudged is the verdict about a model that cannot be judged for a reason.
func unjudged(reason error) check.Verdict {
	return check.Unjudged(strings.TrimPrefix(reason.Error(), "check: "), "give the data in units in which delays and relaxation times are neither very large nor very small")
}

// doubt returns what to check if the bounds of a parameter are times beyond all delays: bounds and delays then probably have
// different units. It returns nothing otherwise.
func (f *Fit) doubt(name string, lower, upper float64) string {
	if f.Model.Of != "delay" || f.Model.Params[f.Model.index(name)].Unit != "s" {
		return ""
	}
	first, last := slices.Min(f.Curve.X), slices.Max(f.Curve.X)
	if lower <= last && upper >= first {
		return ""
	}
	return fmt.Sprintf("check the units of the bounds, %.4g to %.4g s, and of the delays, %.4g to %.4g s", lower, upper, first, last)
}

func (c Curve) axis(model Model) check.Axis {
	switch {
	case model.Of == "q" && c.Axis != "":
		return check.Axis{Name: c.Axis, Unit: c.AxisUnit, Values: c.X}
	case model.Of == "q":
		return check.Axis{Name: "q", Unit: "1/Å", Values: c.X}
	}
	return check.Axis{Name: "delay", Unit: "s", Values: c.X}
}

// readings are the findings about the values themselves.
func (c Curve) readings(model Model) []check.Flag {
	if model.Of != "delay" && c.constant() && c.unknown() {
		return []check.Flag{{Kind: "constant values", Text: fmt.Sprintf("tau is %.6g at all %d q, and without errors nothing says how well they determine a power law", c.Y[0], len(c.Y)), Remedy: "give the errors of tau, or check where the times come from"}}
	}
	if n := len(c.Y); n > 1 && model.Of == "delay" && slices.Min(c.Y) == slices.Max(c.Y) {
		return []check.Flag{{Kind: "constant values", Text: fmt.Sprintf("g2 is %.6g at all %d delays, so there is no decay to fit", c.Y[0], n), Remedy: "check the mask and the bin: a correlation of pixels without counts, or of frames that repeat, looks like this"}}
	}
	all := check.Readings(c.Y, c.X)
	if least := leastOf(c.Y); model.Of == "delay" && least > highestBaseline {
		all = append(all, check.Flag{Kind: "baseline", Text: fmt.Sprintf("g2 is %.3g or more at all delays, but no more than 2 if the light is that of speckles: its baseline is far from 1", least),
			Remedy: "mask pixels that are far brighter than the others of their static bin (correlate notes them), or make static bins narrower"})
	}
	if c.blind > 0 {
		all = append(all, check.Flag{Kind: "dead time", Text: fmt.Sprintf("counts lower those of the same pixel in the next frame by %.3g %%, as of a detector with a dead time of about a frame or longer, or one whose pixels are reset after counts: g2 is too small at short delays", 100*c.blind),
			Remedy: "leave the shortest delays out, attenuate the beam, or take longer frames"})
	}
	if c.full[0] != "" {
		all = append(all, check.Flag{Kind: "saturation", Text: c.full[0], Remedy: c.full[1]})
	}
	if c.strays[0] != "" {
		all = append(all, check.Flag{Kind: "stray readings", Text: c.strays[0], Remedy: c.strays[1]})
	}
	return all
}

// constant reports whether all of several values are equal but for rounding.
func (c Curve) constant() bool {
	return len(c.Y) > 1 && slices.Max(c.Y)-slices.Min(c.Y) <= 1e-12*math.Abs(c.Y[0])
}

// highestBaseline is the value of g2 that static speckles with full contrast, whose baseline is 2, do not exceed at all delays.
const highestBaseline = 2.2

// leastOf returns the smallest number, 0 if there are none.
func leastOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Min(v)
}

// altered describes the errors that repaired replaced. They are counted while they are replaced,
// because afterwards they equal each other.
func (c Curve) altered() []check.Alteration {
	flaws := c.flaws
	if c.few[0] != "" {
		flaws = append(slices.Clone(flaws), check.Alteration{Kind: "few photons", Count: len(c.X), Note: true, Text: c.few[0], Remedy: c.few[1]})
	}
	if c.unusable != "" {
		return append(slices.Concat(flaws, c.alteredErrors()), check.Alteration{Kind: "no covariance", Count: len(c.X), Note: true,
			Text: c.unusable + ", so the errors of the points were treated as independent: if they are not, standard deviations are too small", Remedy: "use more pixels for a bin, or fewer delays"})
	}
	if c.white != nil {
		return flaws // no single error counts
	}
	return slices.Concat(flaws, c.alteredErrors())
}

func (c Curve) alteredErrors() []check.Alteration {
	a := check.Alteration{Kind: "zero errors", Count: c.replaced, Remedy: "give these points their errors, or leave them out"}
	were := errtext.Agree(c.replaced, "was", "were")
	if c.pair {
		a.Count, a.Note = 1, true
		a.Text = fmt.Sprintf("the error at the longest delay is 0, as where only one pair of frames has it, and was taken to be %.3g, the mean of the others", c.fill)
		return []check.Alteration{a}
	}
	switch {
	case c.without:
		a.Count, a.Note = len(c.X), true
		a.Text = fmt.Sprintf("all %d errors are 0 and were treated as missing: standard deviations follow from the scatter of the points about the model", len(c.X))
	case c.replaced == 0:
		return nil
	case c.believed == 0:
		a.Text = fmt.Sprintf("%s %s at most %g, the smallest that is accepted, and %s replaced by it: standard deviations are a guess", errtext.Agree(c.replaced, "the only error", fmt.Sprintf("all %d errors", c.replaced)), were, smallestError, were)
	default:
		a.Text = fmt.Sprintf("%d of %s %s at most %g and %s replaced by %.3g, the mean of the others: the weights of these points are a guess", c.replaced, errtext.Count(len(c.X), "error"), were, smallestError, were, c.fill)
	}
	return []check.Alteration{a}
}

// CheckPosterior judges the posterior of the model that Posterior made for the same curve and
// settings. If the model cannot be judged, the verdict says so with the reason. The error is nil.
func CheckPosterior(model Model, c Curve, s Settings, fit *infer.Fit) (check.Verdict, error) {
	var dropped []check.Alteration
	if s.DropInvalid {
		c, dropped = c.valid()
	}
	if c.unjudged {
		return check.Unjudged(c.few[0], c.few[1]), nil
	}
	c = c.repaired(model.Of)
	p := make([]float64, len(model.Params))
	for i, q := range model.Params {
		if p[i] = s.Fixed[q.Name]; fit.Draws(q.Name) != nil {
			p[i] = diag.Quantile(diag.Flatten(fit.Draws(q.Name)), 0.5)
		}
	}
	v, err := fit.CheckModel(infer.CheckSettings{Axes: []check.Axis{c.axis(model)}, Altered: slices.Concat(dropped, c.altered()), Findings: c.readings(model),
		Directions: func(mean, sd []float64) []check.Direction {
			return model.departures(c, p, mean, sd, make([]float64, mostDepartures*len(c.X)))
		}})
	if err != nil {
		return unjudged(err), nil
	}
	return v, nil
}

// mostDepartures is the largest number of departures of a model.
const mostDepartures = 12

// departures returns the usual ways in which a curve differs from a model: a stretched or a second
// decay, a drift of the baseline, a bend of tau(q). mean are the predicted values and sd the standard deviations; nil for 1. The
// columns are in room, mostDepartures for each point. Departures that cannot be computed, as of delays beyond the range of 64-bit
// numbers, are left out.
func (m Model) departures(c Curve, p, mean, sd, room []float64) []check.Direction {
	columns := make([][]float64, 0, mostDepartures)
	weight := func(f func(x float64) float64) [][]float64 {
		var out []float64
		out, room = room[:len(c.X):len(c.X)], room[len(c.X):]
		for i, x := range c.X {
			if out[i] = f(x); sd != nil && c.white == nil {
				out[i] /= sd[i]
			}
		}
		if c.white != nil {
			out = c.white.apply(c.white.inverse, out)
		}
		columns = append(columns, out)
		return columns[len(columns)-1 : len(columns) : len(columns)]
	}
	if m.Of == "q" && mean == nil {
		return nil
	}
	if m.Of == "q" {
		return m.bend(c, mean, weight)
	}
	tau, contrast := m.decay(p)
	all := append(make([]check.Direction, 0, mostDepartures), check.Direction{Kind: "stretched decay", Columns: weight(func(x float64) float64 {
		u := 2 * x / tau
		return -contrast * u * math.Log(u) * math.Exp(-u)
	}), Say: func(coef, sd []float64) (string, string) {
		how := "stretched"
		if coef[0] > 0 {
			how = "compressed"
		}
		remedy := "the model aps_single, whose exponent goes from 0.5 to 2"
		if m.Name != "stretched" {
			remedy = "the model stretched, or aps_single"
		}
		return fmt.Sprintf("a %s decay would fit better, with an exponent of about %.2g (a rough estimate)", how, max(1+coef[0], 0.1)), remedy
	}})
	if d, ok := c.unevenness(tau, contrast, weight); ok {
		all = append(all, d)
	}
	if c.step != nil {
		all = append(all, c.step.direction(weight(c.step.baseline)))
	}
	if share := correlate.Saturation(contrast, c.lost); share > 0 {
		all = append(all, check.Direction{Kind: "dead time", Known: true, Columns: weight(func(x float64) float64 { return contrast * share * math.Exp(-4*x/tau) }), Say: func(coef, sd []float64) (string, string) {
			return fmt.Sprintf("the counts of pixels scatter less than those of photons, as of a detector that misses about %.2g %% of them at the mean counts (dead time), which makes g2 decay too fast and takes contrast from it", 100*c.lost),
				"attenuate the beam, or correct the dead time in the frames and correlate them again"
		}})
	}
	for _, factor := range []float64{1. / 30, 1. / 10, 1. / 3, 3, 10, 30} {
		second := tau * factor
		all = append(all, check.Direction{Kind: "second decay", Of: "near " + strconv.FormatFloat(second, 'g', 2, 64) + " s", Columns: weight(func(x float64) float64 { return math.Exp(-2 * x / second) }),
			Holds: func(coef []float64) bool { return coef[0] > 0 }, // a contrast is not below 0
			Say: func(coef, sd []float64) (string, string) {
				return fmt.Sprintf("a second decay near %.2g s, with a contrast of about %s (a rough estimate), would fit better", second, check.Rough(coef[0])), "the model double, or aps_double; a sample that ages looks the same, which g2 of the first frames shows (correlate --parts 4, or reduce ages)"
			}})
	}
	middle := math.Log10(geometric(slices.Min(c.X), slices.Max(c.X)))
	drift := func(text string, f func(x float64) float64) {
		all = append(all, check.Direction{Kind: "drift of the baseline", Columns: weight(f), Say: func(coef, sd []float64) (string, string) {
			return fmt.Sprintf("a baseline that drifts by about %s %s (a rough estimate) would fit better", check.Rough(coef[0]), text), "check the normalisation and the stability of the beam, or leave the affected delays out"
		}})
	}
	drift("for each decade of delay", func(x float64) float64 { return math.Log10(x) - middle })
	half := slices.Max(c.X) / 2
	drift("for each second of delay", func(x float64) float64 { return x - half })
	return slices.DeleteFunc(all, func(d check.Direction) bool { return !computable(d.Columns[0]) })
}

// computable reports whether a column and its squares are within the range of 64-bit numbers.
func computable(column []float64) bool {
	sum := 0.0
	for _, v := range column {
		sum += v * v
	}
	return sum < 1e280
}

// bend returns the departure in which the exponent of a power law changes with q.
func (m Model) bend(c Curve, mean []float64, weight func(func(x float64) float64) [][]float64) []check.Direction {
	middle := math.Log(geometric(slices.Min(c.X), slices.Max(c.X)))
	k := -1
	return []check.Direction{{Kind: "no power law", Columns: weight(func(x float64) float64 {
		k++
		return mean[k] * (math.Log(x) - middle) * (math.Log(x) - middle)
	}), Say: func(coef, sd []float64) (string, string) {
		return fmt.Sprintf("a tau(q) that bends in logarithmic axes would fit better, with an exponent that changes by about %s for each decade of q (a rough estimate)", check.Rough(2*coef[0]*math.Ln10)),
			"fit a narrower range of q, or leave the bins out whose relaxation lies outside the window of delays"
	}}}
}

// decay returns the relaxation time and the contrast of the (faster) decay.
func (m Model) decay(p []float64) (tau, contrast float64) {
	tau, contrast = 1, 1
	for _, n := range []string{"b1", "b", "tau1", "tau"} {
		if i := m.index(n); i >= 0 {
			tau = p[i]
		}
	}
	for _, n := range []string{"a", "contrast1", "contrast"} {
		if i := m.index(n); i >= 0 {
			contrast = p[i]
		}
	}
	return tau, contrast
}

// richer lists the models with one more term.
var richer = map[string][]string{"single": {"stretched", "aps_single", "double"}, "stretched": {"double"}, "aps_single": {"aps_double"}}

// compare fits the models with one more term to the curves that fits disagree with, and records which of them agrees best
// with the data: the first of those that agree equally well.
func (of *Fitter) compare(ctx context.Context, fits []Fit, threads int) {
	if len(of.s.Fixed)+len(of.s.Bounds) > 0 {
		return // what was held may be what is wrong
	}
	var misfits []*Fit
	var curves []Curve
	for i := range fits {
		if f := &fits[i]; f.Check.Misfit() && !f.Curve.unknown() && !f.uneven() {
			misfits, curves = append(misfits, f), append(curves, f.Curve)
		}
	}
	best := make([]Fit, len(misfits))
	for _, name := range richer[of.model.Name] {
		model, err := ByName(name)
		if err != nil || len(misfits) == 0 {
			return
		}
		others, err := of.other(model).fitAll(ctx, curves, make([][]check.Alteration, len(curves)), threads)
		if err != nil {
			return
		}
		for i, g := range others {
			f, least := misfits[i], misfits[i].bic()-10
			if best[i].Status != "" {
				least = best[i].bic() - 1e-6
			}
			if g.OK() && g.bic() < least && g.ReducedChiSquared < 1.5*f.Check.Expected[1] && g.ReducedChiSquared < f.ReducedChiSquared {
				best[i] = g
			}
		}
	}
	for i, g := range best {
		if g.Status != "" {
			misfits[i].Check.Notes = append(misfits[i].Check.Notes, check.Flag{Kind: "another model", Note: true, Remedy: "the model " + g.Model.Name,
				Text: fmt.Sprintf("the model %s fits this curve with a reduced chi-square of %.3g", g.Model.Name, g.ReducedChiSquared)})
		}
	}
}

// uneven reports whether the spread of q is what the verdict names first: another model would only describe it.
func (f *Fit) uneven() bool { return len(f.Check.Flags) > 0 && f.Check.Flags[0].Kind == KindSpread }

// bic returns Schwarz's criterion of a fit.
func (f *Fit) bic() float64 { return 2*f.Cost + float64(len(f.X))*math.Log(float64(len(f.Curve.X))) }
