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

	"github.com/euryale-dev/euryale/data/scatter"
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
		again.Model.Tolerance = 1e-8
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

// What is wrong with the files or the parameters of a problem is said with the numbers, and with what to try.
func TestOpenRefuses(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		others := golden.Glob(t, path.Dir(path.Dir(name))+"/*/raw_draw01*.nc")
		if len(r.Exposures) == 0 || len(others) < 2 {
			t.Skip("this measurement has one exposure, or no second draw beside it: one that has both is tried")
		}
		parameter := func(name string, value any) func(d map[string]any) {
			return func(d map[string]any) { d["parameters"].(map[string]any)[name] = value }
		}
		first := golden.Path(t, golden.Glob(t, r.dir+"/raw_draw00*.nc")[0])
		for _, c := range []struct {
			spoil func(d map[string]any)
			want  []string
		}{
			{parameter("centr_x", map[string]any{}), []string{`unknown parameter "centr_x": did you mean "centre_x"?`}},
			{parameter("fluorescence_4", map[string]any{}), []string{`unknown parameter "fluorescence_4"`, "N from 1 to 3"}},
			{parameter("resolution", map[string]any{"prior": "poisson(2)"}), []string{"the prior of resolution", "poisson"}},
			{parameter("purity", map[string]any{"start": 1.2}), []string{"purity starts at 1.2, outside its bounds 0.5 to 1"}},
			{func(d map[string]any) { d["data"] = []string{first, golden.Path(t, others[len(others)-1])} }, []string{"the pixel along y is 0.06", "0.36"}},
			{func(d map[string]any) { d["data"], d["loss"] = golden.Path(t, r.dir, "remeshed_qxy.nc"), "poisson" }, []string{"hold no counts"}},
			{func(d map[string]any) { d["grid"] = map[string]any{"shape": r.Grid.Shape, "voxel": 20.} }, []string{"q reaches 0.", "the voxels of 20 nm end at 0.157"}},
			{func(d map[string]any) { d["energies"] = []float64{283.6, 286} }, []string{"no pattern at 286 eV"}},
			{func(d map[string]any) { d["constants"] = []any{"vacuum", [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}}} }, []string{"constants of material 2", "2 rows are given for 3 energies, [283.6 285 287.8] eV"}},
		} {
			d := r.document(t)
			c.spoil(d)
			_, err := measured.Open(parse(t, d), "")
			if err == nil {
				t.Fatalf("no error: want %q", c.want)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v: want %q", err, w)
				}
			}
		}
	})
}

// A particle that is larger than its box, and edges that are wide for its size, are told with the numbers.
func TestDoubts(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		if r.Parameters["radius"].Truth == 0 {
			t.Skip("the sample of this measurement has no radius, which the doubts are about")
		}
		d := r.document(t)
		k, err := measured.Open(parse(t, d), "")
		if err != nil || strings.Contains(strings.Join(k.Read, " "), "faces of its box") {
			t.Errorf("the right particle: %v", err)
		}
		d["parameters"].(map[string]any)["radius"] = map[string]any{"start": 40}
		d["parameters"].(map[string]any)["shell"] = map[string]any{"start": 4}
		if k, err = measured.Open(parse(t, d), ""); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"faces of its box of 61.2 x 64.8 x 68.4 nm", "the width of the edges, 1.3 nm, is more than a quarter of shell, 4 nm"} {
			if !strings.Contains(strings.Join(k.Read, "\n"), want) {
				t.Errorf("%v: want %q", k.Read, want)
			}
		}
	})
}

// Files of one detector at other energies are told apart by their energies, and not by the order of their patterns.
func TestFilesAtOtherEnergies(t *testing.T) {
	set := func(name string, energies ...float64) *scatter.Set {
		s := &scatter.Set{Name: name, Kind: scatter.Images, Rows: 1, Columns: 2, Geometry: scatter.Geometry{PixelY: 1, PixelX: 1, Distance: 100}}
		for _, e := range energies {
			s.Frames = append(s.Frames, scatter.Frame{Energy: e, Exposure: 1, Counts: []float64{1, 2}})
		}
		return s
	}
	d, _, err := measured.FromFiles(measured.Reading{}, set("a", 285, 290), set("b", 290.004, 285))
	if err != nil || len(d.Frames) != 4 {
		t.Fatalf("%v", err)
	}
	_, _, err = measured.FromFiles(measured.Reading{}, set("a", 285, 290), set("b", 285, 291))
	if err == nil || !strings.Contains(err.Error(), "a has patterns at 290 eV, and b has none: its energies are [285 291]") {
		t.Error(err)
	}
	none := set("c", 285)
	none.Frames[0].Exposure = 0
	if _, _, err := measured.FromFiles(measured.Reading{}, none); err == nil || !strings.Contains(err.Error(), `give it with "exposure" in s`) {
		t.Error(err)
	}
}

