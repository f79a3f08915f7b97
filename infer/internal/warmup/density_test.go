// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import "github.com/euryale-dev/euryale/infer/internal/hamiltonian"

// written is a density written down for a test.
type written struct {
	dim int
	f   func(q, g []float64) float64
}

func (w written) Dim() int                                    { return w.dim }
func (w written) LogProbGrad(q, g []float64) (float64, error) { return w.f(q, g), nil }

func funcDensity(dim int, f func(q, g []float64) float64) hamiltonian.Density { return written{dim, f} }

// independent is a normal distribution of the given standard deviations.
func independent(sd ...float64) hamiltonian.Density {
	return funcDensity(len(sd), func(q, g []float64) (lp float64) {
		for i, x := range q {
			g[i] = -x / (sd[i] * sd[i])
			lp += x * g[i] / 2
		}
		return lp
	})
}
