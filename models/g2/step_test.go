// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// decayOf returns curves of 40 delays over four decades with errors of 0.002, of a decay that is given as a function of the delay.
func decayOf(n int, seed uint64, change func(c *Curve), decay func(x float64) float64) []Curve {
	z := tensor.NewStream(seed, 1, 0)
	var curves []Curve
	for b := range n {
		c := Curve{Bin: b + 1, Q: 0.01}
		change(&c)
		for i := range 40 {
			x := 1e-3 * math.Pow(10, float64(i)/10)
			c.X, c.Err = append(c.X, x), append(c.Err, 0.002)
			c.Y = append(c.Y, 1+decay(x)+0.002*z.Normal())
		}
		curves = append(curves, c)
	}
	return curves
}

// firstKinds fits single decays and counts the kinds of the first flags.
func firstKinds(t *testing.T, curves []Curve) map[string]int {
	t.Helper()
	model, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	fits, err := FitAll(context.Background(), model, curves, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, f := range fits {
		kind := ""
		if len(f.Check.Flags) > 0 {
			kind = f.Check.Flags[0].Kind
		}
		kinds[kind]++
	}
	return kinds
}

// Rates that differ between the pixels of a bin as its spread of q makes them are told as that, and not as a second decay; a second decay
// and a right model are not.
func TestSpreadOfQIsNamed(t *testing.T) {
	const n, tau, contrast, spread = 60, 0.1, 0.3, 0.2
	even := func(c *Curve) { c.spread = spread }
	diffusing := func(x float64) float64 { // q evenly spread between 1 - w and 1 + w
		sum, w := 0.0, spread*math.Sqrt(3)
		for k := range 101 {
			q := 1 - w + 2*w*(float64(k)+0.5)/101
			sum += math.Exp(-2*x*q*q/tau) / 101
		}
		return contrast * sum
	}
	if kinds := firstKinds(t, decayOf(n, 1, even, diffusing)); kinds[KindSpread] < n*9/10 {
		t.Errorf("rates that differ: %v", kinds)
	}
	if kinds := firstKinds(t, decayOf(n, 2, func(c *Curve) { c.spread = 0.03 }, func(x float64) float64 { return 0.2*math.Exp(-2*x/tau) + 0.1*math.Exp(-20*x/tau) })); kinds[KindSpread] > 0 || kinds[""] > 0 {
		t.Errorf("two decays: %v", kinds)
	}
	right, most := tier.Of(600, 10000), tier.Of(14, 130)
	kinds := firstKinds(t, decayOf(right, 3, even, func(x float64) float64 { return contrast * math.Exp(-2*x/tau) }))
	if t.Logf("one decay: %v", kinds); right-kinds[""] > most {
		t.Errorf("one decay: %v", kinds)
	}
}

// A bin whose g2 shows a step of the intensity is flagged for it, and one that the normalisation keeps right is not.
func TestStepInG2IsNamed(t *testing.T) {
	const n, tau = 60, 0.01
	s := &step{at: 0.4, factor: 0.6, total: 10}
	with := func(c *Curve) { c.step = s }
	for left, want := range map[float64]string{0: "", 0.05: KindStep} {
		kinds := firstKinds(t, decayOf(n, 4, with, func(x float64) float64 { return 0.3*math.Exp(-2*x/tau) + left*s.baseline(x) }))
		if kinds[want] < n*9/10 {
			t.Errorf("with %g of the step left: %v, want %q", left, kinds, want)
		}
	}
	k, p := s.factor, s.at
	if got, want := s.baseline(0), 1.0; got != want {
		t.Errorf("%g, want %g", got, want)
	}
	const frames, lag = 10000, 2000
	at := func(i int) float64 {
		if i < int(p*frames) {
			return 1
		}
		return k
	}
	moments := func(lag int) float64 {
		sum, left, right := 0.0, 0.0, 0.0
		for i := range frames - lag {
			sum, left, right = sum+at(i)*at(i+lag), left+at(i), right+at(i+lag)
		}
		return sum*float64(frames-lag)/(left*right) - 1
	}
	if got, want := s.baseline(2), moments(lag)/moments(0); math.Abs(got-want) > 1e-3 {
		t.Errorf("baseline at a fifth: %g, want %g", got, want)
	}
}

// Ageing is looked for in the frames before a step, by the parts that lie there.
func TestAgeingBeforeAStep(t *testing.T) {
	for _, c := range []struct {
		first, second int
		want          bool
	}{{1, 1, false}, {1, 2, true}} {
		m, delays := agedMovie(t, 3, c.first, c.second, 4)
		// the movie of 400 frames is the part before a step in one of 500
		all := &nexus.Multitau{G2: m.G2, Partial: append(slices.Clone(m.Partial), m.G2), PartialFrames: append(slices.Clone(m.PartialFrames), 500)}
		trace := &nexus.Trace{}
		for i := range 500 {
			trace.Frame, trace.Mean = append(trace.Frame, float64(i)), append(trace.Mean, 1+0.001*float64(i%7))
			if i >= 400 {
				trace.Mean[i] *= 0.5
			}
		}
		r := &nexus.Result{Multitau: all, Trace: trace, FrameTime: 1}
		s := stepOf(r)
		if s == nil || math.Abs(s.at-0.8) > 0.01 || s.total != 500 {
			t.Fatalf("%+v", s)
		}
		a, ok := ageingBesides(r, s, append(slices.Clone(delays), 500))
		if ok != c.want {
			t.Errorf("strides %d and %d: %v %+v", c.first, c.second, ok, a)
		}
	}
}