// Every parameter of the measurement has a sentence that says what it is, and a name that no other has.
func TestNuisances(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range measured.Nuisances() {
		if !strings.HasSuffix(n.About, ".") || seen[n.Name] {
			t.Errorf("%s: %q", n.Name, n.About)
		}
		seen[n.Name] = true
	}
}

// The beam is found by the symmetry of the patterns, and "nuisances": "all" frees what the data can have and tell apart; a prior may be any
// distribution.
func TestFreeAll(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		if r.Flux != nil {
			t.Skip("a measurement with many parameters takes half a minute")
		}
		d := r.document(t)
		parameters := map[string]any{}
		for n, q := range d["parameters"].(map[string]any) {
			if slices.Contains(r.problem.MorphologyNames(), n) {
				parameters[n] = q
			}
		}
		parameters["log_scale"] = map[string]any{"prior": "uniform(1, 9)"}
		const bin = 3 // for speed
		d["parameters"], d["nuisances"], d["bin"] = parameters, "all", bin
		k, err := measured.Open(parse(t, d), "")
		if err != nil {
			t.Fatal(err)
		}
		names := k.Names()
		for _, want := range []string{"log_scale", "centre_x", "centre_y", "resolution", "background_q4"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s is not among %v", want, names)
			}
		}
		if slices.Contains(names, "background") && slices.Contains(names, "fluorescence_1") && slices.Contains(names, "fluorescence_2") && slices.Contains(names, "fluorescence_3") && r.Flux == nil {
			t.Errorf("backgrounds that are the same are free together: %v", names)
		}
		for _, p := range k.Params {
			if strings.HasPrefix(p.Name, "centre_") && math.Abs(p.Start-r.Parameters[p.Name].Truth/bin) > 0.3 {
				t.Errorf("%s starts at %g, and the truth is %g", p.Name, p.Start, r.Parameters[p.Name].Truth)
			}
			if p.Name == "log_scale" && (p.Prior == nil || p.Start < 1 || p.Start > 9) {
				t.Errorf("%+v", p)
			}
		}
	})
}

// Files with nuisances of their own are measurements of their own: their parameters have the number of the file, and others are shared.
func TestOpenJoint(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		files := golden.Glob(t, r.dir+"/raw_draw0[01]*.nc")
		if r.Flux != nil || len(files) < 2 {
			t.Skip("needs two draws of a measurement without parameters of the flux, whose joint fit is short")
		}
		d := r.document(t)
		parameters := d["parameters"].(map[string]any)
		own := map[string]any{}
		for _, n := range []string{"centre_x", "centre_y", "log_scale"} {
			delete(parameters, n)
			own[n] = map[string]any{}
		}
		d["bin"] = 3
		d["data"] = []any{map[string]any{"file": golden.Path(t, files[0]), "nuisances": own}, map[string]any{"file": golden.Path(t, files[1]), "nuisances": own, "bin": 4}}
		k, err := measured.Open(parse(t, d), "")
		if err != nil {
			t.Fatal(err)
		}
		names := k.Names()
		for _, want := range []string{"radius", "background", "centre_x@1", "centre_y@2", "log_scale@2"} {
			if !slices.Contains(names, want) {
				t.Errorf("%s is not among %v", want, names)
			}
		}
		for i, p := range k.Params {
			if strings.HasPrefix(p.Name, "log_scale@") && math.Abs(p.Start-r.Parameters["log_scale"].Truth-math.Log([]float64{9, 16}[strings.Index("12", p.Name[len(p.Name)-1:])])) > 1 {
				t.Errorf("%s (%d) starts at %g", p.Name, i, p.Start)
			}
		}
		if len(k.More) != 1 || k.More[0].Data.Detector.Rows != 24 || k.Model.Data.Detector.Rows != 32 {
			t.Errorf("%d further measurements", len(k.More))
		}
		delete(parameters, "radius")
		own["radius"] = map[string]any{"start": 9}
		if _, err := measured.Open(parse(t, map[string]any{"model": d["model"], "grid": d["grid"], "options": d["options"], "data": d["data"], "masks": d["masks"], "constants": d["constants"], "parameters": parameters,
			"fixed": map[string]float64{"radius": 9}}), ""); err == nil || !strings.Contains(err.Error(), `unknown parameter "radius"`) {
			t.Error(err)
		}
	})
}
