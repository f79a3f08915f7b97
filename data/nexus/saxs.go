// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"math"
	"strconv"
)

// Profile holds curves of intensity against q. Line 0 is the mean over azimuth; if there are several
// azimuths, one line for each follows.
type Profile struct {
	Q      []float64 // abscissa of the lines in 1/angstrom
	Lines  *Matrix   // intensities by line and q; NaN where there is no pixel
	Labels []string
}

// Profile returns SAXS on the grid of static bins.
func (r *Result) Profile() *Profile {
	if r.SAXS == nil {
		return nil
	}
	s := &r.QMap.Static
	p := &Profile{Q: s.Axis0, Labels: []string{r.Label()}}
	lines := s.lines(r.SAXS)
	for i := 1; i < len(lines); i++ {
		p.Labels = append(p.Labels, r.Label()+"_"+strconv.Itoa(i))
	}
	p.Lines = NewMatrix(len(lines), len(p.Q))
	for i, line := range lines {
		copy(p.Lines.Row(i), line)
	}
	return p
}

// SegmentProfiles returns the mean over azimuth of each of Segments, (part, q).
func (r *Result) SegmentProfiles() *Matrix {
	if r.Segments == nil {
		return nil
	}
	m := NewMatrix(r.Segments.Rows, len(r.QMap.Static.Axis0))
	for i := range m.Rows {
		copy(m.Row(i), r.QMap.Static.lines(r.Segments.Row(i))[0])
	}
	return m
}

// lines places values of the bins that have pixels on the grid. It returns the mean over the second
// axis, then one line for each position on it.
func (p *Partition) lines(values []float64) [][]float64 {
	nq, nphi := len(p.Axis0), max(len(p.Axis1), 1)
	grid := make([][]float64, nphi)
	mean := make([]float64, nq)
	for j := range grid {
		grid[j] = make([]float64, nq)
		for i := range grid[j] {
			grid[j][i] = math.NaN()
		}
	}
	for k, v := range values {
		if i, j, ok := p.Cell(k + 1); ok {
			grid[j][i] = v
		}
	}
	for i := range mean {
		sum, n := 0.0, 0.0
		for j := range grid {
			if v := grid[j][i]; !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		mean[i] = sum / n
	}
	if nphi == 1 {
		return [][]float64{mean}
	}
	return append([][]float64{mean}, grid...)
}

// Times returns the lines multiplied by a power of q, which flattens a decay.
func (p *Profile) Times(power float64) *Matrix {
	m := NewMatrix(p.Lines.Rows, p.Lines.Cols)
	for i := range m.Rows {
		for j, q := range p.Q {
			m.Set(i, j, p.Lines.At(i, j)*math.Pow(q, power))
		}
	}
	return m
}

// OverFirst returns each line divided by its first point.
func (p *Profile) OverFirst() *Matrix {
	m := NewMatrix(p.Lines.Rows, p.Lines.Cols)
	for i := range m.Rows {
		for j := range p.Q {
			m.Set(i, j, p.Lines.At(i, j)/p.Lines.At(i, 0))
		}
	}
	return m
}
