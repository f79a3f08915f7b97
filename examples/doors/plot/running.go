// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package running adds a kind of picture: running means, which settle as chains go on. Its command, in cmd, is euryale with
// this picture:
//
//	running plot running run4 running.svg
package running

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/euryale-dev/euryale/viz"
)

func init() { viz.Register(viz.Kind{Name: "running", About: "running means by chain", Draw: Draw}) }

// Draw returns a picture of the running means of the named quantities, at most four, or of the first four.
func Draw(d viz.Draws, names ...string) (*viz.Figure, error) {
	if len(names) == 0 {
		names = d.Names[:min(4, len(d.Names))]
	}
	var plots []*plot.Plot
	for _, name := range names {
		k := -1
		for i, n := range d.Names {
			if n == name {
				k = i
			}
		}
		if k < 0 {
			return nil, fmt.Errorf("running: there is no quantity %q: choose from %v", name, d.Names)
		}
		p := plot.New()
		p.Y.Label.Text = name
		for _, chain := range d.X[k] {
			xy, sum := make(plotter.XYs, len(chain)), 0.0
			for i, v := range chain {
				sum += v
				xy[i] = plotter.XY{X: float64(i + 1), Y: sum / float64(i+1)}
			}
			line, err := plotter.NewLine(xy)
			if err != nil {
				return nil, fmt.Errorf("running: %s: %w", name, err)
			}
			p.Add(line)
		}
		plots = append(plots, p)
	}
	return viz.FromPlots("Running means", "Each line is a chain. Means that still drift ask for more draws.", plots...), nil
}
