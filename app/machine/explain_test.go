// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/machine"
	"github.com/euryale-dev/euryale/internal/gpubench"
)

// TestCardsWithoutModel prints measurements of a card that the model does not have: they took minutes and are not lost.
func TestCardsWithoutModel(t *testing.T) {
	for _, card := range []string{"NVIDIA GeForce RTX 4090", "NVIDIA H100 PCIe", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", ""} {
		var out, log bytes.Buffer
		a := &frame.App{Stdout: &out, Stderr: &log}
		if err := machine.ExplainMeasured(a, &gpubench.Report{Device: card, Rows: []gpubench.Row{{Name: "vector add 1K", How: "kernel", Millis: 0.0123}}}); err != nil {
			t.Fatalf("%q: %v", card, err)
		}
		if !strings.Contains(out.String(), "0.0123") {
			t.Errorf("%q: the measurement is lost:\n%s", card, &out)
		}
		if !strings.Contains(log.String(), "without those that are expected") {
			t.Errorf("%q: the log does not say what is missing:\n%s", card, &log)
		}
	}
}
