// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package delaunay

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	goldennpy "github.com/euryale-dev/euryale/internal/golden/npy"
)

// check holds a triangulation against its definition: neighbours agree, simplices have volume and no point
// inside of their sphere, and together they fill the volume of the hull.
func check(t *testing.T, d *Triangulation, volume float64) {
	t.Helper()
	n, at := d.Dim, lifted(d.Points, d.Dim)
	sum := 0.0
	for s := range d.Len() {
		for k := range n + 1 {
			other := d.Neighbours[s*(n+1)+k]
			if other < 0 {
				continue
			}
			back := slices.Index(d.Neighbours[int(other)*(n+1):(int(other)+1)*(n+1)], int32(s))
			if back < 0 {
				t.Fatalf("simplex %d has neighbour %d, which does not have it", s, other)
			}
			for j, v := range d.Vertices(s) {
				if j != k && !slices.Contains(d.Vertices(int(other)), v) {
					t.Fatalf("simplices %d and %d do not share point %d", s, other, v)
				}
			}
			// The opposite point of the neighbour is not inside of the sphere.
			if x := d.Vertices(int(other))[back]; d.inSphere(at, s, int(x)) > 0 {
				t.Fatalf("point %d is inside of the sphere of simplex %d", x, s)
			}
		}
		sum += d.volume(s)
	}
	if volume > 0 && math.Abs(sum/volume-1) > 1e-9 {
		t.Errorf("volume %v, want %v", sum, volume)
	}
}

func (t *Triangulation) volume(s int) float64 {
	v := t.Vertices(s)
	rows := make([][]float64, t.Dim)
	columns := make([]int, t.Dim)
	f := 1.0
	for i := range rows {
		rows[i] = make([]float64, t.Dim)
		columns[i] = i
		f *= float64(i + 1)
		for k := range t.Dim {
			rows[i][k] = t.Points[int(v[i+1])*t.Dim+k] - t.Points[int(v[0])*t.Dim+k]
		}
	}
	return math.Abs(minor(rows, columns)) / f
}

// inSphere is 1 for a point inside of the sphere of a simplex, 0 on it, and -1 outside, without rounding;
// at are the lifted points.
func (t *Triangulation) inSphere(at []float64, s, x int) int {
	d := t.Dim + 1
	var rows, flat [][]float64
	for _, v := range t.Vertices(s) {
		rows = append(rows, at[int(v)*d:(int(v)+1)*d])
		flat = append(flat, t.Points[int(v)*t.Dim:(int(v)+1)*t.Dim])
	}
	return -exactSide(append(rows, at[x*d:(x+1)*d])) * exactSide(flat)
}

func TestRandomPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim <= 5; dim++ {
		n := []int{0, 50, 300, 150, 80, 20}[dim]
		points := make([]float64, 0, (n+1<<dim)*dim)
		for range n * dim {
			points = append(points, r.Float64())
		}
		for corner := range 1 << dim {
			for k := range dim {
				points = append(points, float64(corner>>k&1))
			}
		}
		d, err := New(points, dim)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Unused) > 0 {
			t.Errorf("%d dimensions: unused %v", dim, d.Unused)
		}
		check(t, d, 1)
		from := 0
		w := make([]float64, dim+1)
		for range 200 {
			x := make([]float64, dim)
			for k := range x {
				x[k] = r.Float64()
			}
			if from = d.Locate(x, from); from < 0 {
				t.Fatalf("%v is nowhere", x)
			}
			d.Weights(w, from, x)
			for k := range x {
				sum := 0.0
				for i, v := range d.Vertices(from) {
					sum += w[i] * points[int(v)*dim+k]
				}
				if slices.Min(w) < -1e-10 || math.Abs(sum-x[k]) > 1e-12 {
					t.Fatalf("weights %v of %v", w, x)
				}
			}
		}
		if s := d.Locate(slices.Repeat([]float64{1.5}, dim), 0); s != -1 {
			t.Errorf("a point outside is in %d", s)
		}
		if s := d.Locate(slices.Repeat([]float64{math.NaN()}, dim), 0); s != -1 {
			t.Errorf("NaN is in %d", s)
		}
	}
}

// Points of regular grids, of which many lie on one sphere, and some twice, are triangulated without
// overlaps and gaps.
func TestGrids(t *testing.T) {
	for dim := 1; dim <= 4; dim++ {
		side := []int{0, 6, 5, 4, 3}[dim]
		var points []float64
		count := 1
		for range dim {
			count *= side
		}
		for i := range count {
			for range dim {
				points = append(points, 0.1*float64(i%side))
				i /= side
			}
		}
		points = append(points, points[:dim]...)
		d, err := New(points, dim)
		if err != nil {
			t.Fatal(err)
		}
		check(t, d, math.Pow(0.1*float64(side-1), float64(dim)))
		if len(d.Unused) != 1 {
			t.Errorf("%d dimensions: unused %v", dim, d.Unused)
		}
	}
}

