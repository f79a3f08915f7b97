// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// The eight trials in which the reference's program mostly fails: two images, two guesses, with and without a radius.
func TestGoldenCenters(t *testing.T) {
	for _, c := range expect(t).Center {
		image, shape := array(t, c.File)
		limit := 0.25
		if c.Noisy {
			limit = 0.5
		}
		for g, guess := range []Point{c.Guess1, c.Guess2} {
			for _, radius := range []float64{0, c.Radius} {
				t.Run(fmt.Sprintf("%s guess %d radius %g", c.File, g+1, radius), func(t *testing.T) {
					found, err := FindCenter(image, New(shape[0], shape[1]), CenterSettings{Guess: &guess, Radius: radius})
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("off by (%.4f, %.4f), errors (%.4f, %.4f), %d iterations", found.Row-c.True[0], found.Col-c.True[1], found.SDRow, found.SDCol, found.Iterations)
					if !found.Converged || !(math.Abs(found.Row-c.True[0]) <= limit) || !(math.Abs(found.Col-c.True[1]) <= limit) {
						t.Errorf("%+v, want %v", found, c.True)
					}
				})
			}
		}
	}
}

// scene is a pattern of Poisson counts about a centre, with what hides parts of it.
type scene struct {
	height, width int
	center        Point
	stretch       float64 // amplitude of cos 2 phi
	hidden        func(r, c int) bool
	hot           int     // number of pixels that always count 60000
	offset        float64 // subtracted from everything
}

func (s scene) expose(rng *rand.Rand) ([]float64, *Mask) {
	image, m := make([]float64, s.height*s.width), New(s.height, s.width)
	for i := range image {
		r, c := i/s.width, i%s.width
		v, h := float64(r)-s.center[0], float64(c)-s.center[1]
		d := math.Hypot(v, h)
		mean := 4000/(1+d*d/60) + 40*math.Exp(-(d-34)*(d-34)/18) + 3
		mean *= 1 + s.stretch*math.Cos(2*math.Atan2(v, h))
		image[i] = math.Max(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()), 0) - s.offset
		if s.hidden != nil && s.hidden(r, c) {
			m.Keep[i], image[i] = false, 1e9
		}
	}
	for range s.hot {
		image[rng.IntN(len(image))] = 60000
	}
	return image, m
}

func (s scene) stop(radius float64) func(r, c int) bool {
	return func(r, c int) bool {
		return math.Hypot(float64(r)-s.center[0], float64(c)-s.center[1]) < radius || c > int(s.center[1]) && math.Abs(float64(r)-s.center[0]) < 4
	}
}

func gaps(r, c int) bool { return r >= 40 && r < 47 || c >= 70 && c < 75 || (r/3+c/5)%17 == 0 }

// Beam stops, gaps, hot pixels, stretched patterns and centres beside the detector leave the centre
// within a fraction of a pixel, and errors that hold.
func TestCenterWhereMuchIsMissing(t *testing.T) {
	tier.SlowOnly(t)
	plain := scene{height: 110, width: 140, center: Point{52.3, 66.8}}
	stop, gapped, hot, stretched, corner, outside := plain, plain, plain, plain, plain, plain
	stop.hidden = plain.stop(9.5)
	gapped.hidden = gaps
	hot.hot = 150
	stretched.stretch = 0.4
	subtracted := plain
	subtracted.offset = 60
	corner.center = Point{6.4, 11.7}
	corner.hidden = corner.stop(7)
	outside.center = Point{-12.6, 70.2}
	for name, c := range map[string]struct {
		scene
		settings CenterSettings
		within   float64
	}{
		"plain":      {plain, CenterSettings{}, 0.05},
		"beam stop":  {stop, CenterSettings{}, 0.08},
		"gaps":       {gapped, CenterSettings{}, 0.06},
		"hot":        {hot, CenterSettings{}, 0.06},
		"stretched":  {stretched, CenterSettings{Harmonics: 1}, 0.1},
		"subtracted": {subtracted, CenterSettings{}, 0.05},
		"corner":     {corner, CenterSettings{Search: 90}, 0.3},
		"outside":    {outside, CenterSettings{Guess: &Point{-5, 64}}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 9))
			const trials = 6
			square := 0.0
			for range trials {
				image, m := c.expose(rng)
				got, err := FindCenter(image, m, c.settings)
				if err != nil {
					t.Fatal(err)
				}
				dr, dc := got.Row-c.center[0], got.Col-c.center[1]
				if !got.Converged || !(math.Abs(dr) < c.within) || !(math.Abs(dc) < c.within) {
					t.Errorf("off by (%.3f, %.3f): %+v", dr, dc, got)
				}
				square += (dr*dr/got.SDRow/got.SDRow + dc*dc/got.SDCol/got.SDCol) / 2 / trials
			}
			t.Logf("mean square of (found - true)/error: %.2f", square)
			if square < 0.16 || square > 3.25 { // 12 degrees of freedom: outside with a probability of 0.0002
				t.Errorf("the mean square of (found - true)/error is %.2f, want about 1", square)
			}
		})
	}
}

// What does not determine a centre is an error.
func TestCenterMistakes(t *testing.T) {
	flat := make([]float64, 400)
	for i := range flat {
		flat[i] = 7
	}
	slope := make([]float64, 400)
	for i := range slope {
		slope[i] = float64(i % 20 * i % 20)
	}
	none := New(20, 20)
	clear(none.Keep)
	for name, c := range map[string]struct {
		image []float64
		mask  *Mask
		s     CenterSettings
		want  string
	}{
		"flat":      {flat, New(20, 20), CenterSettings{}, "does not determine a centre"},
		"no pixels": {flat, none, CenterSettings{}, "0 pixels are left"},
		"shape":     {flat, New(20, 21), CenterSettings{}, "400 pixels, but the mask has 20 x 21"},
		"search":    {flat, New(20, 20), CenterSettings{Search: -1}, "search extends over -1"},
		"radius":    {flat, New(20, 20), CenterSettings{Radius: math.NaN()}, "radius is NaN"},
		"harmonics": {flat, New(20, 20), CenterSettings{Harmonics: 9}, "9 angular harmonics"},
		"guess":     {flat, New(20, 20), CenterSettings{Guess: &Point{math.NaN(), 1}}, "guess"},
	} {
		if _, err := FindCenter(c.image, c.mask, c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
