// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
)

// Judge says whether data agree with a model at a point where a fit or a posterior ended. It
// compares means of c2 over cells of lag and age, with their covariance there. Whatever the free
// parameters of the motion, and contrasts and offsets, can take up is first removed from the
// differences. With numbers of speckles that were estimated from the same data, the size of the
// differences is not judged, but their pattern is. A point that is not at the minimum of the squares
// of entries, with the parameters in at.Held where they are, gets a flag.
func Judge(ctx context.Context, d Data, at Point, free []string, scaling Scaling, s PosteriorSettings) (check.Verdict, error) {
	if err := d.check(); err != nil {
		return check.Verdict{}, err
	}
	if len(at.Theta) != len(d.Setup.Names()) || len(at.Contrast) != len(d.C2) || len(at.Offset) != len(d.C2) {
		return check.Verdict{}, fmt.Errorf("twotime: the point has %s, %d contrasts and %s: want %d and one of each for %s", errtext.Count(len(at.Theta), "parameter"), len(at.Contrast), errtext.Count(len(at.Offset), "offset"), len(d.Setup.Names()), errtext.Count(len(d.C2), "angle"))
	}
	b, err := prepareCells(&d, &Priors{}, s)
	if err != nil {
		return check.Verdict{}, err
	}
	free = slices.DeleteFunc(slices.Clone(free), func(name string) bool { return slices.Contains(at.Held, name) })
	b.free, b.judging = free, true
	if err := b.simulate(ctx, at, b.s.Pixels); err != nil {
		return check.Verdict{}, err
	}
	data, err := b.differences(at, free, scaling)
	if err != nil {
		return check.Verdict{}, err
	}
	return check.Judge(data, check.Settings{})
}

// Judge says whether the data agree with the model at the medians of a posterior, and the posterior
// with the priors. See the function Judge, whose simulation ByCells has already done.
func (p *Posterior) Judge(ctx context.Context, fit *infer.Fit, s PosteriorSettings) (check.Verdict, error) {
	free := p.priors.free(p.data.Setup.Names())
	at := p.Median(fit)
	b := p.cells
	if b == nil {
		var err error
		if b, err = prepareCells(p.data, p.priors, s); err != nil {
			return check.Verdict{}, err
		}
		b.free, b.priored = free, true
		if err := b.simulate(ctx, at, b.s.Pixels); err != nil {
			return check.Verdict{}, err
		}
	}
	data, err := b.differences(at, free, Individual)
	if err != nil {
		return check.Verdict{}, err
	}
	if data.Priors, err = p.placed(at); err != nil {
		return check.Verdict{}, err
	}
	return check.Judge(data, check.Settings{})
}

