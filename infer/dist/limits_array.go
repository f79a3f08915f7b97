// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// sumTolerance is how far probabilities that are computed in a graph may sum from 1. It allows for rounding in 32 bits
// and for the steps of numerical derivatives.
const sumTolerance = 1e-3

// holds returns 1 where the arrays satisfy the condition, in the shape of their batch axes; nil stands for 1.
func (a Array) holds(p *ad.Node) *ad.Node {
	switch n := last(p); a {
	case Probabilities:
		return ad.Less(ad.Abs(ad.Shift(each(p), -1)), ad.Scalar(sumTolerance))
	case Ascending:
		if n < 2 {
			return nil
		}
		return ad.MinAxes(ad.Less(ad.Slice(p, -1, 0, n-1), ad.Slice(p, -1, 1, n)), -1)
	case Factor:
		return ad.MinAxes(ad.Greater(ad.Diag(p), zero), -1)
	case Covariance:
		d := ad.Diag(ad.CholeskyOrNaN(p))
		return ad.MinAxes(ad.Equal(d, d), -1)
	}
	return nil
}

// misshaped reports whether an array cannot be one of these, which is an error of its own.
func (a Array) misshaped(s tensor.Shape) bool {
	switch a {
	case Probabilities, Ascending:
		return len(s) != 1 || s[0] == 0
	case Factor, Covariance:
		return len(s) != 2 || s[0] != s[1] || s[0] == 0
	}
	return false
}

// safe returns an array of the given shape that satisfies the condition.
func (a Array) safe(s tensor.Shape, number float64) *ad.Node {
	switch a {
	case Probabilities:
		return ad.Scalar(1 / float64(s[0]))
	case Ascending:
		return counting(s[0])
	case Factor, Covariance:
		return ad.Eye(s[0])
	}
	return ad.Scalar(number)
}

// words adds the condition to that on the elements.
func (a Array) words(elements string) string {
	switch a {
	case Probabilities:
		return "probabilities, which are at least 0 and sum to 1"
	case Ascending:
		return "numbers in ascending order"
	case Factor:
		return "a lower triangle with a diagonal above 0"
	case Covariance:
		return "a symmetric positive definite matrix"
	}
	return elements
}
