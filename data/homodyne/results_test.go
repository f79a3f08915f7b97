// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

func result() *Fit {
	return &Fit{Model: LaminarFlow, Q: 0.0054, Phi: []float64{0, 90}, Times: []float64{0.05, 0.15, 0.25}, Names: []string{"D0", "phi0"}, Values: []float64{2000, 3}, Errors: []float64{10, math.NaN()},
		Scaling: ScalingIndividual, Contrast: []float64{0.1, 0.3}, ContrastErrors: []float64{0.03, 0.04}, Offset: []float64{1, 1.02}, ChiSquared: 12, Points: 6, Free: 2, Converged: true, Status: "converged: gradient",
		Iterations: 7, Seconds: 0.5, Quality: "good", Software: "euryale test", When: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Data:  [][]float64{{9, 2, 3, 2, 9, 4, 3, 4, 9}, {9, 1, 1, 1, 9, 1, 1, 1, 9}},
		Shape: [][]float64{make([]float64, 9), make([]float64, 9)}, Curve: [][]float64{{9, 1, 2, 1, 9, 3, 2, 3, 9}, {9, 3, 1, 3, 9, 1, 1, 1, 9}}}
}

func document(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// What is written is read as a start, with rates of shear that need no conversion.
func TestFitFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "run7", "nlsq")
	f := result()
	if err := f.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(dir, false); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := f.Write(dir, true); err != nil {
		t.Error(err)
	}
	p := document(t, filepath.Join(dir, "parameters.json"))
	d0 := p["parameters"].(map[string]any)["D0"].(map[string]any)
	contrast := p["parameters"].(map[string]any)["contrast"].(map[string]any)
	if p["timestamp"] != "2026-01-02T03:04:05.000006" || p["analysis_mode"] != "laminar_flow" || p["reduced_chi_squared"] != 3.0 || d0["value"] != 2000.0 || d0["uncertainty"] != 10.0 ||
		contrast["value"] != 0.2 || contrast["uncertainty"] != 0.025 || len(p["parameters"].(map[string]any)["phi0"].(map[string]any)) != 1 {
		t.Error(p)
	}
	a := document(t, filepath.Join(dir, "analysis_results_nlsq.json"))
	if q := a["fit_quality"].(map[string]any); q["degrees_of_freedom"] != 4.0 || q["quality_flag"] != "good" || a["dataset_info"].(map[string]any)["total_data_points"] != 6.0 {
		t.Error(a)
	}
	if c := document(t, filepath.Join(dir, "convergence_metrics.json")); c["convergence"].(map[string]any)["status"] != "converged" {
		t.Error(c)
	}
	s, err := ReadStart(filepath.Dir(dir))
	if err != nil || s.Customary || s.Window || s.Model != LaminarFlow || len(s.Names) != 4 {
		t.Error(s, err)
	}
	file, err := os.Open(filepath.Join(dir, "fitted_data.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	st, _ := file.Stat()
	all, err := tensor.ReadNPZ(file, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	r := all["residuals_normalized"].Float64s()
	if len(all) != 11 || all["residuals"].Float64s()[1] != 1 || r[1] != 1 || math.Abs(r[10]+math.Sqrt(3)) > 1e-15 || all["per_angle_scaling"].Shape().Size() != 4 {
		t.Error(len(all), r)
	}
	f.Sigma = [][]float64{make([]float64, 9), make([]float64, 8)}
	if err := f.Write(dir, true); err == nil || !strings.Contains(err.Error(), "a map of 8 numbers") {
		t.Error(err)
	}
	f.Values = f.Values[:1]
	if err := f.Write(dir, true); err == nil || !strings.Contains(err.Error(), "1 values: want 2") {
		t.Error(err)
	}
	other := t.TempDir()
	os.WriteFile(filepath.Join(other, "precious.txt"), []byte("x"), 0o600)
	if err := result().Write(other, true); err == nil {
		t.Error("a folder of something else was replaced")
	}
}

func posterior() *Posterior {
	return &Posterior{Model: StaticAnisotropic, Phi: []float64{0}, Names: []string{"D0", "alpha"}, Draws: [][][]float64{{{1, 2, 3}, {4, 5, 6}}, {{10, 20, 30}, {40, 50, 60}}}, Warmup: 500, Divergences: 1,
		BFMI: []float64{0.9, math.NaN()}, Accept: 0.85, Target: 0.8, Rows: []Row{{"D0", 3.5, 1.8, 1, 6, 0.1, 0.2, 500, 450, 1.002}, {"alpha", 35, 18, 10, 60, 1, 2, 600, 300, 1.02}}}
}

func TestPosteriorFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cmc")
	p := posterior()
	if err := p.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	d := document(t, filepath.Join(dir, "diagnostics.json"))
	c := d["convergence"].(map[string]any)
	if c["all_chains_converged"] != false || c["per_parameter_diagnostics"].([]any)[0].(map[string]any)["converged"] != true || d["sampling_efficiency"].(map[string]any)["divergences"] != 1.0 {
		t.Error(d)
	}
	if m := document(t, filepath.Join(dir, "parameters.json")); m["convergence"].(map[string]any)["max_r_hat"] != 1.02 {
		t.Error(m)
	}
	b, err := os.ReadFile(filepath.Join(dir, "summary.csv"))
	if want := ",mean,sd,hdi_3%,hdi_97%,mcse_mean,mcse_sd,ess_bulk,ess_tail,r_hat\nD0,3.5,1.8,1,6,0.1,0.2,500,450,1.002\nalpha,35,18,10,60,1,2,600,300,1.02\n"; err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	if s, err := ReadStart(dir); err != nil || s.Values[0] != 3.5 {
		t.Error(s, err)
	}
	p.Draws[1] = p.Draws[1][:1]
	if err := p.Write(dir, true); err == nil || !strings.Contains(err.Error(), "alpha has 1 chains") {
		t.Error(err)
	}
}

// h5py and NumPy read what is written, as homodyne opens it.
func TestFilesByPython(t *testing.T) {
	py := peer.Python(t, "h5py", "numpy")
	dir := t.TempDir()
	c := sample(5)
	names := map[Layout]string{APSOld: filepath.Join(dir, "old.hdf"), APSU: filepath.Join(dir, "new.hdf"), NPZ: filepath.Join(dir, "cache.npz")}
	for layout, name := range names {
		if err := Write(name, layout, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := result().Write(filepath.Join(dir, "nlsq"), false); err != nil {
		t.Fatal(err)
	}
	if err := posterior().Write(filepath.Join(dir, "cmc"), false); err != nil {
		t.Fatal(err)
	}
	py.Run(t, `
import sys, os, json, h5py, numpy as np
d = sys.argv[1]
full = lambda h: h + h.T - np.diag(np.diag(h))
with np.load(d + "/cache.npz", allow_pickle=False) as z:
    assert z["c2_exp"].shape == (6, 5, 5) and z["t1"].ndim == 1 and np.allclose(z["t1"], 0.1 * np.arange(5))
    c2, q, phi = z["c2_exp"], z["wavevector_q_list"], z["phi_angles_list"]
    m = json.loads(str(np.asarray(z["cache_metadata_json"]).item()))
    assert m["config_wavevector_q"] == 0.0054 and m["start_frame"] == 1 and m["end_frame"] == 5
with h5py.File(d + "/old.hdf") as f:
    assert f["xpcs/dqlist"].shape == (1, 6) and np.all(f["xpcs/dqlist"][0] == q) and np.all(f["xpcs/dphilist"][0, :] == phi)
    for k, key in enumerate(f["exchange/C2T_all"]):
        assert np.allclose(full(f["exchange/C2T_all"][key][()]), c2[k], atol=1e-6)
with h5py.File(d + "/new.hdf") as f:
    bins = f["xpcs/twotime/processed_bins"][()]
    qs, phis, cells = (f["xpcs/qmap/" + n][()] for n in ("dynamic_v_list_dim0", "dynamic_v_list_dim1", "dynamic_index_mapping"))
    for b, key in zip(bins, sorted(f["xpcs/twotime/correlation_map"])):
        cell = cells[b - 1]
        k, = np.flatnonzero((q == qs[cell // len(phis)]) & (phi == phis[cell % len(phis)]))
        assert np.allclose(full(f["xpcs/twotime/correlation_map"][key][()]), c2[k], atol=1e-6)
with np.load(d + "/nlsq/fitted_data.npz") as z:
    assert z["c2_exp"].shape == (2, 3, 3) and np.all(z["residuals"] == z["c2_exp"] - z["c2_theoretical_scaled"]) and z["per_angle_scaling"].tolist() == [[.1, 1], [.3, 1.02]] and z["q"].shape == (1,)
with np.load(d + "/cmc/samples.npz") as z:
    assert z["posterior_samples"].shape == (2, 3, 2) and z["posterior_samples"][1, 2].tolist() == [6, 60] and z["param_names"].tolist() == ["D0", "alpha"]
    assert z["schema_version"].tolist() == [1, 0] and z["n_chains"].tolist() == [2] and str(z["analysis_mode"][0]) == "static_anisotropic"
`, dir)
}
