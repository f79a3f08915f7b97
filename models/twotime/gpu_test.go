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
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t *testing.T) {
	t.Helper()
	if !realGPU {
		pretend.Shared(t)
	}
}

// On a machine with a GPU the tests of the pretend device run on it; scripts/gpu.sh starts this.
func TestGPUTwotime(t *testing.T) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	t.Run("sums", TestSumsOnDevice)
	t.Run("traffic", TestTrafficOfEvaluations)
	t.Run("density", TestDensityOnDevice)
	t.Run("posterior", TestPosteriorOnDevice)
}

// Passes over full-size data are compared with the processor's and timed, and a posterior is. Times are reported and not judged.
func TestGPUSpeedTwotime(t *testing.T) {
	gpu.Need(t)
	t.Run("posterior", func(t *testing.T) { posteriorInTime(t, 23, 1000, ad.CUDA{}) })
	for _, size := range [][2]int{{23, 1000}, {3, 4000}} {
		t.Run(fmt.Sprintf("%d x %d^2", size[0], size[1]), func(t *testing.T) { passesOnGPU(t, size[0], size[1]) })
	}
}

// posteriorInTime draws from the posterior of shear flow, whose pairs are independent, for a minute at most.
func posteriorInTime(t *testing.T, angles, frames int, b ad.Backend) {
	d, _ := shear(t, angles, frames, 0.02)
	for range angles {
		d.Sigma = append(d.Sigma, slices.Repeat([]float64{0.02}, frames*frames))
	}
	post, err := New(context.Background(), d, Priors{Motion: map[string]dist.Dist{
		"log_D0": dist.Normal(math.Log(1000), 1), "alpha": dist.Normal(0, 0.5), "D_offset": dist.HalfNormal(500),
		"log_gamma_dot_t0": dist.Normal(math.Log(1e-4), 1), "beta": dist.Normal(0, 0.5), "gamma_dot_t_offset": dist.HalfNormal(1e-4), "phi0": dist.Normal(0, 10),
	}}, PosteriorSettings{Likelihood: Independent, Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fit, err := infer.Sample(ctx, post, infer.Settings{Seed: 1, Chains: 4})
	if fit == nil || err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	warm, kept := fit.Gradients()
	t.Logf("%d x %d^2: %d gradients in %v, ended by %v, R-hat %.3f, ESS %.0f", angles, frames, warm+kept, fit.Elapsed, err, fit.Summary().MaxRHat(), fit.Summary().MinESS())
}

func passesOnGPU(t *testing.T, angles, frames int) {
	d, theta := shear(t, angles, frames, 0.02)
	ctx := context.Background()
	want, err := newSums(&d, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := want.evaluate(ctx, theta, true); err != nil {
		t.Fatal(err)
	}
	for _, bits := range []int{64, 32} {
		r, err := newResident(ctx, &d, ad.CUDA{}, bits)
		if err != nil {
			t.Fatal(err)
		}
		const most = 8
		var chains []*sums
		for range most {
			pass, err := r.passes()
			if err != nil {
				t.Fatal(err)
			}
			s := &sums{data: &d, p: len(theta), pass: pass}
			s.room()
			chains = append(chains, s)
		}
		if bits == 64 {
			if err := chains[0].evaluate(ctx, theta, true); err != nil {
				t.Fatal(err)
			}
			compareSums(t, "full size", chains[0], want.gram, sizesOf(want), true, 1e-10)
		}
		for _, curvature := range []bool{false, true} {
			for _, count := range []int{1, 4, most} {
				const each = 50
				best := time.Hour
				for range 4 {
					begin := time.Now()
					var wg sync.WaitGroup
					for _, s := range chains[:count] {
						wg.Go(func() {
							for range each {
								s.at = nil
								if err := s.evaluate(ctx, theta, curvature); err != nil {
									t.Error(err)
								}
							}
						})
					}
					wg.Wait()
					best = min(best, time.Since(begin))
				}
				took := best / time.Duration(each*count)
				t.Logf("float%d, products of derivatives %v, %d chains: %v each, %.3g ns a pair", bits, curvature, count, took, float64(took.Nanoseconds())/float64(angles*frames*(frames-1)/2))
			}
		}
		r.store.Free()
	}
}

// sizesOf bounds the sums of the sizes of products: by the roots of the sums of squares of both columns.
func sizesOf(s *sums) (sizes [][]float64) {
	k := s.size()
	for _, g := range s.gram {
		size := make([]float64, k*k)
		for i := range k {
			for j := range k {
				size[i*k+j] = math.Sqrt(g[i*k+i] * g[j*k+j])
			}
		}
		sizes = append(sizes, size)
	}
	return sizes
}
