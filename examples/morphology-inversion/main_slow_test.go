// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"os"
	"strings"
	"testing"
)

// The example runs, small, and finds the particle.
func TestExample(t *testing.T) {
	var b strings.Builder
	dir := t.TempDir()
	if err := report(&b, dir, 5); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	for _, want := range []string{"core 8.2", "shell 6.1", "truth 8.200", "285.2", "r_hat"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	for _, name := range []string{"patterns.png", "curves.png", "particle.png", "posterior.png"} {
		if s, err := os.Stat(dir + "/" + name); err != nil || s.Size() < 5000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
