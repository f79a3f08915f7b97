// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/gpubench"
)

// What tests outside the package take from it.
type InfoDoc = infoDoc

// ExplainMeasured prints measurements beside what the model expects.
func ExplainMeasured(a *frame.App, r *gpubench.Report) error {
	return explainMeasured(a, "", printed{explain: true}, r)
}
