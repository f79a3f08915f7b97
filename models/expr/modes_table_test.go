// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// axis is a parameter of a posterior with several modes, with its support and the part of it over which its density is summed.
type axis struct {
	name         string
	prior        string
	lower, upper float64
	from, to     float64
	steps        int
}

func uniform(name string, lower, upper float64, steps int) axis {
	return axis{name, fmt.Sprintf("uniform(%g, %g)", lower, upper), lower, upper, lower, upper, steps}
}

func positive(name, prior string, to float64, steps int) axis {
	return axis{name, prior, 0, math.Inf(1), 0, to, steps}
}

func real(name, prior string, from, to float64, steps int) axis {
	return axis{name, prior, math.Inf(-1), math.Inf(1), from, to, steps}
}

// unconstrained returns the unconstrained value of v, and its derivative.
func (a axis) unconstrained(v float64) (u, slope float64) {
	switch {
	case !math.IsInf(a.upper, 0):
		p := (v - a.lower) / (a.upper - a.lower)
		return math.Log(p / (1 - p)), 1 / ((a.upper - a.lower) * p * (1 - p))
	case !math.IsInf(a.lower, 0):
		return math.Log(v - a.lower), 1 / (v - a.lower)
	}
	return v, 1
}

// severalModes is a posterior whose modes are told apart by a function of its parameters, the places of which are sums over a grid.
type severalModes struct {
	name, expr, likelihood string
	sigma                  float64
	x, y                   []float64
	axes                   []axis
	mode                   func(v []float64) int
}

func (c severalModes) document() string {
	priors := map[string]string{}
	for _, a := range c.axes {
		priors[a.name] = a.prior
	}
	d := map[string]any{"expr": c.expr, "data": map[string]any{"x": c.x, "y": c.y}, "priors": priors}
	if d["sigma"] = fmt.Sprint(c.sigma); c.likelihood != "" {
		delete(d, "sigma")
		d["likelihood"] = c.likelihood
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// weights returns the part of the posterior in each mode, by the rule of midpoints.
func (c severalModes) weights(t *testing.T, p *infer.Posterior) map[int]float64 {
	n := 1
	for _, a := range c.axes {
		n *= a.steps
	}
	dim := len(c.axes)
	at := make([]int, dim) // the posterior has its parameters in the order of their names
	for i, a := range c.axes {
		for _, b := range c.axes {
			if b.name < a.name {
				at[i]++
			}
		}
	}
	u, v, g, row := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, p.Len())
	logs, modes, top := make([]float64, n), make([]int, n), math.Inf(-1)
	for k := range n {
		rest, volume := k, 0.0
		for i, a := range c.axes {
			v[i] = a.from + (float64(rest%a.steps)+0.5)*(a.to-a.from)/float64(a.steps)
			rest /= a.steps
			var slope float64
			u[at[i]], slope = a.unconstrained(v[i])
			volume += math.Log(slope)
		}
		lp, err := p.LogProbGrad(u, g)
		if err != nil {
			t.Fatal(err)
		}
		if k == n/2 {
			if err := p.Write(u, row); err != nil || math.Abs(row[at[0]]-v[0]) > 1e-9*(1+math.Abs(v[0])) {
				t.Fatalf("%s: the grid is at %v: want %v (%v)", c.name, row, v, err)
			}
		}
		logs[k], modes[k] = lp+volume, c.mode(v)
		top = max(top, logs[k])
	}
	weights, all := map[int]float64{}, 0.0
	for k, l := range logs {
		weights[modes[k]] += math.Exp(l - top)
		all += math.Exp(l - top)
	}
	for k := range weights {
		weights[k] /= all
	}
	return weights
}

// missing returns the weight of modes in which less than a tenth of the draws due lie.
func (c severalModes) missing(weights map[int]float64, fit *infer.Fit) (sum float64) {
	counts, n := map[int]float64{}, 0.0
	var columns [][][]float64
	for _, a := range c.axes {
		columns = append(columns, fit.Draws(a.name))
	}
	v := make([]float64, len(c.axes))
	for k := range columns[0] {
		for i := range columns[0][k] {
			for d := range v {
				v[d] = columns[d][k][i]
			}
			counts[c.mode(v)]++
			n++
		}
	}
	for k, w := range weights {
		if counts[k] < 0.1*w*n {
			sum += w
		}
	}
	return sum
}

func evenly(from, step float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = from + step*float64(i)
	}
	return x
}

