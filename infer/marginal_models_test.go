// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/gp"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// Models whose normal parameters interact with many others. Data are drawn from the models.

// crossed are scores of persons on items, of which each pair occurs once or never.
func crossed(t *testing.T, persons, items, scores int) *Posterior {
	t.Helper()
	m := NewModel("crossed")
	mu := m.Param("mu", dist.Normal(0, 5))
	sds := m.Param("sds", dist.HalfNormal(1), Shape(2))
	sd := m.Param("sd", dist.HalfNormal(1))
	a := m.Param("person", dist.Normal(0, ad.Index(sds, 0, 0)), Shape(persons))
	b := m.Param("item", dist.Normal(0, ad.Index(sds, 0, 1)), Shape(items))
	src := tensor.NewStream(1, 2, 3)
	truth := src.NormalTo(make([]float64, persons+items))
	var who, what []int
	var y []float64
	for i := range scores {
		j, k := i%persons, (i/persons+i)%items
		who, what = append(who, j), append(what, k)
		y = append(y, 1+truth[j]+0.5*truth[persons+k]+0.7*src.Normal())
	}
	m.Observe("y", dist.Normal(ad.AddN(mu, ad.Gather(a, ad.Ints(who), 0), ad.Gather(b, ad.Ints(what), 0)), sd), y)
	return compiled(t, m)
}

// correlatedGroups are groups with a mean and a slope that are correlated, in one of two forms.
func correlatedGroups(t *testing.T, groups, n int, standard bool) *Posterior {
	t.Helper()
	m := NewModel("correlated")
	mu := m.Param("mu", dist.Normal(0, 2), Shape(2))
	tau := m.Param("tau", dist.HalfNormal(1), Shape(2))
	corr := m.Param("corr", dist.LKJCholesky(2, 2))
	sd := m.Param("sd", dist.HalfNormal(1))
	scale := ad.Mul(ad.Reshape(tau, 2, 1), corr)
	var b *ad.Node
	if standard {
		b = ad.Add(mu, ad.MatMul(m.Param("z", dist.Normal(0, 1), Shape(groups, 2)), ad.T(scale)))
	} else {
		b = m.Param("effects", dist.MultivariateNormalCholesky(mu, scale), Shape(groups, 2))
	}
	src := tensor.NewStream(2, 2, 3)
	truth := src.NormalTo(make([]float64, 2*groups))
	var of []int
	var x, y []float64
	for i := range n {
		g := i % groups
		of, x = append(of, g), append(x, math.Sin(float64(i*i)))
		y = append(y, truth[g]+(0.8*truth[g]+0.3*truth[groups+g])*x[i]+0.5*src.Normal())
	}
	g := ad.Ints(of)
	column := func(k int) *ad.Node { return ad.Gather(ad.Index(b, 1, k), g, 0) }
	m.Observe("y", dist.Normal(ad.Add(column(0), ad.Mul(column(1), m.Data("x", x))), sd), y)
	return compiled(t, m)
}

// noisyProcess is a Gaussian process that is observed with normal errors, by its values or in standard form.
func noisyProcess(t *testing.T, n int, values bool) *Posterior {
	t.Helper()
	m := NewModel("process")
	length := m.Param("length", dist.InverseGamma(5, 5))
	alpha := m.Param("alpha", dist.HalfNormal(1))
	sd := m.Param("sd", dist.HalfNormal(1))
	k, src := gp.Add(gp.Matern32(alpha, length)), tensor.NewStream(3, 2, 3)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 10 * float64(i) / float64(n)
		y[i] = math.Sin(x[i]) + 0.3*src.Normal()
	}
	var f *ad.Node
	if values {
		f = m.Param("f", gp.Prior(k, x, nil))
	} else {
		f = gp.Latent(k, x, nil, m.Param("z", dist.Normal(0, 1), Shape(n)))
	}
	m.Observe("y", dist.Normal(f, sd), y)
	return compiled(t, m)
}

// trend is a random walk of second order that is observed with normal errors.
func trend(t *testing.T, n int) *Posterior {
	t.Helper()
	m := NewModel("trend")
	step, sd := m.Param("step", dist.HalfNormal(1)), m.Param("sd", dist.HalfNormal(1))
	x := m.Flat("x", dist.IdentityTransform(), Shape(n))
	m.AddLogProb("start", dist.Normal(0, 2).LogProb(ad.Slice(x, 0, 0, 2)))
	m.AddLogProb("steps", dist.Normal(ad.Sub(ad.Scale(2, ad.Slice(x, 0, 1, n-1)), ad.Slice(x, 0, 0, n-2)), step).LogProb(ad.Slice(x, 0, 2, n)))
	m.Observe("y", dist.Normal(x, sd), sines(n))
	return compiled(t, m)
}

