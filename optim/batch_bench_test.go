// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// One hundred thousand fits of 32 points and 3 parameters on one core.
func BenchmarkBatch(b *testing.B) {
	x := logspace(-3, 1, 32)
	const n = 100_000
	batch, rows := decays(b, x), decayRows(x, n, 2e-3)
	for _, c := range []struct {
		name string
		s    optim.BatchSettings
	}{{"plain", optim.BatchSettings{}}, {"covariance", optim.BatchSettings{Covariance: true, RelativeSigma: true}}, {"soft_l1", optim.BatchSettings{Loss: optim.SoftL1, LossScale: 2e-3}}, {"bounds", optim.BatchSettings{}}} {
		b.Run(c.name, func(b *testing.B) {
			c.s.Threads = 1
			r := rows
			if c.name == "bounds" {
				r.Lower, r.Upper = []float64{0, 0, 1e-6}, []float64{2, 1, 1e6}
			}
			var res *optim.BatchResult
			for b.Loop() {
				var err error
				if res, err = batch.Fit(context.Background(), r, c.s); err != nil || res.Converged() < n-n/1000 { // a robust fit may end on a plateau, and says so
					b.Fatal(err, res)
				}
			}
			us := b.Elapsed().Seconds() / float64(b.N) / n * 1e6
			b.ReportMetric(us, "us/fit")
			evaluations := 0
			for _, k := range res.NFev {
				evaluations += k
			}
			b.ReportMetric(float64(evaluations)/n, "evaluations/fit")
		})
	}
}
