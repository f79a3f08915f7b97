//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"encoding/json"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/internal/golden"
)

// measurementTruth is truth.json of a synthetic measurement.
type measurementTruth struct {
	Parameters map[string]struct {
		Truth float64
		Prior string
	}
	Grid struct {
		Shape        [3]int
		Voxel, Width float64
	}
	Geometry struct {
		Pixel    float64    `json:"pixel_mm"`
		Distance float64    `json:"distance_mm"`
		Rot      [3]float64 `json:"rot_rad"`
		Centre   []float64  `json:"nominal_centre_index"`
		Poni     []float64  `json:"nominal_poni_index"`
	}
	Constants     map[string][][4]float64
	Order         string `json:"constants_order"`
	Energies      []float64
	Polarizations []float64
	Flux          []float64 `json:"i0"`
	Transmission  []float64
}

// noMeasurement are the names of what lies beside the patterns of a set.
var noMeasurement = regexp.MustCompile(`^(mask|constants_|expected_counts|truth|simulate|analyse|write|raw_draw0[1-9])`)

// morphologyOf are the parameters of the morphologies of the sets.
var morphologyOf = map[string][]string{"core_shell": {"radius", "shell", "aligned"}, "grain": {"period", "lamella", "width", "interface", "grain", "aligned", "theta_deg", "phi_deg", "tilt_deg"}}

// formProblem is the problem of a file of a set, and the keys that the file needs: the detector where it was reduced, and what A(q) or one
// energy cannot tell is held.
func formProblem(t *testing.T, dir, name string, r *measurementTruth) map[string]any {
	base, model := path.Base(name), "grain"
	if r.Parameters["radius"].Truth > 0 {
		model = "core_shell"
	}
	energies := slices.Clone(r.Energies)
	if strings.HasPrefix(base, "iq_285") {
		energies = []float64{285}
	}
	parameters, fixed := map[string]any{}, map[string]float64{}
	for n, q := range r.Parameters {
		switch {
		case slices.Contains(morphologyOf[model], n):
			parameters[n] = map[string]any{"start": q.Truth * 0.95}
		case q.Prior != "":
			parameters[n] = map[string]any{"prior": q.Prior}
		default:
			parameters[n] = map[string]any{}
		}
	}
	hold := func(names ...string) {
		for _, n := range names {
			if q, ok := r.Parameters[n]; ok {
				fixed[n] = q.Truth
				delete(parameters, n)
			}
		}
	}
	var constants []any
	for m := range max(0, strings.Count(r.Order, ",")-2) {
		var rows [][4]float64
		for _, e := range energies {
			rows = append(rows, r.Constants[strconv.FormatFloat(e, 'f', 1, 64)][m])
		}
		constants = append(constants, rows)
	}
	for _, what := range []string{"lamella", "matrix"} {
		if r.Constants != nil {
			break
		}
		for _, f := range golden.Glob(t, dir+"/constants_"+what+"*") {
			constants = append(constants, golden.Path(t, f))
		}
	}
	p := map[string]any{"model": model, "grid": map[string]any{"shape": r.Grid.Shape, "voxel": r.Grid.Voxel}, "options": map[string]any{"matrix": true, "width": r.Grid.Width},
		"data": golden.Path(t, name), "masks": []string{golden.Path(t, dir, "mask.npy")}, "constants": constants, "parameters": parameters, "solid_angle": r.Flux != nil, "max_nfev": 60}
	foot, shift := slices.Concat(r.Geometry.Centre, r.Geometry.Poni), 1.0
	switch {
	case strings.Contains(base, "_pol0."):
		p["data"] = []string{golden.Path(t, name), golden.Path(t, strings.Replace(name, "pol0", "pol90", 1))}
	case strings.HasSuffix(base, "tiff"):
		p["data"] = golden.Path(t, name, "20417")
	case strings.HasPrefix(base, "reduced_nominal"):
		shift = 0
		fallthrough
	case strings.HasPrefix(base, "reduced"), strings.HasPrefix(base, "iq_"), strings.HasPrefix(base, "anisotropy"):
		p["geometry"] = map[string]any{"distance": r.Geometry.Distance, "pixel": r.Geometry.Pixel, "rot": r.Geometry.Rot,
			"beam": []float64{foot[0] + 0.5 + shift*r.Parameters["centre_x"].Truth, foot[1] + 0.5 + shift*r.Parameters["centre_y"].Truth}}
		if shift > 0 {
			delete(parameters, "centre_x")
			delete(parameters, "centre_y")
		}
		if r.Flux != nil { // only then was it measured
			p["transmission"] = r.Transmission
		}
	}
	if strings.HasPrefix(base, "iq_285") {
		hold("thickness")
	}
	if strings.HasPrefix(base, "anisotropy") {
		hold("log_scale", "thickness", "purity", "energy_shift", "resolution", "background_q4", "scale_2", "scale_3", "scale_4", "fluorescence_1", "fluorescence_2", "fluorescence_3", "fluorescence_4")
		if model == "grain" { // what the beam stop leaves of this A(q) is noise
			hold("period", "lamella", "width", "interface", "grain", "phi_deg", "tilt_deg")
			p["anisotropy"] = map[string]any{"width": 5, "polarizations": r.Polarizations}
		}
	}
	p["fixed"] = fixed
	return p
}

// Every file of both measurements leads to the truth by the command line.
func TestFormsOfMeasurements(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, truth string) {
		dir := path.Dir(truth)
		var r measurementTruth
		golden.JSON(t, &r, dir, "truth.json")
		for _, name := range golden.Glob(t, dir+"/*") {
			base := path.Base(name)
			if noMeasurement.MatchString(base) || strings.Contains(base, "_pol90.") || strings.HasSuffix(base, ".py") {
				continue
			}
			t.Run(base, func(t *testing.T) {
				b, err := json.Marshal(formProblem(t, dir, name, &r))
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "form.json")
				if err := os.WriteFile(file, b, 0o644); err != nil {
					t.Fatal(err)
				}
				code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", file, "--out", filepath.Join(t.TempDir(), "out"), "--json", "--quiet", "--no-report")
				if code != 0 {
					t.Fatalf("exit %d: %s", code, stderr)
				}
				var doc rsoxs.MeasuredDoc
				if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
					t.Fatal(err)
				}
				worst := 0.0
				for n, x := range doc.X {
					q, known := r.Parameters[n]
					if !known || strings.HasPrefix(base, "remeshed") && strings.HasPrefix(n, "centre") {
						continue // labels of that loader count pixels from 1, and the other file has them exchanged
					}
					pull := math.Abs(float64(x)-q.Truth) / float64(doc.SD[n])
					if worst = max(worst, pull); !(pull < 3) {
						t.Errorf("%s is %g +- %g: %.1f standard deviations from %g", n, float64(x), float64(doc.SD[n]), pull, q.Truth)
					}
				}
				if !doc.Check.OK && !(r.Flux != nil && strings.HasPrefix(base, "anisotropy")) { // that A(q) does not determine its parameters
					t.Errorf("the right model is flagged: %v", doc.Check.Flags)
				}
				t.Logf("%s: at most %.1f standard deviations off, %s, %v", doc.Used[0].Likelihood, worst, doc.Status, doc.Check.OK)
			})
		}
	})
}
