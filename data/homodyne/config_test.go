// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// The models have the parameters of the simulator, in its order.
func TestNames(t *testing.T) {
	for m, of := range map[Model]transport.Model{StaticIsotropic: transport.Static, StaticAnisotropic: transport.Static, LaminarFlow: transport.Laminar, TwoComponent: transport.TwoComponent} {
		s := transport.Setup{Model: of}
		if !slices.Equal(m.Names(), s.Names()) {
			t.Errorf("%s: %v, want %v", m, m.Names(), s.Names())
		}
		for _, n := range m.Names() {
			if _, ok := customary[n]; !ok || m.Name(n) != n {
				t.Error(n)
			}
		}
	}
	for old, want := range map[string]string{"gamma_dot_0": "gamma_dot_t0", "gamma_dot_offset": "gamma_dot_t_offset", "phi_0": "phi0", "beta": "beta"} {
		if got := LaminarFlow.Name(old); got != want {
			t.Error(old, got)
		}
	}
	if TwoComponent.Name("beta") != "v_beta" || TwoComponent.Name("phi0") != "phi0_het" {
		t.Error("heterodyne's names")
	}
}

const flow = `
metadata: {config_version: "2"}
analysis_mode: laminar_flow
time_origin: window
shear: homodyne
band: 2
q_tolerance: 0.02
analyzer_parameters:
  dt: 0.25
  start_frame: 101
  end_frame: 400
  scattering: {wavevector_q: 5.4e-3}
  geometry: {stator_rotor_gap: 1_000_000}
experimental_data:
  data_folder_path: ${HOMODYNE_TEST_DATA}/run7
  data_file_name: c2.hdf
  phi_angles_path: /angles
  phi_angles_file: phi.txt
  cache_filename_template: "c_${wavevector_q}.npz"
  cache_compression: true
phi_filtering:
  enabled: true
  fallback_to_all_angles: true
  target_ranges:
    - {min_angle: -10, max_angle: 10.5, description: along}
    - [170, -170]
initial_parameters:
  parameter_names: [D0, alpha, D_offset, gamma_dot_0, beta, gamma_dot_t_offset, phi0]
  values: [2000, -0.5, 1, 0.02, 0.1, 0.001, 3]
  active_parameters: [D0, alpha, D_offset, gamma_dot_t0, phi0]
  fixed_parameters: {beta: 0}
  per_angle_scaling: {contrast: [0.1, 0.2], offset: 1}
parameter_space:
  bounds:
    - {name: D0, min: 1, max: 1.0e+6, type: LogNormal, prior_mu: 7, prior_sigma: 2, unit: A2/s}
    - {name: phi0, min: -180, max: 180}
    - {name: contrast, min: 0.01, max: 0.5}
  priors:
    contrast: {dist_type: TruncatedNormal, mu: 0.27, sigma: 0.15, min_val: 0, max_val: 1}
optimization:
  method: cmc
  nlsq:
    max_iterations: 77
    tolerance: 1e-9
    loss: linear
    x_scale_map: null
    hybrid_streaming: {enable: true}
    anti_degeneracy: {per_angle_mode: fourier, fourier_order: 1, hierarchical: {enable: true}}
    multi_start: {enable: true, n_starts: 16, refine_top_k: 4, seed: 9}
    cmaes: {enable: false, preset: x}
  mcmc: {num_chains: 2, target_accept_prob: 0.9}
  cmc:
    per_shard_mcmc: {num_warmup: 300, num_chains: 8, num_samples: 700, max_tree_depth: 11, dense_mass: true}
    sharding: {num_shards: auto}
noise_estimation: {enabled: true}
plotting: {save_plots: true, format: svg, dpi: 200, color_scale: {mode: fixed, fixed_min: 1, fixed_max: 1.4}}
output: {directory: ~/results}
`

