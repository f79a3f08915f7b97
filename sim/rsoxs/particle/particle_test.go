// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// The light, the detector and the materials of the tests.
var (
	k        = 1.45
	toPixels = func() farfield.Directions {
		return farfield.Detector{Rows: 7, Columns: 8, PixelY: 1.1, PixelX: 1}.Directions(farfield.Pose{Distance: ad.Scalar(14), PoniY: ad.Scalar(3.1), PoniX: ad.Scalar(3.4), Rot1: ad.Scalar(0.05), Rot2: ad.Scalar(-0.03)})
	}()
	contrasts = []farfield.Contrast{farfield.Tensor(ad.Const([]float64{2e-3, 1e-3, 2e-3, 1e-3})), farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))}
	angles    = []float64{0, 0.7, math.Pi / 2}
	reach     = Reach{Q: 0.65, Size: 30}
)

func scalars(x ...float64) (out []*ad.Node) {
	for _, v := range x {
		out = append(out, ad.Scalar(v))
	}
	return out
}

func evaluated(t *testing.T, nodes ...*ad.Node) [][]float64 {
	t.Helper()
	v, err := ad.Eval(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(v))
	for i := range v {
		out[i] = v[i].Float64s()
	}
	return out
}

// voxel is what a material has at a place: volume fraction, order and director.
type voxel struct {
	v, s float64
	d    [3]float64
}

// summed returns the intensities of a field of voxels, in nm^6.
func summed(t *testing.T, shape [3]int, edge float64, materials int, at func(x, y, z float64) []voxel) [][]float64 {
	t.Helper()
	v, err := farfield.NewVolume(farfield.VolumeSettings{Shape: shape, Voxel: edge, MaxQ: 0.6, MinK: k})
	if err != nil {
		t.Fatal(err)
	}
	arrays := make([][4][]float64, materials)
	for i := range shape[0] * shape[1] * shape[2] {
		place := [3]float64{float64(i % shape[2]), float64(i / shape[2] % shape[1]), float64(i / (shape[2] * shape[1]))}
		for a := range place {
			place[a] = (place[a] - float64(shape[2-a]-1)/2) * edge
		}
		for m, x := range at(place[0], place[1], place[2]) {
			values := [4]float64{x.v, x.s, math.Atan2(math.Hypot(x.d[0], x.d[1]), x.d[2]), math.Atan2(x.d[1], x.d[0])}
			for c := range values {
				arrays[m][c] = append(arrays[m][c], values[c])
			}
		}
	}
	var fields []*farfield.Fields
	for _, a := range arrays {
		node := func(c int) *ad.Node { return ad.Const(a[c], shape[0], shape[1], shape[2]) }
		f, err := v.Fields(rsoxs.MaterialNodes{Vfrac: node(0), S: node(1), Theta: node(2), Psi: node(3)})
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, f)
	}
	kn := ad.Scalar(k)
	out := evaluated(t, v.Intensities(v.Amplitude(kn, fields, contrasts[2-materials:], angles...), kn, toPixels)...)
	for _, image := range out {
		for i := range image {
			image[i] *= math.Pow(edge, 6)
		}
	}
	return out
}

// agree compares images to a tolerance relative to the largest.
func agree(t *testing.T, name string, got, want [][]float64, tolerance float64) {
	t.Helper()
	for p := range want {
		most, worst := slices.Max(want[p]), 0.0
		for i := range want[p] {
			worst = max(worst, math.Abs(got[p][i]-want[p][i])/most)
		}
		if !(worst < tolerance) {
			t.Errorf("%s, angle %g: intensities are off by %.2g of the largest, want %g", name, angles[p], worst, tolerance)
		}
	}
}

func logistic(d float64) float64 { return 1 / (1 + math.Exp(d)) }

// A core in a shell with soft edges scatters as the sum over fine voxels does, with radial and tangential molecules and a falling order.
func TestCoreShellIsTheSumOverVoxels(t *testing.T) {
	const radius, shell, order, decay, width = 5.0, 4.0, 0.8, 1.2, 0.7
	p := scalars(radius, shell, order, decay, width)
	c := CoreShell{Radius: p[0], Shell: p[1], Aligned: p[2], Decay: p[3], Edge: Edge{Width: p[4]}, Reach: reach}
	at := func(x, y, z float64) []voxel {
		r := math.Sqrt(x*x + y*y + z*z)
		core := logistic((r - radius) / width)
		s := order * math.Pow(math.Min(1, radius/r), decay)
		return []voxel{{v: core}, {logistic((r-radius-shell)/width) - core, s, [3]float64{x, y, z}}}
	}
	want := summed(t, [3]int{40, 40, 40}, 0.8, 2, at)
	agree(t, "radial", evaluated(t, c.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...), want, 2e-4)
	agree(t, "fields", evaluated(t, Ensemble{Of: c}.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...), want, 2e-4)
}

