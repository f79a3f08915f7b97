// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/viz"
)

// MeasuredSet draws measured scattering: one image, map or map over directions, by its number from 1, or all curves over each other.
// Colours and intensities are logarithmic unless linear is set.
func MeasuredSet(s *scatter.Set, number int, linear bool) (*viz.Figure, error) {
	if n := s.Patterns(); number < 1 || number > n {
		return nil, fmt.Errorf("there is no pattern %d: the file has %d", number, n)
	}
	var f *viz.Figure
	var err error
	switch i := number - 1; {
	case len(s.Frames) > 0:
		f, err = viz.Heat(imageOf(s, &s.Frames[i], linear))
	case len(s.Maps) > 0:
		m := &s.Maps[i]
		f, err = viz.Heat(viz.Image{Title: patternTitle(m.Energy, m.Polarization), XLabel: "q_{x} (1/nm)", YLabel: "q_{y} (1/nm)", ZLabel: "intensity", X: m.QX, Y: m.QY, Z: rowsOf(m.I, len(m.QX)), Log: !linear, Equal: true})
	case len(s.Curves[i].Chi) > 0:
		c := &s.Curves[i]
		f, err = viz.Heat(viz.Image{Title: patternTitle(c.Energy, c.Polarization), XLabel: "q (1/nm)", YLabel: "chi (degrees)", ZLabel: string(s.Kind), X: c.Q, Y: c.Chi, Z: rowsOf(c.I, len(c.Q)), Log: !linear && s.Kind == scatter.Curves})
	default:
		f, err = measuredCurves(s, linear)
	}
	if err == nil {
		f.Note = strings.TrimSpace(strings.Join(append(s.Notes, f.Note), ". "))
	}
	return f, err
}

// measuredCurves draws the curves of all energies and polarisations.
func measuredCurves(s *scatter.Set, linear bool) (*viz.Figure, error) {
	log := !linear && s.Kind == scatter.Curves
	lines := viz.Lines{XLabel: "q (1/nm)", YLabel: string(s.Kind), LogX: log, LogY: log}
	for _, c := range s.Curves {
		lines.Curves = append(lines.Curves, viz.Line{Name: patternTitle(c.Energy, c.Polarization), X: c.Q, Y: c.I, Err: c.Errors})
	}
	return viz.Plots(filepath.Base(s.Name), lines)
}

// imageOf is an image of the detector, with pixels that do not count in grey.
func imageOf(s *scatter.Set, f *scatter.Frame, linear bool) viz.Image {
	im := viz.Image{Title: patternTitle(f.Energy, f.Polarization), XLabel: "column (pixel)", YLabel: "row (pixel)", ZLabel: map[bool]string{false: "counts", true: "rate"}[s.Rates],
		Log: !linear, Equal: true, RowsDown: true, Told: momentumAt(s.Geometry, f.Energy)}
	for row := s.Rows - 1; row >= 0; row-- {
		line := make([]float64, s.Columns)
		for i := range line {
			if line[i] = f.Counts[row*s.Columns+i]; s.Keep != nil && !s.Keep[row*s.Columns+i] {
				line[i] = math.NaN()
			}
		}
		im.Y, im.Z = append(im.Y, -float64(row)), append(im.Z, line)
	}
	return im
}

// momentumAt says q at a point of an image of a detector perpendicular to the beam; nil where the geometry is not known or another one.
func momentumAt(g scatter.Geometry, energy float64) func(x, y float64) string {
	if !(g.Distance > 0 && g.PixelX > 0 && g.PixelY > 0 && energy > 0) || g.Rot1 != 0 || g.Rot2 != 0 {
		return nil
	}
	const hc = 1239.841984 // eV nm
	return func(x, y float64) string {
		across := math.Hypot((x+0.5)*g.PixelX-g.PoniX, (0.5-y)*g.PixelY-g.PoniY)
		return fmt.Sprintf("q %.4g 1/nm", 4*math.Pi*energy/hc*math.Sin(math.Atan2(across, g.Distance)/2))
	}
}

func patternTitle(energy, polarization float64) string {
	title := fmt.Sprintf("%g eV", energy)
	if energy == 0 {
		title = "unknown energy"
	}
	if polarization != 0 {
		title += fmt.Sprintf(", field at %g degrees", polarization)
	}
	return title
}
