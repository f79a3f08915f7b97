// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := report(&b, 200); err != nil {
		t.Fatal(err)
	}
	agree := 0
	for line := range strings.Lines(b.String()) {
		var star int
		var vel, sd, truth, teff, teffSD, teffTruth float64
		if n, _ := fmt.Sscanf(line, "star %d: velocity %f +- %f km/s (truth %f), teff %f +- %f K (%f)", &star, &vel, &sd, &truth, &teff, &teffSD, &teffTruth); n == 7 {
			if math.Abs(vel-truth) > 4*sd || math.Abs(teff-teffTruth) > 4*teffSD {
				t.Error(line)
			}
		}
		if strings.HasPrefix(line, "The model agrees") {
			agree++
		}
		var a, aSD, c, cSD float64
		if n, _ := fmt.Sscanf(line, "binary: %f +- %f and %f +- %f km/s", &a, &aSD, &c, &cSD); n == 4 && (math.Abs(a+40) > 4*aSD || math.Abs(c-25) > 4*cSD) {
			t.Error(line)
		}
	}
	if agree != 4 || !strings.Contains(b.String(), "differ: chi-square") || !strings.Contains(b.String(), "r_hat") {
		t.Error(b.String())
	}
}
