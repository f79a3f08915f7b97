// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

// solveInverse replaces x by the solution of L L^T z = x, where l holds L of n rows with the
// inverses of its diagonal.
func solveInverse(l, x []float64, n int) {
	forwardInverse(l, x, n)
	for i := n - 1; i >= 0; i-- {
		x[i] *= l[i*n+i]
		for j := range i {
			x[j] -= l[i*n+j] * x[i]
		}
	}
}

// forwardInverse replaces x by the solution of L z = x, for l as in solveInverse.
func forwardInverse(l, x []float64, n int) {
	for i := range n {
		s := x[i]
		for j, a := range l[i*n : i*n+i] {
			s -= a * x[j]
		}
		x[i] = s * l[i*n+i]
	}
}
