// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"slices"
)

// coordinates are those in which a fit moves the free parameters: of rates a t^b + c with free exponents, at the geometric mean time g,
//
//	log(a g^b), b, c                                 or
//	log(a g^b + c), log|b|, log|a b g^b|             the rate, how it bends, and its slope
//
// a and b make up for each other elsewhere than at g, and the sum of squares has a valley in a, b and c that is bent where b is small, and
// straight in the second form, in which b keeps its sign. Other rates move in the logarithm of a, all else as it is.
type coordinates struct {
	names []string
	base  []float64 // all parameters; the free ones are replaced
	free  []int
	power []bool    // whether a parameter is a of the first form
	bent  []bool    // or of the second
	sign  []float64 // that of b, then
	logG  float64
}

// newCoordinates makes coordinates without any of these forms.
func newCoordinates(names []string, times, base []float64, free []int) *coordinates {
	c := &coordinates{names: names, base: slices.Clone(base), free: free}
	c.power, c.bent, c.sign = make([]bool, len(names)), make([]bool, len(names)), make([]float64, len(names))
	count := 0
	for _, t := range times {
		if t > 0 {
			c.logG, count = c.logG+math.Log(t), count+1
		}
	}
	c.logG /= float64(max(1, count))
	return c
}

// powers takes the first form where it can.
func (c *coordinates) powers() {
	for _, k := range c.free {
		c.power[k] = isRate(c.names[k]) && slices.Contains(c.free, k+1)
	}
}

// bend takes the second form where it can at parameters, and the first elsewhere.
func (c *coordinates) bend(theta []float64) {
	c.powers()
	for _, k := range c.free {
		if c.power[k] && slices.Contains(c.free, k+2) && theta[k+1] != 0 && theta[k]*math.Exp(theta[k+1]*c.logG)+theta[k+2] > 0 {
			c.bent[k], c.sign[k] = true, math.Copysign(1, theta[k+1])
		}
	}
}

// at returns the coordinates of parameters.
func (c *coordinates) at(theta []float64) []float64 {
	var x []float64
	theta = slices.Clone(theta)
	for _, k := range c.free {
		if isRate(c.names[k]) { // where a search has lost it
			theta[k] = max(theta[k], 1e-300)
		}
	}
	for _, k := range c.free {
		switch {
		case c.bent[k]:
			x = append(x, math.Log(theta[k]*math.Exp(theta[k+1]*c.logG)+theta[k+2]))
		case k > 0 && c.bent[k-1]:
			x = append(x, math.Log(math.Abs(theta[k])))
		case k > 1 && c.bent[k-2]:
			x = append(x, math.Log(math.Abs(theta[k-1])*theta[k-2])+theta[k-1]*c.logG)
		case c.power[k]:
			x = append(x, math.Log(theta[k])+theta[k+1]*c.logG)
		case isRate(c.names[k]):
			x = append(x, math.Log(theta[k]))
		default:
			x = append(x, theta[k])
		}
	}
	return x
}

// theta returns all parameters.
func (c *coordinates) theta(x []float64) []float64 {
	theta := slices.Clone(c.base)
	for i, k := range c.free {
		switch {
		case c.bent[k]:
			power := math.Exp(x[i+2] - x[i+1])
			theta[k+1] = c.sign[k] * math.Exp(x[i+1])
			theta[k], theta[k+2] = power*math.Exp(-theta[k+1]*c.logG), math.Exp(x[i])-power
		case k > 0 && c.bent[k-1], k > 1 && c.bent[k-2]:
		case c.power[k]:
			theta[k] = math.Exp(x[i] - x[i+1]*c.logG)
		case isRate(c.names[k]):
			theta[k] = math.Exp(x[i])
		default:
			theta[k] = x[i]
		}
	}
	return theta
}

// slopes replaces derivatives by the free parameters, the elements of a row, by those by the coordinates.
func (c *coordinates) slopes(row, x, theta []float64) {
	for i, k := range c.free {
		switch {
		case c.bent[k]:
			power := math.Exp(x[i+2] - x[i+1])
			byA, byB, byC := row[i]*theta[k], row[i+1], row[i+2]
			row[i] = byC * math.Exp(x[i])
			row[i+1] = -byA + byC*power + theta[k+1]*(byB-byA*c.logG)
			row[i+2] = byA - byC*power
		case c.power[k]:
			row[i] *= theta[k]
			row[i+1] -= row[i] * c.logG
		case isRate(c.names[k]):
			row[i] *= theta[k]
		}
	}
}
