// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// QMap says where in reciprocal space each bin of pixels lies. Static bins are for intensities; dynamic
// bins, each made of static ones, are for correlations. If a file gives q in another inverse length,
// such as 1/nm, it is converted to 1/angstrom.
type QMap struct {
	Hash   string   // hash of the contents, by which viewers recognise files with the same map
	Source string   // name of the file that the map was made for; "" if unknown
	Names  []string // names of the two axes of bins; nil for q and phi
	Units  []string // units of the two axes; nil, like Names, for 1/angstrom and degrees

	Dynamic Partition
	Static  Partition

	BeamX, BeamY float64 // column and row of the direct beam in pixels
	Distance     float64 // distance from sample to detector in m
	PixelSize    float64 // edge of a pixel in m
	Energy       float64 // photon energy in keV
	// BinQ and BinQ2 are the means of q (1/angstrom) and of its square over the pixels of each dynamic bin, which the values of its cell
	// are not where a beam stop or a gap hides a part of the cell; nil if the file does not have them.
	BinQ, BinQ2 []float64
	Maps        *Maps // images of the detector; nil until ReadMaps
}

// Partition is a grid of bins over two axes, usually q and phi.
type Partition struct {
	Axis0 []float64 // values of the first axis, usually q in 1/angstrom
	Axis1 []float64 // values of the second axis, usually phi in degrees
	Cells []int     // cell in the grid of each bin that has pixels, counted along the second axis first
}

// Bins returns the number of bins that have pixels.
func (p *Partition) Bins() int { return len(p.Cells) }

// Cell returns the indices on the two axes of a bin, which counts from 1; ok is false if there is no
// such bin.
func (p *Partition) Cell(bin int) (i, j int, ok bool) {
	if bin < 1 || bin > len(p.Cells) {
		return 0, 0, false
	}
	n := max(len(p.Axis1), 1)
	cell := p.Cells[bin-1]
	return cell / n, cell % n, cell >= 0 && cell/n < len(p.Axis0)
}

// Values returns the values on the two axes of a bin, or NaN if there is no such bin.
func (p *Partition) Values(bin int) (v0, v1 float64) {
	i, j, ok := p.Cell(bin)
	if !ok {
		return math.NaN(), math.NaN()
	}
	v1 = math.NaN()
	if j < len(p.Axis1) {
		v1 = p.Axis1[j]
	}
	return p.Axis0[i], v1
}

// Maps are images of the detector, stored row by row.
type Maps struct {
	Height, Width int
	Mask          []bool  // flag of each pixel that is true if the pixel is kept
	Dynamic       []int32 // dynamic bin of each pixel; 0 for none
	Static        []int32
	Blemish       []bool // flag of each pixel that is true if the pixel works; nil if all do
}

// Check returns an error if the maps, which must be present, do not agree with the lists of bins: every
// pixel must be in a listed bin or none, every bin must have pixels, and no pixel in a bin may be
// masked. A correlation with an inconsistent map would end in a file that cannot be read.
func (q *QMap) Check() error {
	m := q.Maps
	if len(q.Dynamic.Axis0) == 0 {
		return errors.New("nexus: the q map lists no bins: make it again")
	}
	for _, part := range []struct {
		name string
		of   []int32
		list *Partition
	}{{"dynamic", m.Dynamic, &q.Dynamic}, {"static", m.Static, &q.Static}} {
		if part.list.Axis0 == nil {
			continue
		}
		for b := 1; b <= part.list.Bins(); b++ {
			if _, _, ok := part.list.Cell(b); !ok {
				return fmt.Errorf("nexus: the q map has %s bin %d in cell %d of a grid of %d x %d: make it again", part.name, b, part.list.Cells[b-1], len(part.list.Axis0), max(len(part.list.Axis1), 1))
			}
		}
		size := make([]int, part.list.Bins()+1)
		for i, b := range part.of {
			switch {
			case b < 0 || int(b) >= len(size):
				return fmt.Errorf("nexus: the q map has pixel (%d, %d) in %s bin %d, but lists %d bins: make it again", i/m.Width, i%m.Width, part.name, b, part.list.Bins())
			case b > 0 && !m.Mask[i]:
				return fmt.Errorf("nexus: the q map has pixel (%d, %d) in %s bin %d, but its mask leaves it out: make it again with this mask", i/m.Width, i%m.Width, part.name, b)
			}
			size[b]++
		}
		if b := slices.Index(size[1:], 0); b >= 0 {
			return fmt.Errorf("nexus: the q map has no pixels in %s bin %d of the %d that it lists: make it again with this mask", part.name, b+1, part.list.Bins())
		}
	}
	return nil
}

// Q returns the q of a dynamic bin in 1/angstrom: the mean over its pixels if that is known, and otherwise the centre of its cell. It is
// NaN if there is no such bin.
func (q *QMap) Q(bin int) float64 {
	if bin >= 1 && bin <= len(q.BinQ) {
		return q.BinQ[bin-1]
	}
	v, _ := q.Dynamic.Values(bin)
	return v
}

