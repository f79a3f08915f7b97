// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Quadratures of both distributions have the mean 1, their standard deviation and third moment.
func TestMomentsOfSpreads(t *testing.T) {
	for _, sd := range []float64{0.05, 0.15, 0.3} {
		for _, logNormal := range []bool{false, true} {
			x, w := Spread{SD: ad.Scalar(sd), LogNormal: logNormal, Points: 31}.Nodes()
			v := evaluated(t, x, w)
			var m [4]float64
			for i, x := range v[0] {
				for p := range m {
					m[p] += v[1][i] * math.Pow(x, float64(p))
				}
			}
			third := 1 + 3*sd*sd + 2*sd*sd*sd*sd // E x^3 of Schulz's: (1 + s^2)(1 + 2 s^2)
			if logNormal {
				third = math.Pow(1+sd*sd, 3)
			}
			for p, want := range [4]float64{1, 1, 1 + sd*sd, third} {
				if math.Abs(m[p]-want) > 3e-6 {
					t.Errorf("sd %g, log-normal %t: moment %d is %.8g, want %.8g", sd, logNormal, p, m[p], want)
				}
			}
		}
	}
}

// Intensities of a spread of sizes are the mean of those of single sizes, by a plain sum over a fine grid of sizes.
func TestSpreadOfSizesIsTheMeanOfSingleOnes(t *testing.T) {
	const sd = 0.12
	s := Spread{SD: ad.Scalar(sd), Points: 21}
	c := CoreShell{Radius: ad.Scalar(5), Shell: ad.Scalar(4), Aligned: ad.Scalar(0.8), Edge: Edge{Width: ad.Scalar(0.5)}, Reach: reach, Sizes: s}
	got := evaluated(t, c.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...)
	want := make([][]float64, len(angles))
	total, z := 0.0, 1/(sd*sd)-1
	for x := 0.4; x < 1.8; x += 0.02 {
		w := math.Exp(z*math.Log(x) - (z+1)*(x-1))
		total += w
		one := c
		one.Sizes, one.Radius = Spread{}, ad.Scalar(5*x)
		for p, image := range evaluated(t, Ensemble{Of: one}.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...) {
			if want[p] == nil {
				want[p] = make([]float64, len(image))
			}
			for i := range image {
				want[p][i] += w * image[i]
			}
		}
	}
	for p := range want {
		for i := range want[p] {
			want[p][i] /= total
		}
	}
	agree(t, "spread", got, want, 1e-6)
}

// A spread of the shell, and members along an axis, are means too.
func TestEnsemblesAreMeans(t *testing.T) {
	theta, phi, w := Directions{Theta: ad.Scalar(0.9), Phi: ad.Scalar(0.4), ThetaSD: ad.Scalar(0.2), PhiSD: ad.Scalar(0.1), Points: 3}.Nodes()
	body := func(theta, phi *ad.Node) Particle {
		return Cylinder{Axis: Direction(theta, phi), Radius: ad.Scalar(4), Length: ad.Scalar(12), Aligned: ad.Scalar(0.8), Radial: true, Reach: reach}
	}
	got := evaluated(t, Ensemble{Of: body(theta, phi), Weights: w}.Intensities(ad.Scalar(k), toPixels, contrasts[1:], angles...)...)
	v := evaluated(t, theta, phi, w)
	want := make([][]float64, len(angles))
	for m := range v[2] {
		for p, image := range evaluated(t, Ensemble{Of: body(ad.Scalar(v[0][m]), ad.Scalar(v[1][m]))}.Intensities(ad.Scalar(k), toPixels, contrasts[1:], angles...)...) {
			if want[p] == nil {
				want[p] = make([]float64, len(image))
			}
			for i := range image {
				want[p][i] += v[2][m] * image[i]
			}
		}
	}
	agree(t, "directions", got, want, 1e-12)
	if n := len(v[2]); n != 9 {
		t.Errorf("%d members, want 9", n)
	}
}

// The mean of cos^2 of the angle to the mean axis is that of the normal distribution, and uniform azimuths have no direction.
func TestDirections(t *testing.T) {
	theta, _, w := Directions{Theta: ad.Scalar(0), Phi: ad.Scalar(0), ThetaSD: ad.Scalar(0.3)}.Nodes()
	_, around, v := Directions{Theta: ad.Scalar(1), Around: true}.Nodes()
	x := evaluated(t, ad.Sum(ad.Mul(w, ad.Square(ad.Cos(theta)))), ad.Sum(ad.Mul(v, ad.Square(ad.Cos(around)))))
	if want := (1 + math.Exp(-2*0.09)) / 2; math.Abs(x[0][0]-want) > 1e-9 || math.Abs(x[1][0]-0.5) > 1e-12 {
		t.Errorf("<cos^2> are %.10g and %.10g, want %.10g and 0.5", x[0][0], x[1][0], want)
	}
}

