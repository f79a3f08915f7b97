// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// demo is an inverse problem with known truth.
type demo struct {
	Shape    [3]int     `json:"shape_zyx"`
	PhysSize float64    `json:"PhysSize_nm"`
	Width    float64    `json:"w_nm"`
	Radius   float64    `json:"R_nm"`
	Centre   [3]float64 `json:"centre_zyx_vox"`
	Centre2  [2]float64 `json:"centre_yx_vox"`
	Support  [2]int     `json:"support_yx"`
	Config   struct {
		Energies       []float64
		EAngleRotation [3]float64
		RotMask        int
	}
	Optical map[string][][4]float64 `json:"optical_constants"`
	Others  map[string][][4]float64 `json:"other_constants"`
	Eps     float64
	Loss    float64   `json:"loss_at_start"`
	Grad    []float64 `json:"grad_at_start"`
	Sigma   float64
	data    map[string]*tensor.Tensor
}

// The keys that tell the kinds of inverse problems apart.
var (
	particles  = []string{"centre_zyx_vox", "grad_at_start"}
	optical    = []string{"morphology_params"}
	voxels     = []string{"support_yx"}
	spirals    = []string{"centre_yx_vox"}
	posteriors = []string{"sigma"}
)

// eachDemo runs f on the problems with keys.
func eachDemo(t *testing.T, keys []string, f func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range golden.Having(t, "scatter/demo/*.json", keys...) {
		t.Run(golden.Base(name), func(t *testing.T) { f(t, name) })
	}
}

