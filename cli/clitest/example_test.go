// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package clitest_test

import (
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
)

// A test runs a command on a problem of its own, and reads the document that the command writes. New needs
// the testing.T of a test, so this example is not run here.
func Example() {
	_ = func(t *testing.T) { // the body of a test function
		s := clitest.New(t)
		s.Write("line.json", `{"expr": "a*x", "data": {"x": [1, 2, 3], "y": [2.1, 3.9, 6.0]}, "start": {"a": 1}}`)
		var fit struct{ X map[string]float64 }
		s.JSON(&fit, "fit", "nlsq", "--problem", "line.json")
		if a := fit.X["a"]; a < 1.9 || a > 2.1 {
			t.Errorf("the slope is %g: want 2", a)
		}
		if code, _, stderr := s.Exit("fit", "nlsq", "--problem", "missing.json"); code == 0 || stderr == "" {
			t.Errorf("a missing file gives exit code %d and the message %q", code, stderr)
		}
	}
}
