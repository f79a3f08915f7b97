// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/expr"
)

// decays is a problem of a decay with errors of 0.05 on 80 points.
func decays(r *rand.Rand, plant func(x, y, s []float64, r *rand.Rand)) []byte {
	var x, y, s []float64
	for i := range 80 {
		x = append(x, float64(i)/20)
		y, s = append(y, 2*math.Exp(-1.3*x[i])+0.5+0.05*r.NormFloat64()), append(s, 0.05)
	}
	if plant != nil {
		plant(x, y, s, r)
	}
	doc := map[string]any{"expr": "b1*exp(-b2*x)+b3", "data": map[string]any{"x": x, "y": y, "s": s}, "sigma": "s",
		"start": map[string]float64{"b1": 1, "b2": 1, "b3": 0}}
	b, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return b
}

func judged(t *testing.T, b []byte) check.Verdict {
	t.Helper()
	p, err := expr.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	problem, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	_, v, err := p.Fit(context.Background(), problem, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMisfitsOfFormulasAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, want string
		plant      func(x, y, s []float64, r *rand.Rand)
	}{
		{"second decay", "pattern along x", func(x, y, _ []float64, _ *rand.Rand) {
			for i := range y {
				y[i] += 0.8 * math.Exp(-8*x[i])
			}
		}},
		{"drift", "pattern along x", func(x, y, _ []float64, _ *rand.Rand) {
			for i := range y {
				y[i] += 0.1 * math.Sin(2*x[i])
			}
		}},
		{"outlier", "x = 1.5 (", func(_, y, _ []float64, _ *rand.Rand) { y[30] += 0.6 }},
		{"errors too small", "times too small", func(_, _, s []float64, _ *rand.Rand) {
			for i := range s {
				s[i] *= 0.5
			}
		}},
		{"errors too large", "times too large", func(_, _, s []float64, _ *rand.Rand) {
			for i := range s {
				s[i] *= 2
			}
		}},
		{"spread", "the scatter varies along", func(x, y, _ []float64, r *rand.Rand) {
			for i := range y {
				y[i] += 0.08 * x[i] * r.NormFloat64()
			}
		}},
	} {
		if v := judged(t, decays(rand.New(rand.NewPCG(3, 4)), c.plant)); v.OK || !strings.Contains(v.String(), c.want) {
			t.Errorf("%s: %v", c.name, v)
		}
	}
}

// Of 60,000 right models in the slow tier at most 1 % are flagged, and of 1,000 what chance adds.
func TestRightFormulasAreSeldomFlagged(t *testing.T) {
	tier.SlowOnly(t)
	kinds := map[string]int{}
	flagged, models, most := 0, tier.Of(1000, 60000), tier.Of(20, 600)
	for k := range models {
		if v := judged(t, decays(rand.New(rand.NewPCG(uint64(k), 77)), nil)); !v.OK {
			flagged++
			kinds[v.Flags[0].Kind]++
		}
	}
	if flagged > most {
		t.Errorf("%d of %d right models flagged", flagged, models)
	}
	t.Logf("%d of %d flagged, first as %v", flagged, models, kinds)
}

