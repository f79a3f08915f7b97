// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// smallNetworks is a library of two arms of small networks with random weights, and stars of it with noise.
func smallNetworks(t testing.TB, count, pixels int) (*Library, []Star) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	l := &Library{Params: []string{"teff", "logg"}}
	points := []float64{-1.5, -1.5, 1.5, -1.5, 1.5, 1.5, -1.5, 1.5}
	stars, truth := make([]Star, count), make([][]float64, count)
	for i := range stars {
		truth[i] = []float64{200 * (rng.Float64() - 0.5), 15 + 40*rng.Float64(), 4800 + 1400*rng.Float64(), 2.4 + 1.2*rng.Float64()}
		stars[i] = Star{Name: fmt.Sprint("star ", i), Starts: []Start{{Vel: truth[i][0] + 6*rng.NormFloat64(), Vsini: 20, Params: []float64{truth[i][2] + 80*rng.NormFloat64(), truth[i][3] + 0.1*rng.NormFloat64()}}}}
	}
	for _, a := range []struct {
		name string
		from float64
	}{{"blue", 4000}, {"red", 5000}} {
		to := a.from + 0.8*float64(pixels)
		const pad = 1 + 1000/spectra.SpeedOfLight
		var lam []float64
		for x, step := math.Log((a.from-20)/pad), math.Log(1+0.4/a.from); x < math.Log((to+20)*pad); x += step {
			lam = append(lam, math.Exp(x))
		}
		var layers []Layer
		in := 2
		for i, out := range []int{24, 24, len(lam)} {
			y := Layer{In: in, Out: out, W: make([]float64, in*out), B: make([]float64, out)}
			size := 1 / math.Sqrt(float64(in))
			if i == 2 {
				size *= 0.4
			}
			for k := range y.W {
				y.W[k] = size * rng.NormFloat64()
			}
			for k := range y.B {
				y.B[k] = 0.1 * rng.NormFloat64()
			}
			layers, in = append(layers, y), out
		}
		n, err := NewNetwork([]float64{math.Log10(5500), 3}, []float64{0.1, 1}, layers, points)
		if err != nil {
			t.Fatal(err)
		}
		templates := &Templates{Name: a.name, Lam: lam, Log: true, LogParams: []int{0}, Interpolator: n}
		l.Arms = append(l.Arms, templates)
		obs, band := make([]float64, pixels), make([]float64, 5*pixels)
		for i := range obs {
			obs[i] = a.from + 0.8*float64(i)
		}
		for i := range band {
			x := float64(i/pixels - 2)
			band[i] = math.Exp(-x*x/1.2) / 1.94
		}
		resolution, err := spectra.NewResolution(2, pixels, band)
		if err != nil {
			t.Fatal(err)
		}
		arm, err := spectra.NewArm(spectra.ArmSettings{Template: lam, Observed: obs, Resolution: resolution})
		if err != nil {
			t.Fatal(err)
		}
		vel, vsini, u := ad.Input("vel", 1), ad.Input("vsini", 1), ad.Input("u", 1, 2)
		log, _ := templates.LogFlux(u)
		p, err := ad.Compile([]*ad.Node{arm.Model(log, vel, vsini, nil)}, ad.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		for i, x := range truth {
			s.Input(0)[0], s.Input(1)[0] = x[0], x[1]
			copy(s.Input(2), x[2:])
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			one := Spectrum{Arm: a.name, Lam: obs, Resolution: resolution}
			for k, m := range s.Output(0) {
				e := 0.02 + 0.01*rng.Float64()
				one.Flux, one.Err = append(one.Flux, (1+0.3*math.Sin(float64(k)/90))*m+e*rng.NormFloat64()), append(one.Err, e)
			}
			stars[i].Spectra = append(stars[i].Spectra, one)
		}
	}
	return l, stars
}

// fitted fits stars and returns what was computed in how many evaluations.
func fitted(t testing.TB, l *Library, stars []Star, s Settings) (fits []Fit, evaluations int) {
	t.Helper()
	s.Continuum, s.MinVel, s.MaxVel, s.NoVerdict = 3, -300, 300, true
	f, err := NewFitter(l, s)
	if err != nil {
		t.Fatal(err)
	}
	if fits, err = f.Fit(context.Background(), stars); err != nil {
		t.Fatal(err)
	}
	for _, fit := range fits {
		if fit.Err != nil || !fit.Converged {
			t.Errorf("%s: %v %s", fit.Star, fit.Err, fit.Status)
		}
		evaluations += fit.Evaluations
	}
	return fits, evaluations
}

