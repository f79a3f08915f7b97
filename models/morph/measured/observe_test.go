// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// middles are the middles of n bins of a width.
func middles(first, width float64, n int) (out []float64) {
	for i := range n {
		out = append(out, first+width*(float64(i)+0.5))
	}
	return out
}

// reducedOf sums the numbers of the frames of a small measurement in bins of q and chi about the true centre, and returns them as the files
// of reductions have them, with the errors of counting.
func reducedOf(k *measured.Task, numbers func(frame int) []float64, q, chi []float64) *scatter.Set {
	d := k.Model.Data
	x0, y0 := d.Geometry.PoniX+truthOf["centre_x"]*d.Detector.PixelX, d.Geometry.PoniY+truthOf["centre_y"]*d.Detector.PixelY
	set := &scatter.Set{Name: "reduced", Kind: scatter.Curves, Rows: d.Detector.Rows, Columns: d.Detector.Columns,
		Geometry: scatter.Geometry{PixelY: d.Detector.PixelY, PixelX: d.Detector.PixelX, Distance: d.Geometry.Distance, PoniX: x0, PoniY: y0}}
	for i, f := range d.Frames {
		c := scatter.Curve{Energy: f.Energy, Exposure: f.Exposure, Q: q, Chi: chi, I: make([]float64, len(q)*len(chi)), Errors: make([]float64, len(q)*len(chi))}
		n := make([]float64, len(c.I))
		for p, v := range numbers(i) {
			y, x := (float64(p/d.Detector.Columns)+0.5)*d.Detector.PixelY-y0, (float64(p%d.Detector.Columns)+0.5)*d.Detector.PixelX-x0
			u := 2 * rsoxs.Wavenumber(f.Energy) * math.Sin(math.Atan(math.Hypot(x, y)/d.Geometry.Distance)/2)
			a := math.Mod(math.Atan2(y, x)*180/math.Pi-(chi[0]-180/float64(len(chi)))+720, 360)
			column, row := int(math.Floor((u-q[0])/(q[1]-q[0])+0.5)), int(a/(360/float64(len(chi))))
			if column >= 0 && column < len(q) {
				c.I[row*len(q)+column] += v
				n[row*len(q)+column]++
			}
		}
		for b, sum := range c.I {
			c.I[b], c.Errors[b] = sum/(n[b]*f.Exposure), math.Sqrt(sum)/(n[b]*f.Exposure)
		}
		set.Curves = append(set.Curves, c)
	}
	return set
}

// without is a fit of other data without some parameters.
func without(k *measured.Task, d *measured.Data, names ...string) *measured.Task {
	m := *k.Model
	m.Data = d
	return &measured.Task{Model: &m, Params: slices.DeleteFunc(slices.Clone(k.Params), func(p measured.Param) bool { return slices.Contains(names, p.Name) })}
}

