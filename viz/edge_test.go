// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

var posteriorPlots = map[string]func(Draws, ...string) (*Figure, error){
	"trace": Trace, "rank": Rank, "density": Density, "forest": Forest, "autocorrelation": Autocorrelation,
	"essevolution": ESSEvolution, "esslocal": ESSLocal, "pair": Pair,
	"energy": func(d Draws, _ ...string) (*Figure, error) { return Energy(d) },
}

// mapped applies f to every draw.
func mapped(d Draws, f func(v float64, c, i int) float64) Draws {
	for _, q := range d.X {
		for c := range q {
			for i := range q[c] {
				q[c][i] = f(q[c][i], c, i)
			}
		}
	}
	return d
}

// hard is draws that a plot must survive.
func hard() map[string]Draws {
	plain := func() Draws { return posterior(3, 60) }
	uneven := plain()
	uneven.X[0][1] = uneven.X[0][1][:7]
	uneven.X[1][2] = nil
	uneven.Energy[0] = nil
	bare := plain()
	bare.Diverging, bare.Units = nil, nil
	odd := plain()
	odd.Names[0], odd.Units[odd.Names[0]] = "a<b & \"c\" ^{\x1b[31m\a\u202e", "µs⁻¹"
	return map[string]Draws{
		"plain":        plain(),
		"one chain":    posterior(1, 60),
		"one draw":     posterior(1, 1),
		"two draws":    posterior(2, 2),
		"many chains":  posterior(40, 5),
		"uneven":       uneven,
		"no statistic": bare,
		"odd names":    odd,
		"some NaN": mapped(plain(), func(v float64, c, i int) float64 {
			return map[int]float64{0: math.NaN(), 1: math.Inf(1), 2: math.Inf(-1)}[i%9] + v
		}),
		"chain of NaN": mapped(plain(), func(v float64, c, i int) float64 { return v / float64(min(c, 1)) * float64(min(c, 1)) }),
		"constant":     mapped(plain(), func(float64, int, int) float64 { return 3.25 }),
		"zero":         mapped(plain(), func(float64, int, int) float64 { return 0 }),
		"stuck chain": mapped(plain(), func(v float64, c, i int) float64 {
			if c == 1 {
				return 0.5
			}
			return v
		}),
		"huge":     mapped(plain(), func(v float64, c, i int) float64 { return v * 1e300 }),
		"widest":   mapped(plain(), func(v float64, c, i int) float64 { return math.MaxFloat64 * float64(1-2*(i%2)) }),
		"tiny":     mapped(plain(), func(v float64, c, i int) float64 { return v * 1e-300 }),
		"denormal": mapped(plain(), func(v float64, c, i int) float64 { return float64(i%5) * 5e-324 }),
		"offset":   mapped(plain(), func(v float64, c, i int) float64 { return 1e9 + 1e-5*v }),
		"outliers": mapped(plain(), func(v float64, c, i int) float64 { return math.Pow(v, 40*float64(i%3)) }),
	}
}

func TestHardDraws(t *testing.T) {
	for name, plot := range posteriorPlots {
		for kind, d := range hard() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				f, err := plot(d)
				if err != nil {
					t.Fatal(err)
				}
				valid(t, f)
			})
		}
	}
}

func TestMissingDrawsAreCounted(t *testing.T) {
	d := posterior(2, 40)
	d.X[0][0][3], d.X[0][1][5], d.X[1][0][0] = math.NaN(), math.Inf(1), math.NaN()
	f, err := Trace(d)
	if err != nil || !strings.Contains(f.Note, "3 draws are left out because they are not finite.") {
		t.Error(f.Note, err)
	}
	d.X[2] = [][]float64{{math.NaN()}}
	if f, err = Density(d); err != nil || !strings.Contains(f.Note, "There are no finite draws of baseline.") {
		t.Error(f.Note, err)
	}
}

func TestErrorsNameWhatIsMissing(t *testing.T) {
	d := posterior(2, 10)
	fail := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	of := func(_ *Figure, err error) error { return err }
	for name, plot := range posteriorPlots {
		fail("Draws has no", of(plot(Draws{})))
		if name == "energy" {
			continue
		}
		fail("choose from tau, gamma", of(plot(d, "tua")))
		fail("2 Names, but X of 1", of(plot(Draws{Names: []string{"a", "b"}, X: d.X[:1]})))
		fail("no finite draws of a", of(plot(Draws{Names: []string{"a"}, X: [][][]float64{{{math.NaN()}}}})))
	}
	fail("two quantities", of(Pair(d, "tau")))
	fail("no Line, and none of the 0 points", of(Fit(Curve{})))
	fail(`fit of "bin 3": Err has 1 value, but its X has 2`, of(Fit(Curve{Title: "bin 3", X: []float64{1, 2}, Y: []float64{1, 2}, Err: []float64{1}})))
	fail("positive, as a logarithm needs", of(Fit(Curve{X: []float64{-1}, Y: []float64{1}, LogX: true})))
	fail("no curves", of(Grid(nil)))
	fail("none of the 1 curves", of(Grid([]Curve{{}})))
	fail("no curves", of(Stack(nil, 1)))
	fail("Low and High are missing", of(Predictive(Curve{X: []float64{1}, Y: []float64{1}})))
	fail("want at least one of each", of(Parameters(Against{X: []float64{1}})))
	fail("Z is empty", of(Heat(Image{})))
	fail("row 1 of Z has 1", of(Heat(Image{Z: [][]float64{{1, 2}, {1}}})))
	fail("in order", of(Heat(Image{Z: [][]float64{{1, 2}}, X: []float64{2, 1}})))
	fail("none of its 1 values", of(Heat(Image{Z: [][]float64{{-1}}, Log: true})))
}

