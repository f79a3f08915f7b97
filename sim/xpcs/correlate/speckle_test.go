// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/internal/tier"
)

// wideSpeckles returns intensities of speckles whose fields are smoothed over sigma pixels, relaxing with a correlation of keep from frame
// to frame.
func wideSpeckles(frames, side int, sigma, keep float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 77))
	radius := int(3 * sigma)
	kernel := make([]float64, 2*radius+1)
	norm := 0.0
	for i := range kernel {
		kernel[i] = 1
		if sigma > 0 {
			kernel[i] = math.Exp(-0.5 * math.Pow(float64(i-radius)/sigma, 2))
		}
		norm += kernel[i] * kernel[i]
	}
	for i := range kernel {
		kernel[i] /= math.Sqrt(norm)
	}
	wide := side + 2*radius
	field := make([]complex128, wide*wide)
	for i := range field {
		field[i] = complex(r.NormFloat64(), r.NormFloat64()) / math.Sqrt2
	}
	out := make([]float32, 0, frames*side*side)
	rows := make([]complex128, wide*side)
	for range frames {
		for y := range wide {
			for x := range side {
				sum := complex128(0)
				for k, w := range kernel {
					sum += complex(w, 0) * field[y*wide+x+k]
				}
				rows[y*side+x] = sum
			}
		}
		for y := range side {
			for x := range side {
				sum := complex128(0)
				for k, w := range kernel {
					sum += complex(w, 0) * rows[(y+k)*side+x]
				}
				a := cmplx.Abs(sum)
				out = append(out, float32(a*a))
			}
		}
		fresh := math.Sqrt(1 - keep*keep)
		for i := range field {
			field[i] = complex(keep, 0)*field[i] + complex(fresh/math.Sqrt2, 0)*complex(r.NormFloat64(), r.NormFloat64())
		}
	}
	return out
}

// Errors are those over movies also where speckles are wider than a pixel, and speckles of one pixel are found to be so.
func TestErrorsOfWideSpeckles(t *testing.T) {
	tier.SlowOnly(t)
	const side, frames = 40, 60
	movies := 60
	if tier.Slow {
		movies = 300
	}
	maps := Maps{Height: side, Width: side, Dynamic: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = 1
	}
	for sigma, want := range map[float64][2]float64{0: {1, 1.05}, 0.7: {1.2, 2}, 1.5: {5, 12}} {
		results := make([]*Result, movies)
		errs := make([]error, movies)
		parallel.Do(2, movies, func(_, i int) {
			results[i], errs[i] = Multitau(context.Background(), FromArray(wideSpeckles(frames, side, sigma, 0.7, uint64(i)), frames, side, side), maps, Settings{Covariance: true, Threads: 1})
		})
		if err := first(errs); err != nil {
			t.Fatal(err)
		}
		area, n := 0.0, len(results[0].Delay)
		for _, r := range results {
			area += r.Area[0] / float64(movies)
		}
		if area < want[0]-1e-9 || area > want[1] { // a mean of ones is rounded
			t.Errorf("sigma %g: speckles of %.2f pixels, want %v", sigma, area, want)
		}
		ratio := 0.0
		for k := range n {
			mean, told, scatter := 0.0, 0.0, 0.0
			for _, r := range results {
				mean += r.G2[k][0] / float64(movies)
				told += r.Cov[0][k*n+k] / float64(movies)
			}
			for _, r := range results {
				scatter += math.Pow(r.G2[k][0]-mean, 2) / float64(movies-1)
			}
			ratio += math.Sqrt(told/scatter) / float64(n)
		}
		t.Logf("sigma %g: area %.2f, errors %.3f of the scatter", sigma, area, ratio)
		if ratio < 0.8 || ratio > 1.25 {
			t.Errorf("sigma %g: errors are %.3f of the scatter over movies", sigma, ratio)
		}
	}
}
