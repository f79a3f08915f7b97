// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/g2"
)

// synthetic is a single decay of contrast 0.2 with errors of 0.004, near 0.05 s.
func synthetic(r *rand.Rand, tau float64, n int) g2.Curve {
	c := g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN(), X: make([]float64, n), Y: make([]float64, n), Err: make([]float64, n)}
	for i := range n {
		c.X[i] = 1e-4 * math.Pow(10, 5*float64(i)/float64(n-1))
		c.Err[i] = 0.004
		c.Y[i] = 1 + 0.2*math.Exp(-2*c.X[i]/tau) + c.Err[i]*r.NormFloat64()
	}
	return c
}

var planted = []struct {
	name   string
	points int
	plant  func(c *g2.Curve, r *rand.Rand)
	want   string
}{
	{"second decay", 60, func(c *g2.Curve, _ *rand.Rand) {
		for i, x := range c.X {
			c.Y[i] += 0.08 * math.Exp(-2*x/2)
		}
	}, "the model double fits"},
	{"stretched decay", 60, func(c *g2.Curve, _ *rand.Rand) {
		for i, x := range c.X {
			c.Y[i] += 0.2*math.Exp(-math.Pow(2*x/0.05, 0.6)) - 0.2*math.Exp(-2*x/0.05)
		}
	}, "a stretched decay would fit better"},
	{"outliers", 60, func(c *g2.Curve, _ *rand.Rand) { c.Y[12] += 0.05; c.Y[40] -= 0.04 }, "2 points lie farther"},
	{"errors too small", 60, func(c *g2.Curve, _ *rand.Rand) { scale(c.Err, 0.4) }, "times too small"},
	{"errors too large", 60, func(c *g2.Curve, _ *rand.Rand) { scale(c.Err, 3) }, "times too large"},
	{"drift", 60, func(c *g2.Curve, _ *rand.Rand) {
		for i, x := range c.X {
			c.Y[i] += 0.008 * math.Log10(x)
		}
	}, "a baseline that drifts by about +0.00"},
	{"zero errors", 60, func(c *g2.Curve, _ *rand.Rand) { c.Err[3], c.Err[30] = 0, 0 }, "2 of 60 errors were at most 1e-06 and were replaced"},
	{"growing errors", 200, func(c *g2.Curve, r *rand.Rand) {
		for i := range c.Y {
			c.Y[i] += 0.016 * float64(i) / 200 * r.NormFloat64()
		}
	}, "the scatter varies along"},
	{"shared noise", 200, func(c *g2.Curve, r *rand.Rand) {
		e := 0.0
		for i := range c.Y {
			e = 0.6*e + 0.006*r.NormFloat64()
			c.Y[i] += e
		}
	}, "neighbouring residuals along delay are correlated"},
}

func TestPlantedMisfits(t *testing.T) {
	single, _ := g2.ByName("single")
	for _, p := range planted {
		named := 0
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 1))
			c := synthetic(r, 0.05, p.points)
			p.plant(&c, r)
			f, err := g2.FitOne(context.Background(), single, c, g2.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Check.OK {
				t.Errorf("%s, seed %d: not flagged", p.name, seed)
			}
			if strings.Contains(f.Check.String(), p.want) {
				named++
			} else {
				t.Logf("%s: %v", p.name, f.Check)
			}
		}
		if named < 8 {
			t.Errorf("%s: named in %d of 10 curves, want %q", p.name, named, p.want)
		}
	}
}

