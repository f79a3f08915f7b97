// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// sample is a box of random anisotropic voxels.
type sample struct {
	shape        [3]int
	voxel        float64
	v, s, th, ps []float64
}

func newSample(seed uint64, shape [3]int, voxel float64) *sample {
	r := rand.New(rand.NewPCG(seed, 1))
	x := &sample{shape: shape, voxel: voxel}
	for range shape[0] * shape[1] * shape[2] {
		x.v, x.s = append(x.v, r.Float64()), append(x.s, r.Float64())
		x.th, x.ps = append(x.th, math.Pi*r.Float64()), append(x.ps, 2*math.Pi*r.Float64())
	}
	return x
}

func (x *sample) nodes() rsoxs.MaterialNodes {
	f := func(v []float64) *ad.Node { return ad.Const(v, x.shape[0], x.shape[1], x.shape[2]) }
	return rsoxs.MaterialNodes{Vfrac: f(x.v), S: f(x.s), Theta: f(x.th), Psi: f(x.ps)}
}

// direct is the plain sum over voxels at one q, and the intensity in the direction u, for a field at some angle.
func (x *sample) direct(k float64, u [3]float64, angle float64, c rsoxs.Constants) float64 {
	np, no := complex(1-c.DeltaPara, c.BetaPara), complex(1-c.DeltaPerp, c.BetaPerp)
	ni := (np + 2*no) / 3
	e := [3]float64{math.Cos(angle), math.Sin(angle), 0}
	var a [3]complex128
	for i := range x.v {
		at := [3]int{i / (x.shape[1] * x.shape[2]), i / x.shape[2] % x.shape[1], i % x.shape[2]}
		phase := 0.0
		for axis, q := range [3]float64{k * (u[2] - 1), k * u[1], k * u[0]} {
			phase += q * (float64(at[axis]) - float64(x.shape[axis]-1)/2) * x.voxel
		}
		d := [3]float64{math.Cos(x.ps[i]) * math.Sin(x.th[i]), math.Sin(x.ps[i]) * math.Sin(x.th[i]), math.Cos(x.th[i])}
		dot := d[0]*e[0] + d[1]*e[1]
		wave := cmplx.Exp(complex(0, phase)) / complex(4*math.Pi, 0)
		for j := range a {
			iso := (1-complex(x.s[i], 0))*(ni*ni-1) + complex(x.s[i], 0)*(no*no-1)
			a[j] += wave * complex(x.v[i], 0) * (iso*complex(e[j], 0) + complex(x.s[i]*d[j]*dot, 0)*(np*np-no*no))
		}
	}
	dot := complex(0, 0)
	for j := range a {
		dot += complex(u[j], 0) * a[j]
	}
	total := 0.0
	for j := range a {
		z := a[j] - complex(u[j], 0)*dot
		total += real(z)*real(z) + imag(z)*imag(z)
	}
	return total * k * k * k * k
}

var constants = rsoxs.Constants{DeltaPara: -2e-3, BetaPara: 3e-3, DeltaPerp: 1e-3, BetaPerp: 5e-4}

func pose(distance, y, x, r1, r2, r3 float64) Pose {
	return Pose{Distance: ad.Scalar(distance), PoniY: ad.Scalar(y), PoniX: ad.Scalar(x), Rot1: ad.Scalar(r1), Rot2: ad.Scalar(r2), Rot3: ad.Scalar(r3)}
}

