// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
)

// CheckSettings describes to CheckModel what it cannot learn from the model, such as
// the axes along which the data were measured. The zero value is the default.
type CheckSettings struct {
	check.Settings
	// Axes are the variables along which the observations were made, one value for each
	// that counts, in the order of Observe. Default: every Data vector as long as the
	// only observation, or the order of the observations.
	Axes []check.Axis
	// Grid says where the observations lie on a detector.
	Grid *check.Grid
	// Directions are departures that have a name, given the predictions and standard
	// deviations at the draw that is judged.
	Directions func(mean, sd []float64) []check.Direction
	// Altered says what was done to the data before they were observed.
	Altered  []check.Alteration
	Findings []check.Flag
	// Priors replace what the draws say of the parameters of these names.
	Priors []check.Prior
}

// CheckModel judges whether the model agrees with its data and its priors. Residuals
// are taken at single draws from the posterior, where those of a right model are
// independent and standard normal (quantile residuals for distributions other than Normal); if
// the model has few parameters, what the parameters can absorb is taken out of them.
// The verdict is the median one of several draws. Priors are judged by the place of
// the draws in them. The last verdict is what Summary quotes; Summary asks for the
// default one by itself.
//
// It is an error if the Fit is not of a Posterior or has no draws.
func (f *Fit) CheckModel(s CheckSettings) (check.Verdict, error) {
	p, err := f.posterior()
	if err != nil {
		return check.Verdict{}, err
	}
	rows := f.thinnedDraws(mostPriorDraws)
	if len(rows) == 0 {
		return check.Verdict{}, fmt.Errorf("infer: model check: the fit has no draws: sample at least one")
	}
	c := &modelCheck{p: p, f: f, s: s}
	for _, at := range rows {
		c.free = append(c.free, f.Unconstrained(at.chain, at.draw))
	}
	v, err := c.verdict(rows)
	for u := (*unscored)(nil); errors.As(err, &u); {
		c.skip, c.groups, c.tracks = append(c.skip, u), nil, nil
		v, err = c.verdict(rows)
	}
	if err == nil {
		v = f.Quote(v)
	}
	return v, err
}

// Quote makes a verdict the one that Summary quotes, for models whose data are judged
// by what knows them better, such as images. It returns the verdict that is quoted: where the
// density is unbounded or has no finite integral, draws represent no distribution, and no model
// is judged by them.
func (f *Fit) Quote(v check.Verdict) check.Verdict {
	if len(f.away) > 0 {
		reason := "the density is unbounded"
		if slices.ContainsFunc(f.away, func(r diag.Runaway) bool { return r.Flat }) {
			reason = "the posterior has no finite integral"
		}
		v = check.Unjudged(reason+", so its draws do not represent a distribution", diag.AwayFrom(f.away[0].Name))
	}
	f.mu.Lock()
	f.verdict = &v
	f.mu.Unlock()
	return v
}

// PriorChecks says where the draws lie in their priors; see CheckModel.
func (f *Fit) PriorChecks() ([]check.Prior, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	c := &modelCheck{p: p, f: f}
	priors, _, err := c.priors(f.thinnedDraws(mostPriorDraws))
	return priors, err
}

// Draws that are looked at: for priors, for residuals with and without a Jacobian.
const (
	mostPriorDraws = 200
	fewDraws       = 5
	manyDraws      = 15
)

// drawAt is a draw by chain and number.
type drawAt struct{ chain, draw int }

// thinnedDraws returns up to n draws, evenly over all chains.
func (f *Fit) thinnedDraws(n int) (out []drawAt) {
	var all []drawAt
	for c := range f.Chains() {
		for d := range f.Len(c) {
			all = append(all, drawAt{c, d})
		}
	}
	n = min(n, len(all))
	for i := range n {
		out = append(out, all[(2*i+1)*len(all)/(2*n)])
	}
	return out
}

// modelCheck is CheckModel at work.
type modelCheck struct {
	p      *Posterior
	f      *Fit
	s      CheckSettings
	groups []group
	tracks []*priorTrack
	// free holds the unconstrained coordinates of the draws that are looked at.
	free [][]float64
	// skip lists observations whose residuals cannot be found.
	skip []*unscored
}

