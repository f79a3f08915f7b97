// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/tensor"
)

// Datasets returns what a fit says of each measurement, as arrays with named axes that xarray reads: data, model, residual (in standard
// deviations) and mask by energy, polarization, exposure and pixel, or bin; q in 1/nm and chi in degrees of the pixels; for images the reduced
// I(q), its parts along and across the electric field and A(q), of data and model in the same pixels; and the parameters with their standard
// deviations, name_sd, or name_error where name_sd is a parameter itself, as radius_sd is. x are the parameters in the order of Names, sd their standard deviations.
func (t *Task) Datasets(x, sd []float64) ([]*tensor.Dataset, error) {
	images, err := t.Images(x)
	if err != nil {
		return nil, err
	}
	var list []*tensor.Dataset
	for _, m := range t.models() {
		n := len(m.Data.Frames)
		w := &record{Task: t, model: m, images: images[:n], out: tensor.NewDataset("fit")}
		images = images[n:]
		w.lay()
		w.arrays()
		w.whereabouts()
		if err := w.reduced(x); err != nil {
			return nil, err
		}
		w.parameters(x, sd)
		if w.err != nil {
			return nil, fmt.Errorf("measured: %w", w.err)
		}
		list = append(list, w.out)
	}
	return list, nil
}

// record fills a dataset of one measurement.
type record struct {
	*Task
	model  *Model
	images []Image
	out    *tensor.Dataset
	axes   []string // of the frames
	shape  []int
	at     []int // of each frame among the elements of those axes
	err    error
}

func (w *record) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// variable adds an array.
func (w *record) variable(name, unit, about string, data any, shape []int, dims ...string) {
	v := tensor.Variable{Name: name, Dims: dims, Shape: shape, Data: data, Attrs: map[string]string{}}
	if unit != "" {
		v.Attrs["units"] = unit
	}
	if about != "" {
		v.Attrs["long_name"] = about
	}
	w.keep(w.out.AddVariable(v))
}

// coordinate adds the numbers along an axis.
func (w *record) coordinate(name, unit string, data []float64, dims ...string) {
	v := tensor.Variable{Name: name, Dims: dims, Shape: []int{len(data)}, Data: data, Attrs: map[string]string{"units": unit}}
	w.keep(w.out.AddCoordVariable(v))
}

// lay finds the axes of the frames: energy, polarization and exposure if there is a frame for each combination, and else one of all frames.
func (w *record) lay() {
	of := func(number func(f *Frame) float64) (all, distinct []float64) {
		for i := range w.model.Data.Frames {
			v := number(&w.model.Data.Frames[i])
			all = append(all, v)
			if !slices.Contains(distinct, v) {
				distinct = append(distinct, v)
			}
		}
		return all, distinct
	}
	n, product := len(w.images), 1
	w.at = make([]int, n)
	var axes []struct {
		name, unit    string
		all, distinct []float64
	}
	for _, a := range []struct {
		name, unit string
		number     func(f *Frame) float64
	}{{"energy", "eV", func(f *Frame) float64 { return f.Energy }}, {"polarization", "deg", func(f *Frame) float64 { return f.Angle }}, {"exposure", "s", func(f *Frame) float64 { return f.Exposure }}} {
		all, distinct := of(a.number)
		axes = append(axes, struct {
			name, unit    string
			all, distinct []float64
		}{a.name, a.unit, all, distinct})
		product *= len(distinct)
		for i, v := range all {
			w.at[i] = w.at[i]*len(distinct) + slices.Index(distinct, v)
		}
	}
	full := product == n
	for i := range n {
		full = full && !slices.Contains(w.at[:i], w.at[i])
	}
	if !full {
		w.axes, w.shape = []string{"system"}, []int{n}
		for i := range w.at {
			w.at[i] = i
		}
		for _, a := range axes {
			w.coordinate(a.name, a.unit, a.all, "system")
		}
		return
	}
	for _, a := range axes {
		w.axes, w.shape = append(w.axes, a.name), append(w.shape, len(a.distinct))
		w.coordinate(a.name, a.unit, a.distinct, a.name)
	}
}

