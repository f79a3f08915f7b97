// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// manyGroups is a hierarchy, centred or a random walk, and data sets for it.
func manyGroups(t *testing.T, walk bool, sets int) (*Posterior, []DataSet) {
	t.Helper()
	const n = 12
	m := NewModel("groups")
	tau := m.Param("tau", dist.HalfNormal(1))
	var theta *ad.Node
	if walk {
		theta = m.Param("theta", dist.Normal(0, 5), Shape(n))
		m.AddLogProb("steps", ad.Sum(dist.Normal(0, tau).LogProb(ad.Sub(ad.Slice(theta, 0, 1, n), ad.Slice(theta, 0, 0, n-1)))))
	} else {
		theta = m.Param("theta", dist.Normal(m.Param("mu", dist.Normal(0, 2)), tau), Shape(n))
	}
	var all []DataSet
	random := tensor.NewStream(7, 0, 0)
	for range sets {
		all = append(all, DataSet{Data: map[string][]float64{"y": random.NormalTo(make([]float64, n))}})
	}
	m.Observe("y", dist.Normal(theta, 0.8), all[0].Data["y"])
	return compiled(t, m), all
}

// Where parameters are integrated out, chains in lock step make the draws of chains alone, the draws of a set depend neither on the other sets nor on the number of threads, and
// they have the distribution of those of Sample.
func TestSampleEachIntegratesOut(t *testing.T) {
	for name, walk := range map[string]bool{"groups": false, "walk": true} {
		p, sets := manyGroups(t, walk, 40)
		cfg, err := Settings{Chains: 2, NoWarmup: true, Draws: 40, StepSize: 0.4, Seed: 3}.withDefaults(p.dim)
		if err != nil {
			t.Fatal(err)
		}
		fits := make([]*Fit, len(sets))
		e := &setsRun{post: p, rest: marginalOf(integrate(p, true)), cfg: cfg, sets: sets, names: []string{"y"}, done: func(i int, fit *Fit, err error) {
			if fits[i] = fit; err != nil {
				t.Error(err)
			}
		}}
		if e.rest == nil {
			t.Fatal(name, "nothing is integrated out")
		}
		work, err := e.worker()
		if err != nil || e.rest == nil {
			t.Fatal(name, "there is no program for lanes", err)
		}
		work()
		for _, i := range []int{0, 17, 39} {
			alone := p.Clone().(*Posterior)
			if err := alone.SetData("y", sets[i].Data["y"]); err != nil {
				t.Fatal(err)
			}
			own := cfg
			own.Seed += uint64(i)
			var stop atomic.Bool
			c := newChain(&own, 1, e.rest.over(alone), &stop)
			c.run(func() {})
			for k, row := range c.kept.rows[:10] {
				got := fits[i].Unconstrained(1, k)
				if s := fits[i].Stats(1)[k]; s.Steps != c.kept.stats[k].Steps {
					t.Fatalf("%s: draw %d of set %d takes %d steps, alone %d", name, k, i, s.Steps, c.kept.stats[k].Steps)
				}
				for j, v := range row[:1] {
					if !(math.Abs(got[j]-v) <= 1e-9*(1+math.Abs(v))) {
						t.Fatalf("%s: draw %d of set %d is %v, alone %v", name, k, i, got, row)
					}
				}
			}
		}
		again := map[int]*Fit{}
		settings := Settings{Seed: 3, Warmup: 200, Draws: tier.Of(100, 1000)}
		for _, c := range []struct {
			sets     []DataSet
			parallel int
		}{{sets[:2], 2}, {append([]DataSet{sets[0]}, sets[20:tier.Of(21, 25)]...), 1}} {
			settings.Parallel = c.parallel
			if err := p.SampleEach(t.Context(), c.sets, settings, func(i int, fit *Fit, err error) {
				if err != nil {
					t.Error(err)
					return
				}
				if i == 0 && again[0] != nil && !slices.Equal(again[0].Draws("theta[3]")[1], fit.Draws("theta[3]")[1]) {
					t.Errorf("%s: draws depend on other sets", name)
				}
				again[i] = fit
			}); err != nil {
				t.Fatal(err)
			}
		}
		if told := strings.Join(again[0].Coordinates(), "; "); !strings.Contains(told, "theta is integrated out exactly") {
			t.Errorf("%s: the run tells %q", name, told)
		}
		one := mustSample(t, p, Settings{Seed: 9, Draws: tier.Of(200, 1000)}).Summary()
		for i, r := range again[0].Summary().Rows {
			o := one.Rows[i]
			if z := math.Abs(r.Mean-o.Mean) / math.Hypot(r.MCSEMean, o.MCSEMean); !(z < 4.5) {
				t.Errorf("%s: the means of %s are %g and %g", name, r.Name, r.Mean, o.Mean)
			}
			if z := math.Abs(r.SD-o.SD) / math.Hypot(r.MCSESD, o.MCSESD); !(z < 4.5) {
				t.Errorf("%s: the standard deviations of %s are %g and %g", name, r.Name, r.SD, o.SD)
			}
		}
		t.Logf("%s: %.4f effective draws for each gradient", name, leastESS(again[0]))
	}
}