func TestAtMostTwelve(t *testing.T) {
	d := Draws{}
	for k := range 14 {
		d.Names = append(d.Names, fmt.Sprintf("theta[%d]", k))
		d.X = append(d.X, posterior(2, 30).X[0])
	}
	f, err := Trace(d)
	if err != nil || !strings.Contains(f.Note, "the first 12 of 14 quantities") || len(f.grid.rows) != 12 {
		t.Error(f, err)
	}
	f, err = Forest(d)
	if err != nil || len(f.grid.rows) != 1 {
		t.Errorf("alike quantities in %d frames, %v", len(f.grid.rows), err)
	}
}

func TestHardCurves(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := []float64{1}
	for name, c := range map[string]Curve{
		"one point":   {X: one, Y: one},
		"one log":     {X: one, Y: one, LogX: true, LogY: true},
		"errors":      {X: []float64{1, 2, 3, 4}, Y: []float64{1, 2, 3, 4}, Err: []float64{0, nan, inf, 1e300}},
		"gaps":        {X: []float64{1, nan, 3, inf}, Y: []float64{nan, 2, 3, 4}, Line: []float64{1, nan, 3, 4}, Low: []float64{nan, 1, 2, 3}, High: []float64{1, 2, inf, 4}},
		"only a line": {LineX: []float64{1, 2}, Line: []float64{3, 4}},
		"below zero":  {X: []float64{-1, 1, 10}, Y: []float64{1, -1, 10}, Line: []float64{1, 2, 3}, LogX: true, LogY: true},
		"reversed":    {X: []float64{3, 2, 1}, Y: []float64{1, 2, 3}, Line: []float64{1, 2, 3}, Err: []float64{1, 1, 1}},
		"huge":        {X: []float64{1e-300, 1e300}, Y: []float64{-1e308, 1e308}, Line: []float64{0, 0}, LogX: true},
		"same x":      {X: []float64{2, 2, 2}, Y: []float64{1, 2, 3}, Line: []float64{1, 2, 3}},
		"decades":     {X: []float64{1e-12, 1e12}, Y: []float64{1e-12, 1e12}, LogX: true, LogY: true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Fit(c)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, f)
			printable(t, f)
			if f, err = Grid([]Curve{c, {Title: "empty"}, c}); err != nil {
				t.Fatal(err)
			}
			valid(t, f)
			if f, err = Stack([]Curve{c, {}, c}, 1); err != nil {
				t.Fatal(err)
			}
			valid(t, f)
			c.Low, c.High = c.Line, c.Line
			if c.Line != nil {
				if f, err = Predictive(c); err != nil {
					t.Fatal(err)
				}
				valid(t, f)
			}
			if len(c.X) > 0 {
				if f, err = Parameters(Against{X: c.X, Log: c.LogX}, Series{Name: "a", Y: c.Y, Err: c.Err, Log: c.LogY, Bounds: []float64{0, nan, 5}}); err != nil {
					t.Fatal(err)
				}
				valid(t, f)
			}
		})
	}
}

func TestHardImages(t *testing.T) {
	nan := math.NaN()
	for name, m := range map[string]Image{
		"one pixel": {Z: [][]float64{{1}}},
		"constant":  {Z: [][]float64{{2, 2}, {2, 2}}, Equal: true},
		"zero":      {Z: [][]float64{{0, 0}}, Signed: true},
		"gaps":      {Z: [][]float64{{nan, 1}, {math.Inf(1), -2}}, Signed: true},
		"log":       {Z: [][]float64{{0, 1e-300}, {1e300, -2}}, Log: true},
		"widest":    {Z: [][]float64{{-math.MaxFloat64, math.MaxFloat64}}},
		"uneven":    {Z: [][]float64{{1, 2, 3}}, X: []float64{1, 10, 1000}, LogX: true},
		"shrunk":    rings(900),
		"thin":      {Z: [][]float64{make([]float64, 4000)}, Equal: true},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Heat(m)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, f)
			printable(t, f)
		})
	}
}
