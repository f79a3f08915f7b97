// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/g2"
)

// lags60 is an exponential on 60 delays, with a slower one of the given contrast.
func lags60(slow float64) g2.Curve {
	c := g2.Curve{Bin: 1, Q: 0.005}
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		x := 1e-3 * math.Pow(10, float64(i)/15)
		c.X = append(c.X, x)
		c.Y = append(c.Y, 1+0.25*math.Exp(-2*x/0.1)+slow*math.Exp(-2*x/2)+1e-3*noise.NormFloat64())
		c.Err = append(c.Err, 1e-3)
	}
	return c
}

func BenchmarkFit(b *testing.B) {
	for _, name := range []string{"single", "stretched", "double", "aps_single", "aps_double"} {
		b.Run(name, func(b *testing.B) {
			model, err := g2.ByName(name)
			if err != nil {
				b.Fatal(err)
			}
			curves, slow := make([]g2.Curve, 200), 0.0
			if strings.HasSuffix(name, "double") {
				slow = 0.2
			}
			for i := range curves {
				curves[i] = lags60(slow)
			}
			for b.Loop() {
				if _, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(curves)), "us/bin")
		})
	}
}

// BenchmarkSample draws 4 chains of 500 + 1000 on one core.
func BenchmarkSample(b *testing.B) {
	model, err := g2.ByName("single")
	if err != nil {
		b.Fatal(err)
	}
	m, err := g2.Posterior(model, lags60(0), g2.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		b.Fatal(err)
	}
	point, err := g2.FitOne(context.Background(), model, lags60(0), g2.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	starts, err := g2.Starts(post, point, g2.Settings{}, 4, 1)
	if err != nil {
		b.Fatal(err)
	}
	var ess float64
	for b.Loop() {
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 4, Warmup: 500, Draws: 1000, Seed: 1, Parallel: 1, Init: starts})
		if err != nil {
			b.Fatal(err)
		}
		ess = fit.Summary().MinESS()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
	b.ReportMetric(ess*float64(b.N)/b.Elapsed().Seconds(), "ESS/s")
}
