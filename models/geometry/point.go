// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// Point is a position on a ring of known momentum transfer.
type Point struct {
	Row, Col float64 // position of the point, in pixels
	Q        float64 // momentum transfer of the ring (1/angstrom)
	SD       float64 // standard deviation of the position across the ring (pixels)
}

// SilverBehenate returns q of the first orders of silver behenate, 2 pi n / 58.380 angstrom (1/angstrom).
func SilverBehenate(orders int) []float64 {
	q := make([]float64, orders)
	for i := range q {
		q[i] = 2 * math.Pi / 58.380 * float64(i+1)
	}
	return q
}

// columns returns rows, columns, q and errors in q of points, where the errors are those across the rings times the
// gradient of q at the geometry.
func columns(g xpcs.Geometry, points []Point) (row, col, q, sd []float64, err error) {
	for i, p := range points {
		if !(p.SD > 0) || !(p.Q > 0) || math.IsInf(p.SD+p.Q, 0) || math.IsNaN(p.Row+p.Col) || math.IsInf(p.Row+p.Col, 0) {
			return nil, nil, nil, nil, fmt.Errorf("geometry: point %d is %+v: want finite numbers with positive q and SD", i+1, p)
		}
		row, col, q, sd = append(row, p.Row), append(col, p.Col), append(q, p.Q), append(sd, p.SD)
	}
	n := len(points)
	r, c := ad.Input("row", n), ad.Input("col", n)
	grad := ad.Grad(ad.Sum(g.Node("q", r, c, xpcs.Parameters{})), r, c)
	prog, err := ad.Compile([]*ad.Node{ad.Hypot(grad[0], grad[1])}, ad.Settings{Inputs: []*ad.Node{r, c}})
	if err != nil {
		return nil, nil, nil, nil, err
	}
	st := prog.NewState()
	copy(st.Input(0), row)
	copy(st.Input(1), col)
	if err := st.Run(); err != nil {
		return nil, nil, nil, nil, err
	}
	for i, slope := range st.Output(0) {
		if sd[i] *= slope; !(sd[i] > 0) {
			return nil, nil, nil, nil, fmt.Errorf("geometry: point %d (row %g, column %g) lies at the beam centre, where q has no slope: leave it out", i+1, points[i].Row, points[i].Col)
		}
	}
	return row, col, q, sd, nil
}
