// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image"
	"image/color"
	"slices"
)

// Firing records which neurons of an area fire in a series of steps, given in order. Steps in which the
// area is silent may be left out.
type Firing struct {
	Area    string
	Steps   []int
	Winners [][]int32 // numbers of the neurons that fire in each step
}

// The history of a neuron that fires, in the order in which colours cover each other if there are
// more neurons than pixels.
const (
	silent uint8 = iota
	kept         // the neuron fired in the step before
	back         // the neuron fired earlier, but not in the step before
	novel        // the neuron never fired before
)

// Raster draws which neurons fire in each step, one area below the other. Neurons are ordered by the
// step in which they first fired, from below; their colours say whether they fired in the step
// before (of those given), earlier, or never.
func Raster(title string, areas ...Firing) (*Figure, error) {
	if len(areas) == 0 {
		return nil, fmt.Errorf("viz: raster %q: there are no areas to draw: pass at least one", title)
	}
	g := &grid{gapY: gutter}
	for _, a := range areas {
		p, err := a.panel()
		if err != nil {
			return nil, fmt.Errorf("viz: raster %q: %w", title, err)
		}
		g.rows = append(g.rows, []*panel{p})
	}
	return &Figure{Title: title, grid: g, Width: columnWidth + 0.8, Height: 2.9*float64(len(areas)) + 0.5,
		keys: []key{{"fired in the step before", chainColor(0), patch}, {"earlier", chainColor(4), patch}, {"never", chainColor(1), patch}},
		Note: "The neurons are in the order in which they first fired; each step shows those that fire in it."}, nil
}

func (a Firing) panel() (*panel, error) {
	if len(a.Steps) == 0 || len(a.Steps) != len(a.Winners) || !slices.IsSorted(a.Steps) {
		return nil, fmt.Errorf("area %s has %d steps and the winners of %d: want at least one step, in order, with winners for each", a.Area, len(a.Steps), len(a.Winners))
	}
	cells := a.cells()
	if len(cells) == 0 {
		return nil, fmt.Errorf("no neuron of the area %s fires in these steps: choose other steps or areas", a.Area)
	}
	p := &panel{title: a.Area, x: axis{label: "step", whole: true}, y: axis{label: "neurons that fired", whole: true}}
	p.x.limits(float64(a.Steps[0])-0.5, float64(a.Steps[len(a.Steps)-1])+0.5)
	p.y.limits(0, float64(len(cells)))
	first, last := a.Steps[0], a.Steps[len(a.Steps)-1]
	p.add(rasterImage(cells, first, last))
	p.add(firings(cells, first, last)...)
	return p, nil
}

// mostColumns is the largest number of steps that are drawn separately.
const mostColumns = 4000

// cells returns, for each neuron that fires, in the order of first firing, how it fires in each step
// from the first to the last, or in each group of steps if there are very many.
func (a Firing) cells() (rows [][]uint8) {
	first := a.Steps[0]
	steps := a.Steps[len(a.Steps)-1] - first + 1
	columns := min(steps, mostColumns)
	place := map[int32]int{}
	var last []int // step in which each row last fired
	for t, step := range a.Steps {
		for _, n := range a.Winners[t] {
			i, known := place[n]
			how := back
			switch {
			case !known:
				i = len(rows)
				place[n], how = i, novel
				rows, last = append(rows, make([]uint8, columns)), append(last, step)
			case t > 0 && last[i] == a.Steps[t-1]:
				how = kept
			}
			cell := &rows[i][(step-first)*columns/steps]
			*cell, last[i] = max(*cell, how), step
		}
	}
	return rows
}

// rasterImage draws the cells, of which the columns are equal parts of the steps from first-0.5 to last+0.5 and the rows neurons.
func rasterImage(cells [][]uint8, first, last int) mark {
	columns := len(cells[0])
	ex, ey := make([]float64, columns+1), make([]float64, len(cells)+1)
	for i := range ex {
		ex[i] = float64(first) - 0.5 + float64(i)*float64(last-first+1)/float64(columns)
	}
	for j := range ey {
		ey[j] = float64(j)
	}
	return mark{draw: func(f *frame) {
		const dpi = 300.0
		size := f.Size()
		w, h := max(1, int(float64(size.X)/72*dpi)), max(1, int(float64(size.Y)/72*dpi))
		img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{paper, chainColor(0), chainColor(4), chainColor(1)})
		xs, ys := cuts(ex, f.x, w), cuts(ey, f.y, h)
		for j, y := range ys {
			row := img.Pix[(h-1-j)*img.Stride:]
			for i, x := range xs {
				for _, line := range cells[y[0]:y[1]] {
					for _, c := range line[x[0]:x[1]] {
						row[i] = max(row[i], c)
					}
				}
			}
		}
		picture(img).draw(f)
	}}
}

// firings are the cells as data, by how neurons fire; they are drawn already.
func firings(cells [][]uint8, first, last int) (all []mark) {
	width := float64(last-first+1) / float64(len(cells[0]))
	for how, c := range []color.NRGBA{kept: chainColor(0), back: chainColor(4), novel: chainColor(1)} {
		d := &Data{Kind: "fired", color: c}
		for j, line := range cells {
			for i, state := range line {
				if how > 0 && int(state) == how {
					d.X, d.Y = append(d.X, float64(first)-0.5+(float64(i)+0.5)*width), append(d.Y, float64(j)+0.5)
				}
			}
		}
		if len(d.X) > 0 {
			all = append(all, mark{data: d, draw: func(*frame) {}})
		}
	}
	return all
}
