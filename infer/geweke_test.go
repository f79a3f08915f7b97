// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// joint alternates between a transition of the parameters given data, and data given the parameters, which leaves the joint distribution of both as it is.
//
// Reference: Geweke, doi:10.1198/016214504000001132.
type joint struct {
	post *Posterior
	// in returns the target in which a transition is made.
	in    Target
	tree  *hamiltonian.Tree
	eps   float64
	fault func(all []float64) // planted after each transition
	src   tensor.Stream

	momentum, choice tensor.Stream
	metric           hamiltonian.Metric
}

// again makes programs see the data of the posterior.
func (j *joint) again() {
	given := j.post.givenValues()
	t := j.in
	if m := movedOf(t); m != nil {
		m.runProg, m.runTo, m.runBack, m.f.GivenValues = nil, nil, nil, given
		t = m.Target
	}
	if m, is := t.(*marginal); is {
		m.run, m.at, m.move.GivenValues = nil, nil, given
	}
	j.post.run, j.post.write, j.post.ask, j.post.summing = nil, nil, nil, nil
}

// place returns the coordinates of the sampler of unconstrained parameters.
func (j *joint) place(all []float64) []float64 {
	q := all
	if m := marginalOf(j.in); m != nil {
		q = m.project(all)
	}
	z := slices.Clone(q)
	if m := movedOf(j.in); m != nil {
		if err := m.coordinatesAt(q, z); err != nil {
			panic(err)
		}
	}
	return z
}

// whole is the way back.
func (j *joint) whole(z []float64) []float64 {
	q := slices.Clone(z)
	if m := movedOf(j.in); m != nil {
		if _, err := m.Declared(z, q); err != nil {
			panic(err)
		}
	}
	if m := marginalOf(j.in); m != nil {
		all := make([]float64, m.dim)
		if _, err := m.fill(q, all, &j.src); err != nil {
			panic(err)
		}
		return all
	}
	return q
}

// drawLabels draws the discrete parameters given all else, if there are any.
func (j *joint) drawLabels(q []float64) {
	if j.post.latent == nil {
		return
	}
	s, err := j.post.sums(q)
	if err != nil {
		panic(err)
	}
	j.post.held = s.e.values(s.e.sum.Draw(&s.Tables, &j.src))
}

// run returns the columns of n draws, and of the same functions of as many draws from the prior.
func (j *joint) run(n int) (chain, prior [][]float64) {
	j.src = tensor.NewStream(7, 1, 0)
	j.momentum, j.choice = tensor.NewStream(7, 2, 0), tensor.NewStream(7, 3, 0)
	j.tree.Metric = &j.metric
	starts, err := j.post.PriorStarts(1, 7)
	if err != nil {
		panic(err)
	}
	all, row := starts[0], make([]float64, j.post.Len())
	p := hamiltonian.NewPoint(j.in.Dim())
	j.drawLabels(all)
	for range n {
		y, err := j.post.Predict("y", all, &j.src)
		if err != nil {
			panic(err)
		}
		j.post.data[slices.IndexFunc(j.post.model.data, func(d *datum) bool { return d.name == "y" })] = y
		if err := j.post.computeFixed(); err != nil {
			panic(err)
		}
		j.again()
		copy(p.Q, j.place(all))
		if err := j.tree.Start(&p); err != nil {
			panic(err)
		}
		if _, err := j.tree.Move(&p, j.eps); err != nil {
			panic(err)
		}
		all = j.whole(p.Q)
		if j.fault != nil {
			j.fault(all)
		}
		j.drawLabels(all)
		if err := j.post.Write(all, row); err != nil {
			panic(err)
		}
		chain = append(chain, slices.Concat(row, y))
	}
	j.post.held = nil
	sim, err := j.post.Prior(n, 8)
	if err != nil {
		panic(err)
	}
	for i := range n {
		var row []float64
		for _, v := range j.post.stored() {
			row = append(row, sim.Values(v.name)[i]...)
		}
		prior = append(prior, slices.Concat(row, sim.Values("y")[i]))
	}
	return chain, prior
}

// momentsApart returns by how many standard errors the means of the numbers, their squares and their products with the next differ, the largest first.
func momentsApart(chain, prior [][]float64) (worst float64, which string) {
	functions := func(rows [][]float64, i, kind int) []float64 {
		out := make([]float64, len(rows))
		for k, row := range rows {
			x := row[i]
			out[k] = []float64{x, x * x, x * row[(i+1)%len(row)], math.Abs(x)}[kind]
		}
		return out
	}
	for i := range chain[0] {
		for kind := range 4 {
			a, b := functions(chain, i, kind), functions(prior, i, kind)
			meanA, meanB, seB := 0.0, 0.0, 0.0
			for k := range a {
				meanA, meanB = meanA+a[k]/float64(len(a)), meanB+b[k]/float64(len(b))
			}
			for _, v := range b {
				seB += (v - meanB) * (v - meanB)
			}
			seB = math.Sqrt(seB) / float64(len(b))
			se := math.Hypot(diag.MCSEMean([][]float64{a}), seB)
			if z := math.Abs(meanA-meanB) / se; z > worst {
				worst, which = z, fmt.Sprintf("function %d of number %d: %.3f and %.3f", kind, i, meanA, meanB)
			}
		}
	}
	return worst, which
}

