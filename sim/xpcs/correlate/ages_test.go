// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/internal/tier"
)

// poisson draws counts for intensities.
func poisson(data []float32, scale float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 5))
	out := make([]float32, len(data))
	for i, v := range data {
		limit, p := math.Exp(-scale*float64(v)), r.Float64()
		for p > limit {
			p *= r.Float64()
			out[i]++
		}
	}
	return out
}

// Errors of g2 at ages are the scatter over movies: for slow and fast samples, for few counts, for speckles wider than a pixel, and where
// the movie does not fit into memory.
func TestErrorsOfAges(t *testing.T) {
	tier.SlowOnly(t)
	const side, frames = 24, 160
	movies, within := 20, 1.45
	if tier.Slow {
		movies, within = 400, 1.2
	}
	maps := Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Dynamic[i], maps.Static[i] = 1, int32(1+i/(side*side/4))
	}
	for name, c := range map[string]struct {
		sigma, keep, counts float64
		age, half           int
		bytes               int64
	}{
		"fast":          {0, 0.5, 0, 80, 16, 0},
		"slow":          {0, 0.995, 0, 60, 30, 0},
		"in pieces":     {0, 0.9, 0, 80, 16, 1},
		"few counts":    {0, 0.9, 0.05, 80, 40, 0},
		"wide speckles": {0.8, 0.9, 0, 100, 20, 0},
		"at the edge":   {0, 0.9, 0, 5, 16, 0},
	} {
		ages, g2 := make([]*Ages, movies), make([][]float64, movies)
		parallel.Do(2, movies, func(_, i int) {
			data := wideSpeckles(frames, side, c.sigma, c.keep, uint64(i))
			if c.counts > 0 {
				data = poisson(data, c.counts, uint64(i))
			}
			err := Twotime(context.Background(), FromArray(data, frames, side, side), maps, Settings{Ages: true, Threads: 1, MaxBytes: c.bytes}, func(m *Map) error {
				ages[i] = m.Ages
				g2[i] = m.Age(c.age, c.half, m.Ages.Delays)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		places := ages[0].Places(c.age, c.half)
		log, n := 0.0, 0
		for at, k := range places {
			mean, square, variance := 0.0, 0.0, 0.0
			for i, a := range ages {
				cov, _ := a.Covariance(c.age, c.half, places)
				v := g2[i][k]
				mean, square, variance = mean+v/float64(movies), square+v*v/float64(movies), variance+cov[at*len(places)+at]/float64(movies)
			}
			log, n = log+math.Log(math.Sqrt((square-mean*mean)/variance)), n+1
		}
		// Of 20 movies, a standard deviation has a relative error of 0.16, and those of delays go together.
		if ratio := math.Exp(log / float64(n)); !(1/within < ratio && ratio < within) {
			t.Errorf("%s: g2 scatters %.2f times as much as its errors say", name, ratio)
		}
	}
}

// What groups of pixels do to C2 is what the definition says, however often the movie is read.
func TestAgesAgainstDefinition(t *testing.T) {
	const n, h, w = 70, 6, 8
	data, maps := random(15, n, h, w, 0.5)
	clear(data[5*h*w : 6*h*w])
	for name, s := range map[string]Settings{"at once": {}, "in pieces": {MaxBytes: 1}, "64 bits": {Precision: 64}} {
		s.Ages = true
		for bin, m := range twotimes(t, FromArray(data, n, h, w), maps, s) {
			a := m.Ages
			x := make([][]float64, n) // divided counts, of mean 1
			for f := range n {
				sum, count, all := map[int32]float64{}, map[int32]float64{}, 0.0
				for p, d := range maps.Dynamic {
					if int(d) == bin {
						sum[maps.Static[p]] += float64(data[f*h*w+p])
						count[maps.Static[p]]++
					}
				}
				for p, d := range maps.Dynamic {
					if int(d) != bin {
						continue
					}
					v := 0.0
					if s := sum[maps.Static[p]]; s > 0 {
						v = float64(data[f*h*w+p]) * count[maps.Static[p]] / s
					}
					x[f], all = append(x[f], v), all+v
				}
				for i := range x[f] {
					if all > 0 {
						x[f][i] *= float64(len(x[f])) / all
					}
				}
			}
			want := make([]float64, len(a.Values))
			for k, d := range a.Delays {
				for i := 0; i+d < n; i++ {
					c := m.C2[i*n+i+d]
					for p := range x[i] {
						u := x[i][p]*x[i+d][p] - c*(x[i][p]+x[i+d][p]-1)
						if c == 0 {
							u = 0
						}
						want[(k*a.Blocks+(i+d/2)*a.Blocks/n)*a.Groups+p%a.Groups] += u / float64(m.Pixels)
					}
				}
			}
			for i, v := range want {
				if math.Abs(float64(a.Values[i])-v) > 1e-5 {
					t.Fatalf("%s: bin %d: number %d is %g, want %g", name, bin, i, a.Values[i], v)
				}
			}
		}
	}
}