// Intensities on a tilted detector are those of the plain sum over voxels, to the tolerance that was asked for.
func TestIntensitiesEqualTheSumOverVoxels(t *testing.T) {
	x := newSample(3, [3]int{9, 12, 14}, 2.1)
	d := Detector{Rows: 17, Columns: 21, PixelY: 0.5, PixelX: 0.4}
	dir := d.Directions(pose(14, 4.4, 4.1, 0.05, -0.03, 0.4))
	k := 2 * math.Pi / 4.35
	for _, tolerance := range []float64{1e-4, 1e-8, 1e-11} {
		v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.56, MinK: k, Tolerance: tolerance})
		if err != nil {
			t.Fatal(err)
		}
		f, err := v.Fields(x.nodes())
		if err != nil {
			t.Fatal(err)
		}
		c := Tensor(ad.Const([]float64{constants.DeltaPara, constants.BetaPara, constants.DeltaPerp, constants.BetaPerp}))
		angles := []float64{0, math.Pi / 2, 0.7}
		images := v.Intensities(v.Amplitude(ad.Scalar(k), []*Fields{f}, []Contrast{c}, angles...), ad.Scalar(k), dir)
		got, err := ad.Eval(append([]*ad.Node{dir.X, dir.Y, dir.Z}, images...)...)
		if err != nil {
			t.Fatal(err)
		}
		ux, uy, uz := got[0].Float64s(), got[1].Float64s(), got[2].Float64s()
		for p, angle := range angles {
			image := got[3+p].Float64s()
			most, worst := slices.Max(image), 0.0
			for i := range ux {
				want := x.direct(k, [3]float64{ux[i], uy[i], uz[i] + 1}, angle, constants)
				worst = max(worst, math.Abs(image[i]-want)/most)
			}
			if !(worst < 10*tolerance) {
				t.Errorf("tolerance %g, angle %g: intensities are off by %.2g of the largest", tolerance, angle, worst)
			}
		}
	}
}

// Derivatives of both orders with respect to everything that a fit may move agree with differences.
func TestGradient(t *testing.T) {
	x := newSample(5, [3]int{3, 4, 4}, 2)
	k0 := 1.45
	v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.5, MinK: 1.4, Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	d := Detector{Rows: 3, Columns: 3, PixelY: 1.5, PixelX: 1.4}
	in := make([]*ad.Node, 6)
	for i, name := range []string{"k", "distance", "y", "x", "rot1", "s"} {
		in[i] = ad.Input(name)
	}
	dir := d.Directions(Pose{Distance: in[1], PoniY: in[2], PoniX: in[3], Rot1: in[4]})
	m := x.nodes()
	m.S = ad.Mul(m.S, in[5])
	f, err := v.Fields(m)
	if err != nil {
		t.Fatal(err)
	}
	c := Tensor(ad.Const([]float64{constants.DeltaPara, constants.BetaPara, constants.DeltaPerp, constants.BetaPerp}))
	images := v.Intensities(v.Amplitude(in[0], []*Fields{f}, []Contrast{c}, 0.3), in[0], dir)
	all := ad.Concat(0, ad.Scale(1e5, images[0]), dir.SolidAngle)
	weights := make([]float64, all.Size())
	for i := range weights {
		weights[i] = math.Cos(float64(i))
	}
	out := ad.Sum(ad.Mul(all, ad.Const(weights)))
	gradtest.Check(t, "intensities", out, in, [][]float64{{k0}, {14}, {2.2}, {2.0}, {0.04}, {0.8}}, true)
}

// A flat detector whose pixel is where no q of the grid is, and settings that cannot be, are told with their numbers.
func TestWrongInputIsTold(t *testing.T) {
	for want, s := range map[string]VolumeSettings{
		"pi/voxel = 1.571":     {Shape: [3]int{4, 4, 4}, Voxel: 2, MaxQ: 1.7, MinK: 5},
		"flat detector ends":   {Shape: [3]int{4, 4, 4}, Voxel: 1, MaxQ: 1.4, MinK: 1.45},
		"at least one along":   {Shape: [3]int{0, 4, 4}, Voxel: 1, MaxQ: 1, MinK: 1.45},
		"tolerance is 1":       {Shape: [3]int{4, 4, 4}, Voxel: 1, MaxQ: 1, MinK: 1.45, Tolerance: 1},
		"wave number 0":        {Shape: [3]int{4, 4, 4}, Voxel: 1, MaxQ: 1},
		"largest q is NaN and": {Shape: [3]int{4, 4, 4}, Voxel: 1, MaxQ: math.NaN(), MinK: 1},
	} {
		if _, err := NewVolume(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	x := newSample(1, [3]int{2, 3, 3}, 2)
	v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: 2, MaxQ: 0.1, MinK: 1.4})
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.Fields(x.nodes())
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range []float64{300, math.NaN()} {
		images := v.Intensities(v.Amplitude(ad.Scalar(1.4), []*Fields{f}, []Contrast{Tensor(ad.Const([]float64{1e-3, 0, 1e-3, 0}))}, 0), ad.Scalar(1.4),
			Detector{Rows: 2, Columns: 2, PixelY: 1, PixelX: 1}.Directions(pose(14, y, 1, 0, 0, 0)))
		_, err = ad.Eval(images...)
		if out := (*OutsideError)(nil); !errors.As(err, &out) || !strings.Contains(err.Error(), "allow a larger q") {
			t.Errorf("poni at %g mm: %v", y, err)
		}
	}
}

