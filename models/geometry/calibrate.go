// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// passes is how often rings are looked for and fitted, each time about the last fit.
const passes = 3

// Calibrate finds rings of known q (1/angstrom, ascending) in an image and fits a geometry to them.
// The first geometry must have the right energy and pixel size, and a distance and a centre that
// are roughly right: the centre is found in the image, and the distance within DistanceRange,
// before the rings are located.
func Calibrate(ctx context.Context, image []float64, m *mask.Mask, g xpcs.Geometry, q []float64, s Settings) (*Fit, error) {
	if err := given.Args("geometry.Calibrate", "ctx", ctx, "m", m); err != nil {
		return nil, err
	}
	if err := checkImage(image, m, g, q); err != nil {
		return nil, err
	}
	if !s.KeepCenter && g.SwingHorizontal == 0 && g.SwingVertical == 0 {
		c, err := mask.FindCenter(image, m, mask.CenterSettings{Guess: &mask.Point{g.CenterRow, g.CenterCol}})
		if err != nil {
			return nil, err
		}
		g.CenterRow, g.CenterCol = c.Row, c.Col
	}
	g, err := roughDistance(image, m, g, q, s.DistanceRange)
	if err != nil {
		return nil, err
	}
	var f *Fit
	for range passes {
		points, err := FindRings(ctx, image, m, g, q, s.Find)
		if err != nil {
			return nil, err
		}
		if len(points) < 8 {
			return nil, fmt.Errorf("geometry: only %s of %s %s found: check energy, distance, centre and the q of the rings, and average more frames if the rings are faint", errtext.Count(len(points), "point"), errtext.Count(len(q), "ring"), errtext.Agree(len(points), "was", "were"))
		}
		if f, err = FitPoints(ctx, g, points, s); err != nil {
			return nil, err
		}
		g = f.Geometry
	}
	return f, nil
}

// roughDistance returns the geometry at the distance where the radial profile is highest above its surroundings at the
// radii of the rings.
func roughDistance(image []float64, m *mask.Mask, g xpcs.Geometry, q []float64, span float64) (xpcs.Geometry, error) {
	if span == 0 {
		span = 0.15
	}
	if !(span > 0 && span < 1) {
		return g, fmt.Errorf("geometry: the relative range of distances is %g: want a number between 0 and 1", span)
	}
	row, col := g.DisplayCenter()
	profile := contrast(image, m, row, col)
	const sectors, steps = 8, 200
	best, top := g, math.Inf(-1)
	rays, err := expected(g, q, sectors)
	if err != nil {
		return g, err
	}
	for k := -steps; k <= steps; k++ {
		stretch := math.Exp(math.Log1p(span) * float64(k) / steps) // radii grow with the distance
		score, n := 0.0, 0.0
		for _, ray := range rays {
			for _, r := range ray {
				if i := int(r*stretch + 0.5); r == r && i < len(profile) {
					score, n = score+profile[i], n+1
				}
			}
		}
		if score /= n; score > top {
			best, top = g, score
			best.Distance *= stretch
		}
	}
	return best, nil
}

// contrast returns the logarithm of the mean intensity at each radius in pixels, less its mean around.
func contrast(image []float64, m *mask.Mask, row, col float64) []float64 {
	var sum, count []float64
	for i, v := range image {
		if !m.Keep[i] || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		k := int(math.Hypot(float64(i/m.Width)-row, float64(i%m.Width)-col) + 0.5)
		for len(sum) <= k {
			sum, count = append(sum, 0), append(count, 0)
		}
		sum[k] += v
		count[k]++
	}
	total, n := 0.0, 0.0
	for k := range sum {
		total, n = total+sum[k], n+count[k]
	}
	level := make([]float64, len(sum))
	for k := range sum {
		level[k] = math.NaN()
		if count[k] > 0 {
			level[k] = math.Log(math.Max(sum[k]/count[k], 1e-3*total/n))
		}
	}
	const around = 12
	out := make([]float64, len(level))
	for k, v := range level {
		mean, n := 0.0, 0.0
		for j := max(k-around, 0); j <= min(k+around, len(level)-1); j++ {
			if level[j] == level[j] {
				mean, n = mean+level[j], n+1
			}
		}
		if v == v && n > around {
			out[k] = v - mean/n
		}
	}
	return out
}
