// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"path"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// The log density of a measurement with its gradient, which a step of a trajectory takes.
func BenchmarkLogDensity(b *testing.B) {
	for _, name := range golden.Glob(b, "measured/*/truth.json") {
		b.Run(path.Base(path.Dir(name)), func(b *testing.B) {
			r := openReference(b, path.Dir(name))
			k := r.task(b, r.drawn(1))
			for i, p := range k.Params {
				k.Params[i].Start = r.Parameters[p.Name].Truth
			}
			post, err := k.Posterior()
			if err != nil {
				b.Fatal(err)
			}
			names, x := r.names()
			cov := make([]float64, len(x)*len(x))
			for i := range x {
				cov[i*len(x)+i] = 1e-16
			}
			q, err := post.WarmStart(names, x, cov, 1, 1)
			if err != nil {
				b.Fatal(err)
			}
			g := make([]float64, len(x))
			for b.Loop() {
				if _, err := post.LogProbGrad(q[0], g); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
