// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

type fitCase struct {
	Model, Convention string
	T                 []float64
	DT, Q, L          float64
	Phi               []float64
	True              struct{ Theta, Contrast, Offset []float64 }
	Start             []float64
	Free              []string
	C2, Sigma         string
	Results           map[string]struct {
		Names []string
		X     []float64
		SSQ   float64
		Cov   [][]float64
	}
}

// Fits from the reference's starts find its optima and covariances in all forms of contrast and offset.
func TestFitGoldens(t *testing.T) { fitGoldens(t, nil, true) }

// The same on a GPU.
func TestFitGoldensOnDevice(t *testing.T) {
	pretend.Shared(t)
	fitGoldens(t, ad.CUDA{}, tier.Slow)
}

// fitGoldens compares all fits of the reference, or the first one with a flow.
func fitGoldens(t *testing.T, b ad.Backend, all bool) {
	done := false
	golden.Each(t, "xpcs/twotime/fit_*.json", func(t *testing.T, name string) {
		c, d, s := fitOf(t, name)
		if !all && (done || d.Setup.Model != transport.Laminar) {
			return
		}
		done = true
		s.Backend = b
		for mode, want := range c.Results {
			s.Scaling = twotime.Scaling(mode)
			label := fmt.Sprintf("%s, %s", name, mode)
			got, err := twotime.FitLeastSquares(context.Background(), d, s)
			if err != nil {
				t.Errorf("%s: %v", label, err)
				continue
			}
			if !(math.Abs(got.SSQ-want.SSQ) <= 1e-9*want.SSQ) {
				t.Errorf("%s: sum of squares %.15g, want %.15g (%v, %d passes) %v want %v", label, got.SSQ, want.SSQ, got.Status, got.Passes, got.Theta, want.X)
				continue
			}
			n := len(want.X)
			for i, x := range want.X {
				sd := math.Sqrt(want.Cov[i][i])
				if got.Names[i] != want.Names[i] || !(math.Abs(got.X[i]-x) <= 1e-6*sd) {
					t.Errorf("%s: %s is %.15g, want %s %.15g +- %.3g", label, got.Names[i], got.X[i], want.Names[i], x, sd)
				}
				for j := range want.X {
					if scale := sd * math.Sqrt(want.Cov[j][j]); !(math.Abs(got.Cov[i*n+j]-want.Cov[i][j]) <= 1e-5*scale) {
						t.Errorf("%s: covariance of %s and %s is off by %.2g", label, want.Names[i], want.Names[j], (got.Cov[i*n+j]-want.Cov[i][j])/scale)
					}
				}
			}
		}
	})
}

// fitOf reads a fit of the reference.
func fitOf(t testing.TB, name string) (fitCase, twotime.Data, twotime.Settings) {
	t.Helper()
	var c fitCase
	golden.JSON(t, &c, name)
	m := transport.Model(c.Model)
	if c.Model == "heterodyne" {
		m = transport.TwoComponent
	}
	d := twotime.Data{Setup: transport.Setup{Model: m, Times: c.T, Q: c.Q, Gap: c.L, Angles: c.Phi, Customary: c.Convention == "compat", Step: c.DT},
		C2: matrices(t, c.C2, len(c.Phi)), Sigma: matrices(t, c.Sigma, len(c.Phi))}
	s := twotime.Settings{Start: c.Start, Contrast: c.True.Contrast, Offset: c.True.Offset}
	for k, p := range d.Setup.Names() {
		if !slices.Contains(c.Free, p) {
			s.Fixed = append(s.Fixed, p)
			s.Start[k] = c.True.Theta[k]
		}
	}
	return c, d, s
}

// BenchmarkFit times whole fits of the reference from their starts, contrast and offset of each angle free.
func BenchmarkFit(b *testing.B) {
	for _, name := range golden.Glob(b, "xpcs/twotime/fit_*.json") {
		b.Run(strings.TrimPrefix(golden.Base(name), "fit_"), func(b *testing.B) {
			_, d, s := fitOf(b, name)
			for b.Loop() {
				if _, err := twotime.FitLeastSquares(context.Background(), d, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func matrices(t testing.TB, name string, angles int) (out [][]float64) {
	t.Helper()
	v, _ := npy.Read(t, "xpcs", "twotime", name)
	size := len(v) / angles
	for k := range angles {
		out = append(out, v[k*size:(k+1)*size])
	}
	return out
}
