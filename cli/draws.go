// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/runs"
)

// loadDraws reads draws as a table of parameters.
func (a *app) loadDraws(args []string) (*runs.Table, error) {
	s, err := a.loadSource(args)
	if err != nil {
		return nil, err
	}
	t, err := s.Table()
	return t, as(exitData, err)
}

// rowDoc and diagnosticsDoc are objects in the JSON documents of commands on draws.
type rowDoc struct {
	Mean     number `json:"mean"`
	SD       number `json:"sd"`
	ETI89Lo  number `json:"eti89_lb"` // equal-tailed interval of probability 0.89, as in the table
	ETI89Hi  number `json:"eti89_ub"`
	Q05      number `json:"q05"`
	Q50      number `json:"q50"`
	Q95      number `json:"q95"`
	HDILo    number `json:"hdi94_lo"`
	HDIHi    number `json:"hdi94_hi"`
	MCSEMean number `json:"mcse_mean"`
	MCSESD   number `json:"mcse_sd"`
	ESSBulk  number `json:"ess_bulk"`
	ESSTail  number `json:"ess_tail"`
	RHat     number `json:"r_hat"`
}

type diagnosticsDoc struct {
	Divergences int      `json:"divergences"`
	DepthHits   int      `json:"max_treedepth_hits"`
	EBFMI       []number `json:"e_bfmi"`
	OK          bool     `json:"ok"`
	Advice      []string `json:"advice"`
}

func summaryDoc(s diag.Summary) map[string]rowDoc {
	out := map[string]rowDoc{}
	for _, r := range s.Rows {
		out[r.Name] = rowDoc{number(r.Mean), number(r.SD), number(r.CI.Low), number(r.CI.High), number(r.Q05), number(r.Q50), number(r.Q95), number(r.HDI94.Low), number(r.HDI94.High),
			number(r.MCSEMean), number(r.MCSESD), number(r.ESSBulk), number(r.ESSTail), number(r.RHat)}
	}
	return out
}

func diagnosticsOf(s diag.Summary, e diag.Evidence) (diagnosticsDoc, diag.Report) {
	rep := diag.Diagnose(s, e)
	return diagnosticsDoc{Divergences: e.Divergences, DepthHits: e.DepthHits, EBFMI: numbers(e.EBFMI), OK: rep.OK(), Advice: advice(rep)}, rep
}

// advice lists the problems of a report, each with what to do.
func advice(rep diag.Report) []string {
	out := []string{}
	for _, p := range rep.Problems() {
		out = append(out, p.String())
	}
	return out
}