func TestConfig(t *testing.T) {
	t.Setenv("HOMODYNE_TEST_DATA", "/data")
	t.Setenv("HOME", "/home/someone")
	name := filepath.Join(t.TempDir(), "flow.yaml")
	if err := os.WriteFile(name, []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadConfig(name)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(c.Model, c.Clock.Window, c.Customary, c.Band, c.Tolerance, c.Step, c.First, c.Last, c.Q, c.Gap, c.Data, c.Azimuths, c.Angles) +
		fmt.Sprintln(c.Method, c.NLSQ, c.Sampler, c.Noise, c.Plots, c.Output, c.Scaling, c.Harmonics, c.Contrasts, c.Offsets)
	want := "laminar_flow true true 2 0.02 0.25 101 400 0.0054 1e+06 /data/run7/c2.hdf /angles/phi.txt {[[-10 10.5] [170 -170]] true}\n" +
		"nuts {77 1e-09 0 0 linear 16 4 9 false 0 0 0 0 0} {300 700 2 0.9 11 true 0} true {true svg 200 1 1.4 true} /home/someone/results fourier 1 [0.1 0.2] [1]\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var lines []string
	for _, p := range append(c.Parameters, c.Contrast) {
		lines = append(lines, fmt.Sprint(p))
	}
	wantLines := []string{
		"{D0 2000 true 1 1e+06 true false {LogNormal 7 2 1 1e+06 true}}", "{alpha -0.5 true -2 2 false false {TruncatedNormal 0.5 0.5 -2 2 false}}",
		"{D_offset 1 true -100000 100000 false false {TruncatedNormal 10 200 -100000 100000 false}}", "{gamma_dot_t0 0.02 true 1e-06 0.5 false false {TruncatedNormal 0.01 0.1 1e-06 0.5 false}}",
		"{beta 0 true -2 2 false true {TruncatedNormal 0 0.5 -2 2 false}}", "{gamma_dot_t_offset 0.001 true -0.1 0.1 false true {TruncatedNormal 0 0.02 -0.1 0.1 false}}",
		"{phi0 3 true -180 180 true false {TruncatedNormal 0 5 -180 180 false}}", "{contrast 0.5 false 0.01 0.5 true false {TruncatedNormal 0.27 0.15 0 1 true}}",
	}
	if !slices.Equal(lines, wantLines) {
		t.Error(strings.Join(lines, "\n"))
	}
	if text := c.IgnoredText(); text != "experimental_data (2 keys), optimization.nlsq.hybrid_streaming, optimization.nlsq.anti_degeneracy.hierarchical, optimization.nlsq.cmaes.preset, optimization.cmc.sharding" {
		t.Error(text)
	}
	if len(c.Notices) != 1 || !strings.Contains(c.Notices[0], "without shards") {
		t.Error(c.Notices)
	}
	if s := c.Selection(); s.Q != 0.0054 || s.First != 101 || s.Last != 400 || s.Step != 0.25 || !s.Angles.All {
		t.Error(s)
	}
}

// What is said otherwise in other programs means the same.
func TestConfigDialects(t *testing.T) {
	for text, want := range map[string]string{
		"analysis_mode: static": `static_anisotropic [analysis_mode "static" is taken as static_anisotropic`,
		"analysis_mode: HETERODYNE\nparameter_bounds: {beta: [-1, 1]}\nanalyzer_parameters: {temporal: {dt: 1, t_start: 0.5, end_frame: -1}}":                              "two_component [] v_beta -1..1 start 0.5",
		"parameters: {velocity: {beta: {value: 0.3, min: -1, max: 2, vary: false}}, reference: {D0_ref: {value: 5}}}":                                                      "two_component [analysis_mode is not there: the parameters are those of two_component] v_beta=0.3 fixed",
		`{"analysis_settings": {"static_mode": true, "static_submode": "isotropic"}, "file_paths": {"c2_data_file": "a.h5"}, "_note": 1}`:                                  "static_isotropic [] data a.h5",
		`{"analysis_settings": {"static_mode": false}, "initial_parameters": {"values": [1, 2, 3, 4, 5, 6, 7]}}`:                                                           "laminar_flow [] phi0=7",
		"analysis: {mode: laminar_flow}\ndata: {gap_distance: 200, dt: 0.1, q_value: 0.01, phi_range: [-90, 90]}\nparameter_space: {phi_0: {initial: 2, bounds: [-9, 9]}}": "laminar_flow [] phi0=2 gap 2e+06 ranges [[-90 90]]",
		"analysis_mode: static_isotropic\ninitial_parameters: {fixed_parameters: [alpha]}\nphi_filtering: {enabled: false, target_ranges: [[1, 2]]}":                       "static_isotropic [] alpha=0.5 fixed ranges []",
		"analysis_mode: static_isotropic\nparameter_space: {bounds: [{name: gamma_dot_t0, min: 0, max: 1}]}":                                                               "[gamma_dot_t0 is not a parameter of static_isotropic and is left out]",
		"analysis_mode: static_isotropic\nanalyzer_parameters: {start_frame: 0}":                                                                                           "frames count from 1",
		"analysis_mode: static_isotropic\nparameter_space: {bounds: [{name: D0, min: 1, max: 100}]}":                                                                       "D0=10",
	} {
		c, err := ParseConfig([]byte(text), map[bool]string{true: "a.json", false: "a.yaml"}[text[0] == '{'])
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := fmt.Sprint(c.Model, " ", c.Notices)
		for _, p := range c.Parameters {
			got += fmt.Sprintf(" %s=%g", p.Name, p.Start)
			if p.Fixed {
				got += " fixed"
			}
			if p.Bounded {
				got += fmt.Sprintf(" %s %g..%g", p.Name, p.Low, p.High)
			}
		}
		got += fmt.Sprint(" data ", c.Data, " gap ", c.Gap, " ranges ", c.Angles.Ranges)
		if c.Clock.Start != nil {
			got += fmt.Sprint(" start ", *c.Clock.Start)
		}
		for _, part := range parts(want) {
			if !strings.Contains(got, part) {
				t.Errorf("%s:\ngot  %s\nwant %s", text, got, part)
			}
		}
	}
}

// parts cuts an expectation at words that may have others between them.
func parts(want string) []string {
	for _, w := range []string{" data ", " gap ", " ranges ", " start ", "] v_beta", "] phi0", "] alpha"} {
		want = strings.ReplaceAll(want, w, "\x00"+strings.TrimPrefix(w, "]"))
	}
	return strings.Split(want, "\x00")
}

// Faults name the line and what was probably meant, all of them at once.
func TestConfigFaults(t *testing.T) {
	for text, wants := range map[string][]string{
		"analysis_mode: laminar_flow\nanalyzer_parameters:\n  dtt: 1\nphi_filterin: {}": {"a.yaml: line 3: unknown key analyzer_parameters.dtt: did you mean dt?", "line 4: unknown key phi_filterin: did you mean phi_filtering?"},
		"analysis_mode: laminar_flow\nwavevector_q: 1":                                  {"line 2: unknown key wavevector_q: did you mean analyzer_parameters.scattering.wavevector_q?"},
		"analysis_mode: laminer_flow":                                                   {`line 1 (analysis_mode): the value is "laminer_flow": did you mean laminar_flow?`},
		"band: 1":                                                                       {"analysis_mode: it is missing"},
		"":                                                                              {"has no keys"},
		"- a":                                                                           {"has no keys"},
		"a: [":                                                                          {"is not YAML"},
		"analysis_mode: static\nanalysis_mode: static":                                                     {"line 2"},
		"analysis_mode: static\nanalyzer_parameters: {dt: 0}":                                              {`line 2 (analyzer_parameters.dt): the value is 0: want a number above 0`},
		"analysis_mode: static\nanalyzer_parameters: {dt: fast}":                                           {`is "fast": want a number`},
		"analysis_mode: static\nanalyzer_parameters: {dt: .nan}":                                           {"want a number"},
		"analysis_mode: static\nanalyzer_parameters: {dt: [1]}":                                            {"is a list: want a number"},
		"analysis_mode: static\nanalyzer_parameters: 3":                                                    {`is "3": want keys and values`},
		"analysis_mode: static\nanalyzer_parameters: {start_frame: 1.5}":                                   {"want a whole number"},
		"analysis_mode: static\nanalyzer_parameters: {start_frame: 9, end_frame: 10}":                      {"the frames 9 to 10 are too few: want at least 3"},
		"analysis_mode: static\nanalyzer_parameters: {frame_step: 2}":                                      {"is 2, but all frames are used here"},
		"analysis_mode: static\nexperimental_data: {file_path: '${NO_SUCH_VARIABLE_HERE}/a'}":              {"the environment variable ${NO_SUCH_VARIABLE_HERE} is not set"},
		"analysis_mode: static\ninitial_parameters: {values: [1, 2]}":                                      {"line 2 (initial_parameters.values): it has 2 values for the 3 parameters D0, alpha, D_offset"},
		"analysis_mode: static\nparameter_bounds: {D00: [1, 2]}":                                           {`line 2: unknown parameter "D00": did you mean D0?`},
		"analysis_mode: static\nparameter_bounds: {D0: [1]}":                                               {"has 1 numbers: want the lower and the upper bound"},
		"analysis_mode: static\nparameter_bounds: {D0: [2, 1]}":                                            {"line 2 (D0): has bounds 2 and 1"},
		"analysis_mode: static\nparameter_space: {bounds: [{name: D0, mim: 1}]}":                           {"unknown key parameter_space.bounds[0].mim: did you mean min?"},
		"analysis_mode: static\nparameter_space: {bounds: [{min: 1}]}":                                     {"has no name"},
		"analysis_mode: static\nparameter_space: {bounds: [{name: D0, type: Cauchy}]}":                     {`is "Cauchy": want TruncatedNormal`},
		"analysis_mode: static\nparameter_space: {bounds: [{name: D0, type: LogUniform, min: 0, max: 1}]}": {"want a lower limit above 0"},
		"analysis_mode: static\nparameter_space: {bounds: [{name: D0, prior_sigma: -1}]}":                  {"a standard deviation of -1"},
		"analysis_mode: static\ninitial_parameters: {values: [1, 2, 3]}\nparameter_bounds: {D0: [10, 20]}": {"(D0): starts at 1, outside of its bounds 10 to 20"},
		"analysis_mode: static\ninitial_parameters: {active_parameters: [D0], fixed_parameters: {D0: 1}}":  {"among both the active and the fixed"},
		"analysis_mode: static\nphi_filtering: {target_ranges: [{min_angle: 1}]}":                          {"does not have two ends"},
		"analysis_mode: static\noptimization: {nlsq: {loss: square}}":                                      {"want linear, soft_l1"},
		"analysis_mode: static\noptimization: {method: simplex}":                                           {"want one of both, cmc, mcmc, nlsq, nuts"},
		"analysis_mode: static\noptimization: {nlsq: {anti_degeneracy: {per_angle_mode: best}}}":           {"want one of auto, individual"},
		"analysis_mode: static\nx: &a {b: 1}\noptimization: *a":                                            {"it is an alias: write the value out", "unknown key x"},
		"analysis_mode: static\nanalyzer_parameters: {dt: 1e400}":                                          {"want a number"},
	} {
		_, err := ParseConfig([]byte(text), "a.yaml")
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		}
	}
	for text, want := range map[string]string{`{"analysis_mode": "static", "analysis_mode": "static"}`: "appears twice", "\x00\x01\x02\x03": "a binary file", `{"analysis_mode": `: "ends too early"} {
		if _, err := ParseConfig([]byte(text), "a.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestPath(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "c2.hdf"), nil, 0o600)
	c := &Config{File: filepath.Join(dir, "a.yaml")}
	if got, err := c.Path("c2.hdf"); err != nil || got != filepath.Join(dir, "c2.hdf") {
		t.Error(got, err)
	}
	for _, name := range []string{"", "other.hdf"} {
		if _, err := c.Path(name); err == nil || !strings.Contains(err.Error(), "a.yaml") {
			t.Error(err)
		}
	}
}

// The rates of shear of homodyne are pi/sqrt(2) times those of the sample where the shear is small.
func TestStarts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/nlsq/parameters.json", `{"analysis_mode": "laminar_flow", "chi_squared": null, "parameters": {"D0": {"value": 2000, "uncertainty": 10}, "gamma_dot_t0": {"value": 0.02, "uncertainty": null},
		"gamma_dot_t_offset": 0.001, "beta": {"value": 0}, "phi0": {"value": null}, "contrast": {"value": 0.3, "uncertainty": 0.01}}}`)
	s, err := ReadStart(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintln(s.Names, s.Values, s.Errors, s.Model, s.Customary, s.Notes) !=
		"[D0 beta contrast gamma_dot_t0 gamma_dot_t_offset] [2000 0 0.3 0.02 0.001] [10 NaN 0.01 NaN NaN] laminar_flow true [phi0 has no finite value and is left out]\n" {
		t.Error(s)
	}
	for _, c := range []struct {
		seconds float64
		want    string
	}{{0.002, "stays below 0.1"}, {10, "the factor is not exact: the phase y = q L Gamma/2 reaches 5"}} {
		p := s.Physical(0.0054, 2e6, c.seconds)
		if math.Abs(p.Values[3]-0.02*math.Sqrt2/math.Pi) > 1e-15 || math.Abs(p.Values[4]-0.001*math.Sqrt2/math.Pi) > 1e-15 || p.Values[0] != 2000 || p.Customary || s.Values[3] != 0.02 {
			t.Error(p.Values)
		}
		if text := strings.Join(p.Notes, "\n"); !strings.Contains(text, "pi/sqrt(2) = 2.221441") || !strings.Contains(text, c.want) {
			t.Error(text)
		}
		if again := p.Physical(1, 1, 1); again.Values[3] != p.Values[3] {
			t.Error("converted twice")
		}
	}
	c, err := ParseConfig([]byte("analysis_mode: laminar_flow\nanalyzer_parameters: {start_frame: 5}\ninitial_parameters: {fixed_parameters: {beta: 0.1}}\nparameter_bounds: {D0: [1, 1000]}"), "a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	notes, err := c.StartAt(s)
	if err != nil || c.Parameter("D0").Start != 1000 || c.Parameter("beta").Start != 0.1 || c.Contrast.Start != 0.3 || !strings.Contains(strings.Join(notes, "\n"), "these are not taken: beta") || !strings.Contains(notes[0], "whose first frame is 5") {
		t.Error(err, notes, c.Parameter("D0"))
	}
	write("b/nlsq_parameters.json", `{"parameters": [5, null, 0.3, 4], "parameter_names": ["D0_ref", "v0", "beta", "phi0"], "uncertainties": null, "timestamp": "x"}`)
	if s, err = ReadStart(filepath.Join(dir, "b")); err != nil || fmt.Sprintln(s.Names, s.Values, s.Model, s.Customary) != "[D0_ref v_beta phi0_het] [5 0.3 4] two_component false\n" {
		t.Error(s, err)
	}
	if _, err := c.StartAt(s); err == nil || !strings.Contains(err.Error(), "has none of the free parameters of laminar_flow") {
		t.Error(err)
	}
	write("c/parameters.json", `{"analysis_mode": "static", "parameters": {"D0": {"mean": 7, "std": 1}, "alpha": {"value": "x"}}}`)
	if s, err = ReadStart(filepath.Join(dir, "c", "parameters.json")); err != nil || fmt.Sprintln(s.Names, s.Values, s.Errors, s.Model) != "[D0] [7] [1] static_anisotropic\n" {
		t.Error(s, err)
	}
	for text, want := range map[string]string{`{}`: "parameters: it is missing", `{"parameters": {}}`: "has no parameter with a number", `{"parameters": 3}`: "not an object of names and numbers", `[1]`: "is not the result of a fit",
		`{"parameters": [1], "parameter_names": ["a", "b"]}`: "has 1 numbers for 2 names", `{"parameters": {"D0": {"value": 1}`: "ends too early", `{"parameters": {"D0": null}}`: "has no parameter"} {
		write("d/parameters.json", text)
		if _, err := ReadStart(filepath.Join(dir, "d")); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "parameters.json") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadStart(dir); err == nil || !strings.Contains(err.Error(), "the folder has none of nlsq/parameters.json") {
		t.Error(err)
	}
}

// What appears twice, or would not be read, is an error.
func TestContradictoryConfigurations(t *testing.T) {
	for text, want := range map[string]string{
		"analysis_mode: laminar_flow\n---\nanalysis_mode: static\n":                                          "a second document",
		"analysis_mode: static\ninitial_parameters: {parameter_names: [D0, D0, alpha], values: [1, 2, 3]}\n": "has D0 twice",
	} {
		if _, err := ParseConfig([]byte(text), "x.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
