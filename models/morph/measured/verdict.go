// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/tensor"
)

// muchMore is how many times as much an effect must explain as a simpler one to be looked for beside it.
const muchMore = 1.25

// gain returns by how much the sum of squares of z falls if columns are fitted beside those of the Jacobian.
func gain(z, jacobian []float64, columns [][]float64) float64 {
	m := len(z)
	all := slices.Clone(columns)
	for k := 0; k < len(jacobian); k += m {
		all = append(all, jacobian[k:k+m])
	}
	explained := func(list [][]float64) float64 {
		n := len(list)
		if n == 0 {
			return 0
		}
		a, b := make([]float64, n*n), make([]float64, n)
		scale := make([]float64, n)
		for i, x := range list {
			scale[i] = 1 / max(linalg.Norm(x), 1e-300)
		}
		for i, x := range list {
			b[i] = scale[i] * linalg.Dot(x, z)
			for j := range i {
				v := scale[i] * scale[j] * linalg.Dot(x, list[j])
				a[i*n+j], a[j*n+i] = v, v
			}
			a[i*n+i] = 1 + 1e-9
		}
		if row, _ := linalg.Cholesky(a, n); row >= 0 {
			return 0
		}
		x := slices.Clone(b)
		linalg.SolveCholesky(a, x)
		return linalg.Dot(x, b)
	}
	return explained(all) - explained(all[len(columns):])
}

// inspection is a task at its solution, with the parameters that it leaves out as further inputs.
type inspection struct {
	*Task
	state *ad.State
	all   *Task              // the task with all inputs as parameters
	at    map[string]float64 // values of all inputs
	order []string
	mean  []float64
	slope map[string][]float64 // derivatives of the residuals by input
	scale []float64            // standard deviation of a count over the strength of its residual
	apart []int                // the numbers that share no pixels with each other; nil for all
}

// Check judges a solution: quantile residuals of the counts against their distribution, neighbouring pixels, patterns along q, azimuth
// and energy, and the effects of measurements that the model leaves out, each by its derivative in the exact geometry.
func (t *Task) Check(s *Solution) (check.Verdict, error) { return t.check(s, nil) }

func (t *Task) check(s *Solution, priors []check.Prior) (check.Verdict, error) {
	v, err := t.checkMended(s, priors, 0)
	if note, fail := t.hanging(s); err == nil && note != nil {
		v.Notes = append(v.Notes, *note)
	} else if err == nil {
		err = fail
	}
	if other := t.undecided(s); err == nil && len(other) > 0 {
		v.OK, v.Flags = false, append(v.Flags, other...)
	}
	return v, err
}

// checkMended judges a solution of data in which a number of defects have been mended.
func (t *Task) checkMended(s *Solution, priors []check.Prior, mends int) (check.Verdict, error) {
	v, list, err := t.judgeOnce(s, priors)
	if err != nil {
		return v, err
	}
	if len(v.Flags) > 0 && !v.Has(kindNoiseless) && mends < mostMends {
		if w, found, err := t.withoutDefects(v, s, mends); found || err != nil {
			return w, err
		}
	}
	return t.withCause(v, s, list, 0)
}

// looked is an effect that a model could have, with the direction in which it would move the residuals and how much that explains of them.
type looked struct {
	effect
	direction check.Direction
	gain      float64
}

// judged is what judge found.
type judged struct {
	verdict check.Verdict
	list    []looked
}

// judgeOnce is judge, of which a fit that was judged already keeps the result.
func (t *Task) judgeOnce(s *Solution, priors []check.Prior) (check.Verdict, []looked, error) {
	if j := s.judged; j != nil && priors == nil {
		v := j.verdict
		v.Flags = slices.Clone(v.Flags)
		return v, j.list, nil
	}
	return t.judge(s, priors)
}