// Structure factors have the compressibility of Percus and Yevick, (1 - f)^4/(1 + 2 f)^2, and of the theory of scaled particles,
// (1 - f)^3/(1 + f), at q = 0, the closed form of Ashcroft and Lekner elsewhere, and go to 1.
func TestStructureFactors(t *testing.T) {
	at := []float64{0, 0.05, 0.2, 0.35, 0.6, 3}
	zero := ad.Const(make([]float64, len(at)))
	q := Vec{ad.Const(at), zero, zero}
	const f, radius = 0.3, 8.0
	v := evaluated(t, HardSpheres{Radius: ad.Scalar(radius), Fraction: ad.Scalar(f)}.At(q), HardDiscs{Radius: ad.Scalar(radius), Fraction: ad.Scalar(f)}.At(q))
	for i, q := range at {
		want := math.Pow(1-f, 4) / math.Pow(1+2*f, 2)
		if x := 2 * q * radius; x > 0 {
			s, c := math.Sincos(x)
			a := math.Pow(1+2*f, 2) / math.Pow(1-f, 4)
			b := -6 * f * math.Pow(1+f/2, 2) / math.Pow(1-f, 4)
			g := f * a / 2
			total := a*(s-x*c)/math.Pow(x, 3) + b*(2*x*s+(2-x*x)*c-2)/math.Pow(x, 4) +
				g*(-math.Pow(x, 4)*c+4*((3*x*x-6)*c+(x*x*x-6*x)*s+6))/math.Pow(x, 6)
			want = 1 / (1 + 24*f*total)
		}
		if math.Abs(v[0][i]/want-1) > 1e-8 {
			t.Errorf("spheres at %g: %.10g, want %.10g", q, v[0][i], want)
		}
	}
	if want := math.Pow(1-f, 3) / (1 + f); math.Abs(v[1][0]/want-1) > 1e-6 {
		t.Errorf("discs at 0: %.8g, want %.8g", v[1][0], want)
	}
	if math.Abs(v[1][5]-1) > 0.05 {
		t.Errorf("discs at q = 3: %g, want nearly 1", v[1][5])
	}
}

// Equal particles have the intensity of one times the structure factor, in both approximations; in the one with neighbours of the same
// size a spread of sizes is a mean of such products.
func TestStructuresOfParticles(t *testing.T) {
	hard := HardSpheres{Radius: ad.Scalar(9), Fraction: ad.Scalar(0.2)}
	one := CoreShell{Radius: ad.Scalar(5), Shell: ad.Scalar(3), Aligned: ad.Scalar(0.8), Edge: Edge{Width: ad.Scalar(0.4)}, Reach: Reach{Q: 0.65, Size: 20}}
	bare := one.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)
	s := hard.At(At(ad.Scalar(k), toPixels))
	var want [][]float64
	for _, image := range bare {
		want = append(want, evaluated(t, ad.Mul(image, s))[0])
	}
	decoupled, local := one, one
	decoupled.Structure = hard
	local.Structure, local.Local = hard, true
	agree(t, "decoupled", evaluated(t, decoupled.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...), want, 1e-9)
	agree(t, "local", evaluated(t, local.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...), want, 1e-5)
	agree(t, "ensemble", evaluated(t, Ensemble{Of: one, Structure: hard}.Intensities(ad.Scalar(k), toPixels, contrasts, angles...)...), want, 1e-9)
	// <F^2> + <F>^2 (S - 1) of two sizes.
	local.Sizes = Spread{SD: ad.Scalar(0.1), Points: 15}
	x, w := local.Sizes.Nodes()
	v := evaluated(t, x, w)
	sum := make([]float64, len(want[0]))
	for i, x := range v[0] {
		single := one
		single.Radius = ad.Scalar(5 * x)
		h := hard
		h.Radius = ad.Scalar(9 * x)
		image := evaluated(t, ad.Mul(single.Intensities(ad.Scalar(k), toPixels, contrasts, 0)[0], h.At(At(ad.Scalar(k), toPixels))))[0]
		for j := range sum {
			sum[j] += v[1][i] * image[j]
		}
	}
	agree(t, "local spread", evaluated(t, local.Intensities(ad.Scalar(k), toPixels, contrasts, 0)...), [][]float64{sum}, 1e-5)
}