// A frequency whose start leads to a minor minimum is found by starting again.
func TestFormulasStartAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var x, y, s []float64
	for i := range 60 {
		x = append(x, float64(i)/30)
		y, s = append(y, math.Sin(5*x[i])+0.02*r.NormFloat64()), append(s, 0.02)
	}
	b, err := json.Marshal(map[string]any{"expr": "a*sin(w*x)", "data": map[string]any{"x": x, "y": y, "s": s}, "sigma": "s", "start": map[string]float64{"a": 1, "w": 12}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	problem, set, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	fit, v, err := p.Fit(context.Background(), problem, set)
	if err != nil || !v.OK || math.Abs(math.Abs(fit.Value("w"))-5) > 0.05 || !strings.Contains(strings.Join(fit.Warnings, ""), "further starts found this one") {
		t.Errorf("%v %v %v", err, fit, v)
	}
}

// Errors computed from the readings share their noise; right models are not flagged.
func TestErrorsOfTheReadings(t *testing.T) {
	for name, of := range map[string]func(y float64) float64{"2 %": func(y float64) float64 { return 0.02 * y }, "root": func(y float64) float64 { return 0.05 * math.Sqrt(y) }} {
		flagged := 0
		for k := range 100 {
			b := decays(rand.New(rand.NewPCG(uint64(k), 5)), func(x, y, s []float64, r *rand.Rand) {
				for i := range y {
					m := 2*math.Exp(-1.3*x[i]) + 0.5
					y[i] = m + of(m)*r.NormFloat64()
					s[i] = of(y[i])
				}
			})
			if v := judged(t, b); !v.OK {
				flagged++
			} else if !strings.Contains(v.String(), "the errors follow the observed values") {
				t.Fatalf("%s: %v", name, v)
			}
		}
		if flagged > 5 {
			t.Errorf("%s: %d of 100 right models flagged", name, flagged)
		}
		t.Log(name, flagged)
	}
}

// What is fixed needs no start, and one that nobody uses is named.
// Values that do not vary leave the parameters of a formula undetermined, also a single one, of whose error nothing tells; with errors, or
// if the formula does not fit them, they are data like others.
func TestValuesThatDoNotVary(t *testing.T) {
	for doc, want := range map[string]string{
		`{"expr":"a+b*exp(-c*x)","data":{"x":[1,2,3,4,5,6],"y":[3,3,3,3,3,3]},"start":{"a":1,"b":1,"c":1}}`: "undetermined",
		`{"expr":"a+b*exp(-c*x)","data":{"x":[1,2,3,4,5,6],"y":[3,3,3,3,3,3]},"start":{"a":1,"b":1,"c":2}}`: "undetermined",
		`{"expr":"a+b*x","data":{"x":[1,2,3,4,5,6],"y":[7,7,7,7,7,7]},"start":{"a":1,"b":1}}`:               "undetermined",
		`{"expr":"a+0*x","data":{"x":[1,2,3,4,5,6],"y":[3,3,3,3,3,3]},"start":{"a":1}}`:                     "undetermined",
		`{"expr":"a+b*x","data":{"x":[1,2,3,4,5,6],"y":[3,3,3,3,3,3.1]},"start":{"a":1,"b":1}}`:             "agrees",
		// What is left of the start is no misfit of zeros.
		`{"expr":"a+b*x","data":{"x":[1,2,3,4,5,6],"y":[0,0,0,0,0,0]},"start":{"a":1,"b":1}}`:                      "undetermined",
		`{"expr":"a*exp(-b*x)+c","data":{"x":[1,2,3,4,5,6],"y":[0,0,0,0,0,0]},"start":{"a":1,"b":1,"c":1}}`:        "undetermined",
		`{"expr":"a","data":{"x":[1,2,3,4,5,6],"y":[0,0,0,0,0,0]},"start":{"a":1}}`:                                "undetermined",
		`{"expr":"1+a*x","data":{"x":[1,2,3,4,5,6,7,8,9,10,11,12],"y":[0,0,0,0,0,0,0,0,0,0,0,0]},"start":{"a":1}}`: "misfit",
		// A single value, or as many as parameters, is not judged.
		`{"expr":"a+0*x","data":{"x":[1],"y":[3]},"start":{"a":1}}`:           "not judged",
		`{"expr":"a+b*x","data":{"x":[1,2],"y":[3,3]},"start":{"a":1,"b":1}}`: "not judged",
	} {
		if v := judged(t, []byte(doc)); v.Word() != want {
			t.Errorf("%s: %s: want %s", doc, v, want)
		} else if want != "misfit" && strings.Contains(v.Summary(), "disagrees") {
			t.Errorf("%s: %s: nothing disagrees", doc, v)
		}
	}
}

func TestFixedNeedsNoStart(t *testing.T) {
	doc := `{"expr": "a + b*x", "data": {"x": [0, 1, 2, 3], "y": [1, 3, 5, 7.1]}, "y": "y", "start": {"b": 1}, "fixed": {%q: 1}}`
	for name, want := range map[string]string{"a": "", "c": `fixed has c, which the formula "a + b*x" does not use`} {
		p, err := expr.Parse([]byte(fmt.Sprintf(doc, name)))
		if err == nil {
			_, _, err = p.LeastSquares()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s fixed: %v, want %q", name, err, want)
		}
	}
}

// Of two terms that are alike and end on their bounds together, neither is pulled beyond
// by more than chance.
func TestBoundsOfTermsThatAreAlike(t *testing.T) {
	flagged := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 71))
		var x, y, s []float64
		for i := range 60 {
			x = append(x, 0.05+float64(i)*4.95/59)
			y, s = append(y, 3*math.Exp(-x[i])+0.05*r.NormFloat64()), append(s, 0.05)
		}
		doc, err := json.Marshal(map[string]any{"expr": "a*exp(-x/1)+b*exp(-x/3)+c*exp(-x/3.3)", "y": "y", "sigma": "s",
			"data": map[string]any{"x": x, "y": y, "s": s}, "start": map[string]any{"a": 1, "b": 1, "c": 1},
			"bounds": map[string]any{"a": []any{0, nil}, "b": []any{0, nil}, "c": []any{0, nil}}})
		if err != nil {
			t.Fatal(err)
		}
		if v := judged(t, doc); !v.OK {
			flagged++
			t.Log(v)
		}
	}
	if flagged > 2 {
		t.Errorf("%d of 20 right models flagged", flagged)
	}
}