// groups is a hierarchy, small enough for many transitions.
func groups3(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("groups")
	mu := m.Param("mu", dist.Normal(0, 1))
	tau := m.Param("tau", dist.Gamma(4, 4))
	theta := m.Param("theta", dist.Normal(mu, tau), Shape(3))
	m.Observe("y", dist.Normal(theta, 0.8), []float64{0, 1, 2})
	return compiled(t, m)
}

// mixture has labels.
func mixture2(t *testing.T) *Posterior {
	t.Helper()
	m := NewModel("mixture")
	mu := m.Param("mu", dist.Normal(0, 1), Shape(2))
	w := m.Param("w", dist.Beta(3, 2))
	z := m.Param("z", dist.Bernoulli(w), Shape(3))
	m.Observe("y", dist.Normal(ad.Gather(mu, ad.FloorIndex(z), 0), 0.8), []float64{0, 1, 2})
	return compiled(t, m)
}

// joined8 has numbers that all interact.
func joined8(t *testing.T) *Posterior {
	t.Helper()
	const n = 8
	m := NewModel("joined")
	mu, tau := m.Param("mu", dist.Normal(0, 1)), m.Param("tau", dist.Gamma(4, 4))
	factor, y := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			factor[i*n+j] = 1 / float64(1+i-j)
		}
	}
	x := m.Param("x", dist.MultivariateNormalCholesky(ad.Broadcast(mu, n), ad.Mul(tau, ad.Const(factor, n, n))))
	m.Observe("y", dist.Normal(x, 0.8), y)
	return compiled(t, m)
}

// newJoint makes transitions in a target with soft steps above an energy error, 0 for none.
func newJoint(post *Posterior, in Target, eps, soft float64) *joint {
	j := &joint{post: post, in: in, eps: eps}
	j.tree = hamiltonian.NewTree(in, &j.metric, 5, 1000, &j.momentum, &j.choice)
	j.tree.SoftError = soft
	return j
}

// inCoordinates returns the target in coordinates that no warm-up would choose.
func inCoordinates(t *testing.T, target Target) Target {
	t.Helper()
	f, err := coordinatesOf(target)
	if err != nil || f == nil {
		t.Fatal("there are no coordinates to choose", err)
	}
	h := f.asDeclared()
	for i := range h.of {
		n := f.located[i].informed(f.Inputs[f.located[i].Input].Size())
		h.of[i] = information{make([]float64, n), make([]float64, n)}
		for k := range n {
			h.of[i].weight[k], h.of[i].pull[k] = 0.5+float64(k), 0.3*float64(k)
		}
	}
	for i := range h.k {
		h.k[i] = 1.7
	}
	for i := range h.tail {
		h.tail[i] = stretch{0.4, 0.6}
	}
	m, err := f.in(h)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Transitions of every kind leave the joint distribution of parameters and data as it is, and faults do not.
func TestJointDistribution(t *testing.T) {
	n := tier.Of(700, 60_000)
	const limit = 4.8
	for name, build := range map[string]func() *joint{
		"plain steps": func() *joint { p := groups3(t); return newJoint(p, p, 0.5, 0) },
		"soft steps":  func() *joint { p := groups3(t); return newJoint(p, p, 0.8, 0.1) },
		"coordinates": func() *joint { p := groups3(t); return newJoint(p, inCoordinates(t, p), 0.6, 0) },
		"tails": func() *joint {
			m := NewModel("tails")
			x := m.Param("x", dist.StudentT(12, 0, 1), Shape(2))
			m.Observe("y", dist.Normal(x, 0.8), []float64{0, 1})
			p := compiled(t, m)
			return newJoint(p, inCoordinates(t, p), 0.6, 0)
		},
		"tails of groups": func() *joint {
			m := NewModel("groups")
			mu, tau := m.Param("mu", dist.Normal(0, 1)), m.Param("tau", dist.Gamma(4, 4))
			m.Observe("y", dist.Normal(m.Param("theta", dist.StudentT(12, mu, tau), Shape(3)), 0.8), []float64{0, 1, 2})
			p := compiled(t, m)
			// With steps of 0.6 chains stay in the tails for up to 1,133 transitions: 3.8, 4.9, 2.6 and 2.0 standard errors apart after 30,000 to 240,000, which a fault would let grow. Here
			// they stay for 11 at most, and the same lengths are 3.2, 2.4, 3.2 and 3.0 apart.
			return newJoint(p, inCoordinates(t, p), 0.25, 0)
		},
		"marginals":       func() *joint { p := groups3(t); return newJoint(p, integrate(p, true), 0.8, 0) },
		"both":            func() *joint { p := groups3(t); return newJoint(p, inCoordinates(t, integrate(p, true)), 0.8, 0) },
		"joined":          func() *joint { p := joined8(t); return newJoint(p, integrate(p, true), 0.8, 0) },
		"labels":          func() *joint { p := mixture2(t); return newJoint(p, p, 0.7, 0) },
		"labels and soft": func() *joint { p := mixture2(t); return newJoint(p, p, 1.2, 0.1) },
	} {
		j := build()
		if worst, which := momentsApart(j.run(n)); worst > limit {
			t.Errorf("%s: %.1f standard errors apart: %s", name, worst, which)
		}
	}
	p := groups3(t)
	m := integratedOf(t, p)
	faulty := newJoint(p, m, 0.8, 0)
	faulty.fault = func(all []float64) { all[2] += tier.Of(0.4, 0.1) } // what was integrated out has another mean
	if worst, _ := momentsApart(faulty.run(n)); worst < limit {
		t.Errorf("a wrong mean of what is drawn back is not seen: %.1f standard errors apart", worst)
	}
}
