// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// whitener returns the inverse of the triangle of the covariance of the cells (row-major, zeros for cells without pairs) of the mean over so many
// speckles, and the logarithm of the triangle's determinant. The inverse of a covariance that is known from few pixels only is too large by
// (pixels-1)/(pixels-cells-2), which is taken out (Hartlap et al., doi:10.1051/0004-6361:20066170).
func whitener(cov []float64, count []int, speckles float64, pixels int) (inverse []float64, logDet float64, err error) {
	k := len(count)
	var used []int
	for c, pairs := range count {
		if pairs > 0 {
			used = append(used, c)
		}
	}
	if len(used) == 0 {
		return nil, 0, errors.New("twotime: an angle has no pair of frames that is used: leave it out, or use a narrower band")
	}
	m := len(used)
	if pixels < 2*m+2 {
		return nil, 0, fmt.Errorf("twotime: the covariance of %s cannot be estimated from %d simulated pixels: take more than twice as many", errtext.Count(m, "cell"), pixels)
	}
	scale := float64(pixels-1) / float64(pixels-m-2) / speckles
	a := mat.NewSymDense(m, nil)
	for i, u := range used {
		for j := i; j < m; j++ {
			a.SetSym(i, j, scale*(cov[u*k+used[j]]+cov[used[j]*k+u])/2)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, 0, errors.New("twotime: the covariance of the cells is not positive definite, as where data do not scatter: check the data, or take fewer bins")
	}
	var l, inv mat.TriDense
	c.LTo(&l)
	if err := inv.InverseTri(&l); err != nil {
		return nil, 0, err
	}
	inverse = make([]float64, k*k)
	for i, u := range used {
		logDet += math.Log(l.At(i, i))
		for j := range i + 1 {
			inverse[u*k+used[j]] = inv.At(i, j)
		}
	}
	return inverse, logDet, nil
}
