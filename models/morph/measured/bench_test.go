// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"fmt"
	"path"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// The log density of a measurement with its gradient, which a step of a trajectory takes.
func BenchmarkLogDensity(b *testing.B) {
	for _, name := range golden.Glob(b, "measured/*/truth.json") {
		for _, closed := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/closed=%v", path.Base(path.Dir(name)), closed), func(b *testing.B) { benchLogDensity(b, openReference(b, path.Dir(name)), closed) })
		}
	}
}

func benchLogDensity(b *testing.B, r *reference, closed bool) {
	k := r.task(b, r.drawn(1))
	if closed {
		k = r.closed(b, r.drawn(1))
	}
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
}
