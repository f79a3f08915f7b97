// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Training does more than Hebb's rule, which does more than nothing. The figures
// depend on the last bits of the arithmetic, so ranges are held.
func TestTrain(t *testing.T) {
	var b bytes.Buffer
	if err := train(&b); err != nil {
		t.Fatal(err)
	}
	var accuracy, overlap [3]float64
	lines := strings.Split(b.String(), "\n")
	for i := range accuracy {
		var name string
		if _, err := fmt.Sscan(lines[i+1], &name, &accuracy[i], &overlap[i]); err != nil {
			t.Fatalf("%q: %v", lines[i+1], err)
		}
	}
	if accuracy[0] > 0.35 || accuracy[1] < 0.5 || accuracy[1] > 0.9 || accuracy[2] < 0.95 || overlap[2] < overlap[1]+0.1 {
		t.Errorf("printed\n%s", b.String())
	}
}

// A coarse surface finds about the same parameters.
func TestWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds")
	}
	var b bytes.Buffer
	if err := watch(&b, 2); err != nil {
		t.Fatal(err)
	}
	var mean, sd, truth float64
	at := strings.Index(b.String(), "beta ")
	if _, err := fmt.Sscanf(b.String()[max(at, 0):], "beta %f +- %f, truth %f;", &mean, &sd, &truth); err != nil || mean < truth-3*sd || mean > truth+3*sd || !strings.Contains(b.String(), "All checks of the draws passed.\nThe model agrees") {
		t.Errorf("printed\n%s%v", b.String(), err)
	}
}
