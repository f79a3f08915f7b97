// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"os"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/viz/term"
)

func ExampleMeter() {
	meter := term.NewMeter(os.Stdout, term.MeterSettings{Mode: term.Lines})
	meter.Update(infer.Progress{Elapsed: 3 * time.Second, Chains: []infer.ChainProgress{
		{Chain: 0, Draw: 1200, Total: 2000, StepSize: 0.41, Gradients: 8400},
		{Chain: 1, Draw: 900, Total: 2000, Warmup: true, StepSize: 0.38, Gradients: 6300},
	}})
	meter.Close()
	// Output:
	// chain 1  1200/2000 (60 %)  sampling  0 divergent  step size 0.41
	// chain 2  900/2000 (45 %)  warm-up  0 divergent  step size 0.38
}