// read reads a demo and, into extra, what else its file holds.
func read(t testing.TB, name string, extra any) *demo {
	var d demo
	golden.JSON(t, &d, name)
	golden.JSON(t, extra, name)
	f, err := os.Open(golden.Path(t, strings.TrimSuffix(name, "json")+"npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	if d.data, err = tensor.ReadNPZ(f, st.Size()); err != nil {
		t.Fatal(err)
	}
	return &d
}

func (d *demo) sim(t testing.TB) *rsoxs.Simulator {
	a := d.Config.EAngleRotation
	s, err := rsoxs.New(d.Shape, d.PhysSize, rsoxs.Config{Energies: d.Config.Energies,
		Angles: rsoxs.Angles{Start: a[0], Increment: a[1], End: a[2]}, RotMask: d.Config.RotMask == 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// optics returns the constants of the first n materials; the last is vacuum.
func (d *demo) optics(table map[string][][4]float64, n int) (o rsoxs.Optics) {
	for _, e := range d.Config.Energies {
		for k, rows := range table {
			if v, _ := strconv.ParseFloat(k, 64); v == e {
				var row []rsoxs.Constants
				for _, c := range rows[:n] {
					row = append(row, rsoxs.Constants{DeltaPara: c[0], BetaPara: c[1], DeltaPerp: c[2], BetaPerp: c[3]})
				}
				o = append(o, row)
			}
		}
	}
	return o
}

// stack gives an array [energy, QY, QX] the axis of beams.
func stack(t testing.TB, x *tensor.Tensor) *tensor.Tensor {
	s := x.Shape()
	y, err := x.Reshape(s[0], 1, s[1], s[2])
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func (d *demo) grid() morph.Grid { return morph.Grid{Shape: d.Shape, Voxel: d.PhysSize} }

// coreShell is the particle of demos of shapes, constants and posteriors.
func (d *demo) coreShell(p []*ad.Node) morph.Scene {
	c := d.Centre
	return morph.CoreShell{Grid: d.grid(), Centre: morph.Fixed(c[2]*d.PhysSize, c[1]*d.PhysSize, c[0]*d.PhysSize),
		Radius: p[0], Shell: p[1], Aligned: p[2], Width: d.Width}.Scene()
}

func (d *demo) inversion(t testing.TB, data string) *morph.Inversion {
	return &morph.Inversion{Sim: d.sim(t), Data: stack(t, d.data[data]), Mask: stack(t, d.data["mask"]), Eps: d.Eps}
}

func params(names []string, start []float64) (list []morph.Param) {
	for i, n := range names {
		list = append(list, morph.Param{Name: n, Start: start[i : i+1]})
	}
	return list
}

// checkStart compares loss and gradient at the start.
func (d *demo) checkStart(t *testing.T, v *morph.Inversion, grad []float64) {
	t.Helper()
	f, err := v.Function()
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, f.N)
	loss, err := f.Gradient(g, f.Start)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(loss-d.Loss) > 1e-9*d.Loss {
		t.Errorf("loss at the start %.15g, want %.15g", loss, d.Loss)
	}
	top := 0.0
	for _, w := range grad {
		top = max(top, math.Abs(w))
	}
	for i, w := range grad {
		if math.Abs(g[i]-w) > 1e-8*top {
			t.Errorf("gradient %d at the start %.12g, want %.12g", i, g[i], w)
		}
	}
}

var fine = optim.MinimizeSettings{FTol: -1, GTol: 1e-10}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*math.Max(math.Abs(w), 1e-3)) {
			t.Errorf("%s: parameter %d is %.10g, want %.10g within %g", what, i, got[i], w, tol)
		}
	}
}

var names = []string{"radius", "shell", "S"}

func TestDemoCoreShell(t *testing.T) { eachDemo(t, particles, checkCoreShell) }

func checkCoreShell(t *testing.T, name string) {
	var x struct {
		Truth, Start []float64
		Results      map[string]struct{ Params []float64 }
	}
	d := read(t, name, &x)
	for result := range x.Results {
		data := "D_noisy"
		if result == "noise_free" {
			data = "D"
		}
		v := d.inversion(t, data)
		v.Optics, v.Build, v.Params = d.optics(d.Optical, 2), d.coreShell, params(names, x.Start)
		want := x.Results[result].Params
		if data == "D" {
			d.checkStart(t, v, d.Grad)
			want = x.Truth
		}
		best, err := v.Minimize(context.Background(), fine)
		if err != nil {
			t.Fatal(err)
		}
		near(t, result+" by L-BFGS", best.X, want, 3e-6)
		fit, err := v.Fit(context.Background(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		near(t, result+" by Levenberg-Marquardt", fit.X, want, 3e-6)
		t.Logf("%s: L-BFGS %d evaluations, LM %d, loss %.3g", result, best.State.NFev, fit.NFev, best.Value)
	}
}

func TestDemoConstants(t *testing.T) { eachDemo(t, optical, checkConstants) }

func checkConstants(t *testing.T, name string) {
	var x struct {
		Truth, Start [][4]float64
		Shape        []float64 `json:"morphology_params"`
	}
	d := read(t, name, &x)
	flat := func(rows [][4]float64) (v []float64) {
		for _, r := range rows {
			v = append(v, r[:]...)
		}
		return v
	}
	v := d.inversion(t, "D")
	others := d.optics(d.Others, 1)
	v.Params = []morph.Param{{Name: "constants", Start: flat(x.Start)}}
	v.Build = func(p []*ad.Node) morph.Scene {
		s := d.coreShell([]*ad.Node{ad.Scalar(x.Shape[0]), ad.Scalar(x.Shape[1]), ad.Scalar(x.Shape[2])})
		full := rsoxs.Optics{}
		for _, row := range others {
			full = append(full, append(row[:1:1], rsoxs.Constants{}))
		}
		s.Constants = morph.Refined(full, 1, p[0])
		return s
	}
	d.checkStart(t, v, nil)
	// In units of 1e-3, as a user would write them.
	scaled := *v
	scaled.Params = []morph.Param{{Name: "constants", Start: scale(1e3, flat(x.Start))}}
	scaled.Build = func(p []*ad.Node) morph.Scene { return v.Build([]*ad.Node{ad.Scale(1e-3, p[0])}) }
	best, err := scaled.Minimize(context.Background(), fine)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "L-BFGS", best.X, scale(1e3, flat(x.Truth)), 1e-5)
	fit, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Levenberg-Marquardt", scale(1e3, fit.X), scale(1e3, flat(x.Truth)), 1e-6)
	t.Logf("L-BFGS %d evaluations, LM %d", best.State.NFev, fit.NFev)
}

func scale(f float64, v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = f * v[i]
	}
	return out
}

func TestDemoVoxels(t *testing.T) { eachDemo(t, voxels, checkVoxels) }

func checkVoxels(t *testing.T, name string) {
	var x struct {
		RMS float64 `json:"rms_start"`
	}
	d := read(t, name, &x)
	truth, start := d.data["vfrac_truth"].Float64s(), d.data["logit_start"].Float64s()
	v := d.inversion(t, "D")
	v.Optics = d.optics(d.Optical, 1)
	v.Params = []morph.Param{{Name: "logit", Start: start}}
	lo, hi := d.Support[0], d.Support[1]
	v.Build = func(p []*ad.Node) morph.Scene {
		return morph.Voxels{Grid: d.grid(), From: [3]int{0, lo, lo}, To: [3]int{1, hi, hi}, Logit: p[0]}.Scene()
	}
	d.checkStart(t, v, d.data["grad_logit_start"].Float64s())
	s := fine
	s.MaxEvaluations = 600
	best, err := v.Minimize(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, l := range best.X {
		e := 1/(1+math.Exp(-l)) - truth[i]
		sum += e * e
	}
	rms := math.Sqrt(sum / float64(len(truth)))
	if !(rms < x.RMS/20) {
		t.Errorf("rms %g after %d evaluations: want %g", rms, best.State.NFev, x.RMS/20)
	}
	t.Logf("rms %.3g from %.3g in %d evaluations", rms, x.RMS, best.State.NFev)
}

func TestDemoSpiral(t *testing.T) { eachDemo(t, spirals, checkSpiral) }

func checkSpiral(t *testing.T, name string) {
	var x struct{ Truth, Start []float64 }
	d := read(t, name, &x)
	v := d.inversion(t, "D")
	v.Optics, v.Params = d.optics(d.Optical, 1), params([]string{"S", "psi0"}, x.Start)
	v.Build = func(p []*ad.Node) morph.Scene {
		g := d.grid()
		c := morph.Fixed(d.Centre2[1]*d.PhysSize, d.Centre2[0]*d.PhysSize, 0)
		_, psi := g.From(c).Angles()
		full := func(n *ad.Node) *ad.Node { return ad.Broadcast(n, d.Shape[:]...) }
		disc := morph.Inside(g.Cylinder(c, morph.Fixed(0, 0, 1), ad.Scalar(d.Radius), nil), d.Width)
		return morph.Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: full(disc), S: full(p[0]),
			Theta: full(ad.Scalar(math.Pi / 2)), Psi: full(ad.Add(psi, p[1]))}}}
	}
	d.checkStart(t, v, d.Grad)
	best, err := v.Minimize(context.Background(), fine)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "L-BFGS", best.X, x.Truth, 1e-8)
	fit, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Levenberg-Marquardt", fit.X, x.Truth, 1e-8)
	t.Logf("L-BFGS %d evaluations, LM %d", best.State.NFev, fit.NFev)
}

