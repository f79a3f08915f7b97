// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package connectome

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// Of 200 curves drawn from the prior, flat and steep ones among them, 98 of 100 have
// a good posterior at the first attempt.
func TestCompletionsSampleAtOnce(t *testing.T) {
	good, runs := 0, 200
	for k := range runs {
		r := rand.New(rand.NewPCG(uint64(k), 9))
		x, y := 0.0, 0.0
		for range 8 {
			x += r.ExpFloat64()
		}
		for range 2 {
			y += r.ExpFloat64()
		}
		top, s, half := x/(x+y), math.Exp(math.Log(10)+r.NormFloat64()), 0.2+0.2*r.NormFloat64()
		c := Completion{K: 100}
		for i := range 10 {
			at := float64(i+1) / 10
			c.Alpha = append(c.Alpha, at)
			c.Recovered = append(c.Recovered, drawBinomial(r, c.K, top/(1+math.Exp(-s*(at-half)))))
		}
		fit, err := FitCompletion(context.Background(), c, infer.Settings{Seed: uint64(k)})
		if err != nil {
			t.Fatal(err)
		}
		if d := fit.Diagnose(); !d.OK() {
			t.Logf("data %d: c %.3f, s %.3g, a50 %.3f, counts %v\n%v", k, top, s, half, c.Recovered, d)
			continue
		}
		good++
	}
	t.Logf("%d of %d good at once", good, runs)
	if good < 191 { // 196 expected, less two standard deviations
		t.Errorf("%d of %d posteriors are good at the first attempt", good, runs)
	}
}
