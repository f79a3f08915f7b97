// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// Refitted predicts a block by draws about a fit without it; nil if that cannot be done.
func (t *Task) Refitted(fit *infer.Fit, e diag.ELPD, block int) (*diag.PointELPD, error) {
	r, err := t.newRefitter(fit, e)
	if err != nil || r == nil {
		return nil, err
	}
	return r.predict(block, e.Points[block].LPPD)
}
