// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Inversion compares the patterns of a parametrised morphology with data.
type Inversion struct {
	Sim    *rsoxs.Simulator
	Optics rsoxs.Optics // optical constants, used unless the Scene has its own
	Params []Param
	// Build makes the scene from the parameters, given in the order of Params: scalars, and vectors for those with several
	// starting values. The fields of every material must have the shape of Sim.
	Build func(p []*ad.Node) Scene

	// Data are intensities [energy, beam, QY, QX], NaN where nothing was measured. Mask
	// has the same shape; pixels where it is 0 are left out.
	Data, Mask *tensor.Tensor
	// Curves compares I(q) and A(q) instead of images.
	Curves *CurveData

	Loss Loss // comparison of patterns with data. Default LogLoss
	// Eps is added to intensities before the logarithm. Default 1e-10 of the largest
	// datum, which is above rounding errors and below the resolution of detectors; a
	// negative value stands for 0. A larger value gives less weight to dim pixels: their
	// residuals are smaller than Sigma says.
	Eps   float64
	Sigma float64 // standard deviation of the residuals, for posteriors and errors. Default 1

	// Backend runs the graph of the scene and its comparison with data. If Sim computes on the same
	// GPU, the fields of the morphology never leave it. Default: the CPU, even if Sim uses a GPU.
	Backend ad.Backend
}

// Param is a scalar parameter or an array of them.
type Param struct {
	Name   string
	Start  []float64 // starting values; their number is the length of the parameter
	Bounds []float64 // lowest and highest value; nil for none
	// Prior is the prior for posteriors. Nil is uniform between the bounds or, without
	// bounds, flat.
	Prior *dist.Dist
}

// CurveData are reduced measurements in float64 with axes [energy, beam, Q] as in
// rsoxs.Curves, NaN where there is no datum. Either of I and A may be nil.
type CurveData struct {
	Reduction rsoxs.Reduction // reduction of images to curves, the same for data and model
	I, A      *tensor.Tensor  // intensity I(q) and anisotropy A(q)
	// AWeight multiplies the residuals of A relative to those of ln I. Default 1.
	AWeight float64
}

// Loss selects how a pattern is compared with data.
type Loss int

const (
	// LogLoss compares logarithms: it minimises the mean square of the residuals
	// ln(I + eps) - ln(D + eps), which gives all orders of magnitude the same weight.
	LogLoss Loss = iota
	// SquareLoss compares intensities: the residuals are I - D.
	SquareLoss
	// PoissonLoss treats the data as counts whose means are the intensities. It minimises
	// half the mean deviance, I - D + D ln(D/I).
	PoissonLoss
)

// comparison is an Inversion in the form of graphs.
type comparison struct {
	*Inversion
	params   []*ad.Node
	scene    Scene
	constant *ad.Node
	reducer  *rsoxs.Reducer // nil for images
	index    []int          // indices of the compared elements in the flat pattern or curves
	data     []float64      // data at those indices
	energy   []int          // energy index at those indices
	momentum []float64      // |q| at those indices in 1/nm
	curves   int            // number of values of I in the curves; 0 for images
	dropped  int            // number of measured values that the Loss cannot take
	width    int            // number of elements of the flat simulator output
}

// prepare builds the graphs and selects the elements to compare: those that were measured
// and are detected at the starting values.
func (v *Inversion) prepare() (*comparison, error) {
	params := make([]*ad.Node, len(v.Params))
	for i, p := range v.Params {
		params[i] = ad.Input(p.Name, p.shape()...)
	}
	return v.prepareAt(params)
}

func (p *Param) shape() []int {
	if len(p.Start) == 1 {
		return nil
	}
	return []int{len(p.Start)}
}

func (v *Inversion) prepareAt(params []*ad.Node) (*comparison, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	q := &comparison{Inversion: v, params: params, scene: v.Build(params)}
	if q.constant = q.scene.Constants; q.constant == nil {
		q.constant = constants(v.Optics)
	}
	seen, err := q.flat()
	if err != nil {
		return nil, err
	}
	if err := q.choose(seen); err != nil {
		return nil, err
	}
	return q, nil
}

