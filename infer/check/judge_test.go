// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// Planted misfits are flagged, and the first flag names what was planted.
func TestPlantedMisfits(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(d *Data, r *rand.Rand)
		kind string
		text string
	}{
		{"bend", func(d *Data, _ *rand.Rand) { addTo(d, d.Directions[0].Columns[0], 30) }, "bend", "bend by"},
		{"wave", func(d *Data, _ *rand.Rand) { addTo(d, sine(d, 12), 2) }, KindPattern, "x ="},
		{"fast wave", func(d *Data, _ *rand.Rand) { addTo(d, sine(d, 80), 1.5) }, KindNeighbours, "correlated"},
		{"outlier", func(d *Data, _ *rand.Rand) { d.Z[40] += 9 }, KindOutliers, "x = 0.4"},
		{"outliers", func(d *Data, _ *rand.Rand) {
			for i := 5; i < 100; i += 20 {
				d.Z[i] += 12
			}
		}, KindOutliers, "5 points lie"},
		{"heavy tails", func(d *Data, r *rand.Rand) {
			for i := range d.Z {
				d.Z[i] /= math.Sqrt((sq(r.NormFloat64()) + sq(r.NormFloat64())) / 2)
			}
		}, "", ""},
		{"errors too small", func(d *Data, _ *rand.Rand) { scale(d, 2) }, KindSize, "too small"},
		{"errors too large", func(d *Data, _ *rand.Rand) { scale(d, 0.5) }, KindSize, "too large"},
		{"spread", func(d *Data, _ *rand.Rand) {
			for i := range d.Z {
				d.Z[i] *= 0.2 + 2*float64(i)/float64(len(d.Z))
			}
		}, KindSpread, "scatter varies"},
		{"bound", func(d *Data, _ *rand.Rand) { d.Bounds = []Bound{{"a", 1, 1, 7}} }, KindBound, "a = 1"},
		{"prior", func(d *Data, _ *rand.Rand) {
			d.Priors = []Prior{{Name: "a", Distribution: "normal(0, 1)", Value: 9, P: 1e-12, Shift: 3}}
		}, KindPrior, "units"},
		{"zero errors", func(d *Data, _ *rand.Rand) { d.Altered = []Alteration{{Kind: "zero errors", Text: "3 errors"}} }, "zero errors", ""},
		{"undetermined", func(d *Data, _ *rand.Rand) { d.Unknown = []string{"a - b"} }, KindUnknown, "a - b"},
	} {
		for _, relative := range []bool{false, true} {
			if relative && c.kind == KindSize {
				continue
			}
			r := rand.New(rand.NewPCG(3, 4))
			d := noise(r, 100, relative)
			c.make(&d, r)
			v, err := Judge(d, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if v.OK || c.kind != "" && v.Flags[0].Kind != c.kind || !strings.Contains(v.String(), c.text) {
				t.Errorf("%s (relative %v): %v", c.name, relative, v)
			}
		}
	}
}

// A departure that has a name explains what follows from it: nothing else is flagged.
func TestCausesAndNotConsequences(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := noise(r, 400, false)
	addTo(&d, d.Directions[0].Columns[0], 60)
	v, err := Judge(d, Settings{})
	if err != nil || len(v.Flags) != 1 || v.Flags[0].Kind != "bend" || !strings.Contains(v.Flags[0].Text, "would move") {
		t.Fatalf("%v %v", err, v)
	}
}

// Coefficients, their errors and the parameters' moves are those of the larger fit.
func TestDirectionIsALargerFit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	d := noise(r, 60, false)
	bend := d.Directions[0].Columns[0]
	addTo(&d, bend, 3)
	w := new(Workspace).residuals(&d)
	g := w.try([][]float64{bend})
	w.solve(&g)
	columns := [][]float64{d.Jacobian[:60], d.Jacobian[60:120], d.Jacobian[120:], bend}
	x, sd := leastSquares(columns, d.Z)
	small, smallSD := leastSquares(columns[:3], d.Z)
	if math.Abs(g.coef[0]-x[3]) > 1e-9 || math.Abs(g.sd[0]-sd[3]) > 1e-9 {
		t.Errorf("coefficient %g +- %g, want %g +- %g", g.coef[0], g.sd[0], x[3], sd[3])
	}
	for k := range small {
		if want := (x[k] - small[k]) / smallSD[k]; math.Abs(g.shift[k]-want) > 1e-8 {
			t.Errorf("parameter %d moves by %g, want %g", k, g.shift[k], want)
		}
	}
}