// The director of tangential molecules is the mean over directions in the surface, which two crossed ones have.
func TestTangentialMolecules(t *testing.T) {
	p := scalars(5, 4, 0.8, 0.7)
	c := CoreShell{Radius: p[0], Shell: p[1], Aligned: p[2], Tangential: true, Edge: Edge{Width: p[3]}, Reach: reach}
	radial := c
	radial.Tangential = false
	a, b := c.Fields(At(ad.Scalar(k), toPixels))[1], radial.Fields(At(ad.Scalar(k), toPixels))[1]
	for i, pair := range pairs {
		want := ad.Scale(-0.5, b.Director[i])
		if pair[0] == pair[1] {
			want = ad.Add(want, ad.Scale(0.5, b.Aligned))
		}
		v := evaluated(t, a.Director[i], want)
		for j := range v[0] {
			if math.Abs(v[0][j]-v[1][j]) > 1e-9*math.Abs(evaluated(t, b.Aligned)[0][0]) {
				t.Fatalf("component %d: %g, want %g", i, v[0][j], v[1][j])
			}
		}
	}
}

// Cylinders, ellipsoids, plates and stacks scatter as fine voxels do whose surfaces are as soft.
func TestUniformBodiesAreSumsOverVoxels(t *testing.T) {
	const theta, phi = 0.9, 0.4
	axis := [3]float64{math.Sin(theta) * math.Cos(phi), math.Sin(theta) * math.Sin(phi), math.Cos(theta)}
	a := Direction(ad.Scalar(theta), ad.Scalar(phi))
	soft := Edge{Width: ad.Scalar(0.45), Gaussian: true}
	p := func(x float64) *ad.Node { return ad.Scalar(x) }
	split := func(x, y, z float64) (along, across float64) {
		along = x*axis[0] + y*axis[1] + z*axis[2]
		return along, math.Sqrt(math.Max(x*x+y*y+z*z-along*along, 0))
	}
	phiOf := func(d float64) float64 { return 0.5 * math.Erfc(d/0.45/math.Sqrt2) }
	slab := func(u, thickness float64) float64 { return phiOf(math.Abs(u) - thickness/2) }
	for name, x := range map[string]struct {
		body      Particle
		tolerance float64
		at        func(x, y, z float64) voxel
	}{
		"plate": {Plate{Normal: a, Thickness: p(5), Width: p(3), Aligned: p(0.7), Edge: soft}, 1e-5, func(x, y, z float64) voxel {
			u, r := split(x, y, z)
			return voxel{slab(u, 5) * math.Exp(-r*r/18), 0.7, axis}
		}},
		"stack": {Stack{Normal: a, Period: p(6), Thickness: p(3), Grain: p(3), Aligned: p(0.7), Interface: p(1), Edge: soft}, 1e-4, func(x, y, z float64) voxel {
			u, r := split(x, y, z)
			d := math.Abs(u-6*math.Round(u/6)) - 1.5
			return voxel{phiOf(d) * math.Exp(-(r*r+u*u)/18), 0.7 * math.Exp(-d*d/2), axis}
		}},
		// Curved surfaces that are soft by convolution enclose less than these, by 3 (width/radius)^2 of the volume of a ball.
		"cylinder": {Cylinder{Axis: a, Radius: p(5), Hole: p(2), Length: p(14), Aligned: p(0.7), Edge: soft}, 2e-2, func(x, y, z float64) voxel {
			u, r := split(x, y, z)
			return voxel{slab(u, 14) * (phiOf(r-5) - phiOf(r-2)), 0.7, axis}
		}},
		"radial cylinder": {Cylinder{Axis: a, Radius: p(5), Length: p(14), Aligned: p(0.7), Radial: true, Edge: soft, Reach: reach}, 2e-2, func(x, y, z float64) voxel {
			u, r := split(x, y, z)
			return voxel{slab(u, 14) * phiOf(r-5), 0.7, [3]float64{x - u*axis[0], y - u*axis[1], z - u*axis[2]}}
		}},
		"ball": {Ellipsoid{Axis: a, HalfAxis: p(5), Equator: p(5), Aligned: p(0.7), Edge: soft}, 6e-2, func(x, y, z float64) voxel {
			return voxel{phiOf(math.Sqrt(x*x+y*y+z*z) - 5), 0.7, axis}
		}},
	} {
		want := summed(t, [3]int{34, 34, 34}, 0.8, 1, func(a, b, c float64) []voxel { return []voxel{x.at(a, b, c)} })
		agree(t, name, evaluated(t, Ensemble{Of: x.body}.Intensities(ad.Scalar(k), toPixels, contrasts[1:], angles...)...), want, x.tolerance)
	}
}