func (v *Inversion) check() error {
	switch {
	case v.Sim == nil || v.Build == nil || len(v.Params) == 0:
		return errors.New("morph: Sim, Params or Build is missing: an inversion needs all three")
	case (v.Data == nil) == (v.Curves == nil):
		return errors.New("morph: an inversion compares with either Data or Curves: set one of them")
	case v.Curves != nil && v.Curves.I == nil && v.Curves.A == nil:
		return errors.New("morph: Curves has neither I nor A: give one of them, or both")
	case v.Curves != nil && v.Loss != LogLoss:
		return errors.New("morph: curves can only be compared by LogLoss: set Loss to LogLoss")
	}
	for _, p := range v.Params {
		if len(p.Start) == 0 || p.Bounds != nil && len(p.Bounds) != 2 {
			return fmt.Errorf("morph: parameter %s has %s and %s: want at least one value, and two bounds or none", p.Name, errtext.Count(len(p.Start), "starting value"), errtext.Count(len(p.Bounds), "bound"))
		}
	}
	return nil
}

// flat returns the whole simulator output as one vector Node.
func (q *comparison) flat() (*ad.Node, error) {
	if q.Curves == nil {
		x := q.Sim.Intensity(q.scene.Materials, q.constant)
		return ad.Reshape(x, x.Size()), x.Err()
	}
	x, reducer, err := q.Sim.Curves(q.Curves.Reduction, q.scene.Materials, q.constant)
	if err != nil {
		return nil, err
	}
	q.reducer = reducer
	return ad.Reshape(x, x.Size()), x.Err()
}

// momenta returns |q| of all elements of the flat pattern or curves, in 1/nm.
func (q *comparison) momenta(n int) []float64 {
	if q.Curves == nil {
		shape := q.Sim.Shape()
		qy, qx := rsoxs.Frequencies(shape[1], q.Sim.PhysSize()), rsoxs.Frequencies(shape[2], q.Sim.PhysSize())
		return momenta(qy, qx, n/(len(qy)*len(qx)))
	}
	var out []float64
	beams := n / 4 / q.energies() / len(q.reducer.Abscissa(0))
	for range 4 {
		for e := range q.energies() {
			for range beams {
				out = append(out, q.reducer.Abscissa(e)...)
			}
		}
	}
	return out
}

// choose selects the elements to compare.
func (q *comparison) choose(seen *ad.Node) error {
	prog, err := ad.Compile([]*ad.Node{seen}, ad.Settings{Inputs: q.params})
	if err != nil {
		return err
	}
	st := prog.NewState()
	for i, p := range q.Params {
		copy(st.Input(i), p.Start)
	}
	if err := st.Run(); err != nil {
		return err
	}
	data, err := q.measured(seen.Size())
	if err != nil {
		return err
	}
	per, momenta := q.perEnergy(), q.momenta(seen.Size())
	for i, m := range st.Output(0) {
		if d := data[i]; d == d && m == m {
			if !q.takes(d, i < seen.Size()/4) {
				q.dropped++
				continue
			}
			q.index, q.data = append(q.index, i), append(q.data, d)
			q.energy = append(q.energy, i/per%q.energies())
			q.momentum = append(q.momentum, momenta[i])
			if q.Curves != nil && i < seen.Size()/4 {
				q.curves++
			}
		}
	}
	q.width = seen.Size()
	if len(q.index) == 0 && !slices.ContainsFunc(st.Output(0), func(m float64) bool { return m == m }) {
		return errors.New("morph: every simulated intensity is NaN at the starting values: check the volume fractions and the optical constants that Build returns")
	}
	if len(q.index) == 0 {
		return errors.New("morph: no pixel is left to compare, because every one is unmeasured, masked or outside of the simulated detector: widen the mask, or make the voxels smaller")
	}
	q.setEps()
	return nil
}

// takes reports whether the Loss can compare a datum: logarithms need it above 0, and
// counts must not be negative.
func (q *comparison) takes(d float64, intensity bool) bool {
	switch {
	case q.Loss == PoissonLoss:
		return d >= 0
	case q.Loss == LogLoss && (q.Curves == nil || intensity):
		return d > 0 || d+q.Eps > 0 && q.Eps > 0
	}
	return true
}