func TestFewPoints(t *testing.T) {
	d, err := New([]float64{0, 0, 1, 0, 0, 1}, 2)
	if err != nil || d.Len() != 1 {
		t.Fatal(d, err)
	}
	if d, err = New([]float64{0, 0, 1, 0, 0, 1, 1, 1}, 2); err != nil || d.Len() != 2 {
		t.Fatal(d, err)
	}
	check(t, d, 1)
	var flat *FlatError
	for _, points := range [][]float64{{0, 0}, {0, 0, 1, 1, 2, 2, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0.1, 0.3, 0.2, 0.6, 0.7, 2.1}} {
		if _, err := New(points, 2); !errors.As(err, &flat) {
			t.Errorf("%v: %v", points, err)
		}
	}
	for _, points := range [][]float64{{0, 0, 1}, {0, 0, 1, 0, 0, math.NaN()}} {
		if _, err := New(points, 2); err == nil {
			t.Errorf("%v: no error", points)
		}
	}
	if _, err := Load([]float64{0, 0, 1, 0, 0, 1}, 2, []int32{0, 1, 3}, []int32{-1, -1, -1}); err == nil {
		t.Error("a point that is not there")
	}
}

func npy(t testing.TB, name string) ([]float64, []int32, []int) {
	t.Helper()
	x, shape := goldennpy.Read(t, "spectra", "triangulation", name)
	whole := make([]int32, len(x))
	for i, v := range x {
		whole[i] = int32(v)
	}
	return x, whole, shape
}

// sorted returns the simplices as texts that do not depend on their order.
func sorted(simplices []int32, n int) []string {
	var out []string
	for i := 0; i < len(simplices); i += n {
		out = append(out, fmt.Sprint(slices.Sorted(slices.Values(simplices[i:i+n]))))
	}
	slices.Sort(out)
	return out
}

// Simplices, weights and places are those that Qhull finds.
func TestGolden(t *testing.T) {
	points, _, shape := npy(t, "points_mapped.npy")
	dim := shape[1]
	_, simplices, _ := npy(t, "simplices.npy")
	_, neighbours, _ := npy(t, "neighbors.npy")
	d, err := New(points, dim)
	if err != nil {
		t.Fatal(err)
	}
	check(t, d, 0)
	loaded, err := Load(points, dim, simplices, neighbours)
	if err != nil {
		t.Fatal(err)
	}
	// Where more points than a simplex has lie on one sphere, as the corners of a box do, there are several
	// Delaunay triangulations; everywhere else there is one.
	ours, at := sorted(d.Simplices, dim+1), lifted(points, dim)
	volumes := [2]float64{}
	for s := range loaded.Len() {
		volumes[0] += loaded.volume(s)
		v := loaded.Vertices(s)
		if _, ok := slices.BinarySearch(ours, sorted(v, dim+1)[0]); ok {
			continue
		}
		ties := 0
		for x := range len(points) / dim {
			switch {
			case slices.Contains(v, int32(x)):
			case loaded.inSphere(at, s, x) > 0:
				t.Fatalf("simplex %v is no Delaunay simplex", v)
			case loaded.inSphere(at, s, x) == 0:
				ties++
			}
		}
		if ties == 0 {
			t.Errorf("simplex %v is missing", v)
		}
	}
	for s := range d.Len() {
		volumes[1] += d.volume(s)
	}
	if len(ours) == 0 || math.Abs(volumes[1]/volumes[0]-1) > 1e-12 {
		t.Errorf("%d simplices of volume %v, want %v", len(ours), volumes[1], volumes[0])
	}
	var places []struct {
		Mapped, Bary []float64
		Simplex      int
		Vertices     []int32
	}
	golden.JSON(t, &places, "spectra", "triangulation", "eval.json")
	inside := 0
	for _, p := range places {
		for _, tri := range []*Triangulation{d, loaded} {
			s := tri.Locate(p.Mapped, 0)
			if p.Simplex < 0 || s < 0 {
				if s >= 0 || p.Simplex >= 0 {
					t.Errorf("%v is in %d, want %d", p.Mapped, s, p.Simplex)
				}
				continue
			}
			inside++
			w := make([]float64, dim+1)
			tri.Weights(w, s, p.Mapped)
			for k, v := range tri.Vertices(s) {
				want := 0.0
				if i := slices.Index(p.Vertices, v); i >= 0 {
					want = p.Bary[i]
				}
				if math.Abs(w[k]-want) > 1e-10 {
					t.Errorf("%v: point %d has weight %v, want %v", p.Mapped, v, w[k], want)
				}
			}
		}
	}
	if inside == 0 {
		t.Error("no place is inside")
	}
}

func BenchmarkNew(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	points := make([]float64, 4*1000)
	for i := range points {
		points[i] = r.Float64()
	}
	for b.Loop() {
		if _, err := New(points, 4); err != nil {
			b.Fatal(err)
		}
	}
}