func (c *modelCheck) verdict(rows []drawAt) (check.Verdict, error) {
	d := check.Data{Axes: c.s.Axes, Grid: c.s.Grid, Altered: c.s.Altered, Findings: slices.Clone(c.s.Findings)}
	priors, notes, err := c.priors(rows)
	if err != nil {
		return check.Verdict{}, err
	}
	d.Priors, d.Findings = c.replaced(priors), append(append(d.Findings, notes...), c.p.outsideShares()...)
	o, unjudged := c.p.scored(c.skip)
	d.Findings = append(d.Findings, unjudged...)
	if len(o) == 0 {
		v, err := check.Judge(d, c.s.Settings)
		for i, f := range v.Flags {
			if f.Kind == check.KindUnjudged && len(c.p.model.observed) > 0 {
				v.Flags[i].Text, v.Flags[i].Remedy = "none of its observations could be compared with it, as the notes say", ""
			}
		}
		return v, err
	}
	if d.Axes == nil && d.Grid == nil {
		d.Axes = c.p.axes(o)
	}
	return c.median(d, o, rows)
}

// replaced puts the settings' priors in the place of those of the draws.
func (c *modelCheck) replaced(all []check.Prior) []check.Prior {
	for _, own := range c.s.Priors {
		all = slices.DeleteFunc(all, func(p check.Prior) bool { return p.Name == own.Name })
	}
	return append(all, c.s.Priors...)
}

// median judges at several draws and returns the verdict in the middle.
func (c *modelCheck) median(d check.Data, o []*observation, rows []drawAt) (check.Verdict, error) {
	sd := c.freeSDs()
	n := 0
	for _, x := range o {
		n += len(x.counts())
	}
	fit := c.p.dim <= 60 && 3*c.p.dim <= n
	draws := manyDraws
	if fit {
		draws = fewDraws
	}
	share := c.s.Settings
	share.Level = cmp.Or(share.Level, check.Level) / float64(1+len(c.groups))
	draws = min(draws, len(rows))
	at, scores := make([]int, draws), make([]predicted, draws)
	for k := range at {
		at[k] = (2*k + 1) * len(rows) / (2 * draws)
		var err error
		if scores[k], err = c.p.scores(o, c.free[at[k]]); err != nil {
			return check.Verdict{}, err
		}
	}
	counts := !slices.ContainsFunc(o, func(x *observation) bool { return !x.dist.Discrete })
	varies := slices.ContainsFunc(scores, func(r predicted) bool { return !slices.Equal(r.sd, scores[0].sd) })
	var all []check.Verdict
	for k, row := range at {
		one, r, q := d, scores[k], c.free[row]
		one.Z, one.Mean, one.Drawn, one.Partly = r.z, r.mean, true, c.p.partly()
		one.Counts, one.SigmaFitted = counts, varies && !counts
		one.Quantiles = slices.ContainsFunc(o, func(x *observation) bool { return x.dist.Name != "normal" })
		if !one.Quantiles {
			one.Sigma = r.sd
		}
		one.Priors = c.placed(d.Priors, row)
		if fit {
			if err := c.p.adapt(&one, o, q, sd, r); err != nil {
				return check.Verdict{}, err
			}
		}
		if c.s.Directions != nil {
			one.Directions = c.s.Directions(r.mean, r.sd)
		}
		v, err := check.Judge(one, share)
		if err == nil {
			v, err = c.together(v, row, share)
		}
		if err != nil {
			return v, err
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b check.Verdict) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return 0
	})
	v := all[len(all)/2]
	if c.p.partly() {
		v.Notes = append(v.Notes, check.Flag{Kind: check.KindUnjudged, Text: "data may enter the log density beside what is observed, and were not judged", Note: true})
	}
	return v, nil
}

// partly reports whether data may enter the log density beside what is observed.
func (p *Posterior) partly() bool { return p.model.partly || len(p.model.terms) > 0 }

// freeSDs returns the standard deviations of the unconstrained coordinates.
func (c *modelCheck) freeSDs() []float64 {
	n := float64(len(c.free))
	mean, square := make([]float64, c.p.dim), make([]float64, c.p.dim)
	for _, row := range c.free {
		for i, q := range row {
			mean[i] += q / n
		}
	}
	for _, row := range c.free {
		for i, q := range row {
			square[i] += (q - mean[i]) * (q - mean[i]) / n
		}
	}
	for i, s := range square {
		square[i] = math.Sqrt(s)
	}
	return square
}

// quoted returns the verdict about the model that a summary quotes; nil where there
// is none.
func (f *Fit) quoted() *check.Verdict {
	f.mu.Lock()
	v, asked := f.verdict, f.asked
	f.asked = true
	f.mu.Unlock()
	if p, err := f.posterior(); v == nil && !asked && err == nil && len(p.model.observed) > 0 {
		if w, err := f.CheckModel(CheckSettings{}); err == nil {
			v = &w
		}
	}
	return v
}
