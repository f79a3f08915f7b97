// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
)

// FromFiles makes data of files of one measurement, with notes on what was assumed. Images must be of one detector: the same shape, the same
// place and the same energies, matched within 0.01 eV; their masks are united. Reduced data must be of one kind on the same q.
func FromFiles(r Reading, sets ...*scatter.Set) (*Data, []string, error) {
	if len(sets) == 0 {
		return nil, nil, fmt.Errorf("measured: there are no files: give at least one")
	}
	first := sets[0]
	if first.Kind != scatter.Images {
		for _, s := range sets[1:] {
			if s.Kind != first.Kind || !sameQ(first, s) {
				return nil, nil, fmt.Errorf(`measured: %s holds %s and %s %s, or on other q: give each of them nuisances of its own, {"file": ..., "nuisances": {}}`, first.Name, first.Kind, s.Name, s.Kind)
			}
			first.Curves, first.Maps = append(first.Curves, s.Curves...), append(first.Maps, s.Maps...)
		}
		return FromFile(first, r)
	}
	var d *Data
	var notes []string
	for _, s := range sets {
		if s.Kind != scatter.Images {
			return nil, nil, fmt.Errorf(`measured: %s holds %s and %s %s: give each of them nuisances of its own, {"file": ..., "nuisances": {}}`, first.Name, first.Kind, s.Name, s.Kind)
		}
		if err := together(first, s); err != nil {
			return nil, nil, err
		}
		own, more, err := FromFile(s, r)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, more...)
		if d == nil {
			d = own
			continue
		}
		d.Frames = append(d.Frames, own.Frames...)
		d.unite(own.Keep)
	}
	return d, notes, d.check()
}

// sameQ reports whether the curves or maps of two sets are on the same q.
func sameQ(a, b *scatter.Set) bool {
	for _, c := range b.Curves {
		if len(a.Curves) == 0 || !slices.Equal(c.Q, a.Curves[0].Q) || !slices.Equal(c.Chi, a.Curves[0].Chi) {
			return false
		}
	}
	for _, m := range b.Maps {
		if len(a.Maps) == 0 || len(m.QX) != len(a.Maps[0].QX) || len(m.QY) != len(a.Maps[0].QY) {
			return false
		}
	}
	return true
}

// unite leaves out the pixels that a further mask does not keep.
func (d *Data) unite(keep []bool) {
	if keep == nil {
		return
	}
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

// oneDetector returns why the images of two files are not of one detector at one place.
func oneDetector(a, b *scatter.Set) error {
	if a.Rows != b.Rows || a.Columns != b.Columns {
		return fmt.Errorf("measured: %s has images of %d x %d pixels, and %s of %d x %d: give each detector nuisances of its own, {\"file\": ..., \"nuisances\": {}}", a.Name, a.Rows, a.Columns, b.Name, b.Rows, b.Columns)
	}
	x, y := a.Geometry, b.Geometry
	for i, n := range []string{"pixel along y", "pixel along x", "distance", "poni1", "poni2", "rot1", "rot2", "rot3"} {
		u := []float64{x.PixelY, x.PixelX, x.Distance, x.PoniY, x.PoniX, x.Rot1, x.Rot2, x.Rot3}[i]
		v := []float64{y.PixelY, y.PixelX, y.Distance, y.PoniY, y.PoniX, y.Rot1, y.Rot2, y.Rot3}[i]
		if math.Abs(u-v) > sameGeometry {
			return fmt.Errorf(`measured: the %s is %g in %s and %g in %s (mm, rad): give one with "geometry"`, n, u, a.Name, v, b.Name)
		}
	}
	return nil
}

// together returns why two files are not of one measurement.
func together(a, b *scatter.Set) error {
	if err := oneDetector(a, b); err != nil {
		return err
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
