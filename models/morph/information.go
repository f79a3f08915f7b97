// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import "slices"

// Information returns, for each energy of the simulator, the Fisher information of the
// parameters at x (their starting values if x is nil) as a row-major matrix: J^T J of the
// residuals at that energy over Sigma. The sum over several energies is the information
// in a measurement at all of them; its inverse bounds the covariance of any unbiased
// estimate. The data serve only to select pixels.
//
// Reference: Fisher information and the Cramér-Rao bound, e.g. Kay, Fundamentals of
// Statistical Signal Processing (1993), section 3.
func (v *Inversion) Information(x []float64) ([][]float64, error) {
	l, err := v.linear()
	if err != nil {
		return nil, err
	}
	if x == nil {
		x, _, _ = v.start()
	}
	n, m := len(x), len(l.data)
	j := make([]float64, n*m)
	if err := l.jacobian(j, x); err != nil {
		return nil, err
	}
	out := make([][]float64, l.energies())
	for e := range out {
		out[e] = make([]float64, n*n)
	}
	for i, e := range l.energy {
		for a := range n {
			for b := range n {
				out[e][a*n+b] += j[a*m+i] * j[b*m+i]
			}
		}
	}
	return slices.Clip(out), nil
}
