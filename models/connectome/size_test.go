// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"strings"
	"testing"
)

// What no memory holds is refused before anything is made.
func TestTooLarge(t *testing.T) {
	for _, change := range [][2]string{
		{`"n": 60`, `"n": 1000000000000`}, {`"n": 60`, `"n": 2000000000`},
		{`"n": 100`, `"n": 100000000`}, {`"n": 100`, `"n": 1000000000000`}, {`"n": 100`, `"n": 9223372036854775807`},
		{`"steps": 2`, `"steps": 1000000000`}, {`"steps": 2`, `"steps": 9000000000000000000`},
		{`"train": 150`, `"train": 1000000000000`}, {`"test": 200`, `"test": 9223372036854775807`},
		{`"classes": 3`, `"classes": 9000000000000000000`}, {`"active": 20`, `"active": 9223372036854775807`},
		{`"batch": 16`, `"batch": 1000000000`}, {`"updates": 120`, `"updates": 1000000000`},
		{`"steps": 2`, `"plastic": true, "steps": 2000000`},
	} {
		_, err := ParseProblem([]byte(strings.Replace(classes, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: %v, want it refused", change[1], err)
		}
	}
	if _, err := ParseProblem([]byte(strings.Replace(classes, `"n": 100`, `"n": 10000`, 1))); err != nil {
		t.Errorf("10000 neurons: %v", err)
	}
}

func TestTooLargeSimulators(t *testing.T) {
	ctx := context.Background()
	for _, s := range []Simulator{{N: 1e12}, {N: 1e9}, {Steps: 1e9}, {Graphs: 1e9}, {Stimulus: 1e12}, {N: 1e15, K: 1e14}} {
		if _, err := s.Corrected(ctx, 0); err == nil || !strings.Contains(err.Error(), "GiB") {
			t.Errorf("%+v: %v, want it refused", s, err)
		}
		if _, err := s.Hard(0.1, 0.1); err == nil {
			t.Errorf("%+v runs", s)
		}
	}
	if _, err := (Simulator{}).Emulated(ctx, 1e9); err == nil || !strings.Contains(err.Error(), "graphs smaller") {
		t.Errorf("a billion graphs: %v", err)
	}
	if err := (Simulator{N: 10000, K: 100}).fits(24, true); err != nil {
		t.Errorf("10000 neurons: %v", err)
	}
	if err := (Simulator{Steps: 4}).Check([]int{1, 2}); err == nil || !strings.Contains(err.Error(), "2 overlaps of 4 steps") {
		t.Error(err)
	}
}
