// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/models/g2"
)

// unlike returns curves of different delays, decays and noise, one of them with two decays, which single models do not fit.
func unlike(n int) []g2.Curve {
	noise := rand.New(rand.NewPCG(5, 6))
	curves := make([]g2.Curve, n)
	for i := range curves {
		c := g2.Curve{Bin: i + 1, Q: 0.005}
		for k := range 40 {
			x := 1e-3 * float64(1+i) * math.Pow(10, float64(k)/12)
			y := 1 + 0.25*math.Exp(-2*x/(0.05*float64(1+i%4))) + 2e-3*noise.NormFloat64()
			if i == 3 {
				y += 0.2 * math.Exp(-2*x/3)
			}
			c.X, c.Y, c.Err = append(c.X, x), append(c.Y, y), append(c.Err, 2e-3)
		}
		curves[i] = c
	}
	return curves
}

// A fit and its verdict have the same bits alone, beside other curves, and with any number of threads.
func TestFitsDoNotDependOnOthers(t *testing.T) {
	curves := unlike(9)
	for _, name := range []string{"single", "aps_single", "double"} {
		model, err := g2.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var alone []string
		for _, c := range curves {
			f, err := g2.FitOne(context.Background(), model, c, g2.Settings{Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, bits(f))
		}
		for _, threads := range []int{1, 3} {
			fits, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range fits {
				if got := bits(f); got != alone[i] {
					t.Errorf("%s, bin %d, %d threads: %s, alone %s", name, f.Curve.Bin, threads, got, alone[i])
				}
			}
		}
	}
}

// bits writes what a fit found, exactly.
func bits(f g2.Fit) string {
	return fmt.Sprintf("%x %x %x %s %v %v %v", f.X, f.SD, f.Cost, f.Status, f.Warnings, f.Check.Flags, f.Check.Notes)
}