// Q2 returns the mean of the square of q over the pixels of a dynamic bin in 1/angstrom^2, which laws of diffusion depend on. If it is not
// known, it is the square of Q.
func (q *QMap) Q2(bin int) float64 {
	if bin >= 1 && bin <= len(q.BinQ2) {
		return q.BinQ2[bin-1]
	}
	v := q.Q(bin)
	return v * v
}

// Spread returns the standard deviation of q over the pixels of a dynamic bin in 1/angstrom; it is NaN if it is not known.
func (q *QMap) Spread(bin int) float64 {
	if bin < 1 || bin > len(q.BinQ) || bin > len(q.BinQ2) {
		return math.NaN()
	}
	mean := q.BinQ[bin-1]
	return math.Sqrt(max(q.BinQ2[bin-1]-mean*mean, 0))
}

// Phi returns the azimuth of a dynamic bin in degrees, or NaN if there is no such bin.
func (q *QMap) Phi(bin int) float64 { _, v := q.Dynamic.Values(bin); return v }

// Qs returns the q of every dynamic bin that has pixels.
func (q *QMap) Qs() []float64 { return q.values(0) }

// Phis returns the azimuth of every dynamic bin that has pixels.
func (q *QMap) Phis() []float64 { return q.values(1) }

func (q *QMap) values(axis int) []float64 {
	all := make([]float64, q.Dynamic.Bins())
	for i := range all {
		all[i] = []float64{q.Q(i + 1), q.Phi(i + 1)}[axis]
	}
	return all
}

// Select returns the dynamic bins with q in [low, high]. If there are none, or the first axis is not
// q, it returns all bins.
func (q *QMap) Select(low, high float64) []int {
	var some, all []int
	for bin := 1; bin <= q.Dynamic.Bins(); bin++ {
		all = append(all, bin)
		if v := q.Q(bin); low <= v && v <= high {
			some = append(some, bin)
		}
	}
	if len(some) == 0 || len(q.Names) > 0 && q.Names[0] != "q" {
		return all
	}
	return some
}

// At returns the dynamic bins at index i, from 0, on the first axis.
func (q *QMap) At(i int) []int {
	var some []int
	for bin := 1; bin <= q.Dynamic.Bins(); bin++ {
		if k, _, ok := q.Dynamic.Cell(bin); ok && k == i {
			some = append(some, bin)
		}
	}
	return some
}

// Label describes a dynamic bin, as in "q=0.00039 Å⁻¹, φ=-43.8 deg", or returns "invalid qbin". If
// there is only one azimuth, it describes only q.
func (q *QMap) Label(bin int) string {
	if !q.has(bin) {
		return "invalid qbin"
	}
	v0, v1 := q.Q(bin), q.Phi(bin)
	s := q.AxisLabel(0, v0)
	if len(q.Dynamic.Axis1) > 1 {
		s += ", " + q.AxisLabel(1, v1)
	}
	return s
}

// BinLabel returns Label preceded by the number of the bin, as in "qbin=2, ...".
func (q *QMap) BinLabel(bin int) string {
	if !q.has(bin) {
		return "invalid qbin"
	}
	return fmt.Sprintf("qbin=%d, %s", bin, q.Label(bin))
}

func (q *QMap) has(bin int) bool { return bin >= 1 && bin <= q.Dynamic.Bins() }

// Axis returns the name and the unit of an axis of the bins: 0 for the first axis, 1 for the second.
func (q *QMap) Axis(i int) (name, unit string) {
	name, unit = []string{"q", "phi"}[i], []string{"Å⁻¹", "deg"}[i]
	if i < len(q.Names) {
		name, unit = q.Names[i], ""
	}
	if i < len(q.Units) {
		unit = q.Units[i]
	}
	return name, unit
}

// AxisLabel returns a value on an axis with its name and unit, as in "q=0.00120 Å⁻¹": 0 for the first axis, 1 for the second.
func (q *QMap) AxisLabel(axis int, v float64) string {
	name, unit := q.Axis(axis)
	digits := 3
	switch {
	case name == "q":
		digits = 5
	case name == "phi":
		name, digits = "φ", 1
	case slices.Contains([]string{"x", "y"}, name):
		digits = 1
	}
	return fmt.Sprintf("%s=%.*f %s", name, digits, v, unit)
}

// hc is Planck's constant times the speed of light in keV angstrom, rounded as in the viewer of
// these files.
const hc = 12.398

// K0 returns the wave number 2 pi / wavelength in 1/angstrom, with hc = 12.398 keV angstrom as in
// the viewer of these files.
func (q *QMap) K0() float64 { return 2 * math.Pi / (hc / q.Energy) }

// Extent returns the q of the left, right, bottom and top edges of a detector of the given size, in
// 1/angstrom, for small angles.
func (q *QMap) Extent(height, width int) (left, right, bottom, top float64) {
	scale := q.PixelSize / q.Distance * q.K0()
	return -q.BeamX * scale, (float64(width) - q.BeamX) * scale, -q.BeamY * scale, (float64(height) - q.BeamY) * scale
}
