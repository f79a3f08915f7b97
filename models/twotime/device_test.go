// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Sums on a GPU are those of pairs, in all models, with errors and gaps, where factors of frames would overflow, and of slow shear; the second
// evaluation has the same bits.
func TestSumsOnDevice(t *testing.T) {
	emulated(t)
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		for _, c := range []struct {
			customary, errors, missing bool
			frames, band               int
			rate                       float64
		}{
			{frames: 3}, {frames: 150}, {frames: 97, errors: true, band: 2}, {frames: 97, missing: true}, {frames: 97, rate: 1e7},
			{frames: 97, rate: 1e-8}, {frames: 70, customary: true}, {frames: 66, customary: true, errors: true, missing: true},
		} {
			d, theta := scatter(m, c.customary, c.frames, c.errors, c.missing)
			d.Band = c.band
			switch {
			case c.rate > 1:
				theta[0] = c.rate
			case c.rate > 0 && m == transport.Laminar:
				theta[3], theta[5] = c.rate, c.rate/10
			case c.rate > 0:
				continue
			}
			want, sizes := plainSums(t, &d, theta)
			label := fmt.Sprintf("%s %+v", m, c)
			s, err := sumsOn(context.Background(), &d, ad.CUDA{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			var before []float64
			for _, curvature := range []bool{false, true, true} {
				s.at = nil
				if err := s.evaluate(context.Background(), theta, curvature); err != nil {
					t.Fatalf("%s: %v", label, err)
				}
				compareSums(t, fmt.Sprintf("%s, curvature %v", label, curvature), s, want, sizes, curvature, 1e-11)
				if all := slices.Concat(s.gram...); curvature && before != nil && !slices.Equal(all, before) {
					t.Errorf("%s: the second evaluation differs", label)
				} else if curvature {
					before = all
				}
			}
			s.release()
		}
	}
}

// A fit on a GPU, and on two that share the angles, is that of the processor, also from several starts; what crosses the bus beside the data is
// parameters and sums.
func TestFitOnDevice(t *testing.T) {
	pretend.Shared(t)
	d, truth := shear(t, 3, 90, 0.02)
	truth[0], truth[3] = 1.3*truth[0], 0.8*truth[3]
	quiet := d
	quiet.Setup.Model = transport.Static
	for _, c := range []struct {
		data Data
		s    Settings
	}{{d, Settings{Start: truth, Fixed: []string{"alpha", "D_offset", "beta", "gamma_dot_t_offset"}}}, {quiet, Settings{Start: truth[:3], Starts: 2, Scaling: Averaged, Fixed: []string{"alpha", "D_offset"}}}} {
		want, err := FitLeastSquares(context.Background(), c.data, c.s)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []ad.Backend{ad.CUDA{}, ad.Several{{}, {Device: 1}}} {
			dev := open(t, b)
			used := dev.Stats().Active
			dev.ResetPeak()
			c.s.Backend = b
			got, err := FitLeastSquares(context.Background(), c.data, c.s)
			if err != nil {
				t.Fatal(err)
			}
			sameFit(t, fmt.Sprintf("%s, %T", c.data.Setup.Model, b), got, want)
			st := dev.Stats()
			pairs := uint64(8 * 3 * 90 * 89 / 2)
			if c.s.Starts == 0 && st.Sent > pairs+32<<10 {
				t.Errorf("%d B were sent beside the data of %d B in %d passes", st.Sent-pairs, pairs, got.Passes)
			}
			t.Logf("%s, %T: %d passes, %d B sent, %d B fetched, data of %d B, peak %d B, %d B kept", c.data.Setup.Model, b, got.Passes, st.Sent, st.Fetched, pairs, st.PeakActive, int(st.Active)-int(used))
		}
	}
}

func open(t testing.TB, b ad.Backend) *cuda.Device {
	t.Helper()
	d, err := ad.DeviceFor(b, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sameFit(t *testing.T, label string, got, want *Fit) {
	t.Helper()
	if !(math.Abs(got.SSQ-want.SSQ) <= 1e-9*want.SSQ) {
		t.Errorf("%s: sum of squares %.15g, want %.15g", label, got.SSQ, want.SSQ)
	}
	n := len(want.X)
	for i, x := range want.X {
		if !(math.Abs(got.X[i]-x) <= 1e-6*want.SD[i]) {
			t.Errorf("%s: %s is %.15g, want %.15g +- %.3g", label, want.Names[i], got.X[i], x, want.SD[i])
		}
		for j := range n {
			if scale := want.SD[i] * want.SD[j]; !(math.Abs(got.Cov[i*n+j]-want.Cov[i*n+j]) <= 1e-5*scale) {
				t.Errorf("%s: the covariance of %s and %s is off by %.2g", label, want.Names[i], want.Names[j], (got.Cov[i*n+j]-want.Cov[i*n+j])/scale)
			}
		}
	}
}

// Every evaluation sends the parameters and fetches sums, whatever the size of the data.
func TestTrafficOfEvaluations(t *testing.T) {
	emulated(t)
	d, truth := shear(t, 3, 200, 0.02)
	s, err := sumsOn(context.Background(), &d, ad.CUDA{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	dev := open(t, ad.CUDA{})
	for _, curvature := range []bool{false, true} {
		for k := range 3 {
			dev.ResetPeak()
			s.at = nil
			if err := s.evaluate(context.Background(), truth, curvature); err != nil {
				t.Fatal(err)
			}
			st := dev.Stats()
			each := 3 + 3*7
			if curvature {
				each += 7 * 8 / 2
			}
			if k > 0 && (st.Sent > 8*7 || st.Fetched > uint64(8*3*each)) {
				t.Errorf("curvature %v: %d B sent and %d B fetched, want %d and %d", curvature, st.Sent, st.Fetched, 8*7, 8*3*each)
			}
		}
	}
}

// The log density of all pairs and its gradient on a GPU are the processor's, also when four goroutines ask at once; where parameters have no
// meaning it is minus infinity. float32 moves them by what its numbers are rounded to.
func TestDensityOnDevice(t *testing.T) {
	emulated(t)
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		d, theta := scatter(m, false, 70, true, true)
		p := Priors{Contrast: Normal{0.25, 0.1}, Offset: Normal{1.02, 0.05}}
		for bits, tolerance := range map[int]float64{64: 1e-10, 32: 1e-5} {
			d.Precision = bits
			at := func(prog *ad.Program, theta []float64) (out []float64) {
				st := prog.NewState()
				for i, v := range theta {
					st.Input(i)[0] = v
				}
				if err := st.Run(); err != nil {
					t.Error(err)
				}
				for i := range prog.Outputs() {
					out = append(out, st.Output(i)[0])
				}
				return out
			}
			compile := func(b ad.Backend) *ad.Program {
				in, err := d.Setup.Inputs()
				if err != nil {
					t.Fatal(err)
				}
				f, _, _, err := pairsDensity(context.Background(), &d, p, 1, b, in)
				if err != nil {
					t.Fatal(err)
				}
				prog, err := ad.Compile(append([]*ad.Node{f}, ad.Grad(f, in...)...), ad.Settings{Inputs: in, Backend: ad.CPU{Threads: 1}})
				if err != nil {
					t.Fatal(err)
				}
				return prog
			}
			want, prog := at(compile(nil), theta), compile(ad.CUDA{})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i, got := range at(prog, theta) {
						if !(math.Abs(got-want[i]) <= tolerance*math.Abs(want[i])+tolerance*math.Abs(want[0])) {
							t.Errorf("%s, float%d: output %d is %.15g, want %.15g", m, bits, i, got, want[i])
						}
					}
				})
			}
			wg.Wait()
			wrong := slices.Clone(theta)
			wrong[2] = -1e6
			if got := at(prog, wrong); !math.IsInf(got[0], -1) || got[1] != 0 {
				t.Errorf("%s: %v without a meaning, want minus infinity and no gradient", m, got)
			}
		}
	}
}

// A posterior is sampled with a GPU: means and standard deviations are the processor's up to the noise of the draws.
func TestPosteriorOnDevice(t *testing.T) { posteriorsOnDevice(t, Independent) }

func posteriorsOnDevice(t *testing.T, likelihoods ...Likelihood) {
	emulated(t)
	s := transport.Setup{Model: transport.Static, Q: 0.0054, Angles: []float64{0, 60}}
	for i := range 16 {
		s.Times = append(s.Times, 0.1*(float64(i)+0.5))
	}
	d, err := Simulate(context.Background(), s, Sample{Theta: []float64{2e4, 0.1, 1000}, Contrast: []float64{0.2, 0.2}, Offset: []float64{1.01, 1}, Speckles: 500, MeanCount: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Angles {
		d.Sigma = append(d.Sigma, slices.Repeat([]float64{0.05}, 16*16))
	}
	for _, l := range likelihoods {
		var means, sds []float64
		for _, b := range []ad.Backend{nil, ad.CUDA{}} {
			post, err := New(context.Background(), *d, DefaultPriors(s), PosteriorSettings{Likelihood: l, Pixels: 500, Backend: b})
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 3, Chains: 2, Warmup: 60, Draws: 60})
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			u := slices.Concat(fit.Draws("log_rate_D0")...)
			mean, sd := 0.0, 0.0
			for _, x := range u {
				mean += x / float64(len(u))
			}
			for _, x := range u {
				sd += (x - mean) * (x - mean) / float64(len(u))
			}
			means, sds = append(means, mean), append(sds, math.Sqrt(sd))
		}
		t.Logf("%s: %.4g +- %.4g, on the device %.4g +- %.4g", l, means[0], sds[0], means[1], sds[1])
		if !(math.Abs(means[1]-means[0]) < sds[0]) || !(sds[1] < 2*sds[0] && sds[0] < 2*sds[1]) {
			t.Errorf("%s: %v +- %v", l, means, sds)
		}
	}
}

// A GPU that fails while chains are sampled, or in the middle of a fit, ends these with its error; the draws until then are there, and the
// next try succeeds.
func TestFailuresOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	d, theta := scatter(transport.Static, false, 40, true, false)
	p := DefaultPriors(d.Setup)
	post, err := New(context.Background(), d, p, PosteriorSettings{Likelihood: Independent, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	const draws = 40
	config := infer.Settings{Seed: 3, Chains: 1, Warmup: 20, Draws: draws}
	before := lib.Get("cuLaunchKernel")
	whole, err := infer.Sample(context.Background(), post, config)
	if err != nil {
		t.Fatal(err)
	}
	launches := lib.Get("cuLaunchKernel") - before
	lib.Fail("cuLaunchKernel", launches*3/4, 1, int32(drv.LaunchOutOfResources))
	part, err := infer.Sample(context.Background(), post, config)
	lib.Fail("cuLaunchKernel", 0, 0, 0)
	if err == nil || !ad.IsDeviceFault(err) {
		t.Fatalf("got %v", err)
	}
	if n := part.Len(0); n == 0 || n >= draws || !slices.Equal(part.Draws("D0")[0], whole.Draws("D0")[0][:n]) {
		t.Errorf("%d draws are left of %d, or others", n, whole.Len(0))
	}
	s := Settings{Start: theta, Fixed: []string{"alpha", "D_offset"}, Backend: ad.CUDA{}}
	lib.Fail("cuLaunchKernel", 8, 1, int32(drv.LaunchOutOfResources))
	_, err = FitLeastSquares(context.Background(), d, s)
	lib.Fail("cuLaunchKernel", 0, 0, 0)
	if err == nil || !ad.IsDeviceFault(err) {
		t.Errorf("got %v", err)
	}
	if _, err = FitLeastSquares(context.Background(), d, s); err != nil {
		t.Error(err)
	}
}
