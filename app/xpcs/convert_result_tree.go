// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/tensor"
)

// group adds variables to a group of a tree and keeps the first error.
type group struct {
	*tensor.Dataset
	err error
}

func (g *group) coord(name string, data any, n int, unit string) {
	if g.err == nil {
		g.err = g.AddCoordVariable(tensor.Variable{Name: name, Dims: []string{name}, Shape: tensor.Shape{n}, Data: data, Attrs: units(unit)})
	}
}

func (g *group) add(name, unit string, data []float64, shape tensor.Shape, dims ...string) {
	if g.err == nil && data != nil {
		g.err = g.AddVariable(tensor.Variable{Name: name, Dims: dims, Shape: shape, Data: data, Attrs: units(unit)})
	}
}

func units(unit string) map[string]string {
	if unit == "" {
		return nil
	}
	return map[string]string{"units": unit}
}

// resultTree returns the correlations of a result as groups multitau, intensity and, where it is asked for, twotime.
func resultTree(r *nexus.Result, twotime bool) (*tensor.DataTree, error) {
	t := tensor.NewDataTree()
	t.Attrs = map[string]string{"file": r.File, "frame_time_s": strconv.FormatFloat(r.FrameTime, 'g', -1, 64)}
	for _, part := range []struct {
		there bool
		group func(*nexus.Result) (*tensor.Dataset, error)
	}{{r.Multitau != nil, multitauGroup}, {r.Trace != nil || r.SAXS != nil, intensityGroup}, {twotime, twotimeGroup}} {
		if !part.there {
			continue
		}
		d, err := part.group(r)
		if err != nil {
			return nil, err
		}
		if err := t.Add(d); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// multitauGroup holds g2 and its errors (delay, bin), and the covariance (bin, delay, delay) with what fits need besides: the correction
// for skewness and the number of pixels that it was estimated from.
func multitauGroup(r *nexus.Result) (*tensor.Dataset, error) {
	m, nt, nb := r.Multitau, len(r.Multitau.Delay), r.Bins()
	g := &group{Dataset: tensor.NewDataset("multitau")}
	g.coord("delay", r.Delays(), nt, "s")
	bins := make([]int64, nb)
	q, phi := make([]float64, nb), make([]float64, nb)
	for i := range bins {
		bins[i], q[i], phi[i] = int64(i+1), r.QMap.Q(i+1), r.QMap.Phi(i+1)
	}
	g.coord("bin", bins, nb, "")
	_, unit0 := r.QMap.Axis(0)
	_, unit1 := r.QMap.Axis(1)
	g.add("q", unit0, q, tensor.Shape{nb}, "bin")
	g.add("phi", unit1, phi, tensor.Shape{nb}, "bin")
	g.add("g2", "", m.G2.Data, tensor.Shape{nt, nb}, "delay", "bin")
	if m.Err != nil {
		g.add("g2_err", "", m.Err.Data, tensor.Shape{nt, nb}, "delay", "bin")
	}
	if len(m.Cov) == nb {
		var cov []float64
		for _, c := range m.Cov {
			cov = append(cov, c...)
		}
		g.add("g2_cov", "", cov, tensor.Shape{nb, nt, nt}, "bin", "delay", "delay2")
	}
	if len(m.Skew) == nb {
		g.add("g2_skew", "", slices.Concat(m.Skew...), tensor.Shape{nb, nt}, "bin", "delay")
	}
	if len(m.Pixels) == nb {
		samples := make([]float64, nb)
		for i, n := range m.Pixels {
			samples[i] = float64(n)
		}
		g.add("samples", "", samples, tensor.Shape{nb}, "bin")
	}
	return g.Dataset, g.err
}

// intensityGroup holds the intensity of each frame and of each static bin.
func intensityGroup(r *nexus.Result) (*tensor.Dataset, error) {
	g := &group{Dataset: tensor.NewDataset("intensity")}
	if t := r.Trace; t != nil {
		g.coord("frame", t.Frame, len(t.Frame), "")
		g.add("mean", "counts per pixel", t.Mean, tensor.Shape{len(t.Mean)}, "frame")
	}
	if p := r.Profile(); p != nil {
		g.coord("static_q", p.Q, len(p.Q), "1/angstrom")
		g.add("saxs", "counts per pixel", p.Lines.Data, tensor.Shape{p.Lines.Rows, p.Lines.Cols}, "line", "static_q")
	}
	return g.Dataset, g.err
}

// twotimeGroup holds C2 (c2_bin, time, time2) and the bins of the maps.
func twotimeGroup(r *nexus.Result) (*tensor.Dataset, error) {
	if r.Twotime == nil {
		return nil, fmt.Errorf("there is no two-time correlation: leave out --twotime, or correlate with --correlation both")
	}
	g := &group{Dataset: tensor.NewDataset("twotime")}
	var all []float64
	bins := make([]int64, len(r.Twotime.Bins))
	n := 0
	for i, b := range r.Twotime.Bins {
		c, err := r.ReadC2(i, 0, true)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			n = c.Rows
			time := make([]float64, n)
			for k := range time {
				time[k] = float64(k) * c.Step
			}
			g.coord("time", time, n, "s")
		}
		if c.Rows != n {
			return nil, fmt.Errorf("C2 of bin %d has %d steps, but that of bin %d has %d: only maps of equal length can be converted together", b, c.Rows, bins[0], n)
		}
		bins[i], all = int64(b), append(all, c.Data...)
	}
	g.coord("c2_bin", bins, len(bins), "")
	g.add("c2", "", all, tensor.Shape{len(bins), n, n}, "c2_bin", "time", "time2")
	return g.Dataset, g.err
}