// On a detector, neighbours are judged in the plane.
func TestNeighboursOnADetector(t *testing.T) {
	const n = 24
	r := rand.New(rand.NewPCG(9, 10))
	white := make([]float64, n*n)
	for i := range white {
		white[i] = r.NormFloat64()
	}
	blurred := slices.Clone(white)
	for i := n; i < len(blurred); i++ {
		blurred[i] = 0.9*white[i] + 0.43*white[i-n]
	}
	for name, z := range map[string][]float64{"white": white, "blurred": blurred} {
		g := &Grid{Shape: []int{1, n, n}, Names: []string{"energy", "y", "x"}}
		d := Data{Grid: g}
		for i := range z {
			if i%7 != 3 { // a mask
				g.Index, d.Z = append(g.Index, i), append(d.Z, z[i])
			}
		}
		v, err := Judge(d, Settings{})
		if err != nil || v.OK != (name == "white") {
			t.Errorf("%s: %v %v", name, err, v)
		}
	}
}

func TestDataThatDoNotBelongTogether(t *testing.T) {
	for want, d := range map[string]Data{
		"residual 1 is NaN":                      {Z: []float64{0, math.NaN()}},
		"Jacobian has 0 numbers for 2 residuals": {Z: []float64{0, 1}, Names: []string{"a"}},
		"axis x has 1 value for 2":               {Z: []float64{0, 1}, Axes: []Axis{{Name: "x", Values: []float64{1}}}},
	} {
		if _, err := Judge(d, Settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	v, err := Judge(Data{Z: []float64{0.1}, Jacobian: []float64{1}, Names: []string{"a"}}, Settings{})
	if err != nil || v.OK || !strings.Contains(v.String(), "nothing is left") {
		t.Errorf("%v %v", err, v)
	}
}

func addTo(d *Data, column []float64, times float64) {
	for i, c := range column {
		d.Z[i] += times * c
	}
}

func scale(d *Data, by float64) {
	for i := range d.Z {
		d.Z[i] *= by
	}
}

func sine(d *Data, frequency float64) []float64 {
	out := make([]float64, len(d.Z))
	for i, x := range d.Axes[0].Values {
		out[i] = math.Sin(frequency * x)
	}
	return out
}

func sq(x float64) float64 { return x * x }

// leastSquares solves by normal equations and Gauss-Jordan.
func leastSquares(columns [][]float64, y []float64) (x, sd []float64) {
	n := len(columns)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, 2*n)
		for j := range n {
			a[i][j] = dot(columns[i], columns[j])
		}
		a[i][n+i] = 1
	}
	for i := range n {
		p := a[i][i]
		for j := range a[i] {
			a[i][j] /= p
		}
		for k := range n {
			if f := a[k][i]; k != i {
				linalg.AddScaled(a[k], -f, a[i])
			}
		}
	}
	x, sd = make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range n {
			x[i] += a[i][n+j] * dot(columns[j], y)
		}
		sd[i] = math.Sqrt(a[i][n+i])
	}
	return x, sd
}

// A bend of 4.7 standard deviations in 60 points is seen eight times in ten.
func TestFaintBends(t *testing.T) {
	const n, runs = 60, 200
	r := rand.New(rand.NewPCG(11, 12))
	line, x, bend := make([]float64, 2*n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = float64(i) / n
		line[i], line[n+i], bend[i] = 1, x[i], x[i]*x[i]
	}
	names := []string{"a", "b"}
	w := new(Workspace).residuals(&Data{Z: x, Jacobian: line[:n], Names: names[:1]})
	g := w.try([][]float64{line[n:], bend})
	w.solve(&g)
	sd := g.sd[1]
	seen := 0
	for range runs {
		z := make([]float64, n)
		for i := range z {
			z[i] = r.NormFloat64() + 4.7*sd*bend[i]
		}
		v, err := Judge(Data{Z: z, Jacobian: line, Names: names, Axes: []Axis{{Name: "x", Values: x}}}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !v.OK && v.Flags[0].Kind == KindPattern {
			seen++
		}
	}
	t.Logf("%d of %d seen", seen, runs)
	if seen < 150 {
		t.Errorf("%d of %d bends seen", seen, runs)
	}
}

// Many outliers are told of in one flag, and hide nothing else.
func TestManyOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	d := noise(r, 400, false)
	for i := 3; i < 400; i += 14 {
		d.Z[i] += 20 * float64(1-i%2*2)
	}
	v, err := Judge(d, Settings{})
	if err != nil || len(v.Flags) != 1 || !strings.Contains(v.Flags[0].Text, "29 points lie") {
		t.Errorf("%v %v", err, v)
	}
}