// judge looks for effects by their derivatives at a solution.
func (t *Task) judge(s *Solution, priors []check.Prior) (check.Verdict, []looked, error) {
	if err := t.prepare(); err != nil {
		return check.Verdict{}, nil, err
	}
	c, list, err := t.inspect(s)
	if err != nil {
		return check.Verdict{}, nil, err
	}
	d, err := c.collect(s, list)
	if err != nil {
		return check.Verdict{}, nil, err
	}
	gains := map[string]float64{}
	for i := range list {
		l := &list[i]
		if l.direction, err = c.direction(l.effect); err != nil {
			return check.Verdict{}, nil, err
		}
		l.gain = gain(d.Z, d.Jacobian, l.direction.Columns)
		gains[l.kind] = max(gains[l.kind], l.gain)
		if l.simpler == "" || gains[l.kind] > muchMore*gains[l.simpler] {
			d.Directions = append(d.Directions, l.direction)
		}
	}
	d.Priors = priors
	if priors == nil {
		d.Priors, d.Findings = t.strained(s), check.Unconverged(s.Status)
	}
	v, err := check.Judge(d, check.Settings{})
	if f, ok := c.noiseless(); ok && err == nil {
		v.OK, v.Flags = false, []check.Flag{f}
	} else if f, ok := c.fewPixels(); ok && err == nil {
		v.OK, v.Flags = false, append([]check.Flag{f}, v.Flags...)
	}
	return v, list, err
}

// strained says where a fit lies in its Gaussian priors.
func (t *Task) strained(s *Solution) (list []check.Prior) {
	for i, p := range t.Params {
		if p.SD > 0 {
			z := math.Abs(s.X[i]-p.Mean) / p.SD
			list = append(list, check.Prior{Name: p.Name, Distribution: fmt.Sprintf("normal(%g, %g)", p.Mean, p.SD), Value: s.X[i], P: math.Erfc(z / math.Sqrt2)})
		}
	}
	return list
}

// inspect builds the graph of the expectations at a solution with the parameters of all effects that the model leaves out or holds.
func (t *Task) inspect(s *Solution) (*inspection, []looked, error) {
	c := &inspection{Task: t, at: map[string]float64{}}
	all := *t
	all.mean, all.Params = nil, slices.Clone(t.Params)
	for i := range all.Params {
		all.Params[i].Start = s.X[i]
		c.at[all.Params[i].Name], c.order = s.X[i], append(c.order, all.Params[i].Name)
	}
	params := all.Params
	var list []looked
	try := func(possible []effect) error {
		list, all.mean, all.Params = nil, nil, slices.Clone(params)
		c.order = c.order[:len(params)]
		for _, e := range possible {
			if e.when != nil && !e.when(t) {
				continue
			}
			// A value that is held may be one of another effect, too, whose words tell more.
			e.params = slices.DeleteFunc(t.expanded(e.params), func(n string) bool { return slices.Contains(all.Names(), n) })
			if len(e.params) == 0 {
				continue
			}
			list = append(list, looked{effect: e})
			for _, name := range e.params {
				off := t.off(name)
				c.at[name], c.order = off, append(c.order, name)
				all.Params = append(all.Params, Param{Name: name, Start: off})
			}
		}
		return all.prepare()
	}
	possible := slices.Concat(effects, t.constantEffects(), t.heldEffects())
	if err := try(possible); err != nil {
		// A blur needs pixels beyond the detector, whose q the voxels may not have.
		possible = slices.DeleteFunc(possible, func(e effect) bool { return slices.Contains(e.params, "resolution") })
		if err := try(possible); err != nil {
			return nil, nil, err
		}
	}
	program, err := ad.Compile([]*ad.Node{all.mean}, ad.Settings{Inputs: all.in, Backend: t.Backend})
	if err != nil {
		return nil, nil, err
	}
	c.state, c.all = program.NewState(), &all
	return c, list, nil
}

// means returns the expected counts with one parameter changed.
func (c *inspection) means(name string, change float64) ([]float64, error) {
	for i, n := range c.order {
		c.state.Input(i)[0] = c.at[n]
		if n == name {
			c.state.Input(i)[0] += change
		}
	}
	if err := c.state.Run(); err != nil {
		return nil, err
	}
	return slices.Clone(c.state.Output(0)), nil
}

