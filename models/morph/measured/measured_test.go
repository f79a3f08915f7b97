// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// truthOf are the parameters of a small measurement of a ball with a shell.
var truthOf = map[string]float64{"radius": 6, "shell": 5, "aligned": 0.6, "log_scale": 12, "background": 3, "centre_x": 0.7, "centre_y": -0.4, "resolution": 0.8}

// small is that measurement, with counts drawn about their expectations.
func small(t testing.TB, seed uint64) *measured.Task { return smallOf(t, seed, false) }

// smallOf is small by voxels or in closed form, which is quicker.
func smallOf(t testing.TB, seed uint64, closed bool) *measured.Task {
	t.Helper()
	p := &morph.Problem{Model: "core_shell", Grid: morph.ProblemGrid{Shape: [3]int{14, 16, 16}, Voxel: 2}, Fixed: map[string]float64{}}
	table := func(rows ...[4]float64) (out measured.Table) {
		for i, c := range rows {
			out.Energies = append(out.Energies, 284+float64(i))
			out.Constants = append(out.Constants, rsoxs.Constants{DeltaPara: c[0], BetaPara: c[1], DeltaPerp: c[2], BetaPerp: c[3]})
		}
		return out
	}
	matrix := table([4]float64{2e-4, 2e-4, 2e-4, 2e-4}, [4]float64{4e-4, 7e-4, 4e-4, 7e-4})
	m := &measured.Model{Grid: morph.Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}, Matrix: &matrix, Morphology: p.MorphologyNames(), Width: 1,
		Tables: []measured.Table{table([4]float64{-1e-3, 6e-4, -1e-3, 6e-4}, [4]float64{-5e-4, 1.3e-3, -5e-4, 1.3e-3}), table([4]float64{9e-4, 3e-4, 6e-4, 4e-4}, [4]float64{-1.3e-3, 1.1e-3, -4e-4, 2.4e-3})},
		Data:   &measured.Data{Detector: farfield.Detector{Rows: 20, Columns: 22, PixelY: 0.25, PixelX: 0.25}, Geometry: measured.Geometry{Distance: 10, PoniY: 2.5, PoniX: 2.8}}}
	m.Scene = func(at morph.Values) morph.Scene {
		given := map[string]*ad.Node{}
		for _, name := range m.Morphology {
			if n := at(name); n != nil {
				given[name] = n
			}
		}
		return p.Morphology(p.Values(given))
	}
	if closed {
		p.Options.Closed, p.Options.Width = true, 1
		p.Parameters = map[string]morph.ProblemParam{"radius": {Start: morph.StartValues{6}}, "shell": {Start: morph.StartValues{5}}, "aligned": {Start: morph.StartValues{0.6}}}
		m.Closed = func(at morph.Values, q float64) morph.ClosedForm {
			given := map[string]*ad.Node{}
			for _, name := range m.Morphology {
				if n := at(name); n != nil {
					given[name] = n
				}
			}
			return p.Closed(p.Values(given), q)
		}
	}
	pixels := m.Data.Detector.Rows * m.Data.Detector.Columns
	for _, e := range []float64{284, 285} {
		m.Data.Frames = append(m.Data.Frames, measured.Frame{Energy: e, Exposure: 10, Counts: make([]float64, pixels)})
	}
	k := &measured.Task{Model: m}
	for _, name := range []string{"radius", "shell", "aligned", "log_scale", "background", "centre_x", "centre_y", "resolution"} {
		q := measured.Param{Name: name, Start: truthOf[name]}
		if name == "background" || name == "resolution" {
			q.Bounds = []float64{0, 10}
		}
		k.Params = append(k.Params, q)
	}
	mu, err := k.Means()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 5))
	for i, v := range mu {
		m.Data.Frames[i/pixels].Counts[i%pixels] = distuv.Poisson{Lambda: v, Src: random}.Rand()
	}
	return &measured.Task{Model: m, Params: k.Params}
}

// A fit finds the truth within its errors, from a start that is not it, and its model is not flagged.
func TestFitFindsTheTruth(t *testing.T) {
	k := small(t, 3)
	for i := range k.Params {
		k.Params[i].Start = 0.9*truthOf[k.Params[i].Name] + 0.05
	}
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range s.Names {
		if pull := (s.X[i] - truthOf[name]) / s.SD[i]; !(math.Abs(pull) < 3.5) {
			t.Errorf("%s is %g +- %g, want %g", name, s.X[i], s.SD[i], truthOf[name])
		}
	}
	v, err := k.Check(s)
	if err != nil || !v.OK {
		t.Errorf("the right model: %v, %v", v, err)
	}
}

// What a model leaves out is named first, with what to add.
func TestWhatIsLeftOutIsNamed(t *testing.T) {
	tier.SlowOnly(t)
	for without, want := range map[string]string{"centre_x": "beam centre", "background": "background", "resolution": "blur"} {
		k := smallOf(t, 3, true)
		k.Fixed = map[string]float64{"shell": truthOf["shell"], "aligned": truthOf["aligned"]} // fits of fewer parameters are quicker
		k.Params = slices.DeleteFunc(k.Params, func(p measured.Param) bool {
			return p.Name == "shell" || p.Name == "aligned" || p.Name == without || without == "centre_x" && p.Name == "centre_y"
		})
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := k.Check(s)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(v.Flags, func(f check.Flag) bool { return f.Kind == want }); i != 0 || !strings.Contains(v.Flags[i].Remedy, without) {
			t.Errorf("without %s: %v", without, v.Flags)
		}
	}
}

// A detector that is far too far away for the sample is told before a fit.
func TestDistanceThatShowsNothing(t *testing.T) {
	k := small(t, 1)
	k.Model.Data.Geometry.Distance *= 1000
	if _, err := k.Means(); err == nil || !strings.Contains(err.Error(), "looks like a point: check the distance (10000 mm)") {
		t.Error(err)
	}
}