func TestDemoPosterior(t *testing.T) { eachDemo(t, posteriors, checkPosterior) }

func checkPosterior(t *testing.T, name string) {
	var x struct {
		Results struct {
			Map  []float64
			NLL  float64   `json:"neg_log_like_at_map"`
			SD   []float64 `json:"laplace_sd"`
			Mean []float64 `json:"is_mean"`
		}
	}
	d := read(t, name, &x)
	v := d.inversion(t, "D")
	v.Optics, v.Build, v.Params = d.optics(d.Optical, 2), d.coreShell, params(names, x.Results.Map)
	v.Sigma, v.Eps = d.Sigma, -1
	r, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "least squares", r.X, x.Results.Map, 1e-4)
	near(t, "standard deviations", r.SD(), x.Results.SD, 0.05)
	if math.Abs(r.Cost-x.Results.NLL) > 1e-6*x.Results.NLL {
		t.Errorf("half the chi-square %v, want %v", r.Cost, x.Results.NLL)
	}
	if !tier.Slow {
		t.Log("sampled with the tag slow only")
		return
	}
	fit, err := v.Sample(context.Background(), infer.Settings{Seed: 1, Warmup: 150, Draws: 250})
	if err != nil {
		t.Fatal(err)
	}
	sum := fit.Summary()
	t.Logf("%v %v\n%v", fit, fit.Elapsed, sum)
	if sum.MaxRHat() > 1.01 || sum.MinESS() < 400 || fit.Divergent() > 0 {
		t.Errorf("R-hat %v, effective sample size %v, %d divergences", sum.MaxRHat(), sum.MinESS(), fit.Divergent())
	}
	for i, name := range names {
		r, want, sd := sum.Row(name), x.Results.Mean[i], x.Results.SD[i]
		if math.Abs(r.Mean-want) > 0.2*sd || math.Abs(r.SD-sd) > 0.15*sd {
			t.Errorf("%s: %v +- %v, want %v +- %v", name, r.Mean, r.SD, want, sd)
		}
	}
}

// What each energy tells adds up to what the fit knew.
func TestInformation(t *testing.T) { eachDemo(t, posteriors, checkInformation) }

func checkInformation(t *testing.T, name string) {
	var x struct {
		Results struct{ Map []float64 }
	}
	d := read(t, name, &x)
	v := d.inversion(t, "D")
	v.Optics, v.Build, v.Params = d.optics(d.Optical, 2), d.coreShell, params(names, x.Results.Map)
	v.Sigma, v.Eps = d.Sigma, -1
	per, err := v.Information(nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.Fit(context.Background(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 { // the covariance times the sum of the information is 1
		got, want := 0.0, 0.0
		for k := range 3 {
			for _, info := range per {
				got += f.Cov[i/3*3+k] * info[k*3+i%3]
			}
		}
		if i%4 == 0 {
			want = 1
		}
		if math.Abs(got-want) > 1e-3 {
			t.Errorf("element %d of covariance times information is %v, want %v", i, got, want)
		}
	}
	for e, f := range per {
		t.Logf("energy %v: %.4g", d.Config.Energies[e], f)
	}
}
