// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/g2"
)

// warned returns how many of some curves of a contrast have a warning that it is on its bound, and the last of these.
func warned(t *testing.T, contrast float64, curves int) (n int, last string) {
	t.Helper()
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 2))
	for range curves {
		c := g2.Curve{Bin: 1}
		for i := range 40 {
			x := 1e-3 * math.Pow(10, float64(i)/10)
			c.X, c.Err = append(c.X, x), append(c.Err, 0.01)
			c.Y = append(c.Y, 1+contrast*math.Exp(-2*x/0.05)+0.01*noise.NormFloat64())
		}
		f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range f.Warnings {
			if strings.Contains(text, "bound") {
				n, last = n+1, text
			}
		}
	}
	return n, last
}

// A contrast of 1 is the most that there is: half of all fits end there, which is no reason to warn. A contrast above is, and its bound is not widened.
func TestContrastOnItsBound(t *testing.T) {
	if n, text := warned(t, 1, 200); n > 2 {
		t.Errorf("%d of 200 fits of contrast 1 warn of its bound: %s", n, text)
	}
	if n, text := warned(t, 1.1, 5); n != 5 || strings.Contains(text, "widen") || !strings.HasPrefix(text, "contrast is at its bound 1: the data would take it") {
		t.Errorf("%d of 5 fits of contrast 1.1 warn of its bound: %s", n, text)
	}
}

// How far the data would take a parameter beyond its bound is no more than a fit without the bound says: an exponent at 2 that makes one point of
// a decay of noise is not called pulled, although the slope of chi-square there suggests 16 standard deviations. A contrast that is held too low is.
func TestPullsAtBoundsAreThoseOfFits(t *testing.T) {
	fit := func(name string, c g2.Curve, s g2.Settings) g2.Fit {
		model, err := g2.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := g2.FitOne(context.Background(), model, c, s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, seed := range []uint64{13, 62} {
		r, sd := rand.New(rand.NewPCG(seed, 21)), []float64{1e-3, 1e-2}[seed%2]
		c := g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
		for i := range 30 {
			c.X, c.Y, c.Err = append(c.X, 1e-3*math.Pow(10, 4*float64(i)/29)), append(c.Y, 1+sd*r.NormFloat64()), append(c.Err, sd)
		}
		if f := fit("aps_double", c, g2.Settings{}); f.Check.Has(check.KindBound) {
			t.Errorf("noise %d: %v", seed, f.Check)
		}
	}
	c := g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 30 {
		x := 1e-3 * math.Pow(10, 4*float64(i)/29)
		c.X, c.Y, c.Err = append(c.X, x), append(c.Y, 1+0.3*math.Exp(-2*x/0.1)+1e-3*r.NormFloat64()), append(c.Err, 1e-3)
	}
	if f := fit("single", c, g2.Settings{Bounds: map[string][2]float64{"contrast": {0.01, 0.29}}}); !f.Check.Has(check.KindBound) {
		t.Errorf("a contrast held at 0.29: %v", f.Check)
	}
}