// Fast transforms and products with matrices give the same intensities, to the tolerance, and the same gradients.
func TestBothWaysAgree(t *testing.T) {
	x := newSample(7, [3]int{3, 20, 24}, 2)
	d := Detector{Rows: 9, Columns: 11, PixelY: 0.9, PixelX: 0.8}
	k := ad.Scalar(1.45)
	var images, slopes [2][]float64
	for way, n := range []int{0, 90} {
		s := VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.6, MinK: 1.45, Tolerance: 1e-9}
		v, err := NewVolume(s)
		if err != nil {
			t.Fatal(err)
		}
		if v.planes != nil {
			t.Fatal("a small volume is not computed by matrices")
		}
		if n > 0 {
			v.transformBy(smooth(int(math.Ceil(2 * math.Pi / (v.step * s.Voxel)))))
		}
		in := []*ad.Node{ad.Input("v", x.shape[:]...), ad.Input("distance"), ad.Input("s")}
		m := x.nodes()
		m.Vfrac, m.S = in[0], ad.Mul(m.S, in[2])
		f, err := v.Fields(m)
		if err != nil {
			t.Fatal(err)
		}
		c := Tensor(ad.Const([]float64{constants.DeltaPara, constants.BetaPara, constants.DeltaPerp, constants.BetaPerp}))
		dir := d.Directions(Pose{Distance: in[1], PoniY: ad.Scalar(4), PoniX: ad.Scalar(4.2)})
		image := v.Intensities(v.Amplitude(k, []*Fields{f}, []Contrast{c}, 0.4), k, dir)[0]
		slope := ad.Grad(ad.Sum(ad.Log(image)), in...)
		p, err := ad.Compile([]*ad.Node{image, ad.Concat(0, ad.Reshape(slope[0], slope[0].Size()), ad.Reshape(slope[1], 1), ad.Reshape(slope[2], 1))}, ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		st := p.NewState()
		copy(st.Input(0), x.v)
		st.Input(1)[0], st.Input(2)[0] = 14, 0.8
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		images[way], slopes[way] = slices.Clone(st.Output(0)), slices.Clone(st.Output(1))
	}
	for name, both := range map[string][2][]float64{"intensity": images, "gradient": slopes} {
		most, worst := slices.Max(both[0]), 0.0
		for i, x := range both[0] {
			worst = max(worst, math.Abs(both[1][i]-x)/most)
		}
		if !(worst < 1e-6) {
			t.Errorf("%s: the ways differ by %.2g of the largest", name, worst)
		}
	}
}

