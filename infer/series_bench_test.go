// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
)

// BenchmarkSeries measures what a gradient of a run costs, in microseconds of the processor and all included, where 500 parameters are a series with a correlation of
// 0.98 between neighbours: with the sparse metric of the defaults, and with a diagonal one, whose trajectories are so long that the costs of each draw do not count.
func BenchmarkSeries(b *testing.B) {
	target := ar1(500, 0.98)
	run := func(cfg Settings) float64 {
		cfg.Parallel = 1
		begin := peer.CPUTime()
		fit, err := Sample(b.Context(), target, cfg)
		if err != nil {
			b.Fatal(err)
		}
		warm, kept := fit.Gradients()
		return (peer.CPUTime() - begin) * 1e6 / float64(warm+kept)
	}
	var sparse, diagonal float64
	for seed := uint64(1); b.Loop(); seed++ {
		sparse += run(Settings{Seed: seed}) / 2
		diagonal += run(Settings{Seed: seed, Metric: DiagFisher, Warmup: 150, Draws: 300})
		sparse += run(Settings{Seed: seed}) / 2
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(sparse/float64(b.N), "us/gradient")
	b.ReportMetric(diagonal/float64(b.N), "us/diagonal-gradient")
	b.ReportMetric(sparse/diagonal, "ratio")
}
