// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import "testing"

func TestSession(t *testing.T) {
	s := New(t)
	s.Write("p.json", `{"expr": "a*x", "data": {"x": [1, 2, 3], "y": [2.1, 3.9, 6.0]}, "start": {"a": 1}}`)
	var fit map[string]any
	s.JSON(&fit, "fit", "nlsq", "--problem", "p.json")
	if len(fit) == 0 {
		t.Error("an empty document")
	}
	if code, _, errs := s.Exit("fit", "nlsq", "--problem", "q.json"); code != 66 || errs == "" {
		t.Errorf("exit code %d, %q", code, errs)
	}
	
}
