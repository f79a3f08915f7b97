// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Phase holds one material in the voxels of a slice, row after row, or in those of a volume in any
// order.
type Phase struct {
	Name       string
	Vfrac      []float64 // volume fraction, 0 to 1
	S          []float64 // order parameter, 0 to 1; nil for an isotropic material
	Theta, Psi []float64 // Euler angles of the directors in radians; nil if S is nil
}

// Slice is a plane through a volume of materials.
type Slice struct {
	Title  string
	Normal string // axis across the plane: "z" (columns x, rows y), "y" (x, z) or "x" (y, z)
	NY, NX int    // numbers of rows and columns
	Voxel  float64
	Phases []Phase
	Least  float64 // smallest Vfrac and S at which angles are drawn. Default 0.05; negative for everywhere
	// number of voxels between directors. Default about 20 along the longer side; negative for none
	Step int
}

// Morphology draws the phases of a slice, a row for each: volume fraction, order parameter, theta
// from 0 to pi, and psi from 0 to 2 pi on a cyclic map, with lines along the directors projected
// along the normal. Voxel is in nm.
func Morphology(s Slice) (*Figure, error) {
	columns, rows, ok := s.axes()
	if !ok || len(s.Phases) == 0 || s.NY < 1 || s.NX < 1 {
		return nil, fmt.Errorf("viz: morphology %q: there are %d phases of %d x %d voxels across the axis %q: want at least one of each, across x, y or z", s.Title, len(s.Phases), s.NY, s.NX, s.Normal)
	}
	if s.Least == 0 {
		s.Least = 0.05
	}
	if s.Step == 0 {
		s.Step = max(1, max(s.NX, s.NY)/20)
	}
	var table [][]Image
	for _, p := range s.Phases {
		if err := p.check(s.NY * s.NX); err != nil {
			return nil, err
		}
		line := []Image{s.image(p.Name+", Vfrac", p.Vfrac, 1), {}, {}, {}}
		if p.S != nil {
			theta, psi := s.screened(p)
			line[1] = s.image("S", p.S, 1)
			line[2] = s.image("theta (rad)", theta, math.Pi)
			line[3] = s.image("psi (rad)", psi, 2*math.Pi)
			line[3].Cyclic = true
			if s.Step > 0 {
				line[3].Arrows = s.arrows(theta, psi)
			}
		}
		for i := range line {
			line[i].XLabel, line[i].YLabel = columns+" (nm)", rows+" (nm)"
		}
		table = append(table, line)
	}
	f, err := Images(s.Title, table)
	if err == nil && f.Note != "" {
		f.Note = fmt.Sprintf("Angles are grey where the volume fraction or the order parameter is below %g.", s.Least)
	}
	return f, err
}

// axes returns the names of the axes of columns and rows.
func (s *Slice) axes() (columns, rows string, ok bool) {
	switch s.Normal {
	case "z":
		return "x", "y", true
	case "y":
		return "x", "z", true
	case "x":
		return "y", "z", true
	}
	return "", "", false
}

func (p *Phase) check(n int) error {
	for _, f := range []struct {
		name string
		v    []float64
		none bool
	}{{"Vfrac", p.Vfrac, false}, {"S", p.S, true}, {"Theta", p.Theta, p.S == nil}, {"Psi", p.Psi, p.S == nil}} {
		if len(f.v) != n && !(f.none && f.v == nil) {
			return fmt.Errorf("viz: %s of %s has %s: want %d, one for each voxel", f.name, p.Name, count(len(f.v), "value", "values"), n)
		}
	}
	return nil
}

// image draws numbers from 0 to top; without a finite number it leaves a gap.
func (s *Slice) image(title string, v []float64, top float64) Image {
	m := Image{Title: title, Equal: true, Low: 0, High: top}
	any := false
	for _, x := range v {
		any = any || linalg.Finite(x)
	}
	if !any {
		return Image{}
	}
	for i := range s.NX {
		m.X = append(m.X, float64(i)*s.Voxel)
	}
	for j := range s.NY {
		m.Y = append(m.Y, float64(j)*s.Voxel)
		m.Z = append(m.Z, v[j*s.NX:(j+1)*s.NX])
	}
	return m
}

// screened returns theta, folded to 0..pi, and psi, folded to 0..2 pi, with NaN where too little is
// aligned.
func (s *Slice) screened(p Phase) (theta, psi []float64) {
	theta, psi = make([]float64, len(p.S)), make([]float64, len(p.S))
	for i := range p.S {
		if theta[i], psi[i] = Fold(p.Theta[i], p.Psi[i]); !(p.Vfrac[i] >= s.Least && p.S[i] >= s.Least) {
			theta[i], psi[i] = math.NaN(), math.NaN()
		}
	}
	return theta, psi
}

// Fold returns angles of the same direction, in radians, with theta from 0 to pi and psi from 0 to 2
// pi.
func Fold(theta, psi float64) (float64, float64) {
	theta = math.Mod(theta, 2*math.Pi)
	if theta < 0 {
		theta += 2 * math.Pi
	}
	if theta > math.Pi {
		theta, psi = 2*math.Pi-theta, psi+math.Pi
	}
	psi = math.Mod(psi, 2*math.Pi)
	if psi < 0 {
		psi += 2 * math.Pi
	}
	return theta, psi
}

// arrows returns lines along the directors, projected along the normal.
func (s *Slice) arrows(theta, psi []float64) (list []Arrow) {
	size := 0.9 * float64(s.Step) * s.Voxel
	for j := s.Step / 2; j < s.NY; j += s.Step {
		for i := s.Step / 2; i < s.NX; i += s.Step {
			st, ct := math.Sincos(theta[j*s.NX+i])
			sp, cp := math.Sincos(psi[j*s.NX+i])
			a := Arrow{X: s.Voxel * float64(i), Y: s.Voxel * float64(j), DX: size * cp * st, DY: size * sp * st}
			switch s.Normal {
			case "y":
				a.DY = size * ct
			case "x":
				a.DX, a.DY = size*sp*st, size*ct
			}
			if linalg.Finite(a.DX) && linalg.Finite(a.DY) {
				list = append(list, a)
			}
		}
	}
	return list
}