// levels is a level that moves along a slope, which moves too.
func levels(t *testing.T, n int) *Posterior {
	t.Helper()
	m := NewModel("levels")
	steps, sd := m.Param("steps", dist.HalfNormal(1), Shape(2)), m.Param("sd", dist.HalfNormal(1))
	level, slope := m.Flat("level", dist.IdentityTransform(), Shape(n)), m.Flat("slope", dist.IdentityTransform(), Shape(n))
	head, tail := func(x *ad.Node) *ad.Node { return ad.Slice(x, 0, 0, n-1) }, func(x *ad.Node) *ad.Node { return ad.Slice(x, 0, 1, n) }
	m.AddLogProb("start", dist.Normal(0, 2).LogProb(ad.Concat(0, ad.Slice(level, 0, 0, 1), ad.Slice(slope, 0, 0, 1))))
	m.AddLogProb("levels", dist.Normal(ad.Add(head(level), head(slope)), ad.Index(steps, 0, 0)).LogProb(tail(level)))
	m.AddLogProb("slopes", dist.Normal(head(slope), ad.Index(steps, 0, 1)).LogProb(tail(slope)))
	m.Observe("y", dist.Normal(level, sd), sines(n))
	return compiled(t, m)
}

func sines(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = 2*math.Sin(float64(i)/3) + 0.3*math.Cos(float64(5*i*i))
	}
	return y
}

// basis returns the values of so many sines at n places.
func basis(n, functions int) []float64 {
	out := make([]float64, n*functions)
	for i := range out {
		out[i] = math.Sin(math.Pi * float64(i%functions+1) * (float64(i/functions) + 0.5) / float64(n))
	}
	return out
}

// twoProcesses is a Gaussian process with a second one for the logarithm of its error, both by the sines of a basis.
func twoProcesses(t *testing.T, n, functions int) *Posterior {
	t.Helper()
	m := NewModel("two processes")
	process := func(name string, functions int) *ad.Node {
		sd, length := m.Param("sd_"+name, dist.HalfNormal(1)), m.Param("length_"+name, dist.InverseGamma(3, 0.5))
		order := make([]float64, functions)
		for k := range order {
			order[k] = float64(k + 1)
		}
		spectrum := ad.Mul(ad.Mul(sd, ad.Sqrt(length)), ad.Exp(ad.Scale(-0.25, ad.Square(ad.Mul(length, ad.Const(order))))))
		return ad.MatMul(ad.Const(basis(n, functions), n, functions), ad.Mul(spectrum, m.Param(name, dist.Normal(0, 1), Shape(functions))))
	}
	src := tensor.NewStream(7, 2, 3)
	y := make([]float64, n)
	for i := range y {
		x := float64(i) / float64(n)
		y[i] = math.Sin(9*x) + math.Exp(-2+2*x)*src.Normal()
	}
	mean, logSD := process("mean", functions), process("error", (functions+1)/2)
	m.Observe("y", dist.Normal(mean, ad.Exp(ad.Add(m.Param("level", dist.Normal(0, 2)), logSD))), y)
	return compiled(t, m)
}

// Data that tell nothing of effects leave the posterior of their scale what its prior is. The density as declared grows without end where the scale is 0, over no part of the
// posterior, which is no mode that was missed.
func TestScaleOfUntoldEffectsHasNoOtherMode(t *testing.T) {
	m := NewModel("untold")
	mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfNormal(5))
	m.Observe("y", dist.Normal(m.Param("theta", dist.Normal(mu, tau), Shape(8)), 1e12), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	p := compiled(t, m)
	for seed := range uint64(tier.Of(1, 20)) {
		fit := mustSample(t, p, Settings{Seed: seed})
		if report := fit.Diagnose(); !report.OK() {
			t.Errorf("seed %d: %s", seed, report)
		}
		if r := fit.Summary().Row("tau"); !(math.Abs(r.Mean-5*math.Sqrt(2/math.Pi)) < 4.5*r.MCSEMean) {
			t.Errorf("seed %d: the mean of the scale is %g +- %g", seed, r.Mean, r.MCSEMean)
		}
	}
}
