package twotime

import (
	"math"
	"slices"
)

// coordinates are those in which a fit moves the free parameters. The size a of a rate a t^b + c is given by the logarithm of a g^b, the
// power at the geometric mean time g: a and b make up for each other elsewhere, so that the sum of squares has a bent valley. Rates with a
// fixed b move in the logarithm of a, all else as it is.
type coordinates struct {
	names []string
	base  []float64 // all parameters; the free ones are replaced
	free  []int
	power []bool  // whether a parameter is the size of a rate whose exponent is free, too
	logG  float64 // logarithm of the geometric mean time
}

// newCoordinates makes the coordinates; with apart, a rate's size has one that does not depend on its exponent.
func newCoordinates(names []string, times, base []float64, free []int, apart bool) *coordinates {
	c := &coordinates{names: names, base: slices.Clone(base), free: free, power: make([]bool, len(names))}
	count := 0
	for _, t := range times {
		if t > 0 {
			c.logG, count = c.logG+math.Log(t), count+1
		}
	}
	c.logG /= float64(max(1, count))
	for _, k := range free {
		c.power[k] = isRate(names[k]) && !apart && slices.Contains(free, k+1)
	}
	return c
}

// at returns the coordinates of parameters.
func (c *coordinates) at(theta []float64) []float64 {
	var x []float64
	for _, k := range c.free {
		switch {
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
		case c.power[k]:
			row[i] *= theta[k]
			row[i+1] -= row[i] * c.logG
		case isRate(c.names[k]):
			row[i] *= theta[k]
		}
	}
}
