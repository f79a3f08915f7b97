// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"path"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// Closed forms expect the counts of the references, which are sums over voxels, to what their coarse voxels leave.
func TestClosedFormsExpectTheCountsOfVoxels(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		r.problem.Parameters = map[string]morph.ProblemParam{}
		for name, p := range r.Parameters {
			r.problem.Parameters[name] = morph.ProblemParam{Start: morph.StartValues{p.Truth}}
		}
		r.problem.Options.Closed = true
		r.model.Closed = r.problem.Closed
		rates, in := r.rates(t)
		p, err := ad.Compile([]*ad.Node{rates}, ad.Settings{Inputs: in})
		if err != nil {
			t.Fatal(err)
		}
		st := p.NewState()
		_, x := r.names()
		for i, v := range x {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			t.Fatal(err)
		}
		worst, square, n := 0.0, 0.0, 0.0
		for i, v := range st.Output(0) {
			if keep := r.model.Data.Keep; keep[i%len(keep)] {
				pull := (v - r.expected[i]) / math.Sqrt(r.expected[i])
				worst, square, n = math.Max(worst, math.Abs(pull)), square+pull*pull, n+1
			}
		}
		if rms := math.Sqrt(square / n); !(rms < 0.02) || !(worst < 0.3) {
			t.Errorf("%s: counts differ by %.3g standard deviations in the root mean square and by at most %.3g, want 0.02 and 0.3", name, rms, worst)
		}
	})
}

// A fit of rods with a spread of directions finds it, with the radius and the order.
func TestFitOfAnEnsemble(t *testing.T) {
	truth := map[string]float64{"radius": 5, "aligned": 0.6, "theta_sd_deg": 20, "log_scale": 12, "background": 3}
	names := []string{"radius", "aligned", "theta_sd_deg", "log_scale", "background"}
	p := &morph.Problem{Model: "rods", Grid: morph.ProblemGrid{Shape: [3]int{14, 16, 16}, Voxel: 2}, Fixed: map[string]float64{"length": 16, "theta_deg": 90}, Parameters: map[string]morph.ProblemParam{"radius": {Start: morph.StartValues{5}}}}
	small := small(t, 1).Model
	m := &measured.Model{Data: small.Data, Tables: small.Tables[1:], Matrix: small.Matrix, Morphology: p.MorphologyNames(), Width: 1}
	m.Closed = func(at morph.Values, q float64) morph.ClosedForm {
		given := map[string]*ad.Node{}
		for _, name := range names[:3] {
			given[name] = at(name)
		}
		return p.Closed(p.Values(given), q)
	}
	k := &measured.Task{Model: m}
	for _, name := range names {
		k.Params = append(k.Params, measured.Param{Name: name, Start: truth[name]})
	}
	mu, err := k.Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2, 5))
	pixels := m.Data.Detector.Rows * m.Data.Detector.Columns
	for i, v := range mu {
		m.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	for i := range k.Params {
		k.Params[i].Start *= 0.85
	}
	s, err := (&measured.Task{Model: m, Params: k.Params}).Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range s.Names {
		if pull := (s.X[i] - truth[name]) / s.SD[i]; !(math.Abs(pull) < 3.5) || !(s.SD[i] < 0.2*truth[name]) {
			t.Errorf("%s is %g +- %g, want %g", name, s.X[i], s.SD[i], truth[name])
		}
	}
}
