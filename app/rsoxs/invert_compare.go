// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/errtext"
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
	Bad    int          `json:"bad"` // blocks whose estimate is not to be trusted
	// Refitted are the blocks beyond the importance sampling that were predicted by draws about a fit without them; compare takes them over.
	Refitted []draws.RefittedDoc `json:"refitted"`
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
	if e, refitted, err := c.LOO(fit, measured.UsualRefits); err != nil {
		c.notes = append(c.notes, exit.Text(err, nil))
	} else {
		doc := &blockLOODoc{frame.Number(e.ELPD), frame.Number(e.SE), frame.Number(e.P), len(e.Points), len(e.Bad()), []draws.RefittedDoc{}}
		for _, i := range refitted {
			doc.Refitted = append(doc.Refitted, draws.RefittedOf(i, e.Points[i]))
		}
		c.doc.LOO, c.notes = doc, append(c.notes, doc.note())
	}
	if e, err := c.measurement.Evidence(c.fit); err != nil {
		c.notes = append(c.notes, exit.Text(err, nil))
	} else {
		c.doc.Evidence = &evidenceDoc{frame.Number(e.Log), frame.Number(e.SE), frame.Number(e.ParetoK)}
		c.notes = append(c.notes, fmt.Sprintf("log evidence %.6g +- %.2g (Pareto k %.2f)", e.Log, e.SE, e.ParetoK))
	}
}

// note says in words how well blocks are predicted, and what is left to do.
func (d *blockLOODoc) note() string {
	how := errtext.Count(d.Blocks, "block")
	if n := len(d.Refitted); n > 0 {
		how += fmt.Sprintf(", %d of them by draws about a fit without them", n)
	}
	text := fmt.Sprintf("blocks of pixels that are left out are predicted with an elpd of %.6g +- %.2g (%s); euryale compare ranks runs of the same data by it", float64(d.ELPD), float64(d.SE), how)
	if d.Bad > 0 {
		text += fmt.Sprintf("; the estimates of %d blocks cannot be trusted, since the model fits them only by parameters that all others refuse: add what the verdict names, or leave out the pixels that residuals point at, before models are compared", d.Bad)
	}
	return text
}