// Particles at random places have the structure factor 1, and those of a square lattice scatter at its rings alone.
func TestPlaces(t *testing.T) {
	var lattice [][2]float64
	for i := range 10 {
		for j := range 10 {
			lattice = append(lattice, [2]float64{float64(i) * 20, float64(j) * 20})
		}
	}
	p, err := NewPlaces(lattice, [2]float64{200, 200}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	ring := 2 * math.Pi / 20
	zero := ad.Const([]float64{0, 0})
	v := evaluated(t, p.At(Vec{ad.Const([]float64{ring, 1.25 * ring}), zero, zero}))[0]
	if !(v[0] > 5) || v[1] > 1e-9 {
		t.Errorf("at the first ring and beside it: %g and %g, want much and nothing", v[0], v[1])
	}
	if _, err := NewPlaces(nil, [2]float64{200, 200}, 0.7); err == nil {
		t.Error("no places are no error")
	}
}

// A paracrystal without disorder is the stack, and disorder makes its higher orders fade.
func TestParacrystal(t *testing.T) {
	n := 60
	at, zero := make([]float64, n), ad.Const(make([]float64, n))
	for i := range at {
		at[i] = 0.6 * float64(i) / float64(n)
	}
	q := Vec{zero, zero, ad.Const(at)}
	s := Stack{Normal: Vec{ad.Scalar(0), ad.Scalar(0), ad.Scalar(1)}, Period: ad.Scalar(12), Thickness: ad.Scalar(5), Grain: ad.Scalar(40), Layers: 20, Reach: Reach{Q: 0.65, Size: 12}}
	exact := s.Fields(q)[0].Fraction
	s.Disorder = ad.Scalar(0)
	none := s.Fields(q)[0].Fraction
	s.Disorder = ad.Scalar(1.5)
	some := s.Fields(q)[0].Fraction
	v := evaluated(t, exact, none, some)
	for i := range at {
		if a, b := v[0][i]*v[0][i], v[1][i]*v[1][i]; math.Abs(a-b) > 0.02*v[0][0]*v[0][0] {
			t.Errorf("q %.3g: %.4g without disorder, want %.4g", at[i], b, a)
		}
	}
	first, second := 52, 52 // the order of 2 pi/12 = 0.524 is the first
	if !(v[2][first]*v[2][first] < 0.7*v[1][second]*v[1][second]) {
		t.Errorf("disorder changes the first order from %.4g to %.4g, want a loss", v[1][second], v[2][first])
	}
}

// Spreads and structures have gradients.
func TestGradientsOfEnsembles(t *testing.T) {
	small := Reach{Q: 0.7, Size: 12}
	checked(t, "sizes", []float64{4, 3, 0.8, 0.6, 0.2, 0.1, 8, 0.2}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return CoreShell{Radius: x[0], Shell: x[1], Aligned: x[2], Edge: Edge{Width: x[3]}, Reach: small, Sizes: Spread{SD: x[4], Points: 2}, Shells: Spread{SD: x[5], LogNormal: true, Points: 2},
			Structure: HardSpheres{Radius: x[6], Fraction: x[7]}}.Intensities(k, d, contrasts, 0.3)
	})
	checked(t, "directions", []float64{0.9, 0.4, 0.2, 0.1, 5, 9, 7, 0.2}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		theta, phi, w := Directions{Theta: x[0], Phi: x[1], ThetaSD: x[2], PhiSD: x[3], Points: 3}.Nodes()
		return Ensemble{Of: Cylinder{Axis: Direction(theta, phi), Radius: x[4], Length: x[5], Aligned: ad.Scalar(0.5)}, Weights: w, Structure: HardDiscs{Radius: x[6], Fraction: x[7]}}.Intensities(k, d, contrasts[1:], 0.3)
	})
}

// The closed spectra of random phases are those of their covariances, by quadrature, and have gradients.
func TestSpectraOfRandomPhases(t *testing.T) {
	q2 := ad.Const([]float64{0.01, 0.09, 0.3})
	f := ad.Scalar(0.3)
	v := evaluated(t, DebyeBueche{ad.Scalar(4)}.Spectrum(f, q2), TeubnerStrey{ad.Scalar(15), ad.Scalar(6)}.Spectrum(f, q2))
	for i, x := range []float64{0.01, 0.09, 0.3} {
		q := math.Sqrt(x)
		var want [2]float64
		const step = 0.005
		for r := step / 2; r < 150; r += step {
			w := 4 * math.Pi * r * math.Sin(q*r) / q * 0.21 * step
			want[0] += w * math.Exp(-r/4)
			p := 2 * math.Pi / 15 * r
			want[1] += w * math.Exp(-r/6) * math.Sin(p) / p
		}
		for c := range want {
			if math.Abs(v[c][i]/want[c]-1) > 1e-4 {
				t.Errorf("kind %d at q = %g: %.8g nm^3, want %.8g", c, q, v[c][i], want[c])
			}
		}
	}
	checked(t, "cut field", []float64{12, 0.2, 0.3}, func(x []*ad.Node, k *ad.Node, d farfield.Directions) []*ad.Node {
		return Phases{Fraction: x[2], Volume: 1e3, Correlation: CutField{Period: x[0], Width: x[1], Reach: Reach{Q: 0.7, Size: 40}}}.Intensities(k, d, contrasts[:1], 0.3)
	})
}
