// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/delaunay"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Delaunay interpolates log spectra linearly in the simplices of a Delaunay triangulation of the library.
type Delaunay struct {
	mesh    *delaunay.Triangulation
	flags   []float64 // of each point: 1 if it is none of the library's
	logFlux *ad.Node  // (points, pixels)
}

// NewDelaunay triangulates a library: points are the mapped parameters, a row for each template,
// and logFlux the logarithms of the spectra, also in rows. The corners of a box that is wider than
// the library by 0.2 of its ranges carry the spectra of the nearest templates, so that there are
// values around it.
func NewDelaunay(points []float64, dim int, logFlux []float64) (*Delaunay, error) {
	if dim < 1 || len(points) == 0 || len(points)%dim != 0 || len(logFlux)%(len(points)/dim) != 0 {
		return nil, fmt.Errorf("spectra: %d coordinates, %s and %s do not fit together: want a point and a spectrum for each template", len(points), errtext.Count(dim, "parameter"), errtext.Count(len(logFlux), "pixel"))
	}
	count := len(points) / dim
	pixels := len(logFlux) / count
	at, flux, flags := slices.Clone(points), slices.Clone(logFlux), make([]float64, count)
	// Points of a grid lie on common spheres; moved by less than anybody sees, they do not.
	noise := tensor.NewStream(1, 0, 0)
	for i := range at {
		at[i] += 2e-6*noise.Float64() - 1e-6
	}
	for corner := range 1 << dim {
		p := make([]float64, dim)
		for k := range p {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := k; i < len(points); i += dim {
				lo, hi = min(lo, points[i]), max(hi, points[i])
			}
			if p[k] = lo - 0.2*(hi-lo); corner>>k&1 == 1 {
				p[k] = hi + 0.2*(hi-lo)
			}
		}
		near, best := 0, math.Inf(1)
		for i := range count {
			sum := 0.0
			for k := range p {
				sum += (p[k] - points[i*dim+k]) * (p[k] - points[i*dim+k])
			}
			if sum < best {
				near, best = i, sum
			}
		}
		at, flags = append(at, p...), append(flags, 1)
		flux = append(flux, logFlux[near*pixels:(near+1)*pixels]...)
	}
	mesh, err := delaunay.New(at, dim)
	if err != nil {
		return nil, fmt.Errorf("spectra: %w", err)
	}
	return newDelaunay(mesh, flags, flux)
}

// LoadDelaunay makes an interpolator from a triangulation that was computed elsewhere: mapped
// points, simplices of dim+1 points and their neighbours, a flag for each point that is 1 if the
// point does not belong to the library, and the logarithms of the spectra at all points.
func LoadDelaunay(points []float64, dim int, simplices, neighbours []int32, flags, logFlux []float64) (*Delaunay, error) {
	mesh, err := delaunay.Load(points, dim, simplices, neighbours)
	if err != nil {
		return nil, fmt.Errorf("spectra: %w", err)
	}
	return newDelaunay(mesh, flags, logFlux)
}

func newDelaunay(mesh *delaunay.Triangulation, flags, logFlux []float64) (*Delaunay, error) {
	n := len(mesh.Points) / mesh.Dim
	if len(flags) != n || len(logFlux) == 0 || len(logFlux)%n != 0 {
		return nil, fmt.Errorf("spectra: the triangulation of %d points has %d flags and %s: want a flag and a spectrum for each point", n, len(flags), errtext.Count(len(logFlux), "pixel"))
	}
	return &Delaunay{mesh, flags, ad.Const(logFlux, n, len(logFlux)/n)}, nil
}

// Dim returns the number of parameters.
func (d *Delaunay) Dim() int { return d.mesh.Dim }

// Pixels returns the length of a spectrum.
func (d *Delaunay) Pixels() int { return d.logFlux.Shape()[1] }

// Interpolate interpolates. Outside is the weight of the points that do not belong to the library;
// beyond these, too, everything is NaN. The gradient jumps from simplex to simplex.
func (d *Delaunay) Interpolate(x *ad.Node) (logFlux, outside *ad.Node) {
	n, count := d.Dim(), d.mesh.Len()
	at := ad.Call(d.locate(), x)
	id := index(at, count)
	lead := at.Shape()
	matrices, origins, vertices := make([]float64, 0, count*n*n), make([]float64, 0, count*n), make([]float64, 0, count*(n+1))
	for s := range count {
		m, o := d.mesh.Map(s)
		matrices, origins = append(matrices, m...), append(origins, o...)
		for _, v := range d.mesh.Vertices(s) {
			vertices = append(vertices, float64(v))
		}
	}
	from := ad.Sub(x, ad.Gather(ad.Const(origins, count, n), id, 0))
	w := ad.MatMul(ad.Gather(ad.Const(matrices, count, n, n), id, 0), rows(from))
	w = ad.Reshape(w, append(lead.Clone(), n)...)
	last := ad.Sub(ad.Scalar(1), ad.SumAxes(w, -1))
	w = ad.Concat(-1, w, rows(last))
	ids := index(ad.Gather(ad.Const(vertices, count, n+1), id, 0), len(d.flags))
	logFlux = weighted(d.logFlux, ids, w)
	outside = ad.SumAxes(ad.Mul(w, ad.Gather(ad.Const(d.flags), ids, 0)), -1)
	nowhere := ad.Less(at, ad.Scalar(0))
	nan := ad.Scalar(math.NaN())
	return ad.Where(rows(nowhere), nan, logFlux), ad.Where(nowhere, nan, outside)
}

// locate finds the simplices of rows of points, -1 for none.
func (d *Delaunay) locate() *ad.Custom {
	return &ad.Custom{
		Name:  "locate",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0][:len(in[0])-1].Clone(), nil },
		Forward: func(out []float64, in ...[]float64) error {
			n, from := d.Dim(), 0
			for i := range out {
				s := d.mesh.Locate(in[0][i*n:(i+1)*n], from)
				if out[i] = float64(s); s >= 0 {
					from = s
				}
			}
			return nil
		},
		VJP: func(g, y *ad.Node, x []*ad.Node) []*ad.Node { return []*ad.Node{nil} },
	}
}