// measured returns f(x) with noise.
func measured(seed uint64, x []float64, sigma float64, f func(x float64) float64) []float64 {
	rng, y := rand.New(rand.NewPCG(seed, 7)), make([]float64, len(x))
	for i := range y {
		y[i] = f(x[i]) + sigma*rng.NormFloat64()
	}
	return y
}

// period returns the number of the interval of length 2 pi around w0 in which w lies, as frequencies do that data at whole numbers do
// not tell apart.
func period(w0 float64) func(v []float64) int {
	return func(v []float64) int { return int(math.Floor((v[0]-w0)/(2*math.Pi) + 0.5)) }
}

func side(at ...float64) func(v []float64) int {
	return func(v []float64) (k int) {
		for _, a := range at {
			if v[0] > a {
				k++
			}
		}
		return k
	}
}

// posteriorsOfSeveralModes are posteriors of one to three parameters with modes whose basins hold some per cent of the prior and more.
func posteriorsOfSeveralModes() (out []severalModes) {
	whole := evenly(0, 1, 12)
	sine := func(a, w, p float64) func(float64) float64 {
		return func(x float64) float64 { return a * math.Sin(w*x+p) }
	}
	add := func(name, expr string, sigma float64, x, y []float64, mode func([]float64) int, axes ...axis) {
		out = append(out, severalModes{name: name, expr: expr, sigma: sigma, x: x, y: y, axes: axes, mode: mode})
	}
	for k := range uint64(3) {
		add(fmt.Sprintf("frequency %d", k), "sin(w*x)", 0.2, whole, measured(k, whole, 0.2, sine(1, 1.7, 0)), period(1.7), uniform("w", 0, 15, 40000))
	}
	add("two frequencies", "sin(w*x)", 0.2, whole, measured(11, whole, 0.2, sine(1, 1.1, 0)), period(1.1), uniform("w", 0, 8, 40000))
	add("cosine", "cos(w*x)", 0.2, whole, measured(12, whole, 0.2, sine(1, 0.6, math.Pi/2)), side(math.Pi), uniform("w", 0, 6.28, 40000))
	twenty := evenly(0, 1, 20)
	add("narrow frequencies", "sin(w*x)", 0.1, twenty, measured(13, twenty, 0.1, sine(1, 2.3, 0)), period(2.3), uniform("w", 0, 20, 100000))
	half := evenly(0, 0.5, 30)
	add("one frequency of many", "sin(w*x)", 0.2, half, measured(14, half, 0.2, sine(1, 0.9, 0)), side(0.5, 1.3), uniform("w", 0, 13, 100000))
	add("frequency under normal", "sin(w*x)", 0.2, whole, measured(15, whole, 0.2, sine(1, 1.7, 0)), period(1.7), real("w", "normal(5, 4)", -20, 30, 100000))
	add("frequency under half normal", "sin(w*x)", 0.2, whole, measured(16, whole, 0.2, sine(1, 1.7, 0)), period(1.7), positive("w", "halfnormal(8)", 45, 100000))
	add("square", "a*a+0*x", 0.3, evenly(0, 1, 4), []float64{9.1, 8.9, 9.0, 9.2}, side(0), real("a", "normal(1, 2)", -6, 6, 20000))

	add("amplitude and frequency", "a*sin(w*x)", 0.2, whole, measured(21, whole, 0.2, sine(1.5, 1.7, 0)), period(1.7),
		uniform("w", 0, 15, 1500), positive("a", "halfnormal(3)", 4, 50))
	add("signed amplitude and frequency", "a*sin(w*x)", 0.2, whole, measured(22, whole, 0.2, sine(1.5, 1.7, 0)),
		func(v []float64) int { return int(math.Floor(v[0] / math.Pi)) }, uniform("w", 0, 12.56, 4000), real("a", "normal(0, 2)", -3, 3, 120))
	add("phase and frequency", "sin(w*x+p)", 0.2, whole, measured(23, whole, 0.2, sine(1, 1.7, 0.4)),
		func(v []float64) int { return int(math.Floor(v[0] / math.Pi)) }, uniform("w", 0, 9.42, 3000), uniform("p", -3.1416, 3.1416, 300))
	add("two phases", "a*sin(3*x+p)", 0.3, half, measured(24, half, 0.3, sine(1, 3, 0.5)),
		side(0.5-math.Pi, 0.5+math.Pi, 0.5+3*math.Pi), uniform("p", -4, 9, 1500), positive("a", "halfnormal(2)", 2, 200))
	days := []float64{0, 1, 2, 3, 7, 8, 9, 10, 14, 15, 16, 21, 22, 23}
	add("radial velocities", "a*sin(6.283185307179586*x/p)", 1, days, measured(25, days, 1, sine(5, 2*math.Pi/3.3, 0)),
		side(1.36, 1.5, 3.1, 3.5), uniform("p", 1.1, 5, 6000), real("a", "normal(0, 5)", -12, 12, 200))
	line := evenly(0, 0.25, 41)
	add("two bumps", "h*exp(-0.5*(x-c)^2/0.09)", 0.3, line, measured(26, line, 0.3, func(x float64) float64 {
		return math.Exp(-(x-2.5)*(x-2.5)/0.18) + math.Exp(-(x-7.5)*(x-7.5)/0.18)
	}), side(5), uniform("c", 0, 10, 2000), positive("h", "halfnormal(2)", 3, 300))
	add("change points", "h/(1+exp(-(x-c)/0.1))", 0.5, line, measured(27, line, 0.5, func(x float64) float64 {
		return 0.5/(1+math.Exp(-(x-3)/0.1)) + 0.5/(1+math.Exp(-(x-7)/0.1))
	}), side(5), uniform("c", 0, 10, 2000), positive("h", "halfnormal(2)", 2, 300))
	add("labels of bumps", "exp(-0.5*(x-m)^2)+exp(-0.5*(x-n)^2)", 0.1, line, measured(28, line, 0.1, func(x float64) float64 {
		return math.Exp(-(x-3)*(x-3)/2) + math.Exp(-(x-6)*(x-6)/2)
	}), func(v []float64) int { return map[bool]int{true: 1}[v[0] > v[1]] }, uniform("m", 0, 10, 800), uniform("n", 0, 10, 800))
	add("two sines", "sin(v*x)+sin(w*x)", 0.3, whole, measured(29, whole, 0.3, func(x float64) float64 { return math.Sin(1.1*x) + math.Sin(2.3*x) }),
		func(v []float64) int { return map[bool]int{true: 1}[v[0] > v[1]] }, uniform("v", 0, 3.1, 1500), uniform("w", 0, 3.1, 1500))
	add("signs", "a*b*x", 0.1, evenly(0, 0.4, 25), measured(30, evenly(0, 0.4, 25), 0.1, func(x float64) float64 { return 6 * x }), side(0),
		real("a", "normal(0, 3)", -8, 8, 2000), real("b", "normal(0, 3)", -8, 8, 2000))

	add("amplitude, frequency and phase", "a*sin(w*x+p)", 0.2, whole, measured(31, whole, 0.2, sine(2, 1.7, 0.4)), side(math.Pi),
		uniform("w", 0, 6.2832, 800), positive("a", "halfnormal(3)", 4, 80), uniform("p", -3.1416, 3.1416, 100))
	add("sine and cosine", "a*sin(w*x)+b*cos(w*x)", 0.3, whole, measured(32, whole, 0.3, sine(1, 1.7, 0.4)), side(math.Pi),
		uniform("w", 0, 6.2832, 800), real("a", "normal(0, 1)", -2, 2, 80), real("b", "normal(0, 1)", -2, 2, 80))
	add("bump of free width", "h*exp(-0.5*((x-c)/s)^2)", 0.3, line, measured(33, line, 0.3, func(x float64) float64 {
		return math.Exp(-(x-2.5)*(x-2.5)/0.18) + math.Exp(-(x-7.5)*(x-7.5)/0.18)
	}), func(v []float64) int { return map[bool]int{true: 2}[v[2] > 1.2] + side(5)(v) }, uniform("c", 0, 10, 400), positive("h", "halfnormal(2)", 3, 100), positive("s", "lognormal(-1, 0.7)", 4, 150))
	out = append(out, severalModes{name: "outliers", expr: "a+0*x", likelihood: "studentt(1.5, mu, 0.1)", x: evenly(0, 1, 6), y: []float64{0.1, -0.2, 0.05, 8.1, 8.05, 7.9},
		axes: []axis{real("a", "normal(0, 20)", -20, 30, 100000)}, mode: side(4)})
	return out
}

