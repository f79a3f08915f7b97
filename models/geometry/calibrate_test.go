// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// powder is an image of silver behenate.
type powder struct {
	g       xpcs.Geometry
	q       []float64 // of the rings in the image
	counts  float64   // of a ring at its highest
	stretch float64   // relative, with twice the azimuth
	gaps    bool
	dim     float64 // background (counts)
	offset  float64 // subtracted from everything
	width   float64 // standard deviation of rings in 1/angstrom; 0: 0.0055
}

func truth() powder {
	return powder{g: xpcs.Geometry{Height: 320, Width: 360, CenterRow: 151.37, CenterCol: 188.62, PixelSize: 172e-6, Distance: 0.3514, Energy: 10},
		q: SilverBehenate(4), counts: 400, gaps: true, dim: 10}
}

func (p powder) expose(t *testing.T, seed uint64) ([]float64, *mask.Mask) {
	t.Helper()
	qm, err := p.g.QMap("q", "phi")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	q, phi := qm.Values[0], qm.Values[1]
	image, m := make([]float64, len(q)), mask.New(p.g.Height, p.g.Width)
	width := p.width
	if width == 0 {
		width = 0.0055
	}
	for i := range image {
		at := q[i] * (1 + p.stretch*math.Cos(2*phi[i]*math.Pi/180))
		mean := p.dim * (1 + 6/(1+at*at/0.01))
		for _, c := range p.q {
			mean += p.counts * math.Exp(-(at-c)*(at-c)/(2*width*width)) * (0.1 / (c + 0.02))
		}
		image[i] = poisson(rng, mean) - p.offset
		r, c := i/p.g.Width, i%p.g.Width
		stop := math.Hypot(float64(r)-p.g.CenterRow, float64(c)-p.g.CenterCol) < 16 || math.Abs(float64(r)-p.g.CenterRow) < 4 && c > int(p.g.CenterCol)
		if p.gaps && (r%110 > 102 || c%150 > 144 || stop) {
			m.Keep[i], image[i] = false, -1
		}
	}
	for range 40 {
		image[rng.IntN(len(image))] = 65535
	}
	return image, m
}

// poisson draws a count.
func poisson(rng *rand.Rand, mean float64) float64 {
	if mean > 50 {
		return math.Max(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()), 0)
	}
	n, p := 0.0, rng.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= rng.Float64()
	}
	return n
}

// first is where somebody thought that the detector is.
func (p powder) first() xpcs.Geometry {
	g := p.g
	g.CenterRow, g.CenterCol, g.Distance = g.CenterRow+9, g.CenterCol-7, g.Distance*0.93
	return g
}