// arrays adds data, model, residual and mask.
func (w *record) arrays() {
	rows, columns := w.images[0].Rows, w.images[0].Columns
	dims, bins := []string{"pix_y", "pix_x"}, w.model.Data.Frames[0].Bins
	switch {
	case bins == nil:
	case bins.Interpolated:
		dims = []string{"map_y", "map_x"}
	default:
		dims = []string{"chi", "q"}
		w.coordinate("q", "1/nm", bins.Q[:columns], "q")
		if rows > 1 {
			var chi []float64
			for r := range rows {
				chi = append(chi, bins.Chi[r*columns])
			}
			w.coordinate("chi", "deg", chi, "chi")
		}
	}
	each := rows * columns
	fields := [3][]float64{}
	for k := range fields {
		fields[k] = make([]float64, each*len(w.images))
	}
	used := make([]int64, each*len(w.images))
	for i, im := range w.images {
		for y := range rows {
			for c := range columns {
				k := w.at[i]*each + y*columns + c
				fields[0][k], fields[1][k], fields[2][k] = im.Counts[y][c], im.Mean[y][c], im.Residual[y][c]
				if !math.IsNaN(im.Residual[y][c]) {
					used[k] = 1
				}
			}
		}
	}
	names, shape := slices.Concat(w.axes, dims), slices.Concat(w.shape, []int{rows, columns})
	w.variable("data", "counts", "numbers that were compared", fields[0], shape, names...)
	w.variable("model", "counts", "their expectations", fields[1], shape, names...)
	w.variable("residual", "1", "residuals in standard deviations", fields[2], shape, names...)
	w.variable("mask", "1", "1 = was compared, keep", used, shape, names...)
	g, d := w.model.Data.Geometry, w.model.Data.Detector
	if w.model.Data.Fan == nil {
		for k, v := range map[string]float64{"dist": g.Distance / 1000, "poni1": g.PoniY / 1000, "poni2": g.PoniX / 1000, "pixel1": d.PixelY / 1000, "pixel2": d.PixelX / 1000, "rot1": g.Rot1, "rot2": g.Rot2, "rot3": g.Rot3} {
			w.out.Attrs[k] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
}

// whereabouts adds q and the direction of the pixels of images, by the geometry that the files say.
func (w *record) whereabouts() {
	d := w.model.Data
	if d.Fan != nil || d.Frames[0].Bins != nil {
		return
	}
	l, err := d.layOut(false)
	if err != nil {
		w.keep(err)
		return
	}
	var q []float64
	energies := d.energies()
	for _, e := range energies {
		l.at(e)
		q = append(q, l.q...)
	}
	shape := []int{d.Detector.Rows, d.Detector.Columns}
	if w.axes[0] == "energy" {
		w.variable("q_of_pixels", "1/nm", "q by the geometry of the files", q, append([]int{len(energies)}, shape...), "energy", "pix_y", "pix_x")
	}
	w.variable("chi_of_pixels", "deg", "direction from +x towards +y", l.chi, shape, "pix_y", "pix_x")
}

// wedgeWidth is the half width in degrees of the wedges of reduced images.
const wedgeWidth = 20

// centred returns where the pixels of a detector are about the centre that was found, and the largest q at the highest energy in 1/nm.
func (t *Task) centred(m *Model, x []float64) (l *layout, most float64, err error) {
	d := *m.Data
	for i, p := range t.Params {
		switch {
		case p.Name == "centre_x"+m.Suffix || p.Name == "centre_x":
			d.Geometry.PoniX += x[i] * d.Detector.PixelX
		case p.Name == "centre_y"+m.Suffix || p.Name == "centre_y":
			d.Geometry.PoniY += x[i] * d.Detector.PixelY
		}
	}
	if l, err = d.layOut(m.SolidAngle); err != nil {
		return nil, 0, err
	}
	for _, e := range d.energies() {
		l.at(e)
		most = max(most, slices.Max(l.q))
	}
	return l, most, nil
}

// ringsOf returns the number of bins of q of reduced images.
func (d *Data) ringsOf() int { return max(8, min(d.Detector.Rows, d.Detector.Columns)/2) }

// reduced adds I(q), its parts along and across the field, and A(q) of images, about the centre that was found.
func (w *record) reduced(x []float64) error {
	d := w.model.Data
	if d.Fan != nil || d.Frames[0].Bins != nil {
		return nil
	}
	l, most, err := w.centred(w.model, x)
	if err != nil {
		return err
	}
	n := d.ringsOf()
	q := make([]float64, n)
	for i := range q {
		q[i] = (float64(i) + 0.5) * most / float64(n)
	}
	w.coordinate("q_bin", "1/nm", q, "q_bin")
	out := map[string][]float64{}
	for _, name := range reducedNames {
		for _, of := range []string{"", "_model"} {
			out[name+of] = filled(n*len(w.images), math.NaN())
		}
	}
	for i, im := range w.images {
		f := &d.Frames[i]
		l.at(f.Energy)
		for b, sums := range l.sums(&im, f, n, most) {
			for k, of := range []string{"", "_model"} {
				at := w.at[i]*n + b
				along, across := sums[1][k]/sums[1][2], sums[2][k]/sums[2][2]
				out["I"+of][at], out["I_para"+of][at], out["I_perp"+of][at] = sums[0][k]/sums[0][2], along, across
				out["A"+of][at] = (along - across) / (along + across)
			}
		}
	}
	names, shape := append(slices.Clone(w.axes), "q_bin"), append(slices.Clone(w.shape), n)
	for _, name := range reducedNames {
		unit := "counts/s"
		if name == "A" {
			unit = "1"
		}
		for _, of := range []string{"", "_model"} {
			w.variable(name+of, unit, "", out[name+of], shape, names...)
		}
	}
	return nil
}

var reducedNames = []string{"I", "I_para", "I_perp", "A"}

// sums adds up numbers, expectations and weights in bins of q: over all directions, and in wedges along and across the field.
func (l *layout) sums(im *Image, f *Frame, n int, most float64) [][3][3]float64 {
	out := make([][3][3]float64, n)
	for i := range l.x {
		y, c := i/im.Columns, i%im.Columns
		b := min(int(l.q[i]/most*float64(n)), n-1)
		if math.IsNaN(im.Residual[y][c]) {
			continue
		}
		add := func(k int) {
			s := &out[b][k]
			s[0], s[1], s[2] = s[0]+im.Counts[y][c], s[1]+im.Mean[y][c], s[2]+l.weight[i]*at(f.Gains, i, f.Exposure)
		}
		add(0)
		if side := sideOf(l.chi[i], f.Angle); side >= 0 {
			add(1 + side)
		}
	}
	return out
}

// parameters adds the estimates.
func (w *record) parameters(x, sd []float64) {
	units := w.Units()
	for i, name := range w.Names() {
		w.variable(name, units[name], "", []float64{x[i]}, nil)
		of := name + "_sd"
		if slices.Contains(w.Names(), of) {
			of = name + "_error"
		}
		w.variable(of, units[name], "standard deviation of "+name, []float64{sd[i]}, nil)
	}
}