// Wide volumes are transformed fast, and their transforms have derivatives of both orders.
func TestPlanes(t *testing.T) {
	v, err := NewVolume(VolumeSettings{Shape: [3]int{4, 256, 256}, Voxel: 2, MaxQ: 0.6, MinK: 1.45, Tolerance: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if v.planes == nil {
		t.Error("a volume of 256 x 256 voxels is computed by matrices")
	}
	p := &planes{rows: 3, columns: 4, n: 6, points: 7, first: -3}
	x := ad.Input("x", 2, 2, 3, 4)
	y := p.forward(x)
	w := make([]float64, y.Size())
	for i := range w {
		w[i] = math.Cos(float64(i))
	}
	at := make([]float64, x.Size())
	for i := range at {
		at[i] = math.Sin(2 * float64(i))
	}
	gradtest.Check(t, "planes", ad.Sum(ad.Mul(ad.Square(y), ad.Const(w, y.Shape()...))), []*ad.Node{x}, [][]float64{at}, true)
}

// Molecules with three optical axes scatter as their tensors do, voxel by voxel, whether their directions vary or not.
func TestMoleculesWithThreeAxes(t *testing.T) {
	x := newSample(7, [3]int{4, 5, 6}, 2)
	const twist, k = 0.9, 1.45
	list := []float64{-2e-3, 3e-3, 1e-3, 5e-4, -5e-4, 1.5e-3}
	v, err := NewVolume(VolumeSettings{Shape: x.shape, Voxel: x.voxel, MaxQ: 0.5, MinK: k, Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	d := Detector{Rows: 5, Columns: 4, PixelY: 1.5, PixelX: 1.4}
	dir := d.Directions(pose(14, 4.4, 3.1, 0.05, -0.03, 0.4))
	for _, uniform := range []bool{false, true} {
		m := x.nodes()
		if uniform {
			for i := range x.th {
				x.th[i], x.ps[i] = 0.7, 0.4
			}
			m.Theta, m.Psi = ad.Scalar(0.7), ad.Scalar(0.4)
		}
		f, err := v.Twisted(m, ad.Scalar(twist))
		if err != nil {
			t.Fatal(err)
		}
		image := v.Intensities(v.Amplitude(ad.Scalar(k), []*Fields{f}, []Contrast{Tensor(ad.Const(list))}, 0.7), ad.Scalar(k), dir)[0]
		got, err := ad.Eval(dir.X, dir.Y, dir.Z, image)
		if err != nil {
			t.Fatal(err)
		}
		ux, uy, uz, values := got[0].Float64s(), got[1].Float64s(), got[2].Float64s(), got[3].Float64s()
		for i := range values {
			want := x.directOfTensors(k, [3]float64{ux[i], uy[i], uz[i] + 1}, 0.7, twist, list)
			if math.Abs(values[i]-want) > 1e-8*slices.Max(values) {
				t.Errorf("uniform %v, pixel %d: %g, want %g", uniform, i, values[i], want)
			}
		}
	}
}

// directOfTensors is the plain sum over voxels of molecules with three axes.
func (x *sample) directOfTensors(k float64, u [3]float64, angle, twist float64, c []float64) float64 {
	index := func(i int) complex128 { return complex(1-c[2*i], c[2*i+1]) }
	mean := (index(0) + index(1) + index(2)) / 3
	e := [3]float64{math.Cos(angle), math.Sin(angle), 0}
	var a [3]complex128
	for i := range x.v {
		at := [3]int{i / (x.shape[1] * x.shape[2]), i / x.shape[2] % x.shape[1], i % x.shape[2]}
		phase := 0.0
		for axis, q := range [3]float64{k * (u[2] - 1), k * u[1], k * u[0]} {
			phase += q * (float64(at[axis]) - float64(x.shape[axis]-1)/2) * x.voxel
		}
		wave := cmplx.Exp(complex(0, phase)) / complex(4*math.Pi, 0) * complex(x.v[i], 0)
		for j := range a { // what is not aligned
			a[j] += wave * complex((1-x.s[i])*e[j], 0) * (mean*mean - 1)
		}
		for axis, n := range []complex128{index(2), index(1), index(0)} { // across the director twice, and along it
			v := [3]float64{}
			v[axis] = 1
			s := turnedZ(turnedY(turnedZ(v, twist), x.th[i]), x.ps[i])
			dot := s[0]*e[0] + s[1]*e[1]
			for j := range a {
				a[j] += wave * complex(x.s[i]*s[j]*dot, 0) * (n*n - 1)
			}
		}
	}
	dot, total := complex(0, 0), 0.0
	for j := range a {
		dot += complex(u[j], 0) * a[j]
	}
	for j := range a {
		z := a[j] - complex(u[j], 0)*dot
		total += real(z)*real(z) + imag(z)*imag(z)
	}
	return total * k * k * k * k
}

func turnedZ(v [3]float64, by float64) [3]float64 {
	c, s := math.Cos(by), math.Sin(by)
	return [3]float64{c*v[0] - s*v[1], s*v[0] + c*v[1], v[2]}
}

func turnedY(v [3]float64, by float64) [3]float64 {
	c, s := math.Cos(by), math.Sin(by)
	return [3]float64{c*v[0] + s*v[2], v[1], c*v[2] - s*v[0]}
}