// Of 1,000 right models, and of 10,000 in the slow tier, at most 1 % and what chance adds are flagged: 0.6 to 0.8 % are.
func TestRightModelsAreSeldomFlagged(t *testing.T) {
	models, most := tier.Of(1000, 10000), tier.Of(20, 130) // three standard deviations above 1 %
	for _, name := range []string{"single", "stretched", "aps_single"} {
		model, _ := g2.ByName(name)
		var curves []g2.Curve
		for i := range models {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			c := synthetic(r, math.Pow(10, -3+2.5*r.Float64()), 60)
			c.Bin = i + 1
			curves = append(curves, c)
		}
		fits, err := g2.FitAll(context.Background(), model, curves, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		flagged, kinds := 0, map[string]int{}
		for _, f := range fits {
			if !f.Check.OK {
				flagged++
				for _, x := range f.Check.Flags {
					kinds[x.Kind]++
				}
			}
		}
		t.Logf("%s: %d of %d right models flagged: %v", name, flagged, models, kinds)
		if flagged > most {
			t.Errorf("%s: %d of %d right models flagged: %v", name, flagged, models, kinds)
		}
	}
}

func TestStartsAndBoundsThatExcludeEachOther(t *testing.T) {
	single, _ := g2.ByName("single")
	c := synthetic(rand.New(rand.NewPCG(1, 1)), 0.05, 60)
	for want, s := range map[string]g2.Settings{
		"start of tau is -3, outside the model's bounds 1e-07":     {Start: map[string]float64{"tau": -3}},
		"start of contrast is 0.9, outside its bounds 0.1:0.5":     {Start: map[string]float64{"contrast": 0.9}, Bounds: map[string][2]float64{"contrast": {.1, .5}}},
		"contrast is fixed at 0.9, outside its bounds":             {Fixed: map[string]float64{"contrast": 0.9}, Bounds: map[string][2]float64{"contrast": {.1, .5}}},
		"fixed value of baseline is 7, outside the model's bounds": {Fixed: map[string]float64{"baseline": 7}},
		`did you mean "contrast"?`:                                 {Start: map[string]float64{"contrst": 0.2}},
	} {
		if _, err := g2.FitOne(context.Background(), single, c, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestInvalidPointsAreLeftOutWhenAsked(t *testing.T) {
	single, _ := g2.ByName("single")
	c := synthetic(rand.New(rand.NewPCG(1, 1)), 0.05, 60)
	c.Y[4], c.Err[9], c.X[0] = math.NaN(), math.Inf(1), 0
	f, err := g2.FitOne(context.Background(), single, c, g2.Settings{})
	if err != nil || f.Status != "failed" || !strings.Contains(f.Message, "--drop-invalid") {
		t.Errorf("%v %v", err, f.Message)
	}
	f, err = g2.FitOne(context.Background(), single, c, g2.Settings{DropInvalid: true})
	if err != nil || !f.OK() || len(f.Curve.X) != 57 || !strings.Contains(fmt.Sprint(f.Check.Notes), "3 of 60 points were left out, because their delay, value or error is not a usable number: 1, 5, 10") {
		t.Errorf("%v %v %v", err, f.Message, f.Check)
	}
}

// One point is not several.
func TestOnePointIsSingular(t *testing.T) {
	single, _ := g2.ByName("single")
	c := synthetic(rand.New(rand.NewPCG(1, 1)), 0.05, 60)
	c.Y[4] = math.NaN()
	f, err := g2.FitOne(context.Background(), single, c, g2.Settings{DropInvalid: true})
	if want := "1 of 60 points was left out, because its delay, value or error is not a usable number: 5"; err != nil || !strings.Contains(fmt.Sprint(f.Check.Notes), want) {
		t.Errorf("%v: want %q: %v", err, want, f.Check)
	}
	c.X, c.Y, c.Err = c.X[:1], c.Y[:1], c.Err[:1]
	f, err = g2.FitOne(context.Background(), single, c, g2.Settings{})
	if want := ": only 1 point for 3 parameters"; err != nil || !strings.Contains(f.Message, want) {
		t.Errorf("%v: want %q: %s", err, want, f.Message)
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

func TestPriorsThatExcludeOtherSettings(t *testing.T) {
	single, _ := g2.ByName("single")
	c := synthetic(rand.New(rand.NewPCG(1, 1)), 0.05, 60)
	prior := map[string]dist.Dist{"tau": dist.Uniform(5, 6)}
	for want, s := range map[string]g2.Settings{
		"tau is fixed at 3 but also has a prior":                      {Priors: prior, Fixed: map[string]float64{"tau": 3}},
		"the start of tau is 0.05, where its prior, between 5 and 6,": {Priors: prior, Start: map[string]float64{"tau": 0.05}},
	} {
		if _, err := g2.Posterior(single, c, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A prior far from the data, and each planted misfit, are flagged by the posterior too.
func TestPosteriorsAreJudged(t *testing.T) {
	single, _ := g2.ByName("single")
	judge := func(c g2.Curve, s g2.Settings) check.Verdict {
		m, err := g2.Posterior(single, c, s)
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 2, Warmup: 400, Draws: 250})
		if err != nil {
			t.Fatal(err)
		}
		v, err := g2.CheckPosterior(single, c, s, fit)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, p := range planted {
		r := rand.New(rand.NewPCG(3, 1))
		c := synthetic(r, 0.05, p.points)
		p.plant(&c, r)
		if v := judge(c, g2.Settings{}); v.OK {
			t.Errorf("%s: not flagged: %v", p.name, v)
		}
	}
	c := synthetic(rand.New(rand.NewPCG(1, 1)), 0.05, 60)
	if v := judge(c, g2.Settings{}); !v.OK {
		t.Errorf("a right model: %v", v)
	}
	v := judge(c, g2.Settings{Priors: map[string]dist.Dist{"tau": dist.Uniform(5, 6)}})
	if v.OK || !strings.Contains(v.String(), "the data pull most strongly on tau") {
		t.Errorf("a wrong prior: %v", v)
	}
}

// Errors that are all 0 are no errors: the fit is that of a curve without them, and the
// verdict says so.
func TestErrorsThatAreAllZero(t *testing.T) {
	single, _ := g2.ByName("single")
	c := synthetic(rand.New(rand.NewPCG(3, 1)), 0.05, 60)
	zero := c
	zero.Err, c.Err = make([]float64, 60), nil
	want, err := g2.FitOne(context.Background(), single, c, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := g2.FitOne(context.Background(), single, zero, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.X, got.SD) != fmt.Sprint(want.X, want.SD) || !(got.SD[0] > 0.01*got.X[0] && got.SD[0] < 0.1*got.X[0]) {
		t.Errorf("%v +- %v, want %v +- %v", got.X, got.SD, want.X, want.SD)
	}
	if text := got.Check.String(); !got.Check.OK || !strings.Contains(text, "all 60 errors are 0 and were treated as missing") || strings.Contains(text, "the others") {
		t.Error(text)
	}
	m, err := g2.Posterior(single, zero, g2.Settings{Priors: map[string]dist.Dist{"sigma": dist.HalfNormal(0.02)}})
	if err != nil {
		t.Fatal(err)
	}
	if post, err := m.Compile(); err != nil || !slices.Contains(post.Names(), "sigma") {
		t.Error(err)
	}
	for i := range zero.Err {
		zero.Err[i] = 1e-9
	}
	if got, err = g2.FitOne(context.Background(), single, zero, g2.Settings{}); err != nil || !strings.Contains(got.Check.String(), "all 60 errors were at most 1e-06") || strings.Contains(got.Check.String(), "the others") {
		t.Error(err, got.Check)
	}
}

// Constant errors of which one was 0 do not follow the observed values, whichever it was.
func TestReplacedErrorsFollowNothing(t *testing.T) {
	single, _ := g2.ByName("single")
	for at := range 40 {
		c := synthetic(rand.New(rand.NewPCG(5, 1)), 0.05, 40)
		for i := range c.Err {
			c.Err[i] = 0.003
		}
		c.Err[at] = 0
		f, err := g2.FitOne(context.Background(), single, c, g2.Settings{})
		if err != nil || strings.Contains(f.Check.String(), "follow") || !strings.Contains(f.Check.String(), map[bool]string{false: "1 of 40 errors", true: "as where only one pair of frames has it"}[at == 39]) {
			t.Errorf("error %d is 0: %v\n%s", at+1, err, f.Check)
		}
	}
}

// Bounds of a relaxation time that exclude all delays make the remedy begin with their units.
func TestBoundsInOtherUnits(t *testing.T) {
	m, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	c := g2.Curve{}
	for i := range 40 {
		x := math.Pow(10, -3+3*float64(i)/40)
		c.X, c.Err = append(c.X, x), append(c.Err, 0.01)
		c.Y = append(c.Y, 1+0.3*math.Exp(-2*x/0.1)+0.005*math.Sin(float64(7*i)))
	}
	for bounds, want := range map[[2]float64]string{
		{50, 1000}:  "check the units of the bounds, 50 to 1000 s, and of the delays, 0.001 to 0.8414 s; widen the bound",
		{0.2, 1000}: "widen the bound",
	} {
		f, err := g2.FitOne(context.Background(), m, c, g2.Settings{Bounds: map[string][2]float64{"tau": bounds}})
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(f.Check.Flags, func(g check.Flag) bool { return g.Kind == check.KindBound && g.Where == "tau" })
		if k < 0 || !strings.HasPrefix(f.Check.Flags[k].Remedy, want) {
			t.Errorf("%v: want %q: %+v", bounds, want, f.Check.Flags)
		}
	}
}

// A curve without a decay within its delays determines no relaxation time, and every model says so.
func TestNoDecayIsNoRelaxationTime(t *testing.T) {
	for _, name := range []string{"single", "stretched", "double", "aps_single"} {
		model, err := g2.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 8))
			c := g2.Curve{Bin: 1}
			level := []float64{1, 1, 1.02, 1.15}[seed%4]
			for i := range 40 {
				x, sd := 1e-3*math.Pow(10, float64(i)/8), 0.002
				y := level + sd*r.NormFloat64()
				if seed%4 == 0 {
					y = level // made up, or all pixels masked
				}
				if seed%4 == 1 {
					y += 0.2 * math.Exp(-2*x/1e-4) // over before the first delay
				}
				c.X, c.Y, c.Err = append(c.X, x), append(c.Y, y), append(c.Err, sd)
			}
			if seed > 4 {
				c.Err = nil
			}
			f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Check.OK && slices.ContainsFunc(f.Check.Notes, func(n check.Flag) bool { return n.Kind == check.KindBound }) {
				continue // a decay before the first delay whose contrast or exponent a bound holds, which is told
			}
			if f.Check.OK || !strings.Contains(f.Check.String(), "do not determine") && f.Check.Word() != "misfit" {
				t.Errorf("%s, seed %d: %v +- %v: %v", name, seed, f.X, f.SD, f.Check)
			}
		}
	}
}

// No model agrees with a curve that is noise about a constant, also where the search ended on a bound: a contrast of 1 of a decay that
// is over before the first delay, or an exponent that makes one point of it.
func TestNoiseAgreesWithNoModel(t *testing.T) {
	noiseAgreesWith(t, 40, "single", "stretched", "aps_single")
}

func noiseAgreesWith(t *testing.T, n int, names ...string) {
	for _, name := range names {
		model, err := g2.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var curves []g2.Curve
		for seed := range uint64(n) {
			r, sd := rand.New(rand.NewPCG(seed, 21)), []float64{1e-3, 1e-2}[seed%2]
			c := g2.Curve{Bin: int(seed) + 1, Q: math.NaN(), Phi: math.NaN()}
			for i := range 30 {
				c.X, c.Y, c.Err = append(c.X, 1e-3*math.Pow(10, 4*float64(i)/29)), append(c.Y, 1+sd*r.NormFloat64()), append(c.Err, sd)
			}
			curves = append(curves, c)
		}
		fits, err := g2.FitAll(context.Background(), model, curves, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		words, wrong := map[string]int{}, 0
		for _, f := range fits {
			if slices.ContainsFunc(f.Check.Flags, func(g check.Flag) bool { return g.Kind != check.KindUnknown && g.Kind != check.KindUnconverged }) {
				wrong++
			}
			if words[f.Check.Word()]++; f.Check.OK {
				t.Errorf("%s, curve %d: %.3g +- %.2g, %v: %v", name, f.Curve.Bin, f.X, f.SD, f.Active, f.Check)
			}
		}
		t.Log(name, words, wrong)
		if 20*wrong > n { // by chance
			t.Errorf("%s: %d of %d curves of noise are called wrong and not undetermined", name, wrong, n)
		}
	}
}