// A bend that moves a slope by many standard deviations is no note, however little of
// the scatter it explains.
func TestFaintBendInManyPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 72))
	var x, y, s []float64
	for i := range 40000 {
		x = append(x, float64(i)/40000)
		y, s = append(y, 1+2*x[i]+0.4*x[i]*x[i]+r.NormFloat64()), append(s, 1)
	}
	doc, err := json.Marshal(map[string]any{"expr": "a+b*x", "y": "y", "sigma": "s", "data": map[string]any{"x": x, "y": y, "s": s}, "start": map[string]any{"a": 1, "b": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if v := judged(t, doc); v.OK || !strings.Contains(v.String(), "pattern along x") {
		t.Errorf("%v", v)
	}
}

// Values that were computed from the model lie on it to within rounding, and rounding errors have neither outliers nor skewness.
func TestRoundingIsNoMisfit(t *testing.T) {
	for _, doc := range []string{
		`{"expr":"a*exp(-b*x)","start":{"a":1,"b":0.1},"data":{"x":[0,1,2,3,4,5,6,7],"y":[5.0,3.7040911034085893,2.744058180470132,2.0328482987029957,1.5059710595610107,1.115650800742149,0.8264944411079328,0.6122821412649095]}}`,
		`{"expr":"a+b*x","start":{"a":1,"b":0.5},"data":{"x":[0,1,2,3,4,5,6,7],"y":[3.7,3.7,3.7,3.7,3.7,3.7,3.7,3.7000000000001]}}`,
		`{"expr":"a+b*x","start":{"a":1,"b":0.5},"data":{"x":[0,1,2,3,4,5,6,7],"y":[1,3,5,7,9,11,13,15]}}`,
	} {
		if v := judged(t, []byte(doc)); !v.OK || !strings.Contains(v.String(), "on the model") {
			t.Errorf("%s: %s: want data that lie on the model", doc, v)
		}
	}
	doc := `{"expr":"a+b*x","start":{"a":1,"b":0.5},"data":{"x":[0,1,2,3,4,5,6,7],"y":[3.7,3.7,3.7,3.7,3.7,3.7,3.7,3.7001]}}`
	if v := judged(t, []byte(doc)); !v.Has(check.KindOutliers) {
		t.Errorf("%s: %s: want an outlier", doc, v)
	}
}

// A posterior of values that do not vary, whose scatter is a parameter, is called undetermined and nothing else. Where it is not, the data lie
// on the model, whether its standard deviation is a column or a number. As many parameters as points are not judged, unless priors
// determine them.
func TestSampleOfLittle(t *testing.T) {
	const line, priors = `"expr":"a+b*x","data":{"x":[0,1,2,3,4,5,6,7],"y":[%s],"e":[0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1]},`, `"priors":{"a":"normal(0,10)","b":"normal(0,1)"}`
	const scale = `"priors":{"a":"normal(0,10)","b":"normal(0,1)","s":"halfnormal(5)"}`
	for _, c := range []struct{ y, rest, want, not string }{
		{"5,5,5,5,5,5,5,5", `"sigma":"s",` + scale, "do not determine s.", ""},
		{"0,0,0,0,0,0,0,0", `"sigma":"s",` + scale, "do not determine s.", ""},
		{"5,5,5,5,5,5,5,5", `"sigma":"2*t","tied":{"t":"s/2"},` + scale, "do not determine s.", ""},
		{"5,5,5,5,5,5,5,5", `"priors":{"a":"normal(0,10)","b":"normal(0,1)","sigma":"halfnormal(5)"}`, "do not determine sigma.", ""},
		{"5,5,5,5,5,5,5,5", `"likelihood":"studentt(4,mu,s)",` + scale, "do not determine s.", ""},
		{"5,5,5,5,5,5,5,5", `"likelihood":"poisson(abs(mu))",` + priors, "model", "determine"},
		{"5,4,5,6,5,5,4,6", `"sigma":"s",` + scale, "agrees", ""},
		{"5,5,5,5,5,5,5,5", `"sigma":"e",` + priors, "the data lie on the model to within rounding errors", "determine"},
		{"5,5,5,5,5,5,5,5", `"sigma":"0.1",` + priors, "the data lie on the model to within rounding errors", "determine"},
		{"5,5,5,5,5,5,5,5", `"sigma":"s","fixed":{"s":0.1},` + priors, "the data lie on the model to within rounding errors", "determine"},
		{"3.7,3.700000001,3.700000004,3.700000009,3.700000016,3.700000025,3.700000036,3.700000049", `"sigma":"s",` + scale, "model", "prior"},
	} {
		sampled(t, fmt.Sprintf("{"+line+"%s}", c.y, c.rest), c.want, c.not)
	}
	const few = `"sigma":"s","priors":{"a":"normal(0,%[1]g)","b":"normal(0,%[1]g)","c":"normal(0,%[1]g)","s":"halfnormal(5)"},"expr":"a+b*x+c*x*x"`
	wide, narrow := fmt.Sprintf(few, 10.), fmt.Sprintf(few, 0.1)
	sampled(t, `{"data":{"x":[1],"y":[2]},`+wide+`}`, "could not be judged: there are as many parameters as points", "")
	sampled(t, `{"data":{"x":[1,2],"y":[2,3]},`+wide+`}`, "could not be judged: there are as many parameters as points", "")
	sampled(t, `{"data":{"x":[1,2],"y":[0.2,-0.3]},`+narrow+`}`, "agrees", "")
}

// sampled judges a posterior. Its verdict has to say one thing, and not another.
func sampled(t *testing.T, doc, want, not string) {
	t.Helper()
	p, post := compile(t, doc)
	fit, err := infer.Sample(t.Context(), post, infer.Settings{Seed: 1, Warmup: 200, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.CheckSample(fit)
	if text := v.String(); err != nil || !strings.Contains(text, want) || not != "" && strings.Contains(text, not) {
		t.Errorf("%s: %s, %v: want %q", doc, text, err, want)
	}
}

// The verdict on a fit without errors of y does not depend on the unit of y, up to the ends of what can be squared.
func TestVerdictInAnyUnit(t *testing.T) {
	for _, unit := range []float64{1, 1e150, 1e-150} {
		random := rand.New(rand.NewPCG(9, 0))
		x, y := make([]float64, 40), make([]float64, 40)
		for i := range x {
			x[i] = float64(i) / 4
			y[i] = unit * (2 + x[i] + 0.1*random.NormFloat64())
		}
		data := map[string]expr.Column{"x": {Values: x}, "y": {Values: y}}
		for formula, agrees := range map[string]bool{"a + b*x": true, "b*x": false} {
			p := &expr.Problem{Expr: formula, Y: "y", Data: data, Start: map[string]expr.Values{"b": {unit}}}
			if agrees {
				p.Start["a"] = expr.Values{unit}
			}
			least, s, err := p.LeastSquares()
			if err != nil {
				t.Fatal(err)
			}
			_, v, err := p.Fit(context.Background(), least, s)
			if err != nil || v.OK != agrees || v.Disagrees() == agrees {
				t.Errorf("%s in units of %g: %v %v", formula, unit, v, err)
			}
		}
	}
}