// Sharp bodies have the transforms of textbooks, which ball and ellipsoid share where they are equal.
func TestSharpBodies(t *testing.T) {
	q := Vec{ad.Const([]float64{0, 0.1, 0.3}), ad.Const([]float64{0, 0.2, -0.2}), ad.Const([]float64{0, -0.1, 0.1})}
	a := Direction(ad.Scalar(0.9), ad.Scalar(0.4))
	ball := CoreShell{Radius: ad.Scalar(5), Reach: Reach{Q: 0.65, Size: 6}}.Fields(q)[0].Fraction
	same := Ellipsoid{Axis: a, HalfAxis: ad.Scalar(5), Equator: ad.Scalar(5)}.Fields(q)[0].Fraction
	long := Ellipsoid{Axis: a, HalfAxis: ad.Scalar(8), Equator: ad.Scalar(3)}.Fields(q)[0].Fraction
	rod := Cylinder{Axis: a, Radius: ad.Scalar(3), Hole: ad.Scalar(1), Length: ad.Scalar(10)}.Fields(q)[0].Fraction
	v := evaluated(t, ball, same, long, rod)
	for i, length := range []float64{0, math.Sqrt(0.06), math.Sqrt(0.14)} {
		x := 5 * length
		want := 4 * math.Pi / 3 * 125
		if x > 0 {
			want *= 3 * (math.Sin(x) - x*math.Cos(x)) / (x * x * x)
		}
		if math.Abs(v[0][i]-want) > 1e-8*524 || math.Abs(v[1][i]-want) > 1e-10*524 {
			t.Errorf("ball at q = %g: %.12g by the table, %.12g by the ellipsoid, want %.12g", length, v[0][i], v[1][i], want)
		}
	}
	for name, x := range map[string][2]float64{"ellipsoid": {v[2][0], 4 * math.Pi / 3 * 8 * 9}, "hollow cylinder": {v[3][0], math.Pi * 8 * 10}} {
		if math.Abs(x[0]/x[1]-1) > 1e-10 {
			t.Errorf("%s: the volume is %.12g nm^3, want %.12g", name, x[0], x[1])
		}
	}
}

// Rules of all sizes integrate polynomials: transforms of balls take as many nodes as their size and q ask for.
func TestRulesIntegratePolynomials(t *testing.T) {
	for n := 1; n <= 120; n++ {
		x, w := legendre(n)
		for power := range min(2*n, 40) {
			sum := 0.0
			for i := range x {
				sum += w[i] * math.Pow(x[i], float64(power))
			}
			if want := 1 / float64(power+1); math.Abs(sum/want-1) > 1e-11 {
				t.Errorf("%d nodes: the integral of x^%d is %.12g, want %.12g", n, power, sum, want)
			}
		}
	}
}

// The reduced Bessel functions join their series and their recurrence, and have all derivatives.
func TestReducedBesselFunctions(t *testing.T) {
	for n := 1; n < 5; n++ {
		at := []float64{0, 0.3, float64(n + 1), float64(n+1) * (1 + 1e-12), 7, 30}
		v := evaluated(t, sphericalJ(n, ad.Const(at)), cylindricalJ(n, ad.Const(at)))
		for kind := range 2 {
			if a, b := v[kind][2], v[kind][3]; math.Abs(a/b-1) > 1e-9 {
				t.Errorf("order %d, kind %d: the series has %.15g where the recurrence has %.15g", n, kind, a, b)
			}
		}
		x := ad.Input("x", 4)
		for name, y := range map[string]*ad.Node{"spherical": sphericalJ(n, x), "cylindrical": cylindricalJ(n, x)} {
			gradtest.Check(t, name, ad.Sum(ad.Mul(y, ad.Const([]float64{1, -2, 0.5, 3}))), []*ad.Node{x}, [][]float64{{0.01, 0.8, 3.1, 9}}, true)
		}
	}
}

