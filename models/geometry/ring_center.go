// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// Circles holds the common centre of rings and their radii, in pixels.
type Circles struct {
	Row, Col, SDRow, SDCol float64   // centre with standard errors
	Radii, SDRadii         []float64 // radius of each ring, in the order in which RingCenter received them
	Scatter                float64   // root-mean-square distance of the points from their rings
	Loss                   float64   // mean over the points of the squared distance from their ring
	Cov                    []float64 // covariance of (Row, Col, Radii...), row-major
	Result                 *optim.Result
}

// RingCenter fits concentric circles to the points (row, column) of one or more rings, such as
// points marked by hand. It minimises the variance of the distances along each ring, by Levenberg
// and Marquardt's method from an algebraic solution, so that short arcs do as well as whole rings.
// Standard errors come from the scatter of the points.
func RingCenter(ctx context.Context, rings ...[][2]float64) (*Circles, error) {
	var row, col []float64
	var index []int
	for k, ring := range rings {
		for _, p := range ring {
			if math.IsNaN(p[0]+p[1]) || math.IsInf(p[0]+p[1], 0) {
				return nil, fmt.Errorf("geometry: ring %d has the point (%g, %g): want finite numbers", k+1, p[0], p[1])
			}
			row, col, index = append(row, p[0]), append(col, p[1]), append(index, k)
		}
	}
	n := len(row)
	if n < 3 || n < 2+len(rings) {
		return nil, fmt.Errorf("geometry: %s on %d rings cannot determine a centre: give at least %d", errtext.Count(n, "point"), len(rings), max(3, 2+len(rings)))
	}
	start, err := algebraic(row, col, index, len(rings))
	if err != nil {
		return nil, err
	}
	centerRow, centerCol, radii := ad.Input("row"), ad.Input("col"), ad.Input("radius", len(rings))
	d := ad.Hypot(ad.Sub(ad.Const(row, n), centerRow), ad.Sub(ad.Const(col, n), centerCol))
	p, err := optim.FromGraph(ad.Sub(d, ad.Gather(radii, ad.Ints(index), 0)), []*ad.Node{centerRow, centerCol, radii})
	if err != nil {
		return nil, err
	}
	p.Start = start
	res, err := optim.LeastSquares(ctx, p, optim.Settings{RelativeSigma: true, FTol: 1e-14, XTol: 1e-14, GTol: 1e-14})
	if err != nil {
		return nil, err
	}
	sd := res.SD()
	if !(sd[0]+sd[1] < math.Inf(1)) && n > 2+len(rings) {
		return nil, fmt.Errorf("geometry: the %d points do not determine a centre: they lie on a line, or too many coincide, so give points all around the rings", n)
	}
	loss := 2 * res.Cost / float64(n)
	return &Circles{Row: res.X[0], Col: res.X[1], SDRow: sd[0], SDCol: sd[1], Radii: res.X[2:], SDRadii: sd[2:],
		Scatter: math.Sqrt(loss), Loss: loss, Cov: res.Cov, Result: res}, nil
}

// algebraic solves r^2 + c^2 = 2 a r + 2 b c + k for the centre (a, b) and a number k of each ring, about the
// points' mean, which is linear.
func algebraic(row, col []float64, index []int, rings int) ([]float64, error) {
	n := len(row)
	var mr, mc, size float64
	for i := range row {
		mr, mc = mr+row[i]/float64(n), mc+col[i]/float64(n)
	}
	for i := range row {
		size = math.Max(size, math.Hypot(row[i]-mr, col[i]-mc))
	}
	k := 2 + rings
	normal, x := make([]float64, k*k), make([]float64, k)
	line := make([]float64, k)
	for i := range row {
		r, c := (row[i]-mr)/size, (col[i]-mc)/size
		clear(line)
		line[0], line[1], line[2+index[i]] = 2*r, 2*c, 1
		for a := range line {
			x[a] += line[a] * (r*r + c*c)
			for b := range line {
				normal[a*k+b] += line[a] * line[b]
			}
		}
	}
	for a := range k {
		normal[a*k+a] += 1e-13 * float64(n)
	}
	if bad, _ := linalg.Cholesky(normal, k); bad >= 0 || !(size > 0) {
		return nil, fmt.Errorf("geometry: the %d points do not determine a centre: give every ring points, at different places", n)
	}
	linalg.SolveCholesky(normal, x)
	start := []float64{mr + size*x[0], mc + size*x[1]}
	for j := range rings {
		start = append(start, size*math.Sqrt(math.Max(x[2+j]+x[0]*x[0]+x[1]*x[1], 1e-6)))
	}
	return start, nil
}
