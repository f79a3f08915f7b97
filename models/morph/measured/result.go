// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
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
		if n, _, ok := nuisanceOf(name, len(t.energies()), materials); ok && n.Unit != "" {
			units[name] = n.Unit
		}
	}
	return units
}

// LeftOut returns how many pixels of the frames were left out, by the reason; it is known after a fit.
func (t *Task) LeftOut() map[string]int { return t.counts.left }

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

// Image is what a frame shows beside what is expected, row by row; NaN where a pixel is left out.
type Image struct {
	Frame           *Frame
	Counts, Mean    [][]float64
	Residual        [][]float64 // (counts - mean)/sqrt(mean)
	Rows, Columns   int
	Pearson, Pixels float64
}

// Images returns the frames beside their expectations at x, in the order of Names. Expected counts are those of all pixels.
func (t *Task) Images(x []float64) ([]Image, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	nodes := map[string]*ad.Node{}
	for i, p := range t.Params {
		nodes[p.Name] = ad.Scalar(x[i])
	}
	for name, v := range t.Fixed {
		nodes[name] = ad.Scalar(v)
	}
	rates, err := t.Model.Rates(func(name string) *ad.Node { return nodes[name] }, t.start)
	if err != nil {
		return nil, err
	}
	values, err := ad.Eval(rates)
	if err != nil {
		return nil, err
	}
	mean := values[0].Float64s()
	kept := make([]bool, len(mean))
	for _, i := range t.counts.index {
		kept[i] = true
	}
	d := t.Model.Data.Detector
	var list []Image
	for k := range t.Model.Data.Frames {
		im := Image{Frame: &t.Model.Data.Frames[k], Rows: d.Rows, Columns: d.Columns}
		for y := range d.Rows {
			rows := [3][]float64{make([]float64, d.Columns), make([]float64, d.Columns), make([]float64, d.Columns)}
			for c := range d.Columns {
				i := y*d.Columns + c
				at := k*d.Rows*d.Columns + i
				rows[0][c], rows[1][c], rows[2][c] = math.NaN(), mean[at], math.NaN()
				if n := im.Frame.Counts[i]; kept[at] {
					z := (n - mean[at]) / math.Sqrt(mean[at])
					rows[0][c], rows[2][c] = n, z
					im.Pearson, im.Pixels = im.Pearson+z*z, im.Pixels+1
				}
			}
			im.Counts, im.Mean, im.Residual = append(im.Counts, rows[0]), append(im.Mean, rows[1]), append(im.Residual, rows[2])
		}
		list = append(list, im)
	}
	return list, nil
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
	s := &Solution{Names: t.Names(), X: x, SD: sd}
	v, err := at.check(s, priors)
	if err == nil {
		fit.Quote(v)
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
