// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// evidenceDoc is the log of the probability of the data under a model and its priors.
type evidenceDoc struct {
	Log     frame.Number   `json:"value"`
	Error   frame.Number   `json:"error"`             // standard error
	Islands []frame.Number `json:"islands,omitempty"` // estimates of the chains of smc, which move apart from each other
	Modes   []modeDoc      `json:"modes,omitempty"`
	// Unnormalised says why models cannot be compared by it, where they cannot.
	Unnormalised string `json:"unnormalised,omitempty"`
}

// modeDoc is a mode with its part of the posterior.
type modeDoc struct {
	Share frame.Number            `json:"share"`
	Error frame.Number            `json:"error"`
	At    map[string]frame.Number `json:"at"` // values of the draw with the highest density
}

// evidenceOf returns the evidence that the sampler found or that was asked for, or nil.
func (s Sampling) evidenceOf(fit *infer.Fit) (*infer.Evidence, error) {
	if e := fit.Evidence(); e != nil || !s.Chain.Evidence {
		return e, nil
	}
	return fit.BridgeEvidence()
}

func documented(e *infer.Evidence, names []string) *evidenceDoc {
	if e == nil {
		return nil
	}
	doc := &evidenceDoc{Log: frame.Number(e.Log), Error: frame.Number(e.Error), Islands: frame.Numbers(e.Islands), Unnormalised: e.Unnormalised}
	for _, m := range e.Modes {
		mode := modeDoc{Share: frame.Number(m.Share), Error: frame.Number(m.Error), At: map[string]frame.Number{}}
		for i, v := range m.Values {
			mode.At[names[i]] = frame.Number(v)
		}
		doc.Modes = append(doc.Modes, mode)
	}
	return doc
}

// storedEvidence returns what the summary of a run folder says, nil if it says nothing.
func storedEvidence(run string) *evidenceDoc {
	var doc struct {
		Evidence *evidenceDoc `json:"log_evidence"`
		// Normal is what inversions of measured patterns have instead.
		Normal *struct {
			Log     frame.Number `json:"log"`
			SE      frame.Number `json:"se"`
			ParetoK frame.Number `json:"pareto_k"`
		} `json:"evidence"`
	}
	b, err := foreign.ReadFile(runs.Folder(run).Path("summary.json"), ".json")
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return nil
	}
	if n := doc.Normal; doc.Evidence == nil && n != nil && n.ParetoK < trustedK {
		return &evidenceDoc{Log: n.Log, Error: n.SE}
	}
	return doc.Evidence
}

// trustedK is the Pareto shape of an importance sampling up to which its result is trusted.
const trustedK = 0.7

// byEvidence compares models by their evidence. It is empty unless two have one.
func byEvidence(names []string, of map[string]*evidenceDoc) string {
	var known, not []string
	for _, n := range names {
		switch e := of[n]; {
		case e == nil || math.IsNaN(float64(e.Log)):
		case e.Unnormalised != "":
			not = append(not, fmt.Sprintf("The evidence of %s is not compared, since %s.", n, e.Unnormalised))
		default:
			known = append(known, n)
		}
	}
	if len(known) < 2 {
		return strings.Join(not, "\n")
	}
	slices.SortStableFunc(known, func(a, b string) int {
		return cmp.Compare(of[b].Log, of[a].Log)
	})
	best := of[known[0]]
	list := []string{fmt.Sprintf("%s %.6g +- %.2g", known[0], best.Log, best.Error)}
	for _, n := range known[1:] {
		e := of[n]
		diff, sd := float64(best.Log-e.Log), math.Hypot(float64(best.Error), float64(e.Error))
		list = append(list, fmt.Sprintf("%s %.6g +- %.2g, which is %.3g +- %.2g less, a Bayes factor of %.3g", n, e.Log, e.Error, diff, sd, math.Exp(diff)))
	}
	return strings.Join(append([]string{"Log evidence: " + strings.Join(list, "; ") + ". It depends on how wide the priors are."}, not...), "\n")
}