// agrees checks estimates against the truth.
func agrees(t *testing.T, k *measured.Task) *measured.Solution {
	t.Helper()
	s, err := k.Fit(t.Context(), optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range s.Names {
		if want, ok := truthOf[name]; ok && !(math.Abs(s.X[i]-want) < 3.5*s.SD[i]) {
			t.Errorf("%s is %g +- %g, want %g", name, s.X[i], s.SD[i], want)
		}
	}
	return s
}

// Sums of counts in bins are recovered and fitted, with the model averaged over the pixels of each bin; at the middles of the bins the
// parameters would be far off.
func TestReducedPatterns(t *testing.T) {
	k := small(t, 3)
	q, chi := middles(0.03, 0.03, 11), middles(-180, 60, 6)
	set := reducedOf(k, func(i int) []float64 { return k.Model.Data.Frames[i].Counts }, q, chi)
	d, notes, err := measured.FromFile(set, measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Frames[0].Noise != "poisson" || !strings.Contains(strings.Join(notes, " "), "sums of counts") {
		t.Errorf("%s noise: %v", d.Frames[0].Noise, notes)
	}
	fit := without(k, d, "centre_x", "centre_y")
	agrees(t, fit)

	mu, err := small(t, 3).Means() // the same without noise
	if err != nil {
		t.Fatal(err)
	}
	pixels := k.Model.Data.Detector.Rows * k.Model.Data.Detector.Columns
	exact := reducedOf(k, func(i int) []float64 { return mu[i*pixels : (i+1)*pixels] }, q, chi)
	worst := func(points *measured.Fan) float64 {
		e := *d
		e.Frames = slices.Clone(d.Frames)
		for i := range e.Frames {
			f := &e.Frames[i]
			f.Counts = slices.Clone(f.Counts)
			for b := range f.Counts {
				f.Counts[b] = exact.Curves[i].I[b] * f.Gains[b]
			}
			if points != nil {
				n := len(f.Counts)
				bins := &measured.Bins{Pixel: middleNumbers(n), Weight: slices.Repeat([]float64{1}, n), From: append(middleNumbers(n), n), Q: f.Bins.Q, Chi: f.Bins.Chi}
				if i > 0 {
					bins = e.Frames[0].Bins
				}
				f.Bins, e.Fan = bins, points
			}
		}
		k := without(fit, &e, map[bool]string{true: "resolution"}[points != nil])
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		far := 0.0
		for i, name := range s.Names {
			if name != "resolution" {
				far = max(far, math.Abs(s.X[i]-truthOf[name])/s.SD[i])
			}
		}
		return far
	}
	middle := &measured.Fan{}
	for _, c := range chi {
		for _, u := range q {
			middle.Q, middle.Chi = append(middle.Q, u), append(middle.Chi, c*math.Pi/180)
		}
	}
	if far := worst(nil); far > 0.2 {
		t.Errorf("averaged over the pixels of bins, exact data lead %.2g standard deviations away", far)
	}
	if far := worst(middle); far < 3 {
		t.Errorf("at the middles of bins, exact data lead %.2g standard deviations away: the bias should be seen", far)
	}
}

func middleNumbers(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// Rates whose errors are those of counting are counts again, whether darks and the flux were taken off or not; others are compared by their
// errors, with the model's variance where nothing was counted.
func TestRates(t *testing.T) {
	k := small(t, 4)
	d := k.Model.Data
	of := func(spoil float64) *scatter.Set {
		set := &scatter.Set{Name: "rates", Kind: scatter.Images, Rates: true, Rows: d.Detector.Rows, Columns: d.Detector.Columns,
			Geometry: scatter.Geometry{PixelY: d.Detector.PixelY, PixelX: d.Detector.PixelX, Distance: d.Geometry.Distance, PoniX: d.Geometry.PoniX, PoniY: d.Geometry.PoniY}}
		for _, f := range d.Frames {
			g := scatter.Frame{Energy: f.Energy, Exposure: f.Exposure, Flux: 2}
			for _, c := range f.Counts {
				g.Counts, g.Errors = append(g.Counts, c/f.Exposure/g.Flux), append(g.Errors, spoil*math.Sqrt(c)/f.Exposure/g.Flux)
			}
			set.Frames = append(set.Frames, g)
		}
		return set
	}
	counts, _, err := measured.FromFile(of(1), measured.Reading{})
	if err != nil || counts.Frames[0].Noise != "" || counts.Frames[0].Flux != 2 || !slices.Equal(counts.Frames[0].Counts, d.Frames[0].Counts) {
		t.Errorf("counts are not recovered: %v", err)
	}
	rates, notes, err := measured.FromFile(of(1.01), measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if rates.Frames[0].Noise != "gaussian" || len(rates.Frames) > len(d.Frames) != strings.Contains(strings.Join(notes, " "), "have an error of 0") {
		t.Errorf("%s, %d frames: %v", rates.Frames[0].Noise, len(rates.Frames), notes)
	}
}

// Every likelihood finds the truth in counts that are plentiful, and the scale of noise that has one.
func TestLikelihoods(t *testing.T) {
	tier.SlowOnly(t)
	base := smallOf(t, 5, true)
	for _, name := range measured.Noises() {
		k := without(base, base.Model.Data, "shell", "centre_x", "centre_y", "resolution", "background")
		k.Fixed = truthOf
		d := *base.Model.Data
		d.Frames = slices.Clone(d.Frames)
		for i := range d.Frames {
			f := &d.Frames[i]
			f.Noise = name
			n := len(f.Counts)
			f.Counts = slices.Clone(f.Counts)
			f.Errors, f.Freedom = make([]float64, n), slices.Repeat([]float64{30}, n)
			for p := range f.Errors {
				f.Errors[p] = math.Sqrt(max(f.Counts[p], 1))
			}
		}
		k.Model.Data = &d
		scale := map[string]string{"quasi": "noise", "residuals": "noise", "lognormal": "sigma", "negative_binomial": "modes"}[name]
		if scale != "" {
			k.Params = append(k.Params, measured.Param{Name: scale, Start: 20})
		}
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at := map[string]float64{}
		for i, n := range s.Names {
			at[n] = s.X[i]
		}
		if math.Abs(at["radius"]-truthOf["radius"]) > 0.2 || math.Abs(at["aligned"]-truthOf["aligned"]) > 0.1 {
			t.Errorf("%s: %v", name, at)
		}
		if x := at["noise"]; name == "quasi" && (x < 0.9 || x > 1.1) {
			t.Errorf("the variance over the mean of counts is %g^2", x)
		}
		if p, err := k.Posterior(); err != nil || p == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two cameras with nuisances of their own share the morphology.
func TestJointFit(t *testing.T) {
	tier.SlowOnly(t)
	a, b := smallOf(t, 6, true), smallOf(t, 7, true)
	a.Model.Suffix, b.Model.Suffix = "@1", "@2"
	own := []string{"centre_x", "centre_y", "background"}
	joint := &measured.Task{Model: a.Model, More: []*measured.Model{b.Model}}
	for _, p := range a.Params {
		if !slices.Contains(own, p.Name) {
			joint.Params = append(joint.Params, p)
			continue
		}
		for _, suffix := range []string{"@1", "@2"} {
			q := p
			q.Name += suffix
			joint.Params = append(joint.Params, q)
		}
	}
	s := agrees(t, joint)
	alone := agrees(t, a)
	both, one := maps.Collect(pairs(s)), maps.Collect(pairs(alone))
	if r := both["radius"] / one["radius"]; r < 0.6 || r > 0.8 {
		t.Errorf("two measurements have %.2g of the error of one: want the root of a half", r)
	}
	if r := both["centre_x@2"] / one["centre_x"]; r < 0.8 || r > 1.2 {
		t.Errorf("the centre of the second camera has %.2g of the error that it has alone", r)
	}
	v, err := joint.Check(s)
	if err != nil || !v.OK {
		t.Errorf("%v, %v", v, err)
	}
}

// pairs are the standard deviations by name.
func pairs(s *measured.Solution) func(yield func(string, float64) bool) {
	return func(yield func(string, float64) bool) {
		for i, n := range s.Names {
			if !yield(n, s.SD[i]) {
				return
			}
		}
	}
}

// Counts are found behind means from which darks were taken off and which were divided by a flux that the file does not say, with errors
// that are the scatter of pixels.
func TestLatticeOfCounts(t *testing.T) {
	k := small(t, 3)
	const dark, flux = 1.5, 3.7
	q, chi := middles(0.03, 0.01, 33), middles(-180, 12, 30)
	set := reducedOf(k, func(i int) []float64 {
		out := slices.Clone(k.Model.Data.Frames[i].Counts)
		for p := range out {
			out[p] = (out[p] - dark) / flux
		}
		return out
	}, q, chi)
	for i := range set.Curves {
		c := &set.Curves[i]
		c.Exposure = 0
		for b := range c.I {
			c.Errors[b] = 0.1 * math.Abs(c.I[b])
		}
	}
	d, _, err := measured.FromFile(set, measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range d.Frames {
		if f.Noise != "poisson" {
			t.Fatalf("frame %d is compared by %s", i, f.Noise)
		}
		for b, n := range f.Counts {
			pixels := float64(f.Bins.From[b+1] - f.Bins.From[b])
			if math.IsNaN(n) {
				continue
			}
			if math.Abs(f.Gains[b]-pixels*10*flux) > 1e-6*f.Gains[b] || math.Abs(math.Remainder(f.Offsets[b]/pixels-dark, 1)) > 1e-6 { // no pixel is empty, so that whole counts of darks cannot be seen
				t.Fatalf("bin %d of %g pixels: gain %g and offset %g, want %g and %g", b, pixels, f.Gains[b], f.Offsets[b], pixels*10*flux, dark*pixels)
			}
		}
	}
}

// Images from which darks were taken off are compared with a variance that the residuals tell. The darks scatter by as much as numbers lie
// below 0.
func TestImagesWithoutDarks(t *testing.T) {
	set := &scatter.Set{Name: "film", Kind: scatter.Images, Rates: true, DarksOff: true, Rows: 1, Columns: 4, Geometry: scatter.Geometry{PixelY: 1, PixelX: 1, Distance: 100},
		Frames: []scatter.Frame{{Energy: 285, Exposure: 2, Counts: []float64{3.4, -1, 2.2, -2}}}}
	d, notes, err := measured.FromFile(set, measured.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	f := d.Frames[0]
	if f.Noise != "quasi" || f.Offsets[0] != 2.5 || f.Exposure != 2 || !strings.Contains(strings.Join(notes, " "), "errors estimated from the residuals") {
		t.Errorf("%+v, %v", f, notes)
	}
}

// A Gaussian prior of a parameter with a bound on one side, such as that of the guide for a thickness, has a posterior.
func TestPosteriorOfABoundedParameter(t *testing.T) {
	k := smallOf(t, 2, true)
	for _, bounds := range [][]float64{{0, math.Inf(1)}, {math.Inf(-1), 9}, {0, 9}} {
		k.Params[0].Mean, k.Params[0].SD, k.Params[0].Bounds = 6, 1, bounds
		if _, err := (&measured.Task{Model: k.Model, Params: k.Params}).Posterior(); err != nil {
			t.Errorf("bounds %v: %v", bounds, err)
		}
	}
}
