// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Geometry is where the detector stands, in the convention of pyFAI.
type Geometry struct {
	PixelY, PixelX   float64 // edges of a pixel along y (rows) and x (columns) in mm, after binning
	Distance         float64 // distance from the sample to the detector in mm
	PoniY, PoniX     float64 // foot of the perpendicular from the sample, from the corner of the first pixel in mm
	Rot1, Rot2, Rot3 float64 // rotations of the detector in rad
}

// The names of the parts of a geometry. A length without a unit of its own has the one given here, in mm.
var (
	distanceKeys = []length{{"dist", 1000}, {"sdd", 1}, {"distance", 1000}, {"detector_distance", 1000}, {"RSoXS_SAXS_SDD", 1}, {"RSoXS_WAXS_SDD", 1}}
	pixelYKeys   = []length{{"pixel1", 1000}, {"y_pixel_size", 1000}}
	pixelXKeys   = []length{{"pixel2", 1000}, {"x_pixel_size", 1000}}
	poniYKeys    = []length{{"poni1", 1000}}
	poniXKeys    = []length{{"poni2", 1000}}
)

// length is the name of a length, and the mm of its unit.
type length struct {
	key string
	mm  float64
}

// unitsOfLength are units in mm.
var unitsOfLength = map[string]float64{"m": 1000, "meter": 1000, "metre": 1000, "cm": 10, "mm": 1, "millimeter": 1, "um": 1e-3, "µm": 1e-3, "micron": 1e-3}

// lengthOf returns the first of some lengths that the file has, in mm, and its name.
func (c *content) lengthOf(all []length) (mm float64, key string) {
	for _, l := range all {
		if x, ok := c.number(l.key); ok {
			scale := l.mm
			if u, known := unitsOfLength[strings.ToLower(c.units[l.key])]; known {
				scale = u
			}
			return x * scale, l.key
		}
	}
	return 0, ""
}

// geometry finds where the detector stands, and names the source of the beam.
func (c *content) geometry(set *Set, s Settings) error {
	g, bin := &set.Geometry, float64(s.bin())
	var missing []string
	pixelY, keyY := c.lengthOf(pixelYKeys)
	pixelX, keyX := c.lengthOf(pixelXKeys)
	if s.Geometry.Pixel != 0 {
		pixelY, pixelX, keyY, keyX = s.Geometry.Pixel, s.Geometry.Pixel, "settings", "settings"
	}
	distance, keyD := c.lengthOf(distanceKeys)
	if s.Geometry.Distance != 0 {
		distance, keyD = s.Geometry.Distance, "settings"
	} else if err := c.sameDistance(set.Name, distance, keyD); err != nil {
		return err
	}
	for _, part := range []struct {
		found string
		all   []length
	}{{keyD, distanceKeys}, {keyY, pixelYKeys}, {keyX, pixelXKeys}} {
		if part.found == "" {
			for _, l := range part.all {
				missing = append(missing, l.key)
			}
		}
	}
	x, y, source := c.beam(pixelX, pixelY, set)
	if b := s.Geometry.Beam; b != nil {
		x, y, source = b[0]*pixelX, b[1]*pixelY, "the settings"
	}
	if source == "" {
		missing = append(missing, "poni1", "poni2", "beamcenter_x", "beamcenter_y", "beam_center_x", "beam_center_y")
	}
	if len(missing) > 0 && s.Unplaced {
		set.note("the file does not say where the detector stands")
		return nil
	}
	if len(missing) > 0 {
		return defect(set.Name, `add "geometry": {"distance": 500, "pixel": 0.06, "beam": [x, y]} (mm, mm, and pixels from the corner)`,
			"there is no geometry: the file has none of %s", strings.Join(missing, ", "))
	}
	*g = Geometry{PixelY: pixelY * bin, PixelX: pixelX * bin, Distance: distance, PoniY: y, PoniX: x}
	for i, at := range []*float64{&g.Rot1, &g.Rot2, &g.Rot3} {
		*at, _ = c.number(fmt.Sprintf("rot%d", i+1))
		if s.Geometry.Rot != nil {
			*at = s.Geometry.Rot[i]
		}
	}
	set.source = source
	return set.possible()
}

// sameDistance compares the distances that a file gives more than once.
func (c *content) sameDistance(file string, mm float64, key string) error {
	for _, l := range distanceKeys {
		other, name := c.lengthOf([]length{l})
		if name == "" || name == key || other == 0 || mm == 0 {
			continue
		}
		if r := other / mm; math.Abs(r-1) > 0.01 {
			hint := ""
			if r > 900 && r < 1100 || r > 0.9e-3 && r < 1.1e-3 {
				hint = ", a factor of 1000: m are taken for mm"
			}
			return defect(file, `give the right one with "geometry": {"distance": ...} in mm`, "%s gives a distance of %g mm and %s one of %g mm%s", key, mm, name, other, hint)
		}
	}
	return nil
}

