// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// load puts a row into a lane. It returns false where the row cannot be fitted.
func (c *Worker) load(l, row int) bool {
	v := &c.lanes[l]
	points, err := c.fill(l, row, c.columns, c.weights)
	if err == nil {
		err = c.begin(v, row)
	}
	if err != nil {
		c.fits.Fail(row, v.x, err)
		return false
	}
	v.reset(row, points)
	c.setParameters(l, v.x)
	return true
}

// setParameters makes x the parameters of lane l in the next run.
func (c *Worker) setParameters(l int, x []float64) {
	for k, p := range x {
		c.params[k*Lanes+l] = p
	}
}

// fill copies the data of a row into lane l and returns the number of residuals whose weight
// is not 0. The others get the data of one of these, so that NaN does no harm there.
func (c *Worker) fill(l, row int, columns [][]float64, weights []float64) (points int, err error) {
	return c.rows.fill(c.model, row, l, Lanes, columns, weights)
}

// fill copies the data of a row into lane l of arrays with so many lanes.
func (r *Rows) fill(b *Model, row, l, lanes int, columns [][]float64, weights []float64) (points int, err error) {
	m, safe := b.M, 0
	points = m
	var w []float64
	if weights != nil {
		w = r.Weights[row*m : (row+1)*m]
		points, safe = 0, -1
		for i, v := range w {
			if !(v >= 0) || math.IsInf(v, 1) {
				return 0, fmt.Errorf("weight %d is %g: want a finite number of at least 0", i, v)
			}
			if v > 0 {
				points++
				if safe < 0 {
					safe = i
				}
			}
			weights[i*lanes+l] = v
		}
		if points == 0 {
			return 0, fmt.Errorf("no residual has a weight above 0: give at least one point a positive weight")
		}
	}
	for k, to := range columns {
		size := len(to) / lanes
		from := r.Columns[k][row*size : (row+1)*size]
		for i, v := range from {
			if w != nil && size == m && w[i] == 0 {
				v = from[safe]
			}
			if !linalg.Finite(v) {
				return 0, fmt.Errorf("%s[%d] is %g: leave the point out by giving it a weight of 0", b.Columns[k].Name(), i, v)
			}
			to[i*lanes+l] = v
		}
	}
	return points, nil
}

// begin sets the start of a row.
func (c *Worker) begin(v *lane, row int) error {
	n := c.model.N
	switch r := c.rows; {
	case r.Start == nil:
		for k, col := range r.Columns {
			size := c.model.Columns[k].Size()
			c.rowColumns[k] = col[row*size : (row+1)*size]
		}
		if err := r.Guess(v.x, c.rowColumns); err != nil {
			return fmt.Errorf("Guess found no start: %w", err)
		}
	case len(r.Start) == n:
		copy(v.x, r.Start)
	default:
		copy(v.x, r.Start[row*n:])
	}
	for k, x := range v.x {
		if !linalg.Finite(x) {
			return fmt.Errorf("the start of %s is %g: want a finite number", c.model.Names[k], x)
		}
		if c.rows.Lower != nil && (x < c.rows.Lower[k] || x > c.rows.Upper[k]) {
			return fmt.Errorf("the start of %s is %g, outside its bounds %g..%g: move it inside", c.model.Names[k], x, c.rows.Lower[k], c.rows.Upper[k])
		}
	}
	return nil
}
