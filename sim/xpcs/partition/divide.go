// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"fmt"
	"math"
)

// Axis is a map of the detector to divide.
type Axis struct {
	Name   string // name of the map, such as "q" or "phi"
	Unit   string
	Values []float64 // value of each pixel, row-major; azimuths in degrees

	// Log spaces the edges equally in the logarithm. It is for q only.
	Log bool

	// Offset turns azimuths (degrees) before they are divided, and a Fold of 2, 3 ... folds them
	// onto one of that many equal sectors. Both are for phi only. Default: none.
	Offset float64
	Fold   int
}

// Bins divides the pixels along one axis.
type Bins struct {
	Of      []int32   // bin of each pixel from 1; 0 is masked
	Centers []float64 // centre of each bin, also of those without pixels: the middle of the edges, or the mean azimuth of the pixels in the first sector if folded
}

// round12 rounds to 12 decimals, so that a pixel at an edge falls on the same side in every program.
func round12(x float64) float64 { return math.RoundToEven(x*1e12) / 1e12 }

// Divide divides the unmasked pixels into n bins between the smallest and the largest value. A pixel
// exactly on an inner edge belongs to the upper bin. Pixels whose value is NaN are masked; with Log, those at or below 0 belong to
// the first bin. If no pixel is unmasked, all of Of and Centers is 0.
func Divide(a Axis, mask []bool, n int) (*Bins, error) {
	if err := a.check(mask, n); err != nil {
		return nil, err
	}
	b := &Bins{Of: make([]int32, len(mask)), Centers: make([]float64, n)}
	x := a.turned()
	log := a.isLog()
	low, high := math.Inf(1), math.Inf(-1)
	some := false
	for i, v := range x {
		if !mask[i] || math.IsNaN(v) {
			continue
		}
		some = true
		if log && v <= 0 {
			continue
		}
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	if !some {
		return b, nil
	}
	edges, centers, err := a.divided(low, high, n)
	if err != nil {
		return nil, err
	}
	b.Centers = centers
	scale := float64(n) / (edges[n] - edges[0])
	for i, v := range x {
		if mask[i] && !math.IsNaN(v) {
			b.Of[i] = int32(bin(edges, v, v == high, scale))
		}
	}
	if a.folds() {
		a.centerFolded(b)
	}
	return b, nil
}

func (a Axis) isLog() bool { return a.Log && a.Name == "q" }

// divided returns the rounded edges of n bins between two values, and the middle of each.
func (a Axis) divided(low, high float64, n int) (all, centers []float64, err error) {
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return nil, nil, fmt.Errorf("partition: no unmasked pixel has a positive, finite %s, which logarithmic bins need: use linear bins, or mask less", a.Name)
	}
	all, centers = edges(low, high, n, a.isLog()), make([]float64, n)
	for k := range centers {
		if a.isLog() {
			centers[k] = math.Sqrt(all[k] * all[k+1])
		} else {
			centers[k] = (all[k] + all[k+1]) / 2
		}
	}
	for k := range all {
		all[k] = round12(all[k])
	}
	return all, centers, nil
}

// bin returns the bin of v after rounding, from 1. Rounding matters only next to an edge, and takes longer than all the rest.
func bin(edges []float64, v float64, last bool, scale float64) int {
	if !last && math.Abs(v) < 1e3 { // beyond, rounding moves values by more than the margin
		const margin = 1e-11
		if k := int((v - edges[0]) * scale); k >= 0 && k < len(edges)-1 && v-edges[k] > margin && edges[k+1]-v > margin {
			return k + 1
		}
	}
	return find(edges, round12(v), last, scale)
}

// find returns the bin of v, from 1. scale guesses it for equal bins.
func find(edges []float64, v float64, last bool, scale float64) int {
	n := len(edges) - 1
	if last {
		return n
	}
	k := int(math.Min(math.Max((v-edges[0])*scale, 0), float64(n-1))) // NaN of 0/0 becomes some bin
	k = min(max(k, 0), n-1)
	if !(edges[k] <= v && v < edges[k+1]) {
		for k < n-1 && v >= edges[k+1] {
			k++
		}
		for k > 0 && v < edges[k] {
			k--
		}
	}
	return k + 1
}

func edges(low, high float64, n int, log bool) []float64 {
	if log {
		low, high = math.Log10(low), math.Log10(high)
	}
	e := make([]float64, n+1)
	step := (high - low) / float64(n)
	for k := range e {
		e[k] = float64(float64(k)*step) + low // two roundings on every machine
	}
	e[n] = high
	if log {
		for k := range e {
			e[k] = math.Pow(10, e[k])
		}
	}
	return e
}

func (a Axis) check(mask []bool, n int) error {
	switch {
	case len(a.Values) != len(mask):
		return fmt.Errorf("partition: the map %s has %d pixels, but the mask has %d: use maps of one detector", a.Name, len(a.Values), len(mask))
	case n < 1 || n > 1<<24:
		return fmt.Errorf("partition: there are %d bins of %s: want at least 1 and at most 2^24", n, a.Name)
	case a.Log && a.Name != "q":
		return fmt.Errorf("partition: %s cannot have logarithmic bins: only q can", a.Name)
	case (a.Offset != 0 || a.Fold > 1) && a.Name != "phi":
		return fmt.Errorf("partition: %s cannot have an offset or a symmetry: only phi can", a.Name)
	case a.Fold < 0 || math.IsNaN(a.Offset) || math.IsInf(a.Offset, 0):
		return fmt.Errorf("partition: phi has offset %g and symmetry %d: want a finite angle and a positive number", a.Offset, a.Fold)
	}
	return nil
}

func (a Axis) folds() bool { return a.Name == "phi" && a.Fold > 1 }

// sector returns the width of the sectors in degrees.
func (a Axis) sector() float64 { return 360 / float64(max(a.Fold, 1)) }

// turned returns the values after offset and folding.
func (a Axis) turned() []float64 {
	if a.Name != "phi" || a.Offset == 0 && a.Fold <= 1 {
		return a.Values
	}
	x := make([]float64, len(a.Values))
	for i, v := range a.Values {
		x[i] = wrap(v + a.Offset)
		if a.Fold > 1 {
			x[i] = modulo(x[i]+180, a.sector())
		}
	}
	return x
}

// wrap brings an angle into (-180, 180].
func wrap(v float64) float64 {
	if v = modulo(v, 360); v > 180 {
		v -= 360
	}
	return v
}

// modulo returns x - y floor(x/y), which has the sign of y.
func modulo(x, y float64) float64 {
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// centerFolded replaces the centres by the mean azimuth of the pixels of each bin in the first sector from 0 on. A bin
// without any keeps the middle of its edges, turned back.
func (a Axis) centerFolded(b *Bins) {
	sum, count := make([]float64, len(b.Centers)), make([]float64, len(b.Centers))
	for i, k := range b.Of {
		if turned := wrap(a.Values[i] + a.Offset); k > 0 && turned >= 0 && turned < a.sector() {
			sum[k-1] += a.Values[i]
			count[k-1]++
		}
	}
	for k := range b.Centers {
		if count[k] > 0 {
			b.Centers[k] = sum[k] / count[k]
		} else {
			b.Centers[k] = wrap(b.Centers[k] - 180 - a.Offset)
		}
	}
}
