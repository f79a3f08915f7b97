// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// narrowMode is a posterior of two normal distributions in dim parameters with standard normal priors: one at 0 of the given width, and
// one of width narrow that holds a share of the posterior, at a distance of far in a direction that no axis has.
type narrowMode struct {
	name                     string
	dim                      int
	wide, narrow, share, far float64
}

func (c narrowMode) posterior(t *testing.T) *Posterior {
	m := NewModel(c.name)
	near, away := []*ad.Node{}, []*ad.Node{}
	for i, at := range c.at() {
		x := m.Param(string(rune('a'+i)), dist.Normal(0, 1))
		near = append(near, ad.Square(ad.Scale(1/c.wide, x)))
		away = append(away, ad.Square(ad.Scale(1/c.narrow, ad.Shift(x, -at))))
	}
	d := float64(c.dim)
	// The prior makes the first narrower and scales both.
	first := ad.Shift(ad.Scale(-0.5, ad.AddN(near...)), math.Log(1-c.share)+d*math.Log(math.Sqrt(1/(c.wide*c.wide)+1)))
	second := ad.Shift(ad.Scale(-0.5, ad.AddN(away...)), math.Log(c.share)-d*math.Log(c.narrow)+c.far*c.far/2)
	m.AddLogProb("likelihood", ad.LogAddExp(first, second))
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// at returns the place of the narrow mode.
func (c narrowMode) at() []float64 {
	at, length := make([]float64, c.dim), 0.0
	for i := range at {
		at[i] = 1 + 0.3*float64(i%3)
		if i%2 == 1 {
			at[i] *= -1
		}
		length += at[i] * at[i]
	}
	for i := range at {
		at[i] *= c.far / math.Sqrt(length)
	}
	return at
}

// visited reports whether draws lie in the narrow mode.
func (c narrowMode) visited(fit *Fit) bool {
	at := c.at()
	for k := range fit.Chains() {
		for i := range fit.Len(k) {
			far := 0.0
			for d, x := range fit.Unconstrained(k, i) {
				far += (x - at[d]) * (x - at[d]) / (c.narrow * c.narrow)
			}
			if far < float64(9*c.dim) {
				return true
			}
		}
	}
	return false
}

// A narrow mode to which no climb from near 0 leads is told.
func TestNarrowMode(t *testing.T) {
	c := narrowMode{"narrow", 2, 0.3, 0.1, 0.1, 1.5}
	p, missed := c.posterior(t), 0
	for seed := range uint64(6) {
		fit := mustSample(t, p, Settings{Seed: seed})
		if c.visited(fit) {
			continue
		}
		missed++
		r := fit.Diagnose()
		if i := slices.IndexFunc(r.Problems(), func(a diag.Advice) bool { return a.Check == diag.CheckModes }); i < 0 || !strings.Contains(r.String(), "a mode at") {
			t.Errorf("seed %d: nobody is told of the narrow mode: %s", seed, r)
		}
	}
	if missed == 0 {
		t.Error("chains come to the narrow mode in all runs, so nothing is tested")
	}
}

// The search takes a small part of the gradients of a run and does not change its draws.
func TestModeSearchIsShort(t *testing.T) {
	p := narrowMode{"narrow", 3, 0.3, 0.05, 0.05, 1.5}.posterior(t)
	fit := mustSample(t, p, Settings{Seed: 1, Warmup: 300, Draws: 300})
	before := slices.Clone(fit.Unconstrained(0, 299))
	warmup, sampling := fit.Gradients()
	m := &modeFinder{fit: fit, target: fit.chains[0].target}
	m.climbFromDraw(0)
	used := m.calls
	m.tryFromPrior()
	if most := int(modeEffort*float64(warmup+sampling)) + 1; m.calls-used > most {
		t.Errorf("climbs from the prior took %d evaluations: want at most %d", m.calls-used, most)
	}
	if w, s := fit.Gradients(); w != warmup || s != sampling || !slices.Equal(before, fit.Unconstrained(0, 299)) {
		t.Error("the search changed the run")
	}
}

// apart is a posterior of dim parameters and two equal modes, at 0 and at 20 in the parameter a. Climbs from near 0 find the first only.
// The last parameter has no prior if flat is set.
func apart(t *testing.T, dim int, flat bool) *Posterior {
	m := NewModel("apart")
	a := m.Param("a", dist.Normal(10, 10))
	m.AddLogProb("modes", ad.LogAddExp(ad.Scale(-0.5, ad.Square(a)), ad.Scale(-0.5, ad.Square(ad.Shift(a, -20)))))
	for i := 1; i < dim; i++ {
		name := string(rune('a' + i))
		if flat && i == dim-1 {
			m.AddLogProb("of "+name, ad.Scale(-0.5, ad.Square(m.Flat(name, dist.IdentityTransform()))))
		} else {
			m.Param(name, dist.Normal(a, 1)) // draws of it depend on those of a
		}
	}
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A mode on the other side of what separates it from places near 0 is told in models of any number of parameters, in short runs, and
// where a parameter has no prior.
func TestModeApart(t *testing.T) {
	for _, c := range []struct {
		name        string
		dim         int
		flat        bool
		warm, draws int
	}{
		{"ten parameters", 10, false, 300, 300},
		{"ten parameters, one without a prior", 10, true, 300, 300},
		{"three parameters, one without a prior", 3, true, 300, 300},
		{"a short run", 3, false, 100, 50},
	} {
		p := apart(t, c.dim, c.flat)
		for seed := range uint64(3) {
			fit := mustSample(t, p, Settings{Seed: seed, Warmup: c.warm, Draws: c.draws})
			missed := fit.MissedModes()
			if len(missed) != 1 || missed[0].Name != "a" || math.Abs(missed[0].Value-20) > 1 {
				t.Errorf("%s, seed %d: the missed modes are %v: want one near a = 20", c.name, seed, missed)
			}
		}
	}
}

// The points of the prior take the values of parameters without a prior from the run, and those of which none has a prior have no points.
func TestPriorPointsWithoutPrior(t *testing.T) {
	m := NewModel("levels")
	m.Param("a", dist.Normal(m.Flat("level", dist.IdentityTransform()), 1e-6))
	p, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	points, err := p.priorPoints(8, 1, func(i int) []float64 { return []float64{float64(i), -100} })
	if err != nil || len(points) != 8 {
		t.Fatalf("%d points, %v: want 8", len(points), err)
	}
	for i, q := range points {
		if q[0] != float64(i) || math.Abs(q[1]-q[0]) > 1e-4 {
			t.Errorf("point %d is %v: want a next to the level of draw %d", i, q, i)
		}
	}
	alone := NewModel("alone")
	alone.AddLogProb("of x", ad.Scale(-0.5, ad.Square(alone.Flat("x", dist.IdentityTransform()))))
	if p, err = alone.Compile(); err != nil {
		t.Fatal(err)
	}
	for _, posterior := range []func(int) []float64{nil, func(int) []float64 { return []float64{0} }} {
		if points, err := p.priorPoints(8, 1, posterior); err == nil {
			t.Errorf("a model without priors has the points %v of its prior", points)
		}
	}
}

// Modes that an earlier run found are told of a run that does not find them itself, and those that its draws represent are not.
func TestFindModes(t *testing.T) {
	c := narrowMode{"narrow", 2, 0.3, 0.01, 0.3, 1.5}
	p, lacking := c.posterior(t), 0
	for seed := range uint64(6) {
		fit := mustSample(t, p, Settings{Seed: seed})
		if c.visited(fit) || len(fit.MissedModes()) > 0 {
			continue
		}
		lacking++
		fit.FindModes("attempt 1", []float64{0.1, -0.1}, fit.Unconstrained(0, 0))
		if missed := fit.MissedModes(); len(missed) > 0 || !fit.Diagnose().OK() {
			t.Errorf("seed %d: the mode of the draws is missed: %v", seed, missed)
		}
		fit.FindModes("attempt 1", c.at(), c.at())
		if missed := fit.MissedModes(); len(missed) != 1 || missed[0].By != "attempt 1" || math.Abs(missed[0].At[0]-c.at()[0]) > 0.01 || fit.Diagnose().OK() {
			t.Errorf("seed %d: the missed modes are %v: want that of attempt 1", seed, missed)
		}
	}
	if lacking == 0 {
		t.Error("all runs find the narrow mode themselves, so nothing is tested")
	}
}
