// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// histogramBins is the number of bars of a histogram.
const histogramBins = 50

// Histograms draws the distributions of volume fractions, order parameters and angles of phases, a
// row for each phase. Voxels without the phase do not count, and angles count only if Vfrac and S
// are at least least, by default 0.05.
func Histograms(title string, phases []Phase, least float64) (*Figure, error) {
	if len(phases) == 0 {
		return nil, fmt.Errorf("viz: histograms %q: there are no phases to draw: pass at least one", title)
	}
	if least == 0 {
		least = 0.05
	}
	g := &grid{gapX: gutter, gapY: gutter}
	for _, p := range phases {
		if err := p.check(len(p.Vfrac)); err != nil {
			return nil, err
		}
		var vfrac, s, theta, psi []float64
		for i, v := range p.Vfrac {
			if !(v > 0) {
				continue
			}
			vfrac = append(vfrac, v)
			if p.S == nil {
				continue
			}
			s = append(s, p.S[i])
			if v >= least && p.S[i] >= least {
				t, f := Fold(p.Theta[i], p.Psi[i])
				theta, psi = append(theta, t), append(psi, f)
			}
		}
		g.rows = append(g.rows, []*panel{histogram(p.Name+", Vfrac", "volume fraction", vfrac, 1), histogram("S", "order parameter", s, 1),
			histogram("theta", "theta (rad)", theta, math.Pi), histogram("psi", "psi (rad)", psi, 2*math.Pi)})
	}
	for _, row := range g.rows {
		row[0].y.label = "voxels"
	}
	return &Figure{Title: title, Note: fmt.Sprintf("The histograms count voxels that contain the phase; angles count where volume fraction and order parameter reach %g.", least),
		grid: g, Width: pageWidth + 2, Height: 1.9*float64(len(g.rows)) + 0.6}, nil
}

// histogram returns a panel with the histogram of the numbers from 0 to top.
func histogram(title, label string, v []float64, top float64) *panel {
	p := &panel{title: title, x: axis{label: label}, y: axis{}}
	p.x.limits(0, top)
	counts := make([]float64, histogramBins)
	most := 0.0
	for _, x := range v {
		if linalg.Finite(x) && x >= 0 && x <= top {
			k := min(int(x/top*histogramBins), histogramBins-1)
			counts[k]++
			most = math.Max(most, counts[k])
		}
	}
	p.y.limits(0, math.Max(1, 1.05*most))
	if most == 0 {
		p.add(words("none"))
		return p
	}
	edges := &Data{Kind: "bars", Y: counts} // X are the middles of the bars
	for i := range counts {
		edges.X = append(edges.X, (float64(i)+0.5)*top/histogramBins)
	}
	p.add(mark{data: edges, draw: func(f *frame) {
		w := top / histogramBins
		for i, k := range counts {
			rectangle(float64(i)*w, float64(i+1)*w, 0, k, fade(chainColor(0), 0.8)).draw(f)
		}
	}})
	return p
}
