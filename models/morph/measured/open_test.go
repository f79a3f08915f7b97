// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"encoding/json"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// document is a problem file for a reference. Parameters of the morphology start at the truth, and others where the data say.
func (r *reference) document(t testing.TB) map[string]any {
	var data []string
	for _, f := range golden.Glob(t, r.dir+"/raw_draw00*.nc") {
		data = append(data, golden.Path(t, f))
	}
	var constants []any
	if r.Constants != nil {
		for m := range strings.Count(r.Order, ",") - 2 {
			var rows [][4]float64
			for _, e := range r.Energies {
				rows = append(rows, r.Constants[strconv.FormatFloat(e, 'f', 1, 64)][m])
			}
			constants = append(constants, rows)
		}
	} else {
		files := golden.Glob(t, r.dir+"/constants_*")
		slices.SortStableFunc(files, func(a, b string) int {
			return strings.Compare(strconv.FormatBool(strings.Contains(a, "matrix")), strconv.FormatBool(strings.Contains(b, "matrix")))
		})
		for _, f := range files {
			constants = append(constants, golden.Path(t, f))
		}
	}
	parameters := map[string]any{}
	for name, q := range r.Parameters {
		parameters[name] = map[string]any{}
		if slices.Contains(r.problem.MorphologyNames(), name) {
			parameters[name] = map[string]any{"start": q.Truth}
		}
	}
	return map[string]any{"model": r.problem.Model, "grid": map[string]any{"shape": r.Grid.Shape, "voxel": r.Grid.Voxel}, "options": map[string]any{"matrix": true, "width": r.Grid.Width},
		"data": data, "masks": []string{golden.Path(t, r.dir, "mask.npy")}, "constants": constants, "parameters": parameters, "solid_angle": r.Flux != nil}
}

func parse(t testing.TB, document map[string]any) *morph.Problem {
	t.Helper()
	b, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	p, err := morph.ParseProblem(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A problem file opens as the model of the reference: at the true parameters it predicts the counts that are expected, and the nuisances
// that it names without numbers start close enough.
func TestOpen(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		k, err := measured.Open(parse(t, r.document(t)), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Log(strings.Join(k.Read, "\n"))
		if k.Model.Data.Detector != r.model.Data.Detector || k.Model.Data.Keep == nil || !slices.Equal(k.Model.Data.Keep, r.model.Data.Keep) {
			t.Errorf("detector %+v, want %+v", k.Model.Data.Detector, r.model.Data.Detector)
		}
		longest := 0.0
		for i, p := range k.Params {
			x := r.Parameters[p.Name].Truth
			t.Logf("%-16s starts at %8.4g, %v, prior %g +- %g, truth %g", p.Name, p.Start, p.Bounds, p.Mean, p.SD, x)
			if p.Name == "log_scale" && math.Abs(p.Start-x) > 1 {
				t.Errorf("log_scale starts at %g: the truth is %g", p.Start, x)
			}
			if strings.HasPrefix(p.Name, "background") && !(p.Start > x/5 && p.Start < 5*x) {
				t.Errorf("%s starts at %g: the truth is %g", p.Name, p.Start, x)
			}
			k.Params[i].Start = x
		}
		for _, f := range k.Model.Data.Frames {
			longest = max(longest, f.Exposure)
		}
		again := &measured.Task{Model: k.Model, Params: k.Params, Fixed: k.Fixed}
		mean, err := again.Means()
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		n := len(r.model.Data.Keep)
		for _, f := range k.Model.Data.Frames {
			for _, g := range r.model.Data.Frames {
				if g.Energy == f.Energy && g.Angle == f.Angle {
					for i := range n {
						if k.Model.Data.Keep[i] && !math.IsNaN(f.Counts[i]) {
							want = append(want, g.Counts[i]*f.Exposure/longest)
						}
					}
				}
			}
		}
		if len(mean) != len(want) {
			t.Fatalf("%d pixels, want %d", len(mean), len(want))
		}
		for i := range want {
			if math.Abs(mean[i]/want[i]-1) > 1e-5 {
				t.Fatalf("pixel %d: %g, want %g", i, mean[i], want[i])
			}
		}
	})
}
