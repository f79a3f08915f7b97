// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
)

// evaluated returns the values of a formula.
func evaluated(t *testing.T, text string, values map[string]any) []float64 {
	t.Helper()
	f, err := formula.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]*ad.Node{}
	for name, v := range values {
		nodes[name] = ad.Of(v)
	}
	y, err := f.Node(nodes)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	v, err := ad.Eval(y)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v[0].Data().([]float64)
}

func TestComponents(t *testing.T) {
	f, err := formula.Parse("gaussian(t, p1_) + voigt( t , p2_ )*2 + linear(t, bg_) + exponential(2*t, e_)")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"t", "p1_amplitude", "p1_center", "p1_sigma", "p2_amplitude", "p2_center", "p2_sigma", "p2_gamma", "bg_intercept", "bg_slope", "e_amplitude", "e_decay"}
	if parts := f.Parts(); !slices.Equal(f.Names(), want) || len(parts) != 4 || parts[1].Prefix != "p2_" || parts[0].Variable != "t" || parts[3].Variable != "" || parts[0].DerivedFormulas()["p1_fwhm"] != "2*sqrt(2*log(2))*p1_sigma" {
		t.Errorf("%v %+v", f.Names(), parts)
	}
	for text, names := range map[string]string{"gaussian(p_)": "x p_amplitude p_center p_sigma", "gaussian()": "x amplitude center sigma", "gaussian(e)": "e amplitude center sigma", "gaussian(x, a, c, s)": "x a c s",
		"gaussian(x, a, c_, s_)": "x a c_ s_", "spline3(x, 0, 10, b_)": "x b_k1 b_k2 b_k3"} {
		f, err := formula.Parse(text)
		if err != nil || strings.Join(f.Names(), " ") != names {
			t.Errorf("%s: %v %v", text, f, err)
		}
	}
	for text, want := range map[string]string{"gaussian(x, a)": "was given 2 arguments: write gaussian(x, p_)", "gaussian(x, p_) + lorentzian(x, p_)": "same prefix", "gaussian(x, p_": "not closed", "gaussian(x,": "ends early", "spline3(x, b_)": "was given 2"} {
		if _, err := formula.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Values of lmfit 1.3.4 (lineshapes) at three places; those of voigt by the function of Faddeeva of SciPy.
func TestPeaks(t *testing.T) {
	x := []float64{-1, 0.7, 3}
	for text, want := range map[string][]float64{
		"gaussian(x, 2, 0.5, 0.8)":                  {0.17196568956672981, 0.96667029200712307, 0.0075556450879968977},
		"lorentzian(x, 2, 0.5, 0.8)":                {0.17622692660694295, 0.74896443807950752, 0.073918115804653864},
		"voigt(x, 2, 0.5, 0.8, 0.3)":                {0.2256170770749964, 0.73976115061286596, 0.050783955837942062},
		"pseudo_voigt(x, 2, 0.5, 0.8, 0.3)":         {0.12474132482332231, 1.0118465240055128, 0.023119777797981213},
		"doniach(x, 2, 0.5, 0.8, 0.3)":              {1.3236998914497988, 1.8322924463449399, 0.21892200179993887},
		"skewed_gaussian(x, 2, 0.5, 0.8, 0.3)":      {0.098669682942131229, 1.0244629539180765, 0.012478137105393429},
		"exponential_gaussian(x, 2, 0.5, 0.8, 0.3)": {0.016672388082709818, 0.29310459524087606, 0.29113022316182902},
		"moffat(x, 2, 0.5, 0.8, 1.5)":               {0.20842662324445349, 1.8261505885088603, 0.056620164106363308},
		"fano(x, 2, 0.5, 0.8, 1.5)":                 {0.67219917012448116, 6.4000000000000012, 2.9984399375975044},
		"damped_oscillator(x, 2, 0.5, 0.8)":         {0.45596075258755314, 0.82066520537326615, 0.055107502490650793},
		"step(x, 2, 0.5, 0.8)":                      {0.0080099423298800598, 1.2763263901682369, 1.9999901032653749},
		"logistic_step(x, 2, 0.5, 0.8)":             {0.26592848039565875, 1.1243530017715961, 1.9158245441687622},
		"atan_step(x, 2, 0.5, 0.8)":                 {0.31191652150947724, 1.1559582607547387, 1.8028369819438119},
		"exponential(x, 2, 0.5)":                    {14.778112197861301, 0.49319392788321298, 0.004957504353332717},
		"power_law(x + 2, 2, 0.5)":                  {2, 3.2863353450309969, 4.4721359549995796},
		"quadratic(x, 3, 2, 0.5)":                   {1.5, 4.6450000000000005, 13.5},
		"polynomial3(x, 3, 2, 0.5, 1)":              {0.5, 4.9880000000000004, 40.5},
		"debye(x, 2, 3)":                            {-0.59999999999999998, 0.77634011090573007, 0.21951219512195122},
		"damped_wave(x, 2, 3, 0.4, 0.1)":            {-2.0830762262019862, -0.45060144588397999, 0.15636787390752085},
	} {
		got := evaluated(t, text, map[string]any{"x": x})
		for i, w := range want {
			if math.Abs(got[i]-w) > 1e-13*math.Abs(w)+1e-300 {
				t.Errorf("%s at %g is %.17g, want %.17g", text, x[i], got[i], w)
			}
		}
	}
}

// A voigt whose gaussian is narrow is the lorentzian L and sigma^2/2 L” with the derivative sigma L”, to all digits, however narrow it is. It goes over
// into the function of Faddeeva without a step, also far from the centre of one without gamma.
func TestNarrowVoigt(t *testing.T) {
	const x, gamma = 0.7, 1.0
	f, err := formula.Parse("voigt(x, 2, 0, s, g)")
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, s, g float64) (value, slope float64) {
		t.Helper()
		width := ad.Const([]float64{s})
		y, err := f.Node(map[string]*ad.Node{"x": ad.Const([]float64{x}), "s": width, "g": ad.Scalar(g)})
		if err != nil {
			t.Fatal(err)
		}
		v, err := ad.Eval(append(ad.Grad(ad.Sum(y), width), y)...)
		if err != nil {
			t.Fatal(err)
		}
		return v[1].Data().([]float64)[0], v[0].Data().([]float64)[0]
	}
	d := x*x + gamma*gamma
	line, bend := 2/math.Pi*gamma/d, 2/math.Pi*gamma*(6*x*x-2*gamma*gamma)/(d*d*d)
	for _, s := range []float64{1e-4, 1e-9, 1e-100, 1e-200} {
		value, slope := at(x, s, gamma)
		if math.Abs(value-line-s*s/2*bend) > 1e-14*line || math.Abs(slope-s*bend) > 1e-6*s*math.Abs(bend) {
			t.Errorf("sigma %g: %.17g with the derivative %g, want %.17g and %g", s, value, slope, line, s*bend)
		}
	}
	edge := math.Sqrt(d) / 100
	far, _ := at(x, edge*(1-1e-12), gamma)
	near, _ := at(x, edge*(1+1e-12), gamma)
	if math.Abs(far-near) > 1e-13*far {
		t.Errorf("at the edge voigt is %.17g on one side and %.17g on the other", far, near)
	}
	for _, place := range []float64{0, 5, 1e10} { // a gaussian, also where it is 0
		if v, slope := at(place, 1, 0); math.Abs(v-2/math.Sqrt(2*math.Pi)*math.Exp(-place*place/2)) > 1e-15 || math.IsNaN(slope) {
			t.Errorf("without gamma at %g: %g, %g", place, v, slope)
		}
	}
}

