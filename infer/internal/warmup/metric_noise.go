// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import "github.com/euryale-dev/euryale/internal/linalg"

// noiseRidge is how many draws from a unit normal the scaled posterior is fitted
// together with when its gradients are all noise.
const noiseRidge = 30.0

// GradientNoise returns how far the gradients of draws are from those of a normal
// distribution, as a variance per parameter where the distribution's own gradients have
// 1. A normal distribution needs no more than a few draws, however stiff it is: its
// gradients are linear in the draws. Others deviate from any linear map, and as many
// draws as parameters then determine nothing but the noise.
//
//	g = -P x + e:  B = X G^T,  mean over i < j of (B_ij - B_ji)^2 = 2 d var e
//
// P is symmetric, so that only e is left in the difference. B does not change with
// the coordinates; rows are draws and are centred.
func GradientNoise(x, g [][]float64) float64 {
	if len(x) < 2 {
		return 0
	}
	x, g = centred(x), centred(g)
	sum := 0.0
	for i := range x {
		for j := range i {
			d := linalg.FastDot(x[i], g[j]) - linalg.FastDot(x[j], g[i])
			sum += d * d
		}
	}
	pairs := float64(len(x)*(len(x)-1)) / 2
	return sum / pairs / (2 * float64(len(x[0])))
}

// centred returns the rows less their mean.
func centred(rows [][]float64) [][]float64 {
	mean, _ := columnMoments(rows)
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = make([]float64, len(row))
		for j, v := range row {
			out[i][j] = v - mean[j]
		}
	}
	return out
}
