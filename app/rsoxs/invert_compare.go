// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// comparisonDoc is what the document of a posterior says for the comparison with other models of the same data.
type comparisonDoc struct {
	LOO      *blockLOODoc `json:"loo"`      // prediction of blocks of pixels that are left out; null without a distribution
	Evidence *evidenceDoc `json:"evidence"` // null unless all parameters have proper priors
}

// blockLOODoc is the leave-out estimate over blocks of a ring, a sector and an energy.
type blockLOODoc struct {
	ELPD   frame.Number `json:"elpd"` // expected log predictive density
	SE     frame.Number `json:"se"`   // its standard error
	P      frame.Number `json:"p"`    // effective number of parameters
	Blocks int          `json:"blocks"`
	Bad    int          `json:"bad"` // blocks whose importance weights are not to be trusted
}

// evidenceDoc is the log evidence.
type evidenceDoc struct {
	Log     frame.Number `json:"log"` // natural logarithm
	SE      frame.Number `json:"se"`
	ParetoK frame.Number `json:"pareto_k"` // above 0.7 it is not to be trusted
}

// comparison gathers it after the draws.
type comparison struct {
	*measurement
	fit   *measured.Solution
	doc   comparisonDoc
	notes []string
}

func (m *measurement) newComparison(s *measured.Solution) *comparison {
	return &comparison{measurement: m, fit: s}
}

// fill estimates how well left-out blocks are predicted, and the evidence. What cannot be estimated is noted.
func (c *comparison) fill(fit *infer.Fit) {
	c.doc, c.notes = comparisonDoc{}, nil
	if e, err := c.LOO(fit, measured.UsualRefits); err != nil {
		c.notes = append(c.notes, exit.Text(err, nil))
	} else {
		c.doc.LOO = &blockLOODoc{frame.Number(e.ELPD), frame.Number(e.SE), frame.Number(e.P), len(e.Points), len(e.Bad())}
		c.notes = append(c.notes, fmt.Sprintf("blocks of pixels that are left out are predicted with an elpd of %.6g +- %.2g (%d blocks, %d beyond the importance sampling); euryale compare ranks runs of the same data by it", e.ELPD, e.SE, len(e.Points), len(e.Bad())))
	}
	if e, err := c.measurement.Evidence(c.fit); err != nil {
		c.notes = append(c.notes, exit.Text(err, nil))
	} else {
		c.doc.Evidence = &evidenceDoc{frame.Number(e.Log), frame.Number(e.SE), frame.Number(e.ParetoK)}
		c.notes = append(c.notes, fmt.Sprintf("log evidence %.6g +- %.2g (Pareto k %.2f)", e.Log, e.SE, e.ParetoK))
	}
}