// Backgrounds are integrals, convolutions keep areas and widen peaks as they should, and splines pass through their knots.
func TestFunctionsOfRows(t *testing.T) {
	var x, g, reversed []float64
	for i := range 401 {
		x = append(x, -10+float64(i)/20)
		g = append(g, math.Exp(-0.5*x[i]*x[i]/0.16)/math.Sqrt(2*math.Pi)/0.4)
	}
	for i := range x {
		reversed = append(reversed, x[len(x)-1-i])
	}
	for _, at := range [][]float64{x, reversed} {
		values := map[string]any{"x": at}
		s := evaluated(t, "shirley(x, gaussian(x, 3, 0, 0.4), 0.5)", values)
		w := evaluated(t, "1.5*step(x, 1, 0, 0.4*sqrt(2))", values)
		c := evaluated(t, "convolve_gaussian(x, gaussian(x, 3, 0, 0.4), 0.3)", values)
		wide := evaluated(t, "gaussian(x, 3, 0, 0.5)", values)
		for i := range at {
			if math.Abs(s[i]-w[i]) > 2e-3 || math.Abs(c[i]-wide[i]) > 1e-6 {
				t.Fatalf("at %g: shirley %g, want %g; convolved %g, want %g", at[i], s[i], w[i], c[i], wide[i])
			}
		}
	}
	measured := evaluated(t, "convolve(x, gaussian(x, 3, 0, 0.3), r)", map[string]any{"x": x, "r": g})
	wide := evaluated(t, "gaussian(x, 3, 0, 0.5)", map[string]any{"x": x})
	loss := evaluated(t, "tougaard(x, gaussian(x, 1, 0, 0.1), 2866, 1643)", map[string]any{"x": x})
	for i := range x {
		if math.Abs(measured[i]-wide[i]) > 1e-6 {
			t.Fatalf("at %g: convolved %g, want %g", x[i], measured[i], wide[i])
		}
		if want := 2866 * x[i] / math.Pow(1643+x[i]*x[i], 2); x[i] > 1 && math.Abs(loss[i]-want) > 1e-2*want {
			t.Fatalf("at %g: a loss of %g, want %g", x[i], loss[i], want)
		}
	}
	knots := evaluated(t, "spline4(x, 0, 3, 1, 3, 2, 5)", map[string]any{"x": []float64{0, 1, 2, 3, -1, 4, 0.5}})
	for i, w := range []float64{1, 3, 2, 5} {
		if math.Abs(knots[i]-w) > 1e-12 {
			t.Errorf("%v", knots)
		}
	}
	// SciPy 1.17.1: CubicSpline([0, 1, 2, 3], [1, 3, 2, 5], bc_type="natural")(0.5); straight lines outside with its slopes at the ends.
	for i, w := range map[int]float64{6: 2.4} {
		if math.Abs(knots[i]-w) > 1e-12 {
			t.Errorf("%g, want %g", knots[i], w)
		}
	}
	folded := evaluated(t, "where(x - 2, mod(x, 2), -1)", map[string]any{"x": []float64{1, 2.5, 5}})
	if !slices.Equal(folded, []float64{-1, 0.5, 1}) {
		t.Errorf("%v", folded)
	}
	f, _ := formula.Parse("shirley(x, x, 1)")
	if _, err := f.Node(map[string]*ad.Node{"x": ad.Input("x", 3)}); err == nil || !strings.Contains(err.Error(), "without parameters") {
		t.Error(err)
	}
}
