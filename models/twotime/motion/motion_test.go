// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// truth is the motion of the tests.
var truth = []float64{12000, -0.2, 0, 5e-4, 0.2, 0, 4}

const flow = `
analysis_mode: laminar_flow
analyzer_parameters: {dt: 0.1, start_frame: 1, scattering: {wavevector_q: 0.0054}}
initial_parameters: {fixed_parameters: {D_offset: 0, gamma_dot_t_offset: 0}}
`

// config reads a configuration.
func config(t *testing.T, text string) *homodyne.Config {
	t.Helper()
	c, err := homodyne.ParseConfig([]byte(text), "flow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sheared simulates a small measurement as the configuration describes it.
func sheared(t *testing.T, c *homodyne.Config, theta []float64, contrast ...float64) *motion.Problem {
	t.Helper()
	const frames = 30
	times := c.Clock.Times(1, frames, c.Step)
	setup := motion.Setup(c, c.Q, []float64{0, 45, 90}, times, c.Step)
	p, err := motion.New(c, &homodyne.Correlation{Q: c.Q, Phi: setup.Angles, First: 1, Last: frames, Step: c.Step, C2: simulated(t, setup, theta, contrast)}, times)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// measurements are those that simulated has made: most tests take the same one.
var measurements = map[string][][]float64{}

// simulated returns the two-time correlations of a measurement, which the caller may change.
func simulated(t *testing.T, s transport.Setup, theta, contrast []float64) (c2 [][]float64) {
	t.Helper()
	key := fmt.Sprint(s, theta, contrast)
	if measurements[key] == nil {
		d, err := twotime.Simulate(context.Background(), s, twotime.Sample{Theta: theta, Contrast: contrast, Offset: []float64{1, 1, 1}, Speckles: 3000, MeanCount: 0.5, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		measurements[key] = d.C2
	}
	for _, v := range measurements[key] {
		c2 = append(c2, slices.Clone(v))
	}
	return c2
}

// Every way of scaling gives errors to each angle, and a result that can be read again.
func TestScalings(t *testing.T) {
	for _, scaling := range []homodyne.Scaling{homodyne.ScalingIndividual, homodyne.ScalingAveraged, homodyne.ScalingConstant, homodyne.ScalingAuto} {
		c := config(t, flow)
		c.Scaling = scaling
		p := sheared(t, c, truth, 0.5, 0.5, 0.5)
		if scaling == homodyne.ScalingConstant {
			if _, err := p.Fit(t.Context(), motion.FitSettings{}); err != motion.ErrNoScale {
				t.Errorf("without contrasts: %v", err)
			}
			c.Contrasts, c.Offsets = []float64{0.5}, []float64{1}
		}
		f, err := p.Fit(t.Context(), motion.FitSettings{Starts: 4})
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range f.Rows() {
			if row.Fixed != math.IsNaN(row.SD) || !row.Fixed && (math.Abs(row.Value-truth[k]) > 4*row.SD || !(row.Independent < row.SD)) {
				t.Errorf("%s: %+v, want %g", scaling, row, truth[k])
			}
		}
		for i, row := range f.Scales() {
			want := []float64{0.5, 1}[i/3]
			if row.Fixed != (f.Scaling == twotime.Constant) || !row.Fixed && math.Abs(row.Value-want) > 4*row.SD {
				t.Errorf("%s: %+v, want %g", scaling, row, want)
			}
		}
		if said := strings.Join(f.Said(), "\n"); strings.Contains(said, "diffusion without shear") || strings.Contains(f.Verdict.String(), "differ from angle to angle") {
			t.Errorf("%s: of a flow and equal contrasts: %s; %v", scaling, said, f.Verdict)
		}
		if scaling == homodyne.ScalingAuto && (f.Scaling != twotime.Averaged || len(f.Compared) != 1) {
			t.Errorf("equal contrasts are %s: %v", f.Scaling, f.Compared)
		}
		m, err := p.Maps(f.Point())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Result(m, "test").Write(t.TempDir()+"/nlsq", false); err != nil {
			t.Error(err)
		}
	}
}

// Maps are what the fit compares the data with: their residuals are its sum of squares.
func TestMaps(t *testing.T) {
	for _, text := range []string{flow, flow + "shear: homodyne\n", strings.ReplaceAll(flow, "laminar_flow", "static")} {
		c := config(t, strings.ReplaceAll(text, ", gamma_dot_t_offset: 0", map[bool]string{true: "", false: ", gamma_dot_t_offset: 0"}[strings.Contains(text, "static")]))
		p := sheared(t, c, truth[:len(c.Parameters)], 0.5, 0.4, 0.5)
		start, fixed, _ := p.Start()
		f, err := twotime.FitLeastSquares(t.Context(), p.Data, twotime.Settings{Start: start, Fixed: fixed})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Maps(twotime.Point{Theta: f.Theta, Contrast: f.Contrast, Offset: f.Offset})
		if err != nil {
			t.Fatal(err)
		}
		n, ssq := len(m.Times), 0.0
		for k := range m.Phi {
			for i := range n {
				for j := i + 1; j < n; j++ {
					ssq += math.Pow(m.Data[k][i*n+j]-m.Model[k][i*n+j], 2)
				}
			}
		}
		if math.Abs(ssq-f.SSQ) > 1e-8*ssq {
			t.Errorf("%s: the maps leave %.12g, the fit %.12g", c.Model, ssq, f.SSQ)
		}
	}
}

// Priors are those of the configuration, and weak ones beside them; fixed parameters have none.
func TestPriors(t *testing.T) {
	c := config(t, flow+`
parameter_space:
  bounds: [{name: alpha, min: -1, max: 1}]
  priors:
    D0: {type: LogNormal, mu: 9, sigma: 1}
    contrast: {type: Normal, mu: 0.5, sigma: 0.05}
`)
	p := sheared(t, c, truth, 0.5, 0.5, 0.5)
	c.Scaling = homodyne.ScalingAveraged
	if notes := strings.Join(p.NotSampled(&motion.Request{}), "; "); !strings.Contains(notes, "the bounds of alpha hold for fits only") || !strings.Contains(notes, "averaged in fits only") {
		t.Error(notes)
	}
	priors, err := p.Priors()
	if err != nil {
		t.Fatal(err)
	}
	if priors.Motion["D0"].Name != "lognormal" || priors.Motion["log_D0"].Name != "" || priors.Motion["log_gamma_dot_t0"].Name != "normal" || priors.Contrast != (twotime.Normal{Mean: 0.5, SD: 0.05}) ||
		len(priors.Fixed) != 2 || priors.Motion["D_offset"].Name != "" {
		t.Errorf("%+v", priors)
	}
	bounded := motion.Request{Bounds: setting.Intervals{"alpha": {-0.5, 0.5}, "gamma_dot_t0": {1e-5, 1e-1}, "D0": {-1, math.MaxFloat64}}}
	truncated, err := bounded.Beliefs(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]float64{"alpha": {-0.5, 0.5}, "log_gamma_dot_t0": {math.Log(1e-5), math.Log(1e-1)}} {
		if low, high, err := dist.Range(truncated.Motion[name]); err != nil || low != want[0] || high != want[1] {
			t.Errorf("%s lies between %g and %g: %v", name, low, high, err)
		}
	}
	if len(p.NotSampled(&bounded)) != 1 {
		t.Errorf("with bounds: %v", p.NotSampled(&bounded))
	}
	outside := motion.Request{Bounds: setting.Intervals{"D0": {-2, -1}}}
	if _, err := outside.Beliefs(p); err == nil || !strings.Contains(err.Error(), "outside the bounds -2 to -1") {
		t.Errorf("bounds below a positive rate: %v", err)
	}
	post, err := twotime.New(t.Context(), p.Data, priors, twotime.PosteriorSettings{Threads: 2, Pixels: 2000})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(t.Context(), post, infer.Settings{Chains: 2, Warmup: 60, Draws: 100, Init: motion.Starts(post, 2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	names, x := p.Scales(post, fit, 1)
	if !slices.Equal(names, []string{"contrast_0", "contrast_1", "contrast_2", "offset_0", "offset_1", "offset_2"}) || len(x) != 6 || len(x[0]) != 2 || len(x[0][0]) != 100 {
		t.Errorf("%v", names)
	}
	if err := p.PosteriorResult(post, fit, 1, 100, p.RemarksOn(post, fit, twotime.ByCells), "test").Write(t.TempDir()+"/cmc", false); err != nil {
		t.Error(err)
	}
	if !p.IsAside("D_offset") || !p.IsAside("scales[0, 1]") || p.IsAside("D0") {
		t.Error("columns beside the motion are mixed up")
	}
}

// Priors with limits, as configurations of homodyne have them, are sampled within these.
func TestPriorsWithLimits(t *testing.T) {
	c := config(t, strings.Replace(flow, "D_offset: 0, ", "", 1)+`
parameter_space:
  bounds:
    - {name: D0, min: 100, max: 100000, type: TruncatedNormal, prior_mu: 1000, prior_sigma: 10000}
    - {name: gamma_dot_t0, min: 1.0e-6, max: 0.5, type: Uniform}
`)
	p := sheared(t, c, truth, 0.5, 0.5, 0.5)
	priors, err := p.Priors()
	if err != nil {
		t.Fatal(err)
	}
	post, err := twotime.New(t.Context(), p.Data, priors, twotime.PosteriorSettings{Threads: 2, Pixels: 2000})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(t.Context(), post, infer.Settings{Chains: 2, Warmup: 150, Draws: 100, Init: motion.Starts(post, 2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alpha", "beta", "gamma_dot_t0", "phi0"} {
		row, k := fit.Summary().Row(name), slices.Index(c.Model.Names(), name)
		if math.Abs(row.Mean-truth[k]) > 4*row.SD || row.RHat > 1.2 {
			t.Errorf("%+v, want %g", row, truth[k])
		}
	}
}

// f2 of two components is held in the middle unless it is given; remarks tell rates of shear of homodyne from those of the sample.
func TestRemarks(t *testing.T) {
	c := config(t, "analysis_mode: two_component\nanalyzer_parameters: {dt: 0.1, scattering: {wavevector_q: 0.0054}}\n")
	times := c.Clock.Times(1, 5, 0.1)
	c2 := &homodyne.Correlation{Q: 0.0054, Phi: []float64{0}, First: 1, Last: 5, Step: 0.1, C2: [][]float64{slices.Repeat([]float64{1}, 25)}}
	p, err := motion.New(c, c2, times)
	if err != nil || c.Parameter("f2").Start != 0.25 || !c.Parameter("f2").Fixed || len(p.Notes) != 1 {
		t.Errorf("%+v, %v", c.Parameter("f2"), err)
	}
	c = config(t, flow+"shear: homodyne\n")
	if p, err = motion.New(c, c2, times); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(p.Remarks(truth, make([]float64, 7)), "\n"); !strings.Contains(text, "twice the diffusion coefficient") || !strings.Contains(text, "the rate of shear of the sample is 0.00022508") {
		t.Error(text)
	}
	if _, err := motion.Open(config(t, flow), ""); err == nil || !strings.Contains(err.Error(), "names no file") {
		t.Error(err)
	}
}

// Programs replace the diagonal by means of its neighbours, or by a constant: the errors stay those of the measured one.
func TestReplacedDiagonals(t *testing.T) {
	tier.SlowOnly(t)
	c := config(t, still)
	c.Scaling = homodyne.ScalingAveraged
	whole, err := sheared(t, c, truth[:3], 0.5, 0.5, 0.5).Fit(t.Context(), motion.FitSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(whole.Said(), "\n"); strings.Contains(said, "diagonal") {
		t.Errorf("of a diagonal as measured: %s", said)
	}
	for name, put := range map[string]func(before, after float64) float64{
		"neighbours": func(before, after float64) float64 { return (before + after) / 2 },
		"zeros":      func(_, _ float64) float64 { return 0 },
		"ones":       func(_, _ float64) float64 { return 1 },
		"none":       func(_, _ float64) float64 { return math.NaN() },
	} {
		if !tier.Slow && (name == "zeros" || name == "none") {
			continue // as ones
		}
		t.Run(name, func(t *testing.T) {
			p := sheared(t, c, truth[:3], 0.5, 0.5, 0.5)
			for _, c2 := range p.C2.C2 {
				n := len(p.Data.Setup.Times)
				for i := range n {
					c2[i*n+i] = put(c2[max(0, i-1)*n+max(1, i)], c2[min(i, n-2)*n+min(i+1, n-1)])
				}
			}
			f, err := p.Fit(t.Context(), motion.FitSettings{})
			if err != nil {
				t.Fatal(err)
			}
			for k, row := range f.Rows() {
				if want := whole.Rows()[k].SD; !row.Fixed && !(math.Abs(row.SD/want-1) < 0.25) {
					t.Errorf("the error of %s is %g, with the measured diagonal %g", row.Name, row.SD, want)
				}
			}
			if said := strings.Join(f.Said(), "\n"); !strings.Contains(said, "at 0, 45, 90 degrees the diagonal of C2 is not as it was measured") {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// C2 - 1 is refused, because the noise is that of C2.
func TestOneSubtracted(t *testing.T) {
	p := sheared(t, config(t, flow), truth, 0.5, 0.5, 0.5)
	for _, c2 := range p.C2.C2 {
		for i := range c2 {
			c2[i]--
		}
	}
	if _, err := motion.New(p.Config, p.C2, p.Data.Setup.Times); err == nil || !strings.Contains(err.Error(), "C2 - 1") {
		t.Errorf("C2 - 1 is not refused: %v", err)
	}
}

// One contrast for angles whose contrasts differ is named; TestScalings has equal ones.
func TestVerdictNamesDifferentContrasts(t *testing.T) {
	c := config(t, flow)
	c.Scaling = homodyne.ScalingAveraged
	f, err := sheared(t, c, truth, 0.25, 0.5, 1).Fit(t.Context(), motion.FitSettings{Starts: 4})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(f.Verdict.String(), "differ from angle to angle") {
		t.Errorf("contrasts from 0.25 to 1: %v", f.Verdict)
	}
}

// Where there is one angle, or angles were averaged to one, automatic scaling has nothing to choose from, and fits.
func TestAutomaticScalingOfOneAngle(t *testing.T) {
	c := config(t, strings.Replace(flow, "laminar_flow", "static_isotropic", 1))
	p := sheared(t, c, truth[:3], 0.5, 0.5, 0.5)
	mean := p.C2.Mean()
	one, err := motion.New(c, mean, p.Data.Setup.Times)
	if err != nil {
		t.Fatal(err)
	}
	f, err := one.Fit(t.Context(), motion.FitSettings{})
	if err != nil || f.Scaling != twotime.Individual || f.Compared != nil || f.Shared == nil {
		t.Fatalf("fit of one angle: %v", err)
	}
}

// Automatic scaling chooses also where the data do not tell all parameters: an offset of the diffusion does what its amplitude does.
func TestAutomaticScalingOfFlatParameters(t *testing.T) {
	c := config(t, "analysis_mode: static_anisotropic\nanalyzer_parameters: {dt: 0.1, scattering: {wavevector_q: 0.0054}}\ninitial_parameters: {fixed_parameters: {alpha: 0}}")
	p := sheared(t, c, []float64{12000, 0, 0}, 0.5, 0.5, 0.5)
	f, err := p.Fit(t.Context(), motion.FitSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Compared) != 1 || len(f.Warnings) == 0 || f.Shared != nil {
		t.Errorf("compared %v, warnings %q, errors %v", f.Compared, f.Warnings, f.Shared)
	}
}

// Bounds of one parameter leave starts of the others within theirs, whatever the wavevector.
func TestBoundsLeaveStarts(t *testing.T) {
	c := config(t, "analysis_mode: static_anisotropic\nanalyzer_parameters: {dt: 100, scattering: {wavevector_q: 2}}\nparameter_space: {bounds: [{name: alpha, min: -1, max: 1}]}")
	c.Parameter("D0").Bounded = false
	p := sheared(t, c, []float64{1e-4, 0, 0}, 0.5, 0.5, 0.5)
	if _, err := p.Fit(t.Context(), motion.FitSettings{Starts: 4}); err != nil {
		t.Error(err)
	}
}

// A flow that is not there is told; TestScalings has one.
func TestFitsWithoutFlow(t *testing.T) {
	c, theta := config(t, flow), slices.Clone(truth)
	c.Scaling, theta[3] = homodyne.ScalingAveraged, 1e-9
	f, err := sheared(t, c, theta, 0.5, 0.5, 0.5).Fit(t.Context(), motion.FitSettings{Starts: 4})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(f.Said(), "\n"); !strings.Contains(said, "diffusion without shear describes the data as well") {
		t.Errorf("of a shear of %g: %s", theta[3], said)
	}
}

// Frames without light are left out.
func TestDarkFrames(t *testing.T) {
	c := config(t, flow)
	whole := sheared(t, c, truth, 0.5, 0.5, 0.5)
	n := len(whole.Data.Setup.Times)
	for _, c2 := range whole.C2.C2 {
		for j := range n {
			c2[7*n+j], c2[j*n+7] = 0, 0
		}
	}
	p, err := motion.New(c, whole.C2, whole.Data.Setup.Times)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(p.Notes, "\n"); !strings.Contains(said, "frames [8] were left out") {
		t.Errorf("it says %q", said)
	}
	f, err := p.Fit(t.Context(), motion.FitSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * (n - 1) * (n - 2) / 2; f.Points != want || f.Verdict.Disagrees() {
		t.Errorf("%d points, want %d; %v", f.Points, want, f.Verdict)
	}
}