func (q *comparison) energies() int { return len(q.Sim.Energies()) }

// perEnergy returns the number of consecutive elements that belong to one energy.
func (q *comparison) perEnergy() int {
	t := q.Data
	if q.Curves != nil {
		if t = q.Curves.I; t == nil {
			t = q.Curves.A
		}
	}
	return t.Size() / q.energies()
}

// setEps sets Eps to its default in a copy of the Inversion.
func (q *comparison) setEps() {
	c := *q.Inversion
	if c.Eps == 0 {
		for _, d := range q.data[:q.intensities()] {
			c.Eps = max(c.Eps, 1e-10*d)
		}
	}
	c.Eps = max(c.Eps, 0)
	q.Inversion = &c
}

// intensities returns the number of data that are intensities; the others are
// anisotropies.
func (q *comparison) intensities() int {
	if q.Curves != nil {
		return q.curves
	}
	return len(q.data)
}

// measured returns the data in the order of the flat pattern or curves, which have n
// elements, with NaN where there is no datum.
func (q *comparison) measured(n int) ([]float64, error) {
	if q.Curves != nil {
		out := make([]float64, n)
		for i := range out {
			out[i] = math.NaN()
		}
		for k, t := range map[int]*tensor.Tensor{0: q.Curves.I, 3: q.Curves.A} {
			if t == nil {
				continue
			}
			if t.Size() != n/4 {
				return nil, fmt.Errorf("morph: the curves have shape %v, but the simulator gives %d numbers: reduce data and simulation alike", t.Shape(), n/4)
			}
			copy(out[k*n/4:], t.Float64s())
		}
		return out, nil
	}
	if q.Data.Size() != n || q.Mask != nil && q.Mask.Size() != n {
		return nil, fmt.Errorf("morph: the data have shape %v, but the simulator gives %d intensities: data and mask must have as many", q.Data.Shape(), n)
	}
	out := append([]float64(nil), q.Data.Float64s()...)
	if q.Mask != nil {
		for i, m := range q.Mask.Float64s() {
			if m == 0 {
				out[i] = math.NaN()
			}
		}
	}
	return out, nil
}

// mean returns the predictions for the selected elements of the simulator output:
// intensities, or their logarithms with LogLoss, followed by anisotropies.
func (q *comparison) mean(seen *ad.Node) *ad.Node {
	n := q.intensities()
	i := seen
	if n < len(q.data) {
		i = ad.Slice(seen, 0, 0, n)
	}
	i = q.scene.measured(i, q.momentum[:n])
	if q.Loss == LogLoss {
		i = ad.Log(ad.Shift(i, q.Eps))
	}
	if n < len(q.data) {
		i = ad.Concat(0, i, ad.Slice(seen, 0, n, len(q.data)))
	}
	return i
}

// target returns the data that mean predicts.
func (q *comparison) target() []float64 {
	out := append([]float64(nil), q.data...)
	if q.Loss == LogLoss {
		for i := range out[:q.intensities()] {
			out[i] = math.Log(out[i] + q.Eps)
		}
	}
	return out
}

// weights returns the factors of the residuals; nil stands for 1.
func (q *comparison) weights() *ad.Node {
	if q.Curves == nil || q.Curves.AWeight == 0 {
		return nil
	}
	w := make([]float64, len(q.data))
	for i := range w {
		if w[i] = 1; i >= q.intensities() {
			w[i] = q.Curves.AWeight
		}
	}
	return ad.Const(w)
}

// residual returns the residuals. With PoissonLoss they are the signed roots of twice the
// terms of the deviance.
func (q *comparison) residual(seen *ad.Node) *ad.Node {
	mean, data := q.mean(seen), ad.Const(q.target())
	if q.Loss == PoissonLoss {
		return DevianceResiduals(rate(mean), data)
	}
	r := ad.Sub(mean, data)
	if w := q.weights(); w != nil {
		r = ad.Mul(w, r)
	}
	return r
}

