// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// reweighings is how often the weights are taken from the scatter of the fits before.
const reweighings = 2

// fewestProfiles is the number of profiles from which on their scatter gives the weights.
const fewestProfiles = 12

// reweigh replaces the weights of the bins by those that the scatter of all profiles about their fits shows, because it need not be
// that of counts: a background may have been taken off. It reports whether there were enough profiles.
func reweigh(rows optim.Rows, pixels []float64, fits *optim.BatchResult) bool {
	good := usual(fits)
	var variance, count [profileBins]float64
	for i, ok := range good {
		if !ok {
			continue
		}
		left, free := scatter(fits.Row(i), rows, i)
		for b := range profileBins {
			if k := i*profileBins + b; rows.Weights[k] > 0 && free[b] > 0.05 {
				variance[b] += left[b] * left[b] * pixels[k] / free[b]
				count[b]++
			}
		}
	}
	n := 0
	for _, ok := range good {
		if ok {
			n++
		}
	}
	if n < fewestProfiles {
		return false
	}
	// Three bins together, and never less than a hundredth of the mean.
	total, bins := 0.0, 0.0
	for b, v := range variance {
		total, bins = total+v, bins+count[b]
	}
	for k := range rows.Weights {
		b := k % profileBins
		v, c := 0.0, 0.0
		for j := max(b-1, 0); j <= min(b+1, profileBins-1); j++ {
			v, c = v+variance[j], c+count[j]
		}
		if rows.Weights[k] > 0 && c > 0 && total > 0 {
			rows.Weights[k] = math.Sqrt(pixels[k] / math.Max(v/c, 0.01*total/bins))
		}
	}
	return true
}

// scatter returns the residuals of a profile, and the share of the variance of each that its fit leaves.
func scatter(p []float64, rows optim.Rows, row int) (left, free [profileBins]float64) {
	const n = 5
	var columns [profileBins][n]float64
	normal := make([]float64, n*n)
	for b := range profileBins {
		k := row*profileBins + b
		w := rows.Weights[k]
		if w == 0 {
			continue
		}
		x, width := rows.Columns[0][k], math.Exp(p[2])
		u := (x - p[1]) / width
		e := math.Exp(-u * u / 2)
		left[b] = rows.Columns[1][k] - p[3] - p[4]*x - p[0]*e
		columns[b] = [n]float64{w * e, w * p[0] * e * u / width, w * p[0] * e * u * u, w, w * x}
		for i, v := range columns[b] {
			for j, o := range columns[b] {
				normal[i*n+j] += v * o
			}
		}
	}
	if bad, _ := linalg.Cholesky(normal, n); bad >= 0 {
		return left, free
	}
	for b, c := range columns {
		solved := append([]float64(nil), c[:]...)
		linalg.SolveCholesky(normal, solved)
		free[b] = 1 - linalg.Dot(c[:], solved)
	}
	return left, free
}