// posteriorsOfOneMode are posteriors with one mode that is hard to describe: curved, unbounded, on an edge, or with heavy tails.
var posteriorsOfOneMode = map[string]string{
	"banana":             `{"expr": "b", "data": {"y": [0.0]}, "sigma": "5", "priors": {"a": "normal(0, 2)", "b": "normal(a*a, 0.3)"}}`,
	"funnel":             `{"expr": "0*t", "data": {"y": [0.0]}, "sigma": "1", "priors": {"v": "normal(0, 3)", "t": "normal(0, exp(v/2))"}}`,
	"Cauchy":             `{"expr": "0*a", "data": {"y": [0.0]}, "sigma": "1", "priors": {"a": "cauchy(0, 1)"}}`,
	"heavy tails":        `{"expr": "a+b+c", "data": {"y": [0.0, 1]}, "sigma": "3", "priors": {"a": "cauchy(0, 1)", "b": "studentt(2, 0, 1)", "c": "cauchy(5, 2)"}}`,
	"bound":              `{"expr": "a*x", "data": {"x": [1, 2, 3], "y": [-1, -2, -3.2]}, "sigma": "0.5", "priors": {"a": "halfnormal(5)"}}`,
	"corner":             `{"expr": "a+b*x", "data": {"x": [1, 2, 3], "y": [5, 5.1, 4.9]}, "sigma": "0.5", "priors": {"a": "uniform(0, 3)", "b": "uniform(0, 0.5)"}}`,
	"correlation":        `{"expr": "a+b*x", "data": {"x": [1000, 1001, 1002, 1003], "y": [502.1, 502.4, 503.05, 503.5]}, "sigma": "0.1", "priors": {"a": "normal(0, 100)", "b": "normal(0, 10)"}}`,
	"arcsine":            `{"expr": "0*p", "data": {"y": [0]}, "sigma": "1", "priors": {"p": "beta(0.5, 0.5)"}}`,
	"lognormal":          `{"expr": "0*a", "data": {"y": [0]}, "sigma": "1", "priors": {"a": "lognormal(0, 2)"}}`,
	"ring":               `{"expr": "sqrt(a*a+b*b)", "data": {"y": [3, 3.05, 2.95]}, "sigma": "0.3", "priors": {"a": "normal(0, 5)", "b": "normal(0, 5)"}}`,
	"product":            `{"expr": "a*b", "data": {"y": [6, 6.1]}, "sigma": "0.3", "priors": {"a": "halfnormal(5)", "b": "halfnormal(5)"}}`,
	"decay":              `{"expr": "a*exp(-x/t)", "data": {"x": [0, 1, 2, 3, 4, 5], "y": [5.1, 3.2, 1.7, 1.2, 0.6, 0.5]}, "sigma": "s", "priors": {"a": "halfnormal(10)", "t": "lognormal(0, 2)", "s": "halfnormal(1)"}}`,
	"undetermined decay": `{"expr": "a*exp(-x/t)", "data": {"x": [0, 1, 2, 3, 4, 5], "y": [0.1, -0.2, 0.1, 0.3, -0.1, 0]}, "sigma": "0.2", "priors": {"a": "halfnormal(10)", "t": "lognormal(0, 2)"}}`,
}