// collect gathers the residuals, their Jacobian and where they lie, and the derivatives for effects.
func (c *inspection) collect(s *Solution, list []looked) (d check.Data, err error) {
	if c.mean, err = c.means("", 0); err != nil {
		return d, err
	}
	c.scale = make([]float64, len(c.mean))
	d.Z, d.Mean, d.Names, d.AtPoint = make([]float64, len(c.mean)), c.mean, s.Names, false
	d.Counts = true
	random := tensor.NewStream(uint64(len(d.Z)), purposeCounts, 0)
	k, scales := 0, c.scales()
	for i, name := range s.Names {
		if _, ok := scales[name]; ok {
			scales[name] = s.X[i]
		}
	}
	for _, p := range c.single.parts {
		scale := c.scaleAt(p, scales)
		for i := range p.values {
			m := c.mean[k+i]
			spread := math.Sqrt(at(p.spread, i, 1))
			c.scale[k+i] = spread * math.Sqrt(p.noise.variance(p, i, m, scale))
			if p.noise.name == "poisson" {
				c.scale[k+i] /= morph.CountStrength(m)
			}
			d.Z[k+i] = p.noise.score(p, i, m, scale, random.Float64())
		}
		k += len(p.values)
		d.Counts = d.Counts && p.noise.whole
		d.Relative = d.Relative || p.noise.scale != "" && !p.noise.whole
		d.Quantiles = d.Quantiles || !p.noise.whole
		d.SigmaEstimated = d.SigmaEstimated || p.noise.law == nil && p.noise.scale != "" // there is no distribution to judge, but a mean and a variance
	}
	c.findApart()
	d.Z, d.Mean = c.thinned(d.Z), c.thinned(d.Mean)
	if err := c.derive(list); err != nil {
		return d, err
	}
	for _, p := range c.Params {
		if c.isScale(p.Name) { // it moves no expectation
			d.Jacobian = append(d.Jacobian, make([]float64, len(d.Z))...)
			continue
		}
		column := c.slope[p.Name]
		if !linalg.AllFinite(column) { // the expectation overflows beside the solution
			clear(column)
			d.Unknown = append(d.Unknown, p.Name)
		}
		d.Jacobian = append(d.Jacobian, column...)
	}
	c.places(&d)
	return d, nil
}

// findApart finds the numbers of interpolated maps that share no pixels: those of every second row and column.
func (c *inspection) findApart() {
	k, thin := 0, false
	var list []int
	for _, p := range c.single.parts {
		for i, o := range p.from {
			if b := c.models()[o.model].Data.Frames[o.frame].Bins; b != nil && b.Interpolated {
				columns := b.length() / b.Rows
				if thin = true; o.bin/columns%2 != 0 || o.bin%columns%2 != 0 {
					continue
				}
			}
			list = append(list, k+i)
		}
		k += len(p.from)
	}
	if thin {
		c.apart = list
	}
}

// thinned returns the numbers that are judged.
func (c *inspection) thinned(x []float64) []float64 {
	if c.apart == nil {
		return x
	}
	out := make([]float64, len(c.apart))
	for i, k := range c.apart {
		out[i] = x[k]
	}
	return out
}

// purposeCounts is the random stream that places counts within their probability.
const purposeCounts uint32 = 157

// derive computes the derivatives of the residuals with respect to the parameters and to those of effects.
func (c *inspection) derive(list []looked) error {
	c.slope = map[string][]float64{}
	var names []string
	for _, p := range c.Params {
		if !c.isScale(p.Name) {
			names = append(names, p.Name)
		}
	}
	for _, l := range list {
		if !l.finite {
			names = append(names, l.params...)
		}
	}
	var index []int
	var at []float64
	for i, n := range c.order {
		if at = append(at, c.at[n]); slices.Contains(names, n) {
			index = append(index, i)
		}
	}
	_, j, err := c.all.jacobian(c.all.mean, index, at, len(c.Params))
	if err != nil {
		return err
	}
	for k, i := range index {
		column := j[k*len(c.scale) : (k+1)*len(c.scale)]
		for i := range column {
			column[i] /= c.scale[i]
		}
		c.slope[c.order[i]] = c.thinned(column)
	}
	return nil
}