// A prior in wrong units is flagged although it moves nothing, unless nobody chose it.
func TestAbsurdPriors(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for weak, p := range map[bool]float64{false: 1e-9, true: 1e-9} {
		d := noise(r, 60, false)
		d.Priors = []Prior{{Name: "a", Distribution: "normal(5, 1)", Value: 5000, P: p, Weak: weak}}
		if v, err := Judge(d, Settings{}); err != nil || v.OK != weak {
			t.Errorf("weak %v: %v %v", weak, err, v)
		}
	}
}

// Rows that repeat and values that are clipped show without a model; counts, rounded
// and few values do not.
func TestReadings(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	var y, x, counts, rounded []float64
	for i := range 60 {
		x, y = append(x, float64(i)), append(y, r.NormFloat64())
		counts, rounded = append(counts, float64(r.IntN(5))), append(rounded, math.Round(20*y[i])/20)
	}
	high := slices.Clone(y)
	for i, v := range high {
		high[i] = min(v, 1.2)
	}
	for name, c := range map[string]struct {
		y, x []float64
		want string
	}{
		"right": {y, x, ""}, "counts": {counts, x, ""}, "few counts at the end": {[]float64{900, 611, 405, 273, 180, 122, 80, 55, 37, 3, 0, 0, 0}, x[:13], ""}, "rounded": {rounded, x, ""}, "few": {y[:4], x[:4], ""}, "none": {nil, nil, ""}, "constant": {make([]float64, 20), x[:20], ""},
		"twice":   {slices.Concat(y, y), slices.Concat(x, x), "60 of 120 rows repeat others exactly: if they are the same readings, all errors are about 1.41"},
		"clipped": {high, x, "equal the largest value, 1.2,"},
	} {
		text := ""
		for _, f := range Readings(c.y, c.x) {
			text += f.Text
		}
		if !strings.Contains(text, c.want) || c.want == "" && text != "" {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// Numbers that are none, and arguments that do not fit, are errors and not a hang.
func TestWrongArguments(t *testing.T) {
	say := func(c, sd []float64) (string, string) { return "", "" }
	nan := math.NaN()
	for want, change := range map[string]func(d *Data, s *Settings){
		"axis x[3] is NaN":             func(d *Data, _ *Settings) { d.Axes[0].Values[3] = nan },
		"Mean[3] is NaN":               func(d *Data, _ *Settings) { d.Mean[3] = nan },
		"Sigma[3] is -1":               func(d *Data, _ *Settings) { d.Sigma = slices.Repeat([]float64{1}, 40); d.Sigma[3] = -1 },
		"the derivative of residual 2": func(d *Data, _ *Settings) { d.Jacobian[42] = math.Inf(1) },
		"direction bend has no Say":    func(d *Data, _ *Settings) { d.Directions[0].Say = nil },
		"direction two has 1 value": func(d *Data, _ *Settings) {
			d.Directions = []Direction{{Kind: "two", Columns: [][]float64{{1}, make([]float64, 40)}, Say: say}}
		},
		"the grid has shape [0 4]":   func(d *Data, _ *Settings) { d.Grid = &Grid{Shape: []int{0, 4}} },
		"the grid has 2 axes with 0": func(d *Data, _ *Settings) { d.Grid = &Grid{Shape: []int{8, 5}, Index: make([]int, 40)} },
		"place 1 of the grid is 0": func(d *Data, _ *Settings) {
			d.Grid = &Grid{Shape: []int{8, 5}, Names: []string{"y", "x"}, Index: make([]int, 40)}
		},
		"the pull of bound a is NaN": func(d *Data, _ *Settings) { d.Bounds = []Bound{{Name: "a", Pull: nan}} },
		"prior of a":                 func(d *Data, _ *Settings) { d.Priors = []Prior{{Name: "a", P: nan}} },
		"the level is NaN":           func(_ *Data, s *Settings) { s.Level = nan },
		"the level is 2":             func(_ *Data, s *Settings) { s.Level = 2 },
	} {
		d, s := noise(rand.New(rand.NewPCG(19, 20)), 40, false), Settings{}
		change(&d, &s)
		if _, err := Judge(d, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Numbers at the ends of the range are judged, or it is said that they cannot be.
func TestExtremeNumbers(t *testing.T) {
	for _, relative := range []bool{false, true} {
		for _, factor := range []float64{1e-300, 1e-200, 1e-120, 1e120, 1e160, 1e300} {
			d := noise(rand.New(rand.NewPCG(21, 22)), 60, relative)
			scale(&d, factor)
			for i := range d.Jacobian {
				d.Jacobian[i] *= factor
			}
			v, err := Judge(d, Settings{})
			judged := factor > 1e-140 && factor < 1e140
			if err != nil || v.OK != (relative && judged) || !judged && !strings.Contains(v.String(), "other units") || math.IsNaN(v.P) == judged {
				t.Errorf("relative %v, %g: %v %v", relative, factor, err, v)
			}
		}
	}
}

// Errors that are far too large are not data that were computed.
func TestExactData(t *testing.T) {
	d := noise(rand.New(rand.NewPCG(23, 24)), 40, false)
	scale(&d, 1e-8)
	d.Sigma = slices.Repeat([]float64{1e8}, 40)
	v, err := Judge(d, Settings{})
	if err != nil || !strings.Contains(v.String(), "times too large") {
		t.Errorf("%v %v", err, v)
	}
	for _, relative := range []bool{false, true} {
		d = noise(rand.New(rand.NewPCG(23, 24)), 40, relative)
		scale(&d, 1e-16)
		d.Z[7] *= 1e3 // which is no outlier
		if d.Sigma = slices.Repeat([]float64{0.01}, 40); relative {
			d.Sigma = nil
		}
		v, err = Judge(d, Settings{})
		if err != nil || !strings.Contains(v.String(), "lie on the model to within rounding errors") || v.OK != relative || v.Has(KindOutliers, KindShape) {
			t.Errorf("%v %v", err, v)
		}
	}
}

// Data without noise, whose residuals are those of interpolation and single precision, are not called a misfit.
func TestDataWithoutNoise(t *testing.T) {
	d := noise(rand.New(rand.NewPCG(23, 24)), 40, false)
	scale(&d, 1e-5)
	d.Sigma = slices.Repeat([]float64{0.1}, 40)
	v, err := Judge(d, Settings{})
	if err != nil || v.OK || v.Misfit() || !strings.Contains(v.Summary(), "the data have no noise, as those of a simulation have none") || !strings.HasPrefix(v.Summary(), "The model could not be judged") {
		t.Errorf("%v %v", err, v)
	}
}

// Of right models of a few points in one decimal at most one in a hundred is flagged.
func TestFewRoundedPoints(t *testing.T) {
	const sets = 3000
	r := rand.New(rand.NewPCG(5, 6))
	for n := 3; n <= 9; n++ {
		flagged := 0
		for range sets {
			ones, x, y := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				ones[i], x[i] = 1, float64(i+1)
				y[i] = math.Round(10*(x[i]+0.3*r.NormFloat64())) / 10
			}
			columns := [][]float64{ones, x}
			fit, _ := leastSquares(columns, y)
			d := Data{Relative: true, Names: []string{"b", "a"}, Axes: []Axis{{Name: "x", Values: x}}}
			for i := range n {
				d.Z = append(d.Z, y[i]-fit[0]-fit[1]*x[i])
			}
			d.Jacobian = slices.Concat(columns...)
			v, err := Judge(d, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range v.Flags {
				if f.Kind != KindUnjudged {
					flagged++
					break
				}
			}
		}
		if flagged > sets*14/1000 {
			t.Errorf("%d points: %d of %d right models flagged", n, flagged, sets)
		}
	}
}

// Errors that follow the observed values change along all of them: constant errors, also
// after rounding, and constant ones with a few others at an end, do not.
func TestErrorsThatFollow(t *testing.T) {
	order := make([]int, 40)
	for i := range order {
		order[i] = i
	}
	for name, c := range map[string]struct {
		sigma func(i int) float64
		want  bool
	}{
		"constant":            {func(int) float64 { return 0.003 }, false},
		"rounded":             {func(i int) float64 { return 0.003 + 1e-18*float64(i) }, false},
		"two others":          {func(i int) float64 { return []float64{0.003, 0.004}[i/38] }, false},
		"root of the count":   {func(i int) float64 { return math.Sqrt(float64(i + 10)) }, true},
		"percentage, falling": {func(i int) float64 { return 0.1 * float64(40-i) }, true},
		"steps":               {func(i int) float64 { return 1 + float64(i/8) }, true},
	} {
		sigma := make([]float64, len(order))
		for i := range sigma {
			sigma[i] = c.sigma(i)
		}
		if got := follows(sigma, order); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestUnconverged(t *testing.T) {
	z := make([]float64, 40)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range z {
		z[i] = r.NormFloat64()
	}
	for status, want := range map[optim.Status]string{
		optim.MaxEvaluations: "The fit did not converge, so the model cannot be judged (reduced",
		optim.Stuck:          "The fit did not converge, so the model cannot be judged (reduced",
		optim.CostSettled:    "The model agrees with the data (reduced",
	} {
		v, err := Judge(Data{Z: z, Findings: Unconverged(status)}, Settings{})
		if err != nil || !strings.HasPrefix(v.Summary(), want) || v.OK != status.Converged() || v.Disagrees() || v.Misfit() {
			t.Errorf("%v: %v, %s", status, err, v)
		}
	}
}
