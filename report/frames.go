// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"

	movie "github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/viz"
)

// Frame draws counts of the pixels of a detector, row by row, over q where the metadata say it. Pixels that are NaN are grey. The
// colours are linear or logarithmic.
func Frame(title string, counts []float64, height, width int, m *movie.Metadata, linear bool) (*viz.Figure, error) {
	q := &nexus.QMap{}
	if known := m.PixelSize + m.Distance + m.Energy + m.BeamX + m.BeamY; !math.IsNaN(known) && m.SwingHorizontal == 0 && m.SwingVertical == 0 && math.IsNaN(m.Incidence) {
		q.PixelSize, q.Distance, q.Energy, q.BeamX, q.BeamY = m.PixelSize, m.Distance, m.Energy, m.BeamX, m.BeamY
	}
	im := detector(q, height, width, func(row, col int) float64 { return counts[row*width+col] })
	im.Title, im.ZLabel, im.Log = title, "counts per pixel and frame", !linear
	return viz.Heat(im)
}
