// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// weakly is a parameter with a heavy-tailed prior of which data tell little.
func weakly(t *testing.T, prior dist.Dist, sd float64) *Posterior {
	t.Helper()
	m := NewModel("weakly")
	m.Observe("y", dist.Normal(m.Param("x", prior), sd), []float64{5})
	return compiled(t, m)
}

// quantileOf returns a quantile of a parameter of weakly by sums over asinh x.
func quantileOf(t *testing.T, p *Posterior, share float64) float64 {
	t.Helper()
	const step, reach = 1e-3, 18.0
	var at, mass []float64
	total := 0.0
	for u := -reach; u <= reach; u += step {
		x := math.Sinh(u)
		lp, err := p.LogProbGrad([]float64{x}, make([]float64, 1))
		if err != nil {
			t.Fatal(err)
		}
		total += math.Exp(lp) * math.Cosh(u)
		at, mass = append(at, x), append(mass, total)
	}
	i, _ := slices.BinarySearch(mass, share*total)
	return at[i]
}

// Quantiles under Cauchy priors and those of Student's t with few degrees of freedom are right to 2 % or 4.5 standard errors, or the run is flagged.
func TestQuantilesOfHeavyTails(t *testing.T) {
	tier.SlowOnly(t)
	for name, prior := range map[string]dist.Dist{"Cauchy": dist.Cauchy(0, 1), "t with 1": dist.StudentT(1, 0, 1), "t with 2": dist.StudentT(2, 0, 1), "t with 3": dist.StudentT(3, 0, 1)} {
		for _, sd := range []float64{3, 30, 1e4} {
			p := weakly(t, prior, sd)
			flagged, wrong, worst, ess := 0, 0, 0.0, 0.0
			for seed := range uint64(10) {
				fit := mustSample(t, p, Settings{Seed: seed})
				bad := false
				x := fit.Draws("x")
				all := slices.Sorted(slices.Values(slices.Concat(x...)))
				for _, share := range []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99} {
					want, got := quantileOf(t, p, share), all[int(share*float64(len(all)))]
					z := math.Abs(got-want) / diag.MCSEQuantile(x, share)
					worst = max(worst, z)
					bad = bad || z > 4.5 && math.Abs(got-want) > 0.02*math.Abs(want)
				}
				ess += leastESS(fit) / 10
				if !fit.Diagnose().OK() {
					flagged++
				} else if bad {
					wrong++
				}
			}
			t.Logf("%s, error %g: %d of 10 runs flagged, %d wrong and not flagged, largest deviation %.1f, %.4f effective draws per gradient", name, sd, flagged, wrong, worst, ess)
			if wrong > 0 {
				t.Errorf("%s, error %g: quantiles of %d runs are wrong and not flagged", name, sd, wrong)
			}
		}
	}
}

// The tails of a Cauchy prior are taken in, which the run tells; other coordinates than the declared ones go on bit by bit, and can be left out.
func TestTailsTakenIn(t *testing.T) {
	p := weakly(t, dist.Cauchy(0, 1), 100)
	file := filepath.Join(t.TempDir(), "run")
	settings := Settings{Seed: 1, Draws: 40, Checkpoint: Checkpoint{Path: file}}
	if told := mustSample(t, p, settings).Coordinates(); len(told) != 1 || told[0] != "x by a cube, which takes in its tails" {
		t.Errorf("the run tells %q", told)
	}
	settings.Draws, settings.Resume = 80, file
	resumed := mustSample(t, p, settings)
	settings.Checkpoint, settings.Resume = Checkpoint{}, ""
	if bits(resumed) != bits(mustSample(t, p, settings)) {
		t.Error("a resumed run has other draws")
	}
	settings.Coordinates = DeclaredCoordinates
	if told := mustSample(t, p, settings).Coordinates(); len(told) > 0 {
		t.Errorf("a run in declared coordinates tells %q", told)
	}
}

// The map of tails and its inverse agree, and its determinant is that of its derivative.
func TestMapOfTails(t *testing.T) {
	f, err := coordinatesOf(weakly(t, dist.StudentT(2, 1, 3), 100))
	if err != nil || f == nil {
		t.Fatal("there is nothing to choose", err)
	}
	h := f.asDeclared()
	h.tail[0] = stretch{1.5, 0.7}
	m, err := f.in(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-30, -2, -1e-9, 0, 0.3, 4, 1000} {
		q, z := make([]float64, 1), make([]float64, 1)
		det, err := m.Declared([]float64{x}, q)
		if err != nil {
			t.Fatal(err)
		}
		if want := 1.5 + 0.7*(x+x*x*x/3); math.Abs(q[0]-want) > 1e-13*(1+math.Abs(want)) {
			t.Errorf("%g becomes %g, want %g", x, q[0], want)
		}
		if want := math.Log(0.7 * (1 + x*x)); math.Abs(det-want) > 1e-13*(1+math.Abs(want)) {
			t.Errorf("the logarithm of the determinant at %g is %g, want %g", x, det, want)
		}
		if err := m.coordinatesAt(q, z); err != nil || math.Abs(z[0]-x) > 1e-12*(1+math.Abs(x)) {
			t.Errorf("%g comes back as %g: %v", x, z[0], err)
		}
		if err := CheckGradient(m, []float64{x}); err != nil && math.Abs(x) < 100 {
			t.Error(err)
		}
	}
}

// Tails of effects of groups are taken in relative to their conditional distribution: the map and its inverse agree, its determinant is that of differences, and the density is
// that of the parameters times the determinant.
func TestMapOfTailsOfGroups(t *testing.T) {
	m := NewModel("groups")
	mu, tau := m.Param("mu", dist.Normal(0, 1)), m.Param("tau", dist.Gamma(4, 4))
	m.Observe("y", dist.Normal(m.Param("theta", dist.StudentT(12, mu, tau), Shape(3)), 0.8), []float64{0, 1, 2})
	p := compiled(t, m)
	moved := movedOf(inCoordinates(t, p))
	random := tensor.NewStream(1, 0, 0)
	n := p.Dim()
	for range 20 {
		z, q, back, g := random.NormalTo(make([]float64, n)), make([]float64, n), make([]float64, n), make([]float64, n)
		det, err := moved.Declared(z, q)
		if err != nil {
			t.Fatal(err)
		}
		if err := moved.coordinatesAt(q, back); err != nil {
			t.Fatal(err)
		}
		jacobian := mat.NewDense(n, n, nil)
		for j := range n {
			const h = 1e-5
			up, down, at := make([]float64, n), make([]float64, n), slices.Clone(z)
			at[j] = z[j] + h
			_, err1 := moved.Declared(at, up)
			at[j] = z[j] - h
			_, err2 := moved.Declared(at, down)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for i := range n {
				jacobian.Set(i, j, (up[i]-down[i])/(2*h))
			}
			if math.Abs(back[j]-z[j]) > 1e-9*(1+math.Abs(z[j])) {
				t.Errorf("%v comes back as %v", z, back)
			}
		}
		want, _ := mat.LogDet(jacobian)
		if math.Abs(det-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("the logarithm of the determinant is %g, want %g", det, want)
		}
		there, err1 := moved.LogProbGrad(z, g)
		here, err2 := p.LogProbGrad(q, make([]float64, n))
		if err1 != nil || err2 != nil || math.Abs(there-here-det) > 1e-9*(1+math.Abs(there)) {
			t.Errorf("the log density is %g, want %g: %v %v", there, here+det, err1, err2)
		}
		if err := CheckGradient(moved, z); err != nil {
			t.Error(err)
		}
	}
}
