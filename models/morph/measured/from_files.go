// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// FromFiles puts the images of files together, which must be counts of one detector: the same shape, the same place and the same
// energies, matched within 0.01 eV. Masks are united.
func FromFiles(sets ...*scatter.Set) (*Data, error) {
	if len(sets) == 0 {
		return nil, fmt.Errorf("measured: there are no files: give at least one")
	}
	d := &Data{}
	first := sets[0]
	for _, s := range sets {
		if err := s.CheckCounts(); err != nil {
			return nil, fmt.Errorf("measured: the counts cannot be compared: %w", err)
		}
		if err := together(first, s); err != nil {
			return nil, err
		}
		for _, f := range s.Frames {
			if f.Exposure == 0 {
				return nil, fmt.Errorf(`measured: %s does not say the exposure of the pattern at %g eV: give it with "exposure" in s`, s.Name, f.Energy)
			}
			d.Frames = append(d.Frames, Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: f.Exposure, Flux: f.Flux, Transmission: f.Transmission, Dark: f.Dark, Counts: f.Counts})
		}
		d.unite(s.Keep)
	}
	g := first.Geometry
	d.Detector = farfield.Detector{Rows: first.Rows, Columns: first.Columns, PixelY: g.PixelY, PixelX: g.PixelX}
	d.Geometry = Geometry{Distance: g.Distance, PoniY: g.PoniY, PoniX: g.PoniX, Rot1: g.Rot1, Rot2: g.Rot2, Rot3: g.Rot3}
	return d, d.check()
}

// unite leaves out the pixels that a further mask does not keep.
func (d *Data) unite(keep []bool) {
	if d.Keep == nil {
		d.Keep = slices.Clone(keep)
		return
	}
	for i := range keep {
		d.Keep[i] = d.Keep[i] && keep[i]
	}
}

// sameGeometry is how far two geometries may differ, in mm and rad, that count as one.
const sameGeometry = 1e-6

// together returns why two files are not of one measurement.
func together(a, b *scatter.Set) error {
	if a.Rows != b.Rows || a.Columns != b.Columns {
		return fmt.Errorf("measured: %s has images of %d x %d pixels, and %s of %d x %d: fit the detectors one after the other", a.Name, a.Rows, a.Columns, b.Name, b.Rows, b.Columns)
	}
	x, y := a.Geometry, b.Geometry
	for i, n := range []string{"pixel along y", "pixel along x", "distance", "poni1", "poni2", "rot1", "rot2", "rot3"} {
		u := []float64{x.PixelY, x.PixelX, x.Distance, x.PoniY, x.PoniX, x.Rot1, x.Rot2, x.Rot3}[i]
		v := []float64{y.PixelY, y.PixelX, y.Distance, y.PoniY, y.PoniX, y.Rot1, y.Rot2, y.Rot3}[i]
		if math.Abs(u-v) > sameGeometry {
			return fmt.Errorf(`measured: the %s is %g in %s and %g in %s (mm, rad): give one with "geometry"`, n, u, a.Name, v, b.Name)
		}
	}
	for _, way := range [][2]*scatter.Set{{a, b}, {b, a}} {
		has := way[1].Energies()
		for _, e := range way[0].Energies() {
			if !slices.ContainsFunc(has, func(x float64) bool { return math.Abs(x-e) < sameEnergy }) {
				return fmt.Errorf(`measured: %s has patterns at %g eV, and %s has none: its energies are %v; choose those of both with "energies"`, way[0].Name, e, way[1].Name, has)
			}
		}
	}
	return nil
}
