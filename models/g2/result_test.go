// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/g2"
)

// TestResultFiles fits two analysed speckle movies as the viewer of these files
// does. Its numbers are those of SciPy at tolerances of 1e-8 on single-precision
// data, so they hold to about 1e-4 of an error; one bin at a bound to 1e-3.
func TestResultFiles(t *testing.T) {
	type fitted struct {
		Bounds [2][]float64
		Val    [][][]float64 `json:"fit_val"`
		Q, Tau []float64
	}
	type result struct {
		Fit  fitted `json:"fit_g2"`
		TauQ struct {
			Bounds [2][]float64
			Val    [][]float64 `json:"fit_val"`
		} `json:"fit_tauq"`
	}
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "xpcs", "hdf5", "expected.json")
	model, err := g2.ByName("aps_single")
	if err != nil {
		t.Fatal(err)
	}
	power, err := g2.ByName("aps_power")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range golden.Glob(t, "xpcs/hdf5/result_*.hdf") {
		name := strings.TrimPrefix(golden.Base(file), "result_")
		var want result
		if err := json.Unmarshal(all[name], &want); err != nil || want.Fit.Val == nil {
			t.Logf("%s has no expected fits (%v)", name, err)
			continue
		}
		r, err := nexus.Open(golden.Path(t, file))
		if err != nil {
			t.Fatal(err)
		}
		var curves []g2.Curve
		for b := 1; b <= r.Bins(); b++ {
			y, sd := r.Multitau.Bin(b)
			curves = append(curves, g2.Curve{Bin: b, Q: r.QMap.Q(b), X: r.Delays(), Y: y, Err: sd})
		}
		r.Close()
		fits, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Bounds: map[string][2]float64{"a": {want.Fit.Bounds[0][0], want.Fit.Bounds[1][0]}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range fits {
			for k, w := range want.Fit.Val[i][0] {
				if sd := want.Fit.Val[i][1][k]; !f.OK() || math.Abs(f.X[k]-w) > 2e-3*sd || math.Abs(f.SD[k]/sd-1) > 2e-3 {
					t.Errorf("%s bin %d %s: %s %.8g +- %.4g, the viewer has %.8g +- %.4g", name, i+1, model.Params[k].Name, f.Status, f.X[k], f.SD[k], w, sd)
				}
			}
		}
		b := want.TauQ.Bounds
		pf, err := g2.FitOne(context.Background(), power, g2.TauOfQ(fits), g2.Settings{Bounds: map[string][2]float64{"a": {b[0][0], b[1][0]}, "b": {b[0][1], b[1][1]}}})
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range want.TauQ.Val[0] {
			if sd := want.TauQ.Val[1][k]; math.Abs(pf.X[k]-w) > 2e-2*sd || math.Abs(pf.SD[k]/sd-1) > 2e-2 {
				t.Errorf("%s tau(q) %s: %.8g +- %.4g, the viewer has %.8g +- %.4g", name, power.Params[k].Name, pf.X[k], pf.SD[k], w, sd)
			}
		}
	}
}
