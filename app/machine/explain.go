// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/gpubench"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// explainGPU prints what the model expects of a card, beside what was measured, if that is not nil.
func explainGPU(a *frame.App, only string, how printed, measured *gpubench.Report) error {
	if how.card == "" {
		how.card = roofline.Names()[0]
	}
	card, err := roofline.Find(how.card)
	if err != nil {
		return exit.Usage("--card: %w", err)
	}
	e, err := gpubench.Explain(card, only)
	switch {
	case err != nil:
		return exit.With(exit.Failed, err)
	case len(e.Rows) == 0:
		return exit.Usage("--only %q: no operation has a name that contains this: run without --only to list them", only)
	case measured != nil:
		e.With(measured)
	}
	switch {
	case a.JSON:
		return a.Document(e)
	case how.table:
		return explainCSV(a, e)
	}
	_, err = fmt.Fprint(a.Stdout, e)
	return exit.With(exit.CannotWrite, err)
}

// explainMeasured prints what was measured beside what the model expects of the card, and what was measured alone, with a warning, if the
// model does not have the card.
func explainMeasured(a *frame.App, only string, how printed, r *gpubench.Report) error {
	if _, err := roofline.Find(r.Device); err != nil {
		a.Log("warn", "times without those that are expected: %v", err)
		return reportGPU(a, how, r)
	}
	how.card = r.Device
	return explainGPU(a, only, how, r)
}

// explainCSV prints a line for each kernel.
func explainCSV(a *frame.App, e *gpubench.Explanation) error {
	w := foreign.CSV(a.Stdout)
	w.Write([]string{"name", "how", "expected_ms", "gpu_ms", "kernel", "times", "grid", "block", "bytes", "sectors", "float_instructions", "integer_instructions", "expected_us", "bound", "card"})
	for _, r := range e.Rows {
		for _, l := range r.Launches {
			f := func(v float64) string { return fmt.Sprintf("%.6g", v) }
			gpu := ""
			if r.Measured > 0 {
				gpu = f(r.Measured)
			}
			w.Write([]string{r.Name, r.How, f(r.Expected), gpu, l.Kernel, fmt.Sprint(l.Times), fmt.Sprint(l.Grid), fmt.Sprint(l.Block), f(l.Bytes), f(l.Sectors), f(l.Floats), f(l.Integers), f(l.Expected), l.Bound, e.Card})
		}
	}
	w.Flush()
	return exit.With(exit.CannotWrite, w.Error())
}