// alike compares fits: chi-square relative, parameters in their errors, errors relative.
func alike(t testing.TB, name string, got, want []Fit, chi, x, sd float64) {
	t.Helper()
	worst := [3]float64{}
	for i, w := range want {
		g := got[i]
		worst[0] = max(worst[0], math.Abs(g.ChiSquare/w.ChiSquare-1))
		for k := range w.X {
			if !math.IsNaN(w.SD[k]) {
				worst[1] = max(worst[1], math.Abs(g.X[k]-w.X[k])/w.SD[k])
				worst[2] = max(worst[2], math.Abs(g.SD[k]/w.SD[k]-1))
			}
		}
	}
	if !(worst[0] <= chi) || !(worst[1] <= x) || !(worst[2] <= sd) {
		t.Errorf("%s: chi-square differs by %.1e, parameters by %.1e of their errors, errors by %.1e", name, worst[0], worst[1], worst[2])
	}
	t.Logf("%s: chi-square within %.1e, parameters within %.1e of their errors, errors within %.1e", name, worst[0], worst[1], worst[2])
}

// Whole fits on a device are those of the processor, in float64 and with searches in float32 and networks of float16; on two
// devices, and the same bits in every run. Data of a star cross the bus once, a step takes six numbers there and its
// value, gradient and normal matrix back.
func TestFitsOnDevice(t *testing.T) {
	pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	l, stars := smallNetworks(t, 9, 130)
	want, _ := fitted(t, l, stars, Settings{Batch: 4})
	on := func(b ad.Backend, s Settings) ([]Fit, int) {
		s.Batch, s.Backend = 4, b
		return fitted(t, l, stars, s)
	}
	got, _ := on(ad.CUDA{Strict: true}, Settings{})
	stepOnDevice(t, d, l, stars)
	alike(t, "float64", got, want, 1e-9, 1e-5, 1e-6)
	for _, b := range []ad.Backend{ad.CUDA{Strict: true, Weights: ad.Float16}, ad.Several{{Device: 0, Weights: ad.Float16}, {Device: 1, Weights: ad.Float16}}} {
		got, _ = on(b, Settings{Precision: 32})
		alike(t, "float32, weights of float16", got, want, 1e-3, 0.1, 0.05)
		again, _ := on(b, Settings{Precision: 32})
		if fmt.Sprint(got[3].X, got[3].SD) != fmt.Sprint(again[3].X, again[3].SD) {
			t.Error("other bits in another run")
		}
	}
}

