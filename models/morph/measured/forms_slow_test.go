//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// notData are the files of a set that are no patterns.
func notData(name string) bool {
	base := path.Base(name)
	for _, p := range []string{"mask", "constants_", "expected_counts", "truth", "simulate", "analyse", "write", "raw_draw01", "raw_draw02", "raw_draw03", "raw_draw04", "raw_draw05", "README", "readback", "forward", "layouts"} {
		if strings.HasPrefix(base, p) {
			return true
		}
	}
	return false
}

// forms returns the problems of all files of a set that hold a measurement, by their names.
func (r *reference) forms(t testing.TB) map[string]map[string]any {
	foot := slices.Concat(r.Geometry.Centre, r.Geometry.Poni)
	geometry := func(off float64) map[string]any {
		return map[string]any{"distance": r.Geometry.Distance, "pixel": r.Geometry.Pixel, "rot": r.Geometry.Rot,
			"beam": []float64{foot[0] + 0.5 + off*r.Parameters["centre_x"].Truth, foot[1] + 0.5 + off*r.Parameters["centre_y"].Truth}}
	}
	out := map[string]map[string]any{}
	for _, name := range golden.Glob(t, r.dir+"/*") {
		if notData(name) {
			continue
		}
		d := r.document(t)
		parameters := maps.Clone(d["parameters"].(map[string]any))
		d["parameters"], d["data"] = parameters, golden.Path(t, name)
		base := path.Base(name)
		reduced := strings.HasPrefix(base, "reduced") || strings.HasPrefix(base, "iq_") || strings.HasPrefix(base, "anisotropy")
		switch {
		case strings.HasPrefix(base, "raw_draw00_pol"):
			if strings.Contains(base, "pol90") {
				continue
			}
			d["data"] = []string{golden.Path(t, name), golden.Path(t, strings.Replace(name, "pol0", "pol90", 1))}
		case base == "tiff":
			d["data"] = golden.Path(t, name, "20417")
		case strings.HasPrefix(base, "reduced_nominal"):
			d["geometry"] = geometry(0)
		case reduced:
			if r.Transmission != nil {
				d["transmission"] = r.Transmission
			}
			d["geometry"] = geometry(1)
			delete(parameters, "centre_x")
			delete(parameters, "centre_y")
		}
		if strings.HasPrefix(base, "anisotropy") {
			delete(parameters, "log_scale")
			d["fixed"] = map[string]float64{"log_scale": r.Parameters["log_scale"].Truth}
			if len(r.Polarizations) > 1 {
				d["anisotropy"] = map[string]any{"width": 5, "polarizations": r.Polarizations}
			}
			// A(q) leaves these open: they are held at what other measurements say
			// What the beam stop leaves of the second set's A(q) is noise; two parameters show that it fits.
			for _, n := range []string{"period", "grain", "phi_deg", "lamella", "width", "interface", "tilt_deg", "scale_2", "scale_3", "scale_4", "fluorescence_1", "fluorescence_2", "fluorescence_3", "fluorescence_4", "thickness", "purity", "energy_shift", "resolution", "background_q4"} {
				if _, ok := parameters[n]; ok {
					delete(parameters, n)
					d["fixed"].(map[string]float64)[n] = r.Parameters[n].Truth
				}
			}
		}
		if strings.HasPrefix(base, "iq_285") {
			for _, n := range []string{"thickness"} { // one energy does not tell it from the scale
				delete(parameters, n)
				d["fixed"] = map[string]float64{n: r.Parameters[n].Truth}
			}
			constants := d["constants"].([]any)
			for i, rows := range constants {
				constants[i] = [][4]float64{rows.([][4]float64)[slices.Index(r.Energies, 285)]}
			}
		}
		out[base] = d
	}
	return out
}

// Every form of both measurements that a file has leads to the truth.
func TestForms(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		for base, d := range r.forms(t) {
			t.Run(base, func(t *testing.T) {
				began := time.Now()
				k, err := measured.Open(parse(t, d), "")
				if err != nil {
					t.Fatal(err)
				}
				t.Log(strings.Join(k.Read, "\n"))
				for i, p := range k.Params {
					if strings.HasPrefix(p.Name, "scale_") || r.Parameters[p.Name].Prior != "" { // with the priors of the reference
						k.Params[i].Mean, k.Params[i].SD = 0, 0.02
						switch k.Params[i].Name {
						case "energy_shift":
							k.Params[i].SD = 0.2
						case "purity":
							k.Params[i].Mean = 0.98
						}
					}
				}
				s, err := k.Fit(t.Context(), optim.Settings{MaxEvaluations: 60})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%v, %d evaluations, %v, deviance %.4g of %d, left out %v", time.Since(began), s.NFev, s.Status, s.Deviance, s.Pixels, k.LeftOut())
				for i, n := range s.Names {
					q := r.Parameters[n]
					pull := (s.X[i] - q.Truth) / s.SD[i]
					t.Logf("%-16s %10.5g +- %-9.4g pull %6.2f, sd/crb %.3f", n, s.X[i], s.SD[i], pull, s.SD[i]/q.CRB)
					if strings.HasPrefix(base, "remeshed") && strings.HasPrefix(n, "centre") {
						continue // labels of that loader count pixels from 1, and the other file has them exchanged
					}
					if math.Abs(pull) > 3 && q.Truth != 0 {
						t.Errorf("%s is %g +- %g: %.1f standard deviations from %g", n, s.X[i], s.SD[i], pull, q.Truth)
					}
				}
			})
		}
	})
}
