// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Evidence is the logarithm of the integral of a density, which is that of the data if the density is normalised, with its standard error.
type Evidence struct {
	Log, Error float64
	// Islands are the estimates of the islands of SMC, which move apart from each other.
	Islands []float64
	// Levels is the number of steps of SMC from the density From to the posterior.
	Levels int
	From   string
	// Unnormalised says why it is that of the density alone, so that models cannot be compared by it; empty where it is that of the data.
	Unnormalised string
	// Still is the part of the points of SMC that did not move at the last step, and Rough that of the last trajectories with energy errors above 5, as where a part of the
	// posterior is too narrow for their steps.
	Still, Rough float64
	// Modes are those that climbs found before the run, if they are more than one.
	Modes []ModeShare
}

// ModeShare is a mode with the part of the posterior that is nearest to it, and its standard error.
type ModeShare struct {
	// Q are the unconstrained coordinates of the highest place, and Values the columns of a draw there.
	Q, Values    []float64
	Share, Error float64
}

// Evidence returns what a run of SMC found, nil for other methods and runs that did not end.
func (f *Fit) Evidence() *Evidence { return f.evidence }

// largestEvidenceError is the standard error of the log evidence above which islands disagree about the weights of regions.
const largestEvidenceError = 0.3

// mostStill is the part of the points that may stay where they are in the last step of SMC, and mostRough that of its trajectories that may have large energy errors. Without
// necks the first is below 0.5 %, and the second below 0.3 % where there is one mode; beside a wide mode trajectories in a narrow one are rough, too.
const mostStill, mostRough = 0.02, 0.02

// String is the log evidence with its standard error.
func (e *Evidence) String() string {
	s := fmt.Sprintf("log evidence %.6g", e.Log)
	if !math.IsNaN(e.Error) {
		s += fmt.Sprintf(" +- %.2g", e.Error)
	}
	if e.Levels > 0 {
		s += fmt.Sprintf(", by %s", errtext.Count(e.Levels, "step"))
	}
	s += " from " + e.From
	if e.Unnormalised != "" {
		s += "; it is that of the density alone, since " + e.Unnormalised
	}
	return s
}

// Places says in words which share of the posterior each mode holds, by the first columns of its highest place.
func (e *Evidence) Places(names []string) (list []string) {
	for _, m := range e.Modes {
		if m.Share < 0.0005 && m.Error < 0.0005 {
			continue
		}
		var at []string
		for i, v := range m.Values[:min(4, len(m.Values))] {
			at = append(at, fmt.Sprintf("%s = %.4g", names[i], v))
		}
		if more := len(m.Values) - len(at); more > 0 {
			at = append(at, "...")
		}
		list = append(list, fmt.Sprintf("the mode about %s holds %.3g +- %.2g %% of the posterior", strings.Join(at, ", "), 100*m.Share, 100*m.Error))
	}
	return list
}

// CheckEvidence is the check of the evidence of tempered Monte Carlo, and so of the weights of separate regions.
const CheckEvidence diag.Check = "evidence"

// advice judges whether the islands agree.
func (e *Evidence) advice() diag.Advice {
	a := diag.Advice{Check: CheckEvidence, OK: e.Error <= largestEvidenceError, Cause: e.String()}
	switch {
	case math.IsNaN(e.Error):
		a.Cause += "; one chain does not tell its error, nor whether the weights of separate regions are known"
		a.Remedy = "run at least 2 chains"
	case !a.OK:
		a.Cause += fmt.Sprintf("; islands say %.4g to %.4g, so the weights of separate regions are not known", slices.Min(e.Islands), slices.Max(e.Islands))
		a.Remedy = "take more draws, so that every island has points in every region, or narrower priors"
	}
	if e.Still > mostStill || e.Rough > mostRough && len(e.Modes) < 2 {
		a.OK = false
		a.Cause += fmt.Sprintf("; %.2g %% of the points did not move at the last step, and %.2g %% of the trajectories had energy errors above 5, as beside parts that are too narrow for their steps, such as small scales of a hierarchy, which may hold too few points", 100*e.Still, 100*e.Rough)
		a.Remedy = "sample by NUTS, which chooses coordinates in which no part is narrow, or write the model in such coordinates"
	}
	return a
}

// Flat returns the names of the parameters without a prior.
func (p *Posterior) Flat() (names []string) {
	for _, q := range p.model.params {
		if q.flat {
			names = append(names, q.name)
		}
	}
	return names
}

// unnormalised says why the integral of a density is not the probability of the data, or returns "".
func unnormalised(t Target) string {
	p, ok := declaredOf(t).(*Posterior)
	if !ok {
		return "constants may be missing from it"
	}
	if flat := p.Flat(); len(flat) > 0 {
		return fmt.Sprintf("%s %s no prior", joined(flat), errtext.Agree(len(flat), "has", "have"))
	}
	return ""
}
