// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// measureBins sets the means of q and of q^2 over the pixels of each dynamic bin. The centre of a bin is not its q where a beam stop,
// a gap or the edge of the detector takes a part of it away. q holds that of every pixel, in 1/angstrom.
func measureBins(m *nexus.QMap, q []float64) {
	bins := m.Dynamic.Bins()
	m.BinQ, m.BinQ2 = make([]float64, bins), make([]float64, bins)
	count := make([]float64, bins)
	for i, b := range m.Maps.Dynamic {
		if b > 0 {
			m.BinQ[b-1] += q[i]
			m.BinQ2[b-1] += q[i] * q[i]
			count[b-1]++
		}
	}
	for b, n := range count {
		m.BinQ[b] /= n
		m.BinQ2[b] /= n
	}
}

// measured returns a q map with the means of q over the pixels of its bins. It is the map itself if it has them already, if its
// first axis is not q, or if its geometry does not lead to the q that it lists, as in reflection.
func measured(m *nexus.QMap) *nexus.QMap {
	if m.BinQ != nil || m.Maps == nil || len(m.Names) > 0 && m.Names[0] != "q" {
		return m
	}
	g, err := Geometry(m)
	if err != nil {
		return m
	}
	for _, convention := range []string{xpcs.Exact, xpcs.SinTwo, xpcs.ViewerSin} {
		g.Convention = convention
		maps, err := g.QMap("q")
		if err != nil {
			return m
		}
		q, err := maps.Channel("q")
		if err != nil {
			return m
		}
		out := *m
		if measureBins(&out, q); near(&out) {
			return &out
		}
	}
	return m
}

// near reports whether the mean q of every bin lies within the width of a bin from its centre, or within a thousandth of it.
func near(m *nexus.QMap) bool {
	axis := m.Dynamic.Axis0
	for b := range m.BinQ {
		i, _, ok := m.Dynamic.Cell(b + 1)
		if !ok {
			return false
		}
		width := 1e-3 * axis[i]
		for _, k := range []int{i - 1, i + 1} {
			if k >= 0 && k < len(axis) {
				width = max(width, math.Abs(axis[k]-axis[i]))
			}
		}
		if len(axis) == 1 {
			width = axis[i]
		}
		if !(math.Abs(m.BinQ[b]-axis[i]) <= width) {
			return false
		}
	}
	return true
}

// misplaced says where the geometry of a q map differs from what the frames say about theirs, or returns "" if it does not,
// or if either is not known.
func misplaced(m *nexus.QMap, meta *frames.Metadata) string {
	if meta == nil {
		return ""
	}
	var parts []string
	differ := func(what, unit string, of, frames, tolerance float64) {
		if of != 0 && !math.IsNaN(of) && !math.IsNaN(frames) && math.Abs(of-frames) > tolerance {
			parts = append(parts, fmt.Sprintf("its %s is %.6g %s and theirs %.6g %s", what, of, unit, frames, unit))
		}
	}
	differ("distance", "m", m.Distance, meta.Distance, 0.05*meta.Distance)
	differ("energy", "keV", m.Energy, meta.Energy, 0.01*meta.Energy)
	differ("pixel size", "m", m.PixelSize, meta.PixelSize, 0.01*meta.PixelSize)
	differ("beam column", "pixels", m.BeamX, meta.BeamX, 20)
	differ("beam row", "pixels", m.BeamY, meta.BeamY, 20)
	if parts == nil {
		return ""
	}
	return "the q map was made for another geometry than that of the frames: " + strings.Join(parts, ", ") + "; the q of all bins depends on it, so check which is right, and make the map again if it is the frames"
}
