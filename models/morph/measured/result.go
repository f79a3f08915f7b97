// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
)

// Names returns the names of the parameters that are searched for.
func (t *Task) Names() (list []string) {
	for _, p := range t.Params {
		list = append(list, p.Name)
	}
	return list
}

// StartAt moves the start to x, in the order of Names; nil leaves it where it is.
func (t *Task) StartAt(x []float64) {
	for i, v := range x {
		t.Params[i].Start = v
	}
	t.mean = nil
}

// Units returns the units of the parameters of the measurement that have one, by name.
func (t *Task) Units() map[string]string {
	materials := len(t.Model.Tables) + len(matrixOf(t.Model))
	units := map[string]string{}
	for _, name := range t.Names() {
		if n, _, ok := nuisanceOf(t.bare(name), len(t.energies()), materials); ok && n.Unit != "" {
			units[name] = t.binned(n.Unit)
		}
	}
	return units
}

// binned says in a unit of pixels that several of the file are one.
func (t *Task) binned(unit string) string {
	switch {
	case t.bin < 2:
		return unit
	case unit == "pixels":
		return fmt.Sprintf("pixels of %d x %d", t.bin, t.bin)
	case unit == "counts/s":
		return fmt.Sprintf("counts/s in %d x %d pixels", t.bin, t.bin)
	}
	return unit
}

// LeftOut returns how many pixels of the frames were left out, by the reason; it is known after a fit.
func (t *Task) LeftOut() map[string]int { return t.single.left }

// Active returns -1 or 1 for each parameter that lies on its lower or upper bound at x, to within a millionth of its range, and
// otherwise 0, by name.
func (t *Task) Active(x []float64) map[string]int {
	at := map[string]int{}
	for i, p := range t.Params {
		at[p.Name] = 0
		if p.Bounds == nil {
			continue
		}
		near := 1e-9 * max(1, math.Abs(x[i]))
		switch {
		case x[i] <= p.Bounds[0]+near:
			at[p.Name] = -1
		case x[i] >= p.Bounds[1]-near:
			at[p.Name] = 1
		}
	}
	return at
}

// Image is what a frame shows beside what is expected, row by row; NaN where a number is left out. Rows and columns are those of pixels, or
// the directions and the q of bins.
type Image struct {
	Frame           *Frame
	Counts, Mean    [][]float64
	Residual        [][]float64 // (number - expectation)/standard deviation
	Rows, Columns   int
	Pearson, Pixels float64
}

// Images returns the frames beside their expectations at x, in the order of Names. Expectations of pixels are those of all pixels.
func (t *Task) Images(x []float64) ([]Image, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	values, err := t.evaluate(x, t.mean, t.rates)
	if err != nil {
		return nil, err
	}
	scales := t.scales()
	for i, p := range t.Params {
		if _, ok := scales[p.Name]; ok {
			scales[p.Name] = x[i]
		}
	}
	var list []Image
	first := map[[2]int]int{}
	places := 0
	for m, model := range t.models() {
		sights, of := model.Data.sights(places)
		for k := range model.Data.Frames {
			f := &model.Data.Frames[k]
			first[[2]int{m, k}] = len(list)
			list = append(list, model.Data.image(f, values[1][sights[of[k]].from:]))
		}
		last := sights[len(sights)-1]
		places = last.from + model.Data.length(last.frame)
	}
	k := 0
	for _, p := range t.single.parts {
		scale := t.scaleAt(p, scales)
		for i, v := range p.values {
			mean, o := values[0][k+i], p.from[i]
			im := &list[first[[2]int{o.model, o.frame}]]
			z := (v - mean) / math.Sqrt(p.noise.variance(p, i, mean, scale))
			row, column := o.bin/im.Columns, o.bin%im.Columns
			im.Counts[row][column], im.Mean[row][column], im.Residual[row][column] = v-at(p.offset, i, 0), mean-at(p.offset, i, 0), z
			im.Pearson, im.Pixels = im.Pearson+z*z, im.Pixels+1
		}
		k += len(p.values)
	}
	return list, nil
}

// image returns a frame without its numbers, given the rates of its sight.
func (d *Data) image(f *Frame, rates []float64) Image {
	im := Image{Frame: f, Rows: d.Detector.Rows, Columns: d.Detector.Columns}
	if f.Bins != nil {
		im.Rows = max(1, f.Bins.Rows)
		im.Columns = f.Bins.length() / im.Rows
	}
	for y := range im.Rows {
		mean := make([]float64, im.Columns)
		for c := range mean {
			mean[c] = rates[y*im.Columns+c] * at(f.Gains, y*im.Columns+c, f.Exposure)
		}
		im.Counts, im.Mean, im.Residual = append(im.Counts, filled(im.Columns, math.NaN())), append(im.Mean, mean), append(im.Residual, filled(im.Columns, math.NaN()))
	}
	return im
}

// CheckDraws judges the model at the mean of a posterior, and the priors.
func (t *Task) CheckDraws(fit *infer.Fit) (check.Verdict, error) {
	priors, err := fit.PriorChecks()
	if err != nil {
		return check.Verdict{}, err
	}
	x, sd := t.Moments(fit)
	at := *t
	at.Params = append([]Param(nil), t.Params...)
	s := &Solution{Names: t.Names(), X: x, SD: sd, Elsewhere: t.elsewhere}
	v, err := at.check(s, priors)
	if err == nil {
		v = fit.Quote(v)
	}
	return v, err
}

// Moments returns the posterior means and standard deviations of the parameters.
func (t *Task) Moments(fit *infer.Fit) (mean, sd []float64) {
	for _, name := range t.Names() {
		n, sum, square := 0.0, 0.0, 0.0
		for _, chain := range fit.Draws(name) {
			for _, v := range chain {
				n, sum = n+1, sum+v
			}
		}
		for _, chain := range fit.Draws(name) {
			for _, v := range chain {
				square += (v - sum/n) * (v - sum/n)
			}
		}
		mean, sd = append(mean, sum/n), append(sd, math.Sqrt(square/max(1, n-1)))
	}
	return mean, sd
}