// unseen is by how many standard deviations the change that is tried moves all data together if it moves them by rounding errors alone,
// as a flux does the ratio of two intensities.
const unseen = 1e-9

// amount is what a coefficient multiplies in the change that is tried.
func (e effect) amount() float64 {
	if e.of != nil {
		return e.of(e.step)
	}
	return e.step
}

// seen returns a column of derivatives, or zeros if the change that is tried moves the data by no more than rounding errors.
func (e effect) seen(column []float64) []float64 {
	if linalg.Norm(column)*math.Abs(e.amount()) < unseen {
		clear(column)
	}
	return column
}

// direction returns how an effect would change the residuals.
func (c *inspection) direction(e effect) (check.Direction, error) {
	d := check.Direction{Kind: e.kind, Of: e.where, Say: func(p, sd []float64) (string, string) { return e.tells(moved{c.Task, e.params, p, sd}) }}
	for _, name := range e.params {
		column := c.slope[name]
		if e.finite {
			moved, err := c.means(name, e.step)
			if err != nil {
				return d, err
			}
			for i := range moved {
				moved[i] = (moved[i] - c.mean[i]) / (e.amount() * c.scale[i])
			}
			column = c.thinned(moved)
		}
		for i, v := range column {
			if !linalg.Finite(v) {
				column[i] = 0
			}
		}
		d.Columns = append(d.Columns, e.seen(column))
	}
	return d, nil
}

// places says where the residuals lie: q, the azimuth and the energy, and the pixels of the frames.
func (c *inspection) places(d *check.Data) {
	q, chi, energy := check.Axis{Name: "q", Unit: "1/nm"}, check.Axis{Name: "angle", Unit: "degrees"}, check.Axis{Name: "energy", Unit: "eV"}
	var index []int
	images, directed := len(c.More) == 0, true
	for _, p := range c.single.parts {
		for _, o := range p.from {
			data := c.models()[o.model].Data
			f := &data.Frames[o.frame]
			energy.Values = append(energy.Values, f.Energy)
			if f.Bins != nil {
				q.Values, chi.Values = append(q.Values, f.Bins.Q[o.bin]), append(chi.Values, f.Bins.Chi[o.bin])
				images, directed = false, directed && !math.IsNaN(f.Bins.Chi[o.bin])
				continue
			}
			u, v := c.whereabouts(c.models()[o.model], f, o.bin)
			q.Values, chi.Values = append(q.Values, u), append(chi.Values, v)
			index = append(index, o.frame*data.pixels()+o.bin)
		}
	}
	q.Values, chi.Values, energy.Values = c.thinned(q.Values), c.thinned(chi.Values), c.thinned(energy.Values)
	d.Axes = []check.Axis{q}
	if directed {
		d.Axes = append(d.Axes, chi)
	}
	if len(c.energies()) > 1 {
		d.Axes = append(d.Axes, energy)
	}
	rising := func() bool { // the pixels of a frame may be compared by two likelihoods, one after the other
		for i := 1; i < len(index); i++ {
			if index[i] <= index[i-1] {
				return false
			}
		}
		return true
	}
	if det := c.Model.Data.Detector; images && rising() {
		d.Grid = &check.Grid{Shape: []int{len(c.Model.Data.Frames), det.Rows, det.Columns}, Names: []string{"frame", "y", "x"}, Index: index}
	}
}

// whereabouts returns about where a pixel lies: q in 1/nm and the direction in degrees.
func (c *inspection) whereabouts(m *Model, f *Frame, i int) (q, chi float64) {
	of := func(name string) float64 {
		if x, ok := c.at[name+m.Suffix]; ok {
			return x
		}
		return c.at[name]
	}
	return m.Data.place(i, f.Energy, of("centre_x"), of("centre_y"))
}