// stepOnDevice counts what crosses the bus in a step of the search, and compares its values with the processor's.
func stepOnDevice(t *testing.T, d *cuda.Device, l *Library, stars []Star) {
	t.Helper()
	const batch = 4
	var values [2][][]float64
	for k, b := range []ad.Backend{ad.CPU{Threads: 1}, ad.CUDA{Weights: ad.Float16}} {
		f, err := NewFitter(l, Settings{Continuum: 3, MinVel: -300, MaxVel: 300, Batch: batch, Precision: 64 - 32*k, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		layout, err := f.layoutOf(&stars[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := layout.place(); err != nil {
			t.Fatal(err)
		}
		p, err := layout.search(0)
		if err != nil {
			t.Fatal(err)
		}
		s, n := newPlaces(layout, p), len(layout.names)
		for turn := range 4 {
			for i := range batch {
				star := &stars[i]
				if turn == 0 || turn == 3 && i == 1 {
					if err := s.fill(i, star); err != nil {
						t.Fatal(err)
					}
				}
				at := star.Starts[0]
				s.set(i, append([]float64{at.Vel + float64(turn), at.Vsini}, at.Params...))
			}
			d.ResetPeak()
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			values[k] = nil
			for o := range 5 {
				values[k] = append(values[k], s.output(o))
			}
			traffic := d.Stats()
			if k == 0 || turn == 0 {
				continue
			}
			per := float64(traffic.Sent+traffic.Fetched) / batch
			whole := float64(4 * (n + 1) * layout.pixels) // residuals and Jacobians of float32
			if per > whole/10 || traffic.Sent > uint64(4*batch*n) || traffic.Fetched > uint64(4*batch*(2+2*n+n*n)) {
				t.Errorf("turn %d: %d bytes sent and %d fetched: want no more than parameters, values, gradients and normal matrices", turn, traffic.Sent, traffic.Fetched)
			}
			t.Logf("a step: %.0f bytes for each star, %.1f%% of residuals and Jacobians; %d copies", per, 100*per/whole, traffic.Copies)
		}
	}
	for i := range batch {
		if off := math.Abs(values[1][0][i]/values[0][0][i] - 1); off > 1e-3 {
			t.Errorf("star %d: chi-square of float32 and float16 is off by %.1e", i, off)
		} else {
			t.Logf("star %d: chi-square of float32 and float16 is off by %.1e", i, off)
		}
	}
}

// 4096 stars of DESI's three arms at a time fit into four fifths of an H200, by what the allocator counts; more than it
// has room for is refused with numbers before anything is lost.
func TestMemoryOfDESI(t *testing.T) {
	const total = 141_000_000_000
	lib := pretend.Shared(t)
	d := lib.Count(t, total)
	l, stars := desiSize(t, 1)
	for _, c := range []struct {
		batch, precision int
		backend          ad.CUDA
	}{{4096, 32, ad.CUDA{Device: d, Weights: ad.Float16}}, {0, 64, ad.CUDA{Device: d}}} {
		device, err := cuda.Open(d, cuda.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		device.ResetPeak()
		f, err := NewFitter(l, Settings{Continuum: 10, Batch: c.batch, Precision: c.precision, Backend: c.backend})
		if err != nil {
			t.Fatal(err)
		}
		layout, err := f.layoutOf(&stars[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := layout.place(); err != nil {
			t.Fatal(err)
		}
		var held []*places
		for _, program := range []func(int) (*ad.Program, error){layout.search, layout.describe, layout.scan} {
			p, err := program(0)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, newPlaces(layout, p))
			t.Logf("%d stars, float%d: %.2f GB", layout.batch, p.Precision(), float64(p.Bytes())/1e9)
			if err := held[len(held)-1].s.Err(); err != nil {
				t.Fatal(err)
			}
		}
		st := device.Stats()
		t.Logf("%d stars side by side: a peak of %.1f GB", layout.batch, float64(st.PeakReserved)/1e9)
		if st.PeakReserved > total*8/10 {
			t.Errorf("%d stars: a peak of %d bytes", layout.batch, st.PeakReserved)
		}
		runtime.KeepAlive(held)
		device.Close()
	}
	f, err := NewFitter(l, Settings{Continuum: 10, Batch: 1 << 17, Backend: ad.CUDA{Device: d}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Fit(context.Background(), stars); !errors.Is(err, cuda.ErrOutOfMemory) || !strings.Contains(err.Error(), "131072 stars side by side") {
		t.Errorf("131072 stars: %v", err)
	}
	t.Log(err)
}

// Memory that runs out in the middle of many stars is an error, and leaves what was fitted before alone.
func TestMemoryRunsOut(t *testing.T) {
	lib := pretend.Shared(t)
	l, stars := smallNetworks(t, 2, 60)
	lib.Fail("cuGraphLaunch", 4, 1, int32(drv.OutOfMemory))
	defer lib.Fail("cuGraphLaunch", 0, 0, 0)
	f, err := NewFitter(l, Settings{Continuum: 3, MinVel: -300, MaxVel: 300, NoVerdict: true, Batch: 2, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fit(context.Background(), stars); !ad.IsDeviceFault(err) {
		t.Errorf("without memory: %v", err)
	}
	if fits, err := f.Fit(context.Background(), stars); err != nil || !fits[0].Converged {
		t.Errorf("with memory again: %v", err)
	}
}

// A batch of 32 on a device, some of whose places are taken by a second star.
func TestBatchOf32OnDevice(t *testing.T) {
	pretend.Shared(t)
	l, stars := smallNetworks(t, 40, 60)
	want, _ := fitted(t, l, stars, Settings{})
	got, _ := fitted(t, l, stars, Settings{Batch: 32, Precision: 32, Backend: ad.CUDA{Strict: true, Weights: ad.Float16}})
	alike(t, "32 side by side", got, want, 1e-3, 0.1, 0.05)
}
