// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs/reduce"
	"github.com/euryale-dev/euryale/viz"
)

// g2Together draws g2 of the same bins of several files: a frame for each bin, in which the files lie over each other.
func g2Together(all []*nexus.Result, c Choice) (*viz.Figure, error) {
	var plots []viz.Lines
	widest := 0.0 // relative difference of q between files
	for _, b := range c.Bins {
		p := viz.Lines{Title: binTitle(all[0].QMap, b), XLabel: "delay (s)", YLabel: "g2", LogX: true}
		for _, r := range all {
			if r.Multitau == nil {
				return nil, fmt.Errorf("%s has no multi-tau correlation: leave it out", r.Label())
			}
			if b > r.QMap.Dynamic.Bins() {
				return nil, fmt.Errorf("%s has %d bins and no bin %d: choose bins that all files have", r.Label(), r.QMap.Dynamic.Bins(), b)
			}
			y, _ := r.Multitau.Bin(b)
			p.Curves = append(p.Curves, numbersOnly(viz.Line{Name: r.Label(), X: r.Delays(), Y: y, Err: r.Multitau.Errors(b)}))
			if d := math.Abs(r.QMap.Q(b)/all[0].QMap.Q(b) - 1); d > widest { // NaN where q is not known
				widest = d
			}
		}
		plots = append(plots, p)
	}
	f, err := viz.Tiles(fmt.Sprintf("g2 of %d files, with standard errors", len(all)), plots...)
	if err == nil && widest > 0.01 {
		f.Note = fmt.Sprintf("Bins are compared by their number; their q differ by up to %.2g %% between the files.", 100*widest)
	}
	return f, err
}

// saxsTogether draws the mean intensity of several files against q.
func saxsTogether(all []*nexus.Result, _ Choice) (*viz.Figure, error) {
	lines := viz.Lines{YLabel: "counts per pixel and frame", LogX: true, LogY: true}
	for _, r := range all {
		p := r.Profile()
		if p == nil {
			return nil, fmt.Errorf("%s has no intensities of static bins: leave it out", r.Label())
		}
		label, unit := r.QMap.Axis(0)
		if unit != "" {
			label += " (" + unit + ")"
		}
		if lines.XLabel != "" && lines.XLabel != label {
			return nil, fmt.Errorf("%s has intensities against %s, and the first file against %s: choose files with the same axes", r.Label(), label, lines.XLabel)
		}
		lines.XLabel = label
		lines.Curves = append(lines.Curves, positive(viz.Line{Name: r.Label(), X: p.Q, Y: p.Lines.Row(0)}))
	}
	return viz.Plots(fmt.Sprintf("Intensity against q of %d files", len(all)), lines)
}

// Intensity draws the mean intensity of the frames against time, and its spectrum.
func Intensity(r *nexus.Result) (*viz.Figure, error) {
	return intensityTogether([]*nexus.Result{r}, Choice{})
}

// intensityTogether is Intensity of several files.
func intensityTogether(all []*nexus.Result, _ Choice) (*viz.Figure, error) {
	time := viz.Lines{XLabel: "time (s)", YLabel: "counts per pixel"}
	spectrum := viz.Lines{Title: "Fourier transform, relative to the mean", XLabel: "frequency (Hz)", YLabel: "amplitude", LogX: true, LogY: true}
	for _, r := range all {
		if r.Trace == nil || len(r.Trace.Mean) < 2 {
			return nil, errors.New("the file has no intensity against time: give a result file that has it")
		}
		line := viz.Line{Name: r.Label(), Thin: len(all) == 1}
		sum := 0.0
		for i, v := range r.Trace.Mean {
			line.X, line.Y = append(line.X, r.Trace.Frame[i]*r.FrameTime), append(line.Y, v)
			sum += v
		}
		time.Curves = append(time.Curves, line)
		n := len(line.X)
		frequency, amplitude, err := reduce.Spectrum(line.Y, (line.X[n-1]-line.X[0])/float64(n-1))
		if err != nil {
			continue // without times there are no frequencies
		}
		for i := range amplitude {
			amplitude[i] *= 2 / math.Abs(sum)
		}
		spectrum.Curves = append(spectrum.Curves, positive(viz.Line{Name: r.Label(), X: frequency, Y: amplitude, Thin: len(all) == 1}))
	}
	if len(all) == 1 {
		time.Title = fmt.Sprintf("%d frames", len(time.Curves[0].X))
	}
	plots := []viz.Lines{time}
	if len(spectrum.Curves) == len(all) && len(spectrum.Curves[0].X) > 1 {
		plots = append(plots, spectrum)
	}
	return viz.Plots("Intensity against time", plots...)
}
