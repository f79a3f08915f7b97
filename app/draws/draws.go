// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/runs"
)

// LoadDraws reads draws as a table of parameters.
func LoadDraws(a *frame.App, args []string) (*runs.Table, error) {
	s, err := loadSource(a, args)
	if err != nil && len(args) == 1 {
		if so, e := runs.Open(runs.Folder(args[0]).Path(runs.LiveFolder)); e == nil {
			a.Note("note: the run in %s has not ended: these are draws that it has made so far", args[0])
			s, err = so, nil
		}
	}
	if err != nil {
		return nil, err
	}
	t, err := s.Table()
	return t, exit.With(exit.Data, err)
}

// RowDoc and diagnosticsDoc are objects in the JSON documents of commands on draws.
type RowDoc struct {
	Mean     frame.Number `json:"mean"`
	SD       frame.Number `json:"sd"`
	ETI89Lo  frame.Number `json:"eti89_lb"` // equal-tailed interval of probability 0.89, as in the table
	ETI89Hi  frame.Number `json:"eti89_ub"`
	Q05      frame.Number `json:"q05"`
	Q50      frame.Number `json:"q50"`
	Q95      frame.Number `json:"q95"`
	HDILo    frame.Number `json:"hdi94_lo"`
	HDIHi    frame.Number `json:"hdi94_hi"`
	MCSEMean frame.Number `json:"mcse_mean"`
	MCSESD   frame.Number `json:"mcse_sd"`
	ESSBulk  frame.Number `json:"ess_bulk"`
	ESSTail  frame.Number `json:"ess_tail"`
	RHat     frame.Number `json:"r_hat"`
}

type diagnosticsDoc struct {
	Divergences int            `json:"divergences"`
	DepthHits   int            `json:"max_treedepth_hits"`
	EBFMI       []frame.Number `json:"e_bfmi"`
	OK          bool           `json:"ok"`
	Advice      []string       `json:"advice"`
}

// SummaryDoc returns the rows of a summary by the names of their quantities.
func SummaryDoc(s diag.Summary) map[string]RowDoc {
	out := map[string]RowDoc{}
	for _, r := range s.Rows {
		v := frame.Numbers(r.Values())
		out[r.Name] = RowDoc{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13]}
	}
	return out
}

func diagnosticsOf(s diag.Summary, e diag.Evidence) (diagnosticsDoc, diag.Report) {
	rep := diag.Diagnose(s, e)
	return diagnosticsDoc{Divergences: e.Divergences, DepthHits: e.DepthHits, EBFMI: frame.Numbers(e.EBFMI), OK: rep.OK(), Advice: advice(rep)}, rep
}

// advice lists the problems of a report, each with what to do.
func advice(rep diag.Report) []string {
	out := []string{}
	for _, p := range rep.Problems() {
		out = append(out, p.String())
	}
	return out
}
