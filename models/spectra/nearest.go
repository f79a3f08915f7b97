// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Nearest returns the nearest template, by the distance of mapped parameters in units of their
// ranges.
type Nearest struct {
	dim, pixels int
	points      []float64 // scaled
	scale       []float64 // 1 over the ranges
	logFlux     *ad.Node  // (templates, pixels)
	table       []float64 // the same numbers
}

// row returns the logarithm of the spectrum of a template.
func (n *Nearest) row(id int) []float64 { return n.table[id*n.pixels : (id+1)*n.pixels] }

// NewNearest checks the arrays: points are the mapped parameters, a row for each template, and
// logFlux the logarithms of the spectra, also in rows.
func NewNearest(points []float64, dim int, logFlux []float64) (*Nearest, error) {
	count := 0
	if dim > 0 {
		count = len(points) / dim
	}
	if dim < 1 || count == 0 || len(points) != count*dim || len(logFlux) == 0 || len(logFlux)%count != 0 {
		return nil, fmt.Errorf("spectra: %d coordinates, %s and %s do not fit together: want a point and a spectrum for each template", len(points), errtext.Count(dim, "parameter"), errtext.Count(len(logFlux), "pixel"))
	}
	n := &Nearest{dim: dim, pixels: len(logFlux) / count, scale: make([]float64, dim), points: make([]float64, len(points)), logFlux: ad.Const(logFlux, count, len(logFlux)/count), table: logFlux}
	for k := range dim {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := k; i < len(points); i += dim {
			lo, hi = min(lo, points[i]), max(hi, points[i])
		}
		if math.IsNaN(hi-lo) || math.IsInf(hi-lo, 0) {
			return nil, fmt.Errorf("spectra: parameter %d of the templates ranges from %v to %v: want finite numbers", k, lo, hi)
		}
		if n.scale[k] = 1; hi > lo {
			n.scale[k] = 1 / (hi - lo)
		}
		for i := k; i < len(points); i += dim {
			n.points[i] = points[i] * n.scale[k]
		}
	}
	return n, nil
}

// Dim returns the number of parameters.
func (n *Nearest) Dim() int { return n.dim }

// Pixels returns the length of a spectrum.
func (n *Nearest) Pixels() int { return n.pixels }

// leastSquare keeps the slope of the distance finite at a template, without being seen.
const leastSquare = 1e-30

// Interpolate returns the nearest spectrum, with Outside the distance to it. The spectrum does not
// depend on x smoothly, and its gradient is 0.
func (n *Nearest) Interpolate(x *ad.Node) (logFlux, outside *ad.Node) {
	s := x.Shape()
	miss := ad.Sub(ad.Reshape(ad.Mul(x, ad.Const(n.scale)), append(s[:len(s)-1].Clone(), 1, n.dim)...), ad.Const(n.points, len(n.points)/n.dim, n.dim))
	square := ad.SumAxes(ad.Square(miss), -1)
	return ad.Gather(n.logFlux, ad.Argmin(square, -1), 0), ad.Sqrt(ad.Maximum(ad.MinAxes(square, -1), ad.Scalar(leastSquare)))
}
