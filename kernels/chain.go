// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

type (
	chainDepartFn = func(q, z, w, inverse, links *float64, eps, carry float64, blocks int) (left float64)
	chainArriveFn = func(z, w, slope, inverse, links *float64, eps, carry float64, blocks int) (left float64)
)

// Chain is the Cholesky factor L of a tridiagonal matrix, as of the precision of a series, prepared
// for leapfrog steps. A recurrence along the elements would wait for a product and a sum at each of
// them; taken in blocks of four, it waits once for a block.
type Chain struct {
	// inverse is 1 over each entry of the diagonal.
	inverse []float64
	// below are the entries below the diagonal, each over that of the diagonal of its column.
	below []float64
	// up and down are the links of the blocks for solutions from the first element and from the last one.
	up, down []links
}

// links are the factors of a block by which an element takes its neighbour, the one beyond, and the
// last solution of the block before. They are 0 where these are not in the block.
type links struct{ next, second, carry [4]float64 }

// NewChain returns the factor with a diagonal and the entries below it, one fewer. It keeps no slice.
func NewChain(diagonal, below []float64) *Chain {
	n := len(diagonal)
	c := &Chain{inverse: make([]float64, n), below: make([]float64, n)}
	for i, v := range diagonal {
		if c.inverse[i] = 1 / v; i < n-1 {
			c.below[i] = below[i] / v
		}
	}
	before := 0.0 // the entry below of the element before a block
	for i := 0; i+4 <= n; i += 4 {
		b := c.below[i : i+4]
		c.up = append(c.up, linksOf([4]float64{before, b[0], b[1], b[2]}))
		d := linksOf([4]float64{b[3], b[2], b[1], b[0]})
		for _, f := range []*[4]float64{&d.next, &d.second, &d.carry} {
			f[0], f[1], f[2], f[3] = f[3], f[2], f[1], f[0]
		}
		c.down, before = append(c.down, d), b[3]
	}
	return c
}

// linksOf returns the links of a block in which element i takes -c[i] times the one before.
func linksOf(c [4]float64) (l links) {
	product := 1.0
	for i, v := range c {
		product *= -v
		if l.carry[i] = product; i > 0 {
			l.next[i] = -v
		}
		if i > 1 {
			l.second[i] = v * c[i-1]
		}
	}
	return l
}

// Depart makes the first part of a leapfrog step with the metric (L L^T)^-1, of whitened momentum
// z, force w and position q, each as long as the chain:
//
//	z += eps/2 w,  q += eps L^-T z
func (c *Chain) Depart(l Level, q, z, w []float64, eps float64) {
	n, whole := len(c.inverse), 4*len(c.down)
	q, z, w = q[:n], z[:n], w[:n]
	half, x := eps/2, 0.0
	for i := n - 1; i >= whole; i-- {
		z[i] = fused(w[i], half, z[i])
		x = fused(-c.below[i], x, z[i]*c.inverse[i])
		q[i] = fused(x, eps, q[i])
	}
	if f := chainDeparts[usable(l)]; f != nil && whole > 0 {
		f(&q[0], &z[0], &w[0], &c.inverse[0], &c.down[0].next[0], eps, x, len(c.down))
		return
	}
	for i := whole - 4; i >= 0; i -= 4 {
		var b [4]float64
		for k := range b {
			z[i+k] = fused(w[i+k], half, z[i+k])
			b[k] = z[i+k] * c.inverse[i+k]
		}
		b = c.down[i/4].solve(b, 1, x)
		x = b[0]
		for k, v := range b {
			q[i+k] = fused(v, eps, q[i+k])
		}
	}
}

// Arrive makes the last part of a leapfrog step, after the gradient g:
//
//	w = L^-1 g,  z += eps/2 w
func (c *Chain) Arrive(l Level, z, w, g []float64, eps float64) {
	n, whole := len(c.inverse), 4*len(c.up)
	z, w, g = z[:n], w[:n], g[:n]
	half, x := eps/2, 0.0
	if f := chainArrives[usable(l)]; f != nil && whole > 0 {
		x = f(&z[0], &w[0], &g[0], &c.inverse[0], &c.up[0].next[0], eps, 0, len(c.up))
	} else {
		for i := 0; i < whole; i += 4 {
			b := c.up[i/4].solve([4]float64(g[i:i+4]), 3, x)
			x = b[3]
			for k, v := range b {
				w[i+k] = v * c.inverse[i+k]
				z[i+k] = fused(w[i+k], half, z[i+k])
			}
		}
	}
	for i := whole; i < n; i++ {
		if i > 0 {
			x = fused(-c.below[i-1], x, g[i])
		} else {
			x = g[i]
		}
		w[i] = x * c.inverse[i]
		z[i] = fused(w[i], half, z[i])
	}
}

// solve returns the solution of a block whose elements take the ones at the distance turn, modulo 4.
func (l *links) solve(b [4]float64, turn int, carry float64) (x [4]float64) {
	for k := range x {
		x[k] = fused(l.next[k], b[(k+turn)%4], b[k])
	}
	b = x
	for k := range x {
		x[k] = fused(l.carry[k], carry, fused(l.second[k], b[(k+2)%4], b[k]))
	}
	return x
}
