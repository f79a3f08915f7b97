// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package delaunay

import (
	"fmt"
	"math"
	"slices"
)

// Triangulation is a Delaunay triangulation of points in Dim dimensions.
type Triangulation struct {
	Dim    int
	Points []float64 // one after another
	// Simplices has Dim+1 points for each simplex.
	Simplices []int32
	// Neighbours has for each vertex of each simplex the simplex that shares the others, -1 for none.
	Neighbours []int32
	// Unused are points that are no vertex of a simplex: others have the same place.
	Unused []int32

	maps []float64 // of each simplex: see barycentric
}

// FlatError says that points lie in a plane of fewer dimensions, which Spanning of them span.
type FlatError struct {
	Points, Dim, Spanning int
}

// Error gives the numbers.
func (e *FlatError) Error() string {
	return fmt.Sprintf("%d points span only %d of %d dimensions: a triangulation needs points that vary in every parameter, independently", e.Points, max(0, e.Spanning-1), e.Dim)
}

// New triangulates points of dim coordinates each.
func New(points []float64, dim int) (*Triangulation, error) {
	if dim < 1 || dim >= mostDim || len(points)%dim != 0 {
		return nil, fmt.Errorf("delaunay: %d coordinates do not make points of %d dimensions: want 1 to %d dimensions, and that many coordinates for every point", len(points), dim, mostDim-1)
	}
	for i, x := range points {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("delaunay: coordinate %d of point %d is %v: want finite numbers", i%dim, i/dim, x)
		}
	}
	n := len(points) / dim
	if n <= dim {
		return nil, &FlatError{n, dim, n}
	}
	at := lifted(points, dim)
	h, _ := newHull(at, dim+1)
	if h == nil {
		if span := affine(points, dim); span <= dim {
			return nil, &FlatError{n, dim, span}
		}
		if n == dim+1 {
			t := &Triangulation{Dim: dim, Points: points}
			for i := range n {
				t.Simplices, t.Neighbours = append(t.Simplices, int32(i)), append(t.Neighbours, -1)
			}
			t.finish()
			return t, nil
		}
		// All points lie on one sphere, and every triangulation is a Delaunay one: heights without a
		// pattern choose.
		for i := range n {
			_, at[i*(dim+1)+dim] = math.Modf(float64(i) * float64(i) * math.Phi)
		}
		if h, _ = newHull(at, dim+1); h == nil {
			return nil, fmt.Errorf("delaunay: %d points lie on one sphere in %d dimensions, so the triangulation is not unique: move them a little", n, dim)
		}
	}
	t := &Triangulation{Dim: dim, Points: points}
	number := make([]int32, len(h.facets))
	for i, f := range h.facets {
		number[i] = -1
		if !f.dead && h.lower(f) {
			number[i] = int32(len(t.Simplices) / (dim + 1))
			t.Simplices = append(t.Simplices, f.verts...)
		}
	}
	for i, f := range h.facets {
		if number[i] < 0 {
			continue
		}
		for _, k := range f.neigh {
			t.Neighbours = append(t.Neighbours, number[k])
		}
	}
	t.finish()
	return t, nil
}

// Load makes a triangulation that was computed elsewhere usable.
func Load(points []float64, dim int, simplices, neighbours []int32) (*Triangulation, error) {
	n := int32(0)
	if dim >= 1 {
		n = int32(len(points) / dim)
	}
	count := len(simplices) / max(1, dim+1)
	if dim < 1 || dim >= mostDim || len(points)%dim != 0 || len(simplices) != count*(dim+1) || count == 0 || len(neighbours) != len(simplices) {
		return nil, fmt.Errorf("delaunay: %d coordinates, %d vertices and %d neighbours do not make a triangulation in %d dimensions: export it again", len(points), len(simplices), len(neighbours), dim)
	}
	for i := range simplices {
		if v, s := simplices[i], neighbours[i]; v < 0 || v >= n || s < -1 || int(s) >= count {
			return nil, fmt.Errorf("delaunay: simplex %d refers to point %d of %d and neighbour %d of %d: export the triangulation again", i/(dim+1), v, n, s, count)
		}
	}
	t := &Triangulation{Dim: dim, Points: points, Simplices: simplices, Neighbours: neighbours}
	t.finish()
	return t, nil
}

// lifted returns the points with their squared distance from the middle as a last coordinate.
func lifted(points []float64, dim int) []float64 {
	n := len(points) / dim
	middle := make([]float64, dim)
	for k := range dim {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range n {
			lo, hi = min(lo, points[i*dim+k]), max(hi, points[i*dim+k])
		}
		middle[k] = lo + (hi-lo)/2
	}
	at := make([]float64, 0, n*(dim+1))
	for i := range n {
		sum := 0.0
		for k := range dim {
			x := points[i*dim+k] - middle[k]
			at = append(at, x)
			sum += x * x
		}
		at = append(at, sum)
	}
	return at
}