// Centre and distance are found from far away, with errors that hold, and the verdict agrees.
func TestCalibrate(t *testing.T) {
	p := truth()
	square, agreed := 0.0, 0
	trials := tier.Of[uint64](2, 5)
	for seed := range trials {
		image, m := p.expose(t, seed+1)
		f, err := Calibrate(context.Background(), image, m, p.first(), p.q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{p.g.CenterRow, p.g.CenterCol, p.g.Distance}
		for i, w := range want {
			z := (f.X[i] - w) / f.SD[i]
			square += z * z / float64(3*trials)
			if math.Abs(z) > 5 {
				t.Errorf("seed %d: %s is %v +- %v, want %v", seed, f.Names[i], f.X[i], f.SD[i], w)
			}
		}
		if !f.Status.Converged() || f.SD[0] > 0.02 || f.SD[1] > 0.02 || f.SD[2] > 1e-4*p.g.Distance || len(f.Points) < 150 {
			t.Errorf("seed %d: %v", seed, f)
		}
		if f.Check.OK {
			agreed++
		}
		t.Logf("%v", f)
	}
	t.Logf("mean square of (found - true)/error: %.2f", square)
	if square > tier.Of(4.0, 2.7) || square < tier.Of(0.06, 0.2) { // 6 or 15 degrees of freedom: outside with a probability of 0.0005
		t.Errorf("the mean square of (found - true)/error is %.2f, want about 1", square)
	}
	if agreed < int(trials)-1 {
		t.Errorf("the verdict agrees with %d of %d right calibrations", agreed, trials)
	}
}

// Rings that are narrower than a pixel have errors that agree with their scatter.
func TestSharpRings(t *testing.T) {
	p := truth()
	p.width = 0.0018
	image, m := p.expose(t, 5)
	f, err := Calibrate(context.Background(), image, m, p.first(), p.q, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !(f.ReducedChiSquared < 1.4) || len(f.Points) < 150 {
		t.Errorf("%d points with a reduced chi-square of %.2f", len(f.Points), f.ReducedChiSquared)
	}
}

// Few counts, and a background that was taken off, do no harm.
func TestDarkImages(t *testing.T) {
	tier.SlowOnly(t)
	dark, subtracted := truth(), truth()
	dark.counts, dark.dim = 60, 1
	subtracted.offset = 30
	for name, p := range map[string]powder{"dark": dark, "subtracted": subtracted} {
		image, m := p.expose(t, 21)
		f, err := Calibrate(context.Background(), image, m, p.first(), p.q, Settings{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range []float64{p.g.CenterRow, p.g.CenterCol, p.g.Distance} {
			if math.Abs(f.X[i]-want) > 4.5*f.SD[i] || f.SD[i] > 3e-4*want {
				t.Errorf("%s: %s is %v +- %v, want %v", name, f.Names[i], f.X[i], f.SD[i], want)
			}
		}
		if !f.Check.OK {
			t.Errorf("%s: %v", name, f.Check)
		}
		t.Logf("%s: %v", name, f)
	}
}

// Rings that the geometry cannot make are named.
func TestVerdictOnWrongRings(t *testing.T) {
	oval := truth()
	oval.stretch = 0.004
	shifted := truth()
	for i := range shifted.q {
		shifted.q[i] += 0.002 // another substance
	}
	for kind, p := range map[string]powder{"elliptical rings": oval, "shifted orders": shifted} {
		image, m := p.expose(t, 11)
		f, err := Calibrate(context.Background(), image, m, p.first(), SilverBehenate(4), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Check.OK || !strings.Contains(f.Check.String(), map[string]string{"elliptical rings": "elliptical rings would fit better", "shifted orders": "shifted by the same amount"}[kind]) {
			t.Errorf("%s: %v", kind, f.Check)
		}
	}
}

// simulated makes points on rings of a geometry.
func simulated(g xpcs.Geometry, q []float64, sd float64, seed uint64) (points []Point) {
	rng := rand.New(rand.NewPCG(seed, 5))
	rays, err := expected(g, q, 40)
	if err != nil {
		panic(err)
	}
	row, col := g.DisplayCenter()
	for s, ray := range rays {
		for k, r := range ray {
			if r == r {
				sin, cos := math.Sincos(sectorAngle(s, 40))
				r += sd * rng.NormFloat64()
				points = append(points, Point{row - r*sin, col + r*cos, q[k], sd})
			}
		}
	}
	return points
}

// Right rings are flagged no more often than the verdict's level says.
func TestFalseAlarms(t *testing.T) {
	g := truth().g
	alarms := 0
	const trials = 60
	for seed := range uint64(trials) {
		f, err := FitPoints(context.Background(), g, simulated(g, SilverBehenate(4), 0.05, 100+seed), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !f.Check.OK {
			alarms++
			t.Log(f.Check)
		}
	}
	if alarms > 3 { // at a level of 1 % more are as likely as 0.003
		t.Errorf("%d of %d right fits were flagged", alarms, trials)
	}
}

// The tilt of a detector is found when it is free, and named when it is not.
func TestTilt(t *testing.T) {
	g := truth().g
	g.SwingHorizontal, g.SwingVertical = 0.04, -0.03
	points := simulated(g, SilverBehenate(4), 0.05, 3)
	start := g
	start.SwingHorizontal, start.SwingVertical, start.Distance = 0.01, 0.01, g.Distance*1.01
	f, err := FitPoints(context.Background(), start, points, Settings{Free: []string{SwingHorizontal, SwingVertical, Distance}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.04, -0.03, g.Distance} {
		if math.Abs(f.X[i]-want) > 4*f.SD[i] || f.SD[i] > 1e-3 {
			t.Errorf("%s is %v +- %v, want %v", f.Names[i], f.X[i], f.SD[i], want)
		}
	}
	if !f.Check.OK {
		t.Errorf("with free angles: %v", f.Check)
	}
	flat := truth().g
	flat.CenterRow, flat.CenterCol = g.DisplayCenter()
	f, err = FitPoints(context.Background(), flat, points, Settings{Outlier: -1})
	if err != nil {
		t.Fatal(err)
	}
	if f.Check.OK {
		t.Error("a tilted detector passes for one that is not")
	}
}

// At wide angles rings tell the energy from the distance; at small ones the verdict says that they do not.
func TestEnergy(t *testing.T) {
	g := truth().g
	g.Distance = 0.06
	start := g
	start.Energy, start.Distance = 10.2, 0.0612
	free := Settings{Free: []string{CenterRow, CenterCol, Distance, Energy}}
	f, err := FitPoints(context.Background(), start, simulated(g, []float64{0.5, 1, 1.5, 1.9}, 0.05, 8), free)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{g.CenterRow, g.CenterCol, g.Distance, g.Energy} {
		if math.Abs(f.X[i]-want) > 4*f.SD[i] || i == 3 && f.SD[i] > 0.02 {
			t.Errorf("%s is %v +- %v, want %v", f.Names[i], f.X[i], f.SD[i], want)
		}
	}
	if !f.Check.OK {
		t.Error(f.Check)
	}
	g.Distance = 40
	f, err = FitPoints(context.Background(), g, simulated(g, []float64{0.0012, 0.0024, 0.0036}, 0.05, 8), free)
	if err != nil {
		t.Fatal(err)
	}
	if _, sd := f.Value(Energy); sd < 1 || f.Check.OK || !strings.Contains(f.Check.String(), Energy) {
		t.Errorf("at small angles the energy is known to %v keV: %v", sd, f.Check)
	}
}

// Outliers are left out and said.
func TestOutliers(t *testing.T) {
	g := truth().g
	points := simulated(g, SilverBehenate(3), 0.05, 4)
	for i := 0; i < len(points); i += 4 {
		points[i].Row += 6
	}
	f, err := FitPoints(context.Background(), g, points, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(f.Geometry.CenterRow-g.CenterRow) > 0.05 || len(f.Outliers) < 20 || f.Check.OK || !strings.Contains(f.Check.String(), "left out") {
		t.Errorf("%v: %d outliers, %v", f, len(f.Outliers), f.Check)
	}
}

// The posterior of a linear problem is the fit's normal distribution.
func TestPosterior(t *testing.T) {
	g := truth().g
	points := simulated(g, SilverBehenate(4), 0.1, 6)
	f, err := FitPoints(context.Background(), g, points, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Posterior(g, points, Settings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	starts, err := f.Starts(post, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, init := range [][][]float64{starts, nil} {
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1, Init: init})
		if err != nil {
			t.Fatal(err)
		}
		sameAsFit(t, f, fit)
		if v, err := CheckPosterior(g, points, fit); err != nil || !v.OK {
			t.Errorf("%v, %v", v, err)
		}
	}
	m, err = Posterior(g, points, Settings{}, map[string]dist.Dist{CenterRow: dist.Normal(g.CenterRow+1, 0.001)})
	if err != nil {
		t.Fatal(err)
	}
	if post, err = m.Compile(); err != nil {
		t.Fatal(err)
	}
	if starts, err = f.Starts(post, 4, 1); err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1, Init: starts})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := CheckPosterior(g, points, fit); err != nil || v.OK || !strings.Contains(v.String(), "prior") {
		t.Errorf("a prior against the data: %v, %v", v, err)
	}
}

// sameAsFit compares the moments of a posterior with a fit.
func sameAsFit(t *testing.T, f *Fit, fit *infer.Fit) {
	t.Helper()
	if !fit.OK(diag.Criteria{}) {
		t.Errorf("%v", fit.Diagnose().Verdict())
	}
	sum := fit.Summary()
	for i, name := range f.Names {
		for _, r := range sum.Rows {
			if r.Name != name {
				continue
			}
			if math.Abs(r.Mean-f.X[i]) > 5*r.MCSEMean || math.Abs(r.SD/f.SD[i]-1) > 0.1 {
				t.Errorf("%s: posterior %v +- %v, fit %v +- %v", name, r.Mean, r.SD, f.X[i], f.SD[i])
			}
		}
	}
}

// Rings with several radii share a centre; errors hold over repetitions.
func TestRingCenterOfArcs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	square, radius := 0.0, 0.0
	const trials = 40
	for range trials {
		var rings [][][2]float64
		for _, r := range []float64{60, 95} {
			var ring [][2]float64
			for i := range 30 {
				sin, cos := math.Sincos(0.4 + 0.05*float64(i))
				d := r + 0.2*rng.NormFloat64()
				ring = append(ring, [2]float64{-20.5 + d*sin, 33.25 + d*cos})
			}
			rings = append(rings, ring)
		}
		c, err := RingCenter(context.Background(), rings...)
		if err != nil {
			t.Fatal(err)
		}
		square += (math.Pow((c.Row+20.5)/c.SDRow, 2) + math.Pow((c.Col-33.25)/c.SDCol, 2)) / 2 / trials
		radius += math.Pow((c.Radii[1]-95)/c.SDRadii[1], 2) / trials
	}
	if square < 0.5 || square > 1.7 || radius < 0.4 || radius > 1.9 {
		t.Errorf("mean squares of (found - true)/error: %.2f of the centre, %.2f of a radius", square, radius)
	}
}

func TestMistakes(t *testing.T) {
	ctx, p := context.Background(), truth()
	image, m := p.expose(t, 1)
	points := simulated(p.g, p.q, 0.1, 1)
	reflection := p.g
	reflection.Reflection = true
	for want, call := range map[string]func() error{
		"did you mean distance?": func() error { _, err := FitPoints(ctx, p.g, points, Settings{Free: []string{"distanc"}}); return err },
		"named twice": func() error {
			_, err := FitPoints(ctx, p.g, points, Settings{Free: []string{Energy, Energy}})
			return err
		},
		"2 points do not determine 3 parameters": func() error { _, err := FitPoints(ctx, p.g, points[:2], Settings{}); return err },
		"point 1 is":                             func() error { _, err := FitPoints(ctx, p.g, make([]Point, 9), Settings{}); return err },
		"calibrate in transmission":              func() error { _, err := FitPoints(ctx, reflection, points, Settings{}); return err },
		"1 to 1000 positive q":                   func() error { _, err := Calibrate(ctx, image, m, p.g, nil, Settings{}); return err },
		"3 pixels, the mask":                     func() error { _, err := Calibrate(ctx, image[:3], m, p.g, p.q, Settings{}); return err },
		"were found": func() error {
			_, err := Calibrate(ctx, make([]float64, len(image)), m, p.g, p.q, Settings{KeepCenter: true})
			return err
		},
		"range of distances is 2": func() error { _, err := Calibrate(ctx, image, m, p.g, p.q, Settings{DistanceRange: 2}); return err },
		"2 sectors":               func() error { _, err := FindRings(ctx, image, m, p.g, p.q, FindSettings{Sectors: 2}); return err },
		`no parameter "tau"`: func() error {
			_, err := Posterior(p.g, points, Settings{}, map[string]dist.Dist{"tau": dist.Normal(0, 1)})
			return err
		},
		"2 points on 1 rings":       func() error { _, err := RingCenter(ctx, [][2]float64{{1, 2}, {3, 4}}); return err },
		"the point (NaN":            func() error { _, err := RingCenter(ctx, [][2]float64{{math.NaN(), 2}, {3, 4}, {5, 5}}); return err },
		"do not determine a centre": func() error { _, err := RingCenter(ctx, [][2]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