// halfPixel is how closely two places of the beam agree that differ by the half pixel of two conventions, in pixels.
const halfPixel = 0.02

// beam returns the foot of the perpendicular in mm from the corner, and its source, which is empty if there is none. poni wins over others.
func (c *content) beam(pixelX, pixelY float64, set *Set) (x, y float64, source string) {
	for _, way := range []struct {
		source string
		find   func() (float64, float64, bool)
	}{
		{"poni", func() (float64, float64, bool) {
			x, kx := c.lengthOf(poniXKeys)
			y, ky := c.lengthOf(poniYKeys)
			return x, y, kx != "" && ky != ""
		}},
		{"beamcenter_x, beamcenter_y (from the corner)", func() (float64, float64, bool) { return c.pair("beamcenter_x", "beamcenter_y", 0, pixelX, pixelY) }},
		{"RSoXS_SAXS_BCX, RSoXS_SAXS_BCY (from the corner)", func() (float64, float64, bool) { return c.pair("RSoXS_SAXS_BCX", "RSoXS_SAXS_BCY", 0, pixelX, pixelY) }},
		{"RSoXS_WAXS_BCX, RSoXS_WAXS_BCY (from the corner)", func() (float64, float64, bool) { return c.pair("RSoXS_WAXS_BCX", "RSoXS_WAXS_BCY", 0, pixelX, pixelY) }},
		{"beam_center_x, beam_center_y (from the middle of a pixel)", func() (float64, float64, bool) { return c.pair("beam_center_x", "beam_center_y", 0.5, pixelX, pixelY) }},
	} {
		u, v, ok := way.find()
		switch dx, dy := (u-x)/pixelX, (v-y)/pixelY; {
		case !ok:
		case source == "":
			x, y, source = u, v, way.source
		case math.Abs(dx) > halfPixel || math.Abs(dy) > halfPixel:
			set.note("%s puts the beam %.3g, %.3g pixels (x, y) beside %s, which is taken", way.source, dx, dy, source)
		case strings.HasPrefix(way.source, "beam_center_x"):
			set.note("beam_center_x counts from the middle of a pixel and %s from its corner: they agree", source)
		}
	}
	return x, y, source
}

// pair returns a place given in pixels as mm from the corner; shift is what the convention misses of that.
func (c *content) pair(kx, ky string, shift, pixelX, pixelY float64) (x, y float64, ok bool) {
	x, okX := c.number(kx)
	y, okY := c.number(ky)
	return (x + shift) * pixelX, (y + shift) * pixelY, okX && okY
}

// possible checks the numbers of a geometry.
func (s *Set) possible() error {
	g := s.Geometry
	switch pixels := []float64{g.PixelY, g.PixelX}; {
	case slices.ContainsFunc(pixels, func(p float64) bool { return !(p >= 1e-3 && p <= 50) }):
		return s.defect(`give the edge with "geometry": {"pixel": ...} in mm`, "the pixels are %.6g x %.6g mm: want edges of 0.001 to 50 mm", g.PixelY, g.PixelX)
	case !(g.Distance >= 2) && g.Distance > 0:
		return s.defect(`give it with "geometry": {"distance": ...} in mm`, "the distance is %g mm, and the least that makes sense is 2 mm: is it in m?", g.Distance)
	case !(g.Distance > 0 && g.Distance <= 1e5):
		return s.defect(`give it with "geometry": {"distance": ...} in mm`, "the distance is %g mm: want more than 0 and at most 100000 mm; is it in mm where m are expected?", g.Distance)
	}
	for i, x := range []float64{g.Rot1, g.Rot2, g.Rot3} {
		if most := []float64{math.Pi / 2, math.Pi / 2, 2 * math.Pi}[i]; !(math.Abs(x) < most) {
			return s.defect(fmt.Sprintf(`give it with "geometry": {"rot": [...]}, %.6g for %g degrees`, x*math.Pi/180, x), "rot%d is %g rad, and less than %.4g makes sense: is it in degrees?", i+1, x, most)
		}
	}
	height, width := float64(s.Rows)*g.PixelY, float64(s.Columns)*g.PixelX
	if !(g.PoniX >= -10*width && g.PoniX <= 11*width && g.PoniY >= -10*height && g.PoniY <= 11*height) {
		return s.defect(`give it with "geometry": {"beam": [x, y]} in pixels from the corner`, "the beam meets the plane of the detector %.4g, %.4g mm (x, y) from the corner, far outside its %.4g x %.4g mm: are pixels taken for m?", g.PoniX, g.PoniY, width, height)
	}
	if g.PoniX < 0 || g.PoniX > width || g.PoniY < 0 || g.PoniY > height {
		s.note("the beam meets the plane of the detector %.4g, %.4g mm (x, y) from the corner, outside its %.4g x %.4g mm", g.PoniX, g.PoniY, width, height)
	}
	return nil
}

// count is errtext.Count, for notes.
func count(n int, what string) string { return errtext.Count(n, what) }
