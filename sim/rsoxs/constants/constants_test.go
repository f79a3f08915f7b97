// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package constants

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// lorentz returns delta and beta of oscillators with strengths, centres and widths in eV; n - 1 is half of the susceptibility, which has
// the same analytic properties.
func lorentz(e float64) (delta, beta float64) {
	for _, o := range [][3]float64{{4, 285.2, 0.6}, {12, 291, 3}, {60, 320, 20}} {
		n := complex(o[0], 0) / complex(o[1]*o[1]-e*e, -o[2]*e)
		delta, beta = delta-real(n), beta+imag(n)
	}
	return delta, beta
}

func table(low, high, step float64) (energies, delta, beta []float64) {
	for e := low; e < high; {
		d, b := lorentz(e)
		energies, delta, beta = append(energies, e), append(delta, d), append(beta, b)
		if e > 270 && e < 330 {
			e += step
		} else {
			e *= 1.003
		}
	}
	return energies, delta, beta
}

// Delta of oscillators comes out of their beta, at rows and between them; a continuation makes up for what a narrow table lacks.
func TestKramersKronigOfOscillators(t *testing.T) {
	energies, delta, beta := table(10, 3e4, 0.006)
	most := 0.0
	for _, d := range delta {
		most = math.Max(most, math.Abs(d))
	}
	at := append([]float64{284.9, 285.2, 285.53, 288.123, 300.01, 400, 150}, energies[len(energies)/3])
	got, err := KramersKronig(energies, beta, at, Continuation{Above: 3, Below: -1, Low: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range at {
		if want, _ := lorentz(e); math.Abs(got[i]-want) > 1e-4*most {
			t.Errorf("at %g eV: delta %.6g, want %.6g", e, got[i], want)
		}
	}
	narrow, _, beta := table(40, 2000, 0.006)
	got, err = KramersKronig(narrow, beta, at, Continuation{Above: 3, Below: -1, Low: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range at {
		if want, _ := lorentz(e); math.Abs(got[i]-want) > 1e-4*most {
			t.Errorf("narrow table at %g eV: delta %.6g, want %.6g", e, got[i], want)
		}
	}
}

// A table of right constants is consistent, and one with delta of another material is not.
func TestConsistency(t *testing.T) {
	energies, delta, beta := table(260, 340, 0.1)
	good, err := Consistency(energies, delta, beta, Continuation{Above: 3, Below: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range delta {
		delta[i] *= 1.2
	}
	bad, err := Consistency(energies, delta, beta, Continuation{Above: 3, Below: -1})
	if err != nil {
		t.Fatal(err)
	}
	if good.RMS > 0.01 || bad.RMS < 3*good.RMS || math.Abs(bad.At-285) > 2 {
		t.Errorf("right constants: %+v, wrong ones: %+v", good, bad)
	}
}

// Constants along and across the director come out of spectra at angles, for any order.
func TestFromAngles(t *testing.T) {
	para, perp := []float64{3, 1, 2}, []float64{1, 1.5, 2}
	for _, order := range []float64{1, 0.6, -0.3} {
		var spectra [][]float64
		angles := []float64{0.3, 0.8, 1.2, 1.5}
		for _, a := range angles {
			s := make([]float64, len(para))
			for e := range s {
				s[e] = (para[e]+2*perp[e])/3 + (para[e]-perp[e])*order*(math.Cos(a)*math.Cos(a)-1.0/3)
			}
			spectra = append(spectra, s)
		}
		d, err := FromAngles(angles, spectra, order)
		if err != nil {
			t.Fatal(err)
		}
		for e := range para {
			if math.Abs(d.Para[e]-para[e]) > 1e-12 || math.Abs(d.Perp[e]-perp[e]) > 1e-12 || d.RMS > 1e-12 {
				t.Errorf("order %g: %+v, want %v and %v", order, d, para, perp)
			}
		}
	}
}

func TestWrongInputIsTold(t *testing.T) {
	for want, f := range map[string]func() error{
		"do not rise": func() error {
			_, err := KramersKronig([]float64{2, 1}, []float64{1, 1}, nil, Continuation{})
			return err
		},
		"at least two": func() error { _, err := KramersKronig([]float64{2}, []float64{1}, nil, Continuation{}); return err },
		"is -1 eV": func() error {
			_, err := KramersKronig([]float64{1, 2}, []float64{1, 1}, []float64{-1}, Continuation{})
			return err
		},
		"exponent above": func() error {
			_, err := KramersKronig([]float64{1, 2}, []float64{1, 1}, []float64{1}, Continuation{Above: -1})
			return err
		},
		"same cos^2":      func() error { _, err := FromAngles([]float64{1, 1}, [][]float64{{1}, {2}}, 1); return err },
		"order parameter": func() error { _, err := FromAngles([]float64{1, 0}, [][]float64{{1}, {2}}, 0); return err },
		"same energies":   func() error { _, err := FromAngles([]float64{1, 0}, [][]float64{{1}, {2, 3}}, 1); return err },
		"at least 3 to": func() error {
			_, err := Consistency([]float64{1, 2}, []float64{1, 1}, []float64{1, 1}, Continuation{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// With equal constants along two axes the tensor is the uniaxial one of farfield, whatever the first angle.
func TestBiaxialIsUniaxialWhereTwoAxesAreEqual(t *testing.T) {
	const theta, psi = 0.7, 0.4
	re, im := Biaxial(ad.Const([]float64{1e-3, 5e-4, 1e-3, 5e-4, -2e-3, 3e-3}), ad.Scalar(1.1), ad.Scalar(theta), ad.Scalar(psi))
	c := farfield.Tensor(ad.Const([]float64{-2e-3, 3e-3, 1e-3, 5e-4}))
	s := [3]float64{math.Cos(psi) * math.Sin(theta), math.Sin(psi) * math.Sin(theta), math.Cos(theta)}
	for i, pair := range [6][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}} {
		for part, got := range [2]*ad.Node{re[i], im[i]} {
			want := ad.Scale(s[pair[0]]*s[pair[1]], c.Tensor[part])
			if pair[0] == pair[1] {
				want = ad.Add(want, ad.Add(c.Iso[part], c.Axial[part]))
			}
			v, err := ad.Eval(got, want)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := v[0].Float64s()[0], v[1].Float64s()[0]; math.Abs(a-b) > 1e-13 {
				t.Errorf("component %d, part %d: %.17g, want %.17g", i, part, a, b)
			}
		}
	}
	in := []*ad.Node{ad.Input("constants", 6), ad.Input("phi"), ad.Input("theta"), ad.Input("psi")}
	re, im = Biaxial(in[0], in[1], in[2], in[3])
	total := ad.Scalar(0)
	for i := range re {
		total = ad.Add(total, ad.Add(ad.Scale(float64(i+1), re[i]), ad.Scale(float64(2-i), im[i])))
	}
	gradtest.Check(t, "biaxial", total, in, [][]float64{{0.1, 0.2, 0.3, 0.1, -0.2, 0.4}, {0.3}, {0.8}, {1.2}}, true)
}