// placed says where the medians lie in the priors of the motion, and contrasts and offsets in theirs.
func (p *Posterior) placed(at Point) (all []check.Prior, err error) {
	place := func(name string, d dist.Dist, value float64) error {
		numbers, err := dist.Numbers(d)
		if err != nil {
			return err
		}
		var parameters []float64
		var text []string
		for _, v := range numbers {
			parameters, text = append(parameters, v[0]), append(text, fmt.Sprintf("%.4g", v[0]))
		}
		below := d.CDF(value, parameters)
		if math.IsNaN(below) { // a distribution without one
			return nil
		}
		all = append(all, check.Prior{Name: name, Distribution: d.Name + "(" + strings.Join(text, ", ") + ")", Value: value, P: min(1, 2*min(below, 1-below))})
		return nil
	}
	for i, name := range p.data.Setup.Names() {
		if d, ok := p.priors.Motion[name]; ok {
			err = place(name, d, at.Theta[i])
		} else if d, ok := p.priors.Motion["log_"+name]; ok {
			err = place("log_"+name, d, math.Log(at.Theta[i]))
		}
		if err != nil {
			return nil, err
		}
	}
	contrast, offset := dist.Normal(p.priors.Contrast.Mean, p.priors.Contrast.SD), dist.Normal(p.priors.Offset.Mean, p.priors.Offset.SD)
	for k := range p.angles {
		for _, err := range []error{place(fmt.Sprintf("contrast[%d]", k), contrast, at.Contrast[k]), place(fmt.Sprintf("offset[%d]", k), offset, at.Offset[k])} {
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// column is a number for each angle and cell.
type column [][]float64

// linearised is what the cells are at a point: means of g, whitened differences between data and model, and whitened derivatives of the model
// with respect to the free parameters of the motion and to coefficients of contrasts and offsets.
type linearised struct {
	g        []float64 // (angles, cells)
	z        []float64
	names    []string
	jacobian [][]float64
}

// cellMeans is a program for means of g over the cells, (angles, cells), and their derivatives by free parameters of the motion.
type cellMeans struct{ state *ad.State }

func (b *byCells) cellMeans(free []string) (*cellMeans, error) {
	names := b.d.Setup.Names()
	theta, err := b.d.Setup.Inputs()
	if err != nil {
		return nil, err
	}
	means := b.means(theta)
	outs := []*ad.Node{means}
	for _, name := range free {
		k := slices.Index(names, name)
		if k < 0 {
			return nil, fmt.Errorf("twotime: there is no parameter %q: choose from %s", name, strings.Join(names, ", "))
		}
		outs = append(outs, ad.JVP(means, theta[k:k+1], []*ad.Node{ad.Scalar(1)}))
	}
	program, err := ad.Compile(outs, ad.Settings{Inputs: theta})
	if err != nil {
		return nil, err
	}
	return &cellMeans{program.NewState()}, nil
}

// run computes the means and derivatives at parameters. They are valid until the next call.
func (m *cellMeans) run(theta []float64) error {
	for i, v := range theta {
		m.state.Input(i)[0] = v
	}
	return m.state.Run()
}

func (m *cellMeans) g() []float64          { return m.state.Output(0) }
func (m *cellMeans) by(free int) []float64 { return m.state.Output(1 + free) }

// linearised returns the cells at a point.
func (b *byCells) linearised(at Point, free []string, scaling Scaling) (*linearised, error) {
	d := b.d
	m, err := b.cellMeans(free)
	if err != nil {
		return nil, err
	}
	if err := m.run(at.Theta); err != nil {
		return nil, err
	}
	cells := len(b.blocks.cells)
	l := &linearised{g: slices.Clone(m.g())}
	l.z = b.whitened(b.column(func(k, i int) float64 {
		return b.blocks.mean[k][i] - (at.Offset[k] - 1) - at.Contrast[k]*l.g[k*cells+i]
	}))
	take := func(name string, f func(angle, cell int) float64) {
		l.names, l.jacobian = append(l.names, name), append(l.jacobian, b.whitened(b.column(f)))
	}
	for i, name := range free {
		take(name, func(k, c int) float64 { return at.Contrast[k] * m.by(i)[k*cells+c] })
	}
	basis, err := scaling.basis(d.Setup.Angles)
	if err != nil || basis == nil {
		return l, err
	}
	coefficient := func(of string, i int) string {
		if scaling == Individual {
			return fmt.Sprintf("the %s at %.4g degrees", of, d.Setup.Angles[i])
		}
		return fmt.Sprintf("%s_c%d", of, i)
	}
	for i := range basis[0] {
		take(coefficient("contrast", i), func(k, c int) float64 { return basis[k][i] * l.g[k*cells+c] })
		take(coefficient("offset", i), func(k, c int) float64 { return basis[k][i] })
	}
	return l, nil
}

// column returns a number for each angle and cell.
func (b *byCells) column(f func(angle, cell int) float64) column {
	c := make(column, len(b.d.C2))
	for k := range c {
		for i := range b.blocks.cells {
			c[k] = append(c[k], f(k, i))
		}
	}
	return c
}

// differences returns the whitened differences of the cells and what the parameters do to them.
func (b *byCells) differences(at Point, free []string, scaling Scaling) (check.Data, error) {
	d := b.d
	l, err := b.linearised(at, free, scaling)
	if err != nil {
		return check.Data{}, err
	}
	angles, g := len(d.C2), l.g
	data := check.Data{Relative: d.Noise == nil, Names: l.names, Z: l.z, Jacobian: slices.Concat(l.jacobian...), OnBounds: len(at.Held)}
	t := d.Setup.Times
	lag := func(c noise.Cell) float64 {
		return (t[min(len(t)-1, c.From+c.Longest)] + t[c.From+c.Shortest] - 2*t[c.From]) / 2
	}
	age := func(c noise.Cell) float64 { return (t[c.From] + t[c.To-1]) / 2 }
	lags, ages, phi := check.Axis{Name: "lag", Unit: "s"}, check.Axis{Name: "age", Unit: "s"}, check.Axis{Name: "angle", Unit: "degrees"}
	for k := range angles {
		for i, c := range b.blocks.cells {
			if b.blocks.count[k][i] > 0 {
				lags.Values, ages.Values, phi.Values = append(lags.Values, lag(c)), append(ages.Values, age(c)), append(phi.Values, d.Setup.Angles[k])
			}
		}
	}
	data.Axes = []check.Axis{lags, ages}
	if angles > 1 {
		data.Axes = append(data.Axes, phi)
	}
	data.Directions = b.departures(at, g, scaling, lag, age)
	changes := slices.ContainsFunc(d.Readings, func(f check.Flag) bool { return f.Kind == KindIntensity })
	if f, lost := b.lostIntensity(at); lost && !changes {
		data.Findings = append(data.Findings, f)
	}
	data.Findings = append(data.Findings, d.Faults()...)
	data.Altered = append(data.Altered, d.withoutError()...)
	if f, off := b.offMinimum(l); off {
		data.Findings = append(data.Findings, f)
	}
	return data, nil
}

// whitened returns a column in standard deviations, of the cells that have pairs.
func (b *byCells) whitened(c column) (out []float64) {
	cells := len(b.blocks.cells)
	for k, w := range b.white {
		isZero := !slices.ContainsFunc(c[k], func(v float64) bool { return v != 0 }) // of another angle
		for i := range cells {
			if b.blocks.count[k][i] == 0 {
				continue
			}
			sum := 0.0
			if isZero {
				out = append(out, sum)
				continue
			}
			for j, v := range w.inverse[i*cells : i*cells+i+1] {
				sum += v * c[k][j]
			}
			out = append(out, sum)
		}
	}
	return out
}