// checked compares first and second derivatives of the intensities with respect to all parameters with differences.
func checked(t *testing.T, name string, at []float64, build func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node) {
	t.Helper()
	in := make([]*ad.Node, len(at)+2)
	for i := range in {
		in[i] = ad.Input("x")
	}
	n := len(at)
	d := farfield.Detector{Rows: 2, Columns: 3, PixelY: 2.1, PixelX: 2}.Directions(farfield.Pose{Distance: in[n+1], PoniY: ad.Scalar(2.3), PoniX: ad.Scalar(2.2)})
	r := rand.New(rand.NewPCG(1, 2))
	total := ad.Scalar(0)
	for _, image := range build(in[:n], in[n], d) {
		w := make([]float64, image.Size())
		for i := range w {
			w[i] = r.NormFloat64()
		}
		total = ad.Add(total, ad.Sum(ad.Mul(ad.Const(w), image)))
	}
	var values [][]float64
	for _, x := range append(slices.Clone(at), k, 14) {
		values = append(values, []float64{x})
	}
	scale := math.Abs(evaluated(t, valued(t, total, in, values))[0][0])
	gradtest.Check(t, name, ad.Scale(1/scale, total), in, values, true)
}

func valued(t *testing.T, y *ad.Node, in []*ad.Node, values [][]float64) *ad.Node {
	t.Helper()
	p, err := ad.Compile([]*ad.Node{y}, ad.Settings{Inputs: in})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for i, v := range values {
		copy(s.Input(i), v)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return ad.Scalar(s.Output(0)[0])
}

func TestGradients(t *testing.T) {
	small := Reach{Q: 0.7, Size: 16}
	checked(t, "core-shell", []float64{4, 3, 0.8, 1.2, 0.6}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return CoreShell{Radius: x[0], Shell: x[1], Aligned: x[2], Decay: x[3], Edge: Edge{Width: x[4]}, Reach: small}.Intensities(k, d, contrasts, 0.3)
	})
	checked(t, "hollow cylinder", []float64{0.9, 0.4, 5, 2, 9, 0.7, 0.5}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return Ensemble{Of: Cylinder{Axis: Direction(x[0], x[1]), Radius: x[2], Hole: x[3], Length: x[4], Aligned: x[5], Edge: Edge{Width: x[6]}}}.Intensities(k, d, contrasts[1:], 0.3)
	})
	checked(t, "radial cylinder", []float64{0.9, 0.4, 5, 9, 0.7}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return Ensemble{Of: Cylinder{Axis: Direction(x[0], x[1]), Radius: x[2], Length: x[3], Aligned: x[4], Radial: true, Reach: small}}.Intensities(k, d, contrasts[1:], 0.3)
	})
	checked(t, "ellipsoid", []float64{0.9, 0.4, 5, 3, 0.7, 0.5}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return Ensemble{Of: Ellipsoid{Axis: Direction(x[0], x[1]), HalfAxis: x[2], Equator: x[3], Aligned: x[4], Edge: Edge{Width: x[5], Gaussian: true}}}.Intensities(k, d, contrasts[1:], 0.3)
	})
	checked(t, "plate", []float64{0.9, 0.4, 5, 3, 0.7, 0.5}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return Ensemble{Of: Plate{Normal: Direction(x[0], x[1]), Thickness: x[2], Width: x[3], Aligned: x[4], Edge: Edge{Width: x[5]}}}.Intensities(k, d, contrasts[1:], 0.3)
	})
	for name, disorder := range map[string]float64{"stack": 0, "paracrystal": 1} {
		checked(t, name, []float64{0.9, 0.4, 6, 3, 3, 0.7, 1.5, 0.5, 0.8}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
			s := Stack{Normal: Direction(x[0], x[1]), Period: x[2], Thickness: x[3], Grain: x[4], Aligned: x[5], Interface: x[6], Edge: Edge{Width: x[7]}, Harmonics: 4, Layers: 2, Reach: small}
			if disorder > 0 {
				s.Disorder = x[8]
			}
			return Ensemble{Of: s}.Intensities(k, d, contrasts[1:], 0.3)
		})
	}
}

// A pixel outside the table is an error with its q.
func TestBeyondTheTable(t *testing.T) {
	c := CoreShell{Radius: ad.Scalar(5), Reach: Reach{Q: 0.3, Size: 6}}
	_, err := ad.Eval(c.Intensities(ad.Scalar(k), toPixels, contrasts, 0)...)
	if e := (*ReachError)(nil); !errors.As(err, &e) || e.Limit != 0.3 {
		t.Errorf("got %v, want a ReachError with the limit 0.3", err)
	}
	c.Reach.Size = 1e9
	if _, err := ad.Eval(c.Intensities(ad.Scalar(k), toPixels, contrasts, 0)...); err == nil || !strings.Contains(err.Error(), "a radius of up to 2e+09 nm") {
		t.Errorf("got %v, want an error with the radius", err)
	}
}
