// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/twotime"
)

// Scales returns contrast and offset of each angle for every draw, under the names contrast_K and offset_K with K from 0.
func (p *Problem) Scales(post *twotime.Posterior, fit *infer.Fit, seed uint64) (names []string, x [][][]float64) {
	contrast, offset := post.Scales(fit, seed)
	for part, of := range [][][][]float64{contrast, offset} {
		for k := range p.C2.Phi {
			names = append(names, fmt.Sprintf("%s_%d", []string{"contrast", "offset"}[part], k))
		}
		x = append(x, of...)
	}
	return names, x
}

// IsAside reports whether a column of draws does not belong to the motion: it is a parameter from
// which contrasts and offsets are drawn, or one that is held fixed.
func (p *Problem) IsAside(name string) bool {
	for _, prefix := range []string{"scales[", "contrast[", "offset[", "inverse_count["} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	_, fixed, _ := p.Start()
	return slices.Contains(fixed, name)
}

// RemarksOn returns what a person should know about a posterior.
func (p *Problem) RemarksOn(post *twotime.Posterior, fit *infer.Fit, l twotime.Likelihood) []string {
	var mean, sd []float64
	for _, name := range p.Config.Model.Names() {
		of := diag.Flatten(fit.Draws(name))
		mean, sd = append(mean, diag.Quantile(of, 0.5)), append(sd, (diag.Quantile(of, 0.841)-diag.Quantile(of, 0.159))/2)
	}
	notes := p.Remarks(mean, sd)
	switch l {
	case twotime.Independent:
		notes = append(notes, TooNarrow)
	case twotime.ByPairs:
		notes = append(notes, fmt.Sprintf("every entry of C2 has the weight %.3g, which is less than its scatter gives and allows on average for entries that share a frame", post.Power))
	case twotime.ByFrames:
		notes = append(notes, fmt.Sprintf("the likelihood of frames is raised to the power %.3g, which allows for fluctuations that are not Gaussian", post.Power))
	}
	return notes
}

// NotSampled says which parts of the configuration apply to fits only; those of bounds that r gives truncate priors.
func (p *Problem) NotSampled(r *Request) (notes []string) {
	var bounded []string
	for _, par := range p.Config.Parameters {
		if _, asked := r.Bounds[par.Name]; !asked && par.Bounded && !par.Fixed && !par.Prior.Given {
			bounded = append(bounded, par.Name)
		}
	}
	if bounded != nil {
		notes = append(notes, "the bounds of "+strings.Join(bounded, ", ")+" hold for fits only: give these parameters --bounds or priors to keep them within bounds")
	}
	if s := p.Config.Scaling; len(p.C2.Phi) > 1 && s != homodyne.ScalingIndividual && s != homodyne.ScalingAuto {
		notes = append(notes, fmt.Sprintf("contrast and offset are %s in fits only: in the posterior every angle has a contrast and an offset of its own", s))
	}
	return notes
}

// TooNarrow is the remark about posteriors of independent entries.
const TooNarrow = "the likelihood independent ignores that entries of C2 that share a frame scatter together, so its intervals are too narrow: use the likelihood cells"

// PosteriorResult returns draws as homodyne arranges them.
func (p *Problem) PosteriorResult(post *twotime.Posterior, fit *infer.Fit, seed uint64, warmup int, notes []string, software string) *homodyne.Posterior {
	out := &homodyne.Posterior{Model: p.Config.Model, Phi: p.C2.Phi, Warmup: warmup, Divergences: fit.Divergent(), DepthHits: fit.DepthHits(), BFMI: fit.EBFMI(), Accept: math.NaN(), Target: fit.Aim(0),
		Points: p.Data.Points(), Q: p.C2.Q, Customary: p.Config.Customary, Window: p.Config.Clock.Window, Notes: notes, Software: software, When: time.Now()}
	for _, problem := range fit.Diagnose().Problems() {
		out.Advice = append(out.Advice, problem.String())
	}
	for _, name := range p.Config.Model.Names() {
		out.Names, out.Draws = append(out.Names, name), append(out.Draws, fit.Draws(name))
	}
	names, x := p.Scales(post, fit, seed)
	out.Names, out.Draws = append(out.Names, names...), append(out.Draws, x...)
	for _, r := range diag.Summarize(out.Names, out.Draws, diag.Settings{}).Rows {
		out.Rows = append(out.Rows, homodyne.Row{Name: r.Name, Mean: r.Mean, SD: r.SD, Low: r.HDI94.Low, High: r.HDI94.High, MCSEMean: r.MCSEMean, MCSESD: r.MCSESD, ESSBulk: r.ESSBulk, ESSTail: r.ESSTail, RHat: r.RHat})
	}
	if rates := fit.Stat("acceptance_rate"); rates != nil {
		out.Accept = diag.Mean(diag.Flatten(rates))
	}
	for _, t := range fit.Timing() {
		out.Seconds = max(out.Seconds, t.Warmup.Seconds()+t.Sampling.Seconds())
	}
	return out
}

// Starts returns starting points of chains around the mode of a posterior, if that is known: from
// random points chains may take long to come near, and the covariance of the frames may have no
// inverse there. All are the mode itself if its surroundings cannot be found, for example because
// rounding of a large density hides them. They are nil if no mode is known.
func Starts(post *twotime.Posterior, chains int, seed uint64) [][]float64 {
	if post.Mode == nil {
		return nil
	}
	near, err := infer.Laplace(post, infer.LaplaceSettings{Init: post.Mode.Unconstrained, Draws: chains, Seed: seed})
	if err != nil {
		return slices.Repeat([][]float64{post.Mode.Unconstrained}, chains)
	}
	return near.Starts(chains)
}
