// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
)

// Frames without counts are a flaw of a movie whose other frames have many, and natural in one of few photons.
func TestBlankFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		counts float64 // in a frame
		blank  int
		want   int
	}{{5000, 0, 0}, {5000, 300, 300}, {5000, 1, 1}, {0.05, 0, 0}, {0.05, 300, 0}, {3, 0, 0}} {
		var trace nexus.Trace
		for i := range 800 {
			n := 0.0
			for at := rng.ExpFloat64(); at < c.counts; at += rng.ExpFloat64() {
				n++
			}
			if i < c.blank {
				n = 0
			}
			trace.Mean = append(trace.Mean, n/1e4)
		}
		if n, of := blank(&trace); n != c.want || of != 800 {
			t.Errorf("%g counts and %d blank frames: %d of %d", c.counts, c.blank, n, of)
		}
		flagged := len(flaws(&nexus.Result{Trace: &trace}))
		if want := c.want > 2; (flagged == 1) != want {
			t.Errorf("%g counts and %d blank frames: %d flaws", c.counts, c.blank, flagged)
		}
	}
	if len(flaws(&nexus.Result{Attrs: map[string]string{nexus.AttrBadFrames: "x"}})) != 1 {
		t.Error("a bad frame is not told")
	}
	if len(flaws(&nexus.Result{Attrs: map[string]string{nexus.AttrMisplaced: "x"}})) != 1 {
		t.Error("another geometry is no flaw")
	}
}

// A step of the intensity is noted, a large one as such: what it does to g2 of a bin is tested there.
func TestStepsOfIntensityAreNoted(t *testing.T) {
	for _, factor := range []float64{0.6, 0.9} {
		trace := &nexus.Trace{}
		for i := range 200 {
			mean := 1 + 0.001*float64(i%7)
			if i >= 100 {
				mean *= factor
			}
			trace.Frame, trace.Mean = append(trace.Frame, float64(i)), append(trace.Mean, mean)
		}
		if all := flaws(&nexus.Result{Trace: trace}); len(all) != 1 || !all[0].Note || (all[0].Kind == KindStep) != (factor == 0.6) {
			t.Errorf("%g: %+v", factor, all)
		}
	}
}