// lower reports whether a facet of the lifted points is seen from below.
func (h *hull) lower(f *facet) bool {
	d := h.dim - 1
	last := f.plane.normal[d]
	bound := f.plane.bound
	if math.Abs(last) <= bound {
		// The normal's last component is the volume of the facet's shadow.
		rows := make([][]float64, h.dim)
		for i, v := range f.verts {
			rows[i] = h.point(v)[:d]
		}
		last = float64(exactSide(rows))
		if d%2 == 1 { // as newPlane counts it
			last = -last
		}
	}
	return f.out*last < 0
}

// affine returns how many of the points are affinely independent.
func affine(points []float64, dim int) int {
	h := &hull{dim: dim, at: points}
	return len(h.spanning())
}

// finish computes what Locate needs, and which points are unused.
func (t *Triangulation) finish() {
	d := t.Dim
	used := make([]bool, len(t.Points)/d)
	for _, v := range t.Simplices {
		used[v] = true
	}
	for i, u := range used {
		if !u {
			t.Unused = append(t.Unused, int32(i))
		}
	}
	n := t.Len()
	t.maps = make([]float64, 0, n*d*d)
	for s := range n {
		t.maps = append(t.maps, t.inverse(s)...)
	}
}

// Len returns the number of simplices.
func (t *Triangulation) Len() int { return len(t.Simplices) / (t.Dim + 1) }

// Vertices returns the points of a simplex.
func (t *Triangulation) Vertices(s int) []int32 {
	return t.Simplices[s*(t.Dim+1) : (s+1)*(t.Dim+1)]
}

// inverse returns the matrix that takes x less the last vertex of a simplex to the weights of the others;
// it is NaN for a simplex without volume.
func (t *Triangulation) inverse(s int) []float64 {
	d := t.Dim
	v := t.Vertices(s)
	// Gauss-Jordan elimination of [edges as columns | 1] with row pivots.
	a := make([]float64, d*2*d)
	for r := range d {
		for c := range d {
			a[r*2*d+c] = t.Points[int(v[c])*d+r] - t.Points[int(v[d])*d+r]
		}
		a[r*2*d+d+r] = 1
	}
	out := make([]float64, d*d)
	for k := range d {
		pivot := k
		for r := k + 1; r < d; r++ {
			if math.Abs(a[r*2*d+k]) > math.Abs(a[pivot*2*d+k]) {
				pivot = r
			}
		}
		if a[pivot*2*d+k] == 0 {
			for i := range out {
				out[i] = math.NaN()
			}
			return out
		}
		for c := range 2 * d {
			a[k*2*d+c], a[pivot*2*d+c] = a[pivot*2*d+c], a[k*2*d+c]
		}
		scale := a[k*2*d+k]
		for c := range 2 * d {
			a[k*2*d+c] /= scale
		}
		for r := range d {
			if f := a[r*2*d+k]; r != k && f != 0 {
				for c := range 2 * d {
					a[r*2*d+c] -= f * a[k*2*d+c]
				}
			}
		}
	}
	for r := range d {
		copy(out[r*d:], a[r*2*d+d:(r+1)*2*d])
	}
	return out
}

// Map returns the affine map of a simplex: matrix, row-major, such that the weights of all vertices but
// the last are matrix . (x - origin), where origin is the last vertex.
func (t *Triangulation) Map(s int) (matrix, origin []float64) {
	d := t.Dim
	last := int(t.Vertices(s)[d])
	return t.maps[s*d*d : (s+1)*d*d], t.Points[last*d : (last+1)*d]
}

// Weights sets w to the barycentric coordinates of x in a simplex, one for each vertex.
func (t *Triangulation) Weights(w []float64, s int, x []float64) {
	d := t.Dim
	m, o := t.Map(s)
	rest := 1.0
	for r := range d {
		w[r] = 0
		for c := range d {
			w[r] += m[r*d+c] * (x[c] - o[c])
		}
		rest -= w[r]
	}
	w[d] = rest
}

// outsideBy is the most negative weight, by rounding, of a point in a simplex.
const outsideBy = 100 * 0x1p-52

// Locate returns the simplex that x lies in, -1 for none. It walks from simplex from, which should be near;
// any valid number will do.
func (t *Triangulation) Locate(x []float64, from int) int {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return -1
		}
	}
	d := t.Dim
	w := make([]float64, d+1)
	s := from
	for range 100 + t.Len()/4 {
		t.Weights(w, s, x)
		worst := -1
		for k, v := range w {
			if v < -outsideBy && (worst < 0 || v < w[worst]) {
				worst = k
			}
		}
		if worst < 0 {
			if !math.IsNaN(w[0]) {
				return s
			}
			break
		}
		next := t.Neighbours[s*(d+1)+worst]
		if next < 0 {
			break // through the hull, or past a sliver at it
		}
		s = int(next)
	}
	for s := range t.Len() {
		if t.Weights(w, s, x); !math.IsNaN(w[0]) && slices.Min(w) >= -outsideBy {
			return s
		}
	}
	return -1
}
