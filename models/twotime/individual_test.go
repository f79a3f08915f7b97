// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Contrasts and offsets of each angle by itself are eliminated as those of any scaling are, bit by bit.
func TestAnglesByThemselves(t *testing.T) {
	d := shearedData(t, 0, 30, 45, 90)
	f := &fitter{s: Settings{Scaling: Individual}, ctx: t.Context()}
	if err := f.prepare(d); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.sums, err = newSums(d, 1, 64); err != nil {
		t.Fatal(err)
	}
	for _, theta := range [][]float64{{2e4, 0.1, 1000, 1e-4, 0, 1e-5, 0}, {1e3, -0.5, 10, 1e-3, 0.3, 0, 20}} {
		if err := f.pass(theta); err != nil {
			t.Fatal(err)
		}
		each, err := f.bestOfEach()
		if err != nil {
			t.Fatal(err)
		}
		want, err := triangle(f.joint(each), f.linear())
		if err != nil {
			t.Fatal(err)
		}
		if got := f.reduced(each); !slices.Equal(got, want) {
			t.Errorf("at %v: %v, want %v", theta, got, want)
		}
		f.s.Scaling = "general"
		all, err := f.best()
		if f.s.Scaling = Individual; err != nil || !slices.Equal(each, all) {
			t.Errorf("at %v: %v, want %v (%v)", theta, each, all, err)
		}
	}
}

// A fit of very many angles ends soon.
func TestManyAngles(t *testing.T) { manyAngles(t, 16) }

func manyAngles(t *testing.T, count int) {
	var angles []float64
	for k := range count {
		angles = append(angles, float64(k))
	}
	d := shearedData(t, angles...)
	f, err := FitLeastSquares(t.Context(), *d, Settings{Starts: 4})
	if err != nil || len(f.Contrast) != len(angles) {
		t.Fatal(err)
	}
}

// shearedData simulates a few frames of a sheared sample.
func shearedData(t *testing.T, angles ...float64) *Data {
	t.Helper()
	s := transport.Setup{Model: transport.Laminar, Q: 0.0054, Gap: 2e6, Step: 0.1, Angles: angles}
	for i := range 12 {
		s.Times = append(s.Times, (float64(i)+0.5)*s.Step)
	}
	of := Sample{Theta: []float64{2e4, 0.1, 1000, 1e-4, 0, 1e-5, 0}, Speckles: 500, MeanCount: 2, Seed: 1}
	for range angles {
		of.Contrast, of.Offset = append(of.Contrast, 0.2), append(of.Offset, 1.01)
	}
	d, err := Simulate(context.Background(), s, of)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