// rate keeps the mean of counts above 0 where a simulated detector is dark. It is too
// small to matter for any mean that could produce a count.
func rate(mean *ad.Node) *ad.Node { return ad.Maximum(mean, ad.Scalar(1e-30)) }

// DevianceResiduals returns the deviance residuals of counts: the root of twice the deviance
// with the sign of mean - data. Where the two nearly agree it is
// (mean - data)/sqrt(mean).
func DevianceResiduals(mean, data *ad.Node) *ad.Node {
	d := ad.Sub(mean, data)
	close := ad.LessEqual(ad.Abs(d), ad.Scale(1e-9, mean))
	root := ad.Sqrt(ad.Where(close, ad.Scalar(1), ad.Scale(2, ad.PoissonDeviance(data, mean))))
	return ad.Where(close, ad.Div(d, ad.Sqrt(mean)), ad.Mul(ad.Sign(d), root))
}

// loss returns the function that Minimize minimises.
func (q *comparison) loss() (*ad.Node, error) {
	seen, err := q.flat()
	if err != nil {
		return nil, err
	}
	seen = ad.Gather(seen, ad.Ints(q.index), 0)
	terms := ad.Square(q.residual(seen))
	if q.Loss == PoissonLoss {
		terms = ad.PoissonDeviance(ad.Const(q.data), rate(q.mean(seen)))
	}
	l := ad.Scale(1/float64(len(q.data)), ad.Sum(terms))
	if q.scene.Penalty != nil {
		l = ad.Add(l, q.scene.Penalty)
	}
	return l, l.Err()
}

// Function returns the function that Minimize minimises, with its gradient: the mean of
// the loss over the compared elements plus the penalty of the Scene.
func (v *Inversion) Function() (*optim.Function, error) {
	q, err := v.prepare()
	if err != nil {
		return nil, err
	}
	l, err := q.loss()
	if err != nil {
		return nil, err
	}
	st, err := v.state(append([]*ad.Node{l}, ad.Grad(l, q.params...)...), q.params)
	if err != nil {
		return nil, err
	}
	f := &optim.Function{Names: v.names()}
	f.N = len(f.Names)
	f.Start, f.Lower, f.Upper = v.start()
	// The simulator has only first derivatives, so products with second ones come from their differences.
	f.Gradient = func(g, x []float64) (float64, error) {
		for i, p := range v.Params {
			copy(st.Input(i), x[:len(p.Start)])
			x = x[len(p.Start):]
		}
		if err := st.Run(); err != nil {
			return 0, err
		}
		for i, p := range v.Params {
			copy(g[:len(p.Start)], st.Output(1+i))
			g = g[len(p.Start):]
		}
		return st.Output(0)[0], nil
	}
	return f, nil
}

// start returns the starting values and the bounds of all parameters.
func (v *Inversion) start() (x, lower, upper []float64) {
	bounded := false
	for _, p := range v.Params {
		x = append(x, p.Start...)
		for range p.Start {
			lo, hi := math.Inf(-1), math.Inf(1)
			if p.Bounds != nil {
				bounded, lo, hi = true, p.Bounds[0], p.Bounds[1]
			}
			lower, upper = append(lower, lo), append(upper, hi)
		}
	}
	if !bounded {
		return x, nil, nil
	}
	return x, lower, upper
}

// Minimize finds the parameters by minimisation, with L-BFGS unless the settings say
// otherwise. A GPU that is lost or out of memory ends it like a cancellation: the best point so far is
// returned with the error.
func (v *Inversion) Minimize(ctx context.Context, s optim.MinimizeSettings) (*optim.Minimum, error) {
	f, err := v.Function()
	if err != nil {
		return nil, err
	}
	w := &faults{Context: ctx}
	gradient := f.Gradient
	f.Gradient = func(g, x []float64) (float64, error) {
		l, err := gradient(g, x)
		return l, w.seen(err)
	}
	m, err := optim.Minimize(w, f, s)
	if fault := w.failed(); fault != nil {
		if err = fault; m != nil {
			m.Status = optim.Interrupted
		}
	}
	return m, err
}
