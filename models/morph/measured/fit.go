// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// Param is a parameter to be found.
type Param struct {
	Name   string
	Start  float64
	Bounds []float64 // lowest and highest value; nil for none
	// Mean and SD are those of a Gaussian prior; an SD of 0 stands for none.
	Mean, SD float64
	// Prior is a prior of another kind, within the bounds; nil for none.
	Prior *dist.Dist

	given bool // whether the start was said, and not guessed
}

// Task is a fit of a model to its data.
type Task struct {
	Model  *Model
	Params []Param
	// Fixed holds the values of parameters that are not searched for.
	Fixed map[string]float64
	// Backend runs the graph. Default: all processors.
	Backend ad.Backend
	// Read says in one line per file what was read, with notes on what was assumed; Open fills it in.
	Read []string

	// More are the models of further measurements of the same sample, on detectors of their own.
	More []*Model

	bin            int                 // pixels along each side that the files' are added up by
	in, free       []*ad.Node          // of all parameters, and of those that are no scale of a noise
	nodes          map[string]*ad.Node // by the names of parameters
	rates          *ad.Node            // of all sights of all models
	scatter        *ad.Node            // variances of contrasts by counting, in the places of the rates
	relative       [][]float64         // of the parts of the single numbers; nil for equal widths
	single, joined selection           // the numbers one by one, and with the counts of one expectation added up
	mean           *ad.Node            // expectations of the numbers one by one
	means          *ad.State           // of them; nil until it is needed
	elsewhere      []Minimum           // other minima that FitBest found
	cuts           []cut               // coordinates of parameters near bounds, in the order of Params; nil for the usual ones
}

// models returns the models of all measurements.
func (t *Task) models() []*Model { return append([]*Model{t.Model}, t.More...) }

// Solution is the result of a fit.
type Solution struct {
	Names []string
	X, SD []float64 // the estimates, and standard deviations from the Fisher information and the priors
	Cov   []float64 // covariance of the estimates, row-major
	// Information is the Fisher information of the data without the priors, row-major.
	Information []float64
	// Deviance is twice the log likelihood ratio of the data and the model, and Pearson the sum of squared residuals over their expected
	// variances; Pixels is the number of numbers of all frames that were compared, pixels or bins.
	Deviance, Pearson float64
	Pixels            int
	NFev              int
	Status            optim.Status
	Warnings          []string
	Elsewhere         []Minimum // other minima that FitBest found, the lowest first

	cost   float64 // sum of the squared residuals of the joined numbers and the priors
	judged *judged // what was found at it already; nil for nothing

	columns map[int][]float64 // differences of the joined numbers that stand for derivatives, by parameter
}

// start returns the value at which a parameter starts, or at which it is held.
func (t *Task) start(name string) (float64, bool) {
	for _, p := range t.Params {
		if p.Name == name {
			return p.Start, true
		}
	}
	x, ok := t.Fixed[name]
	return x, ok
}

// prepare builds the graph of the expectations.
func (t *Task) prepare() error {
	if t.mean != nil {
		return nil
	}
	if len(t.Params) == 0 {
		return errors.New("measured: there are no parameters to search for: give at least one")
	}
	nodes := map[string]*ad.Node{}
	var in []*ad.Node
	for _, p := range t.Params {
		if nodes[p.Name] != nil {
			return fmt.Errorf("measured: the parameter %q is there twice", p.Name)
		}
		x := ad.Input(p.Name)
		nodes[p.Name], in = x, append(in, x)
	}
	for name, x := range t.Fixed {
		if nodes[name] == nil {
			nodes[name] = ad.Scalar(x)
		}
	}
	rates, err := t.build(nodes)
	if err != nil {
		return err
	}
	t.in, t.nodes, t.rates, t.means = in, nodes, rates, nil
	t.free = nil
	for i, p := range t.Params {
		if !t.isScale(p.Name) {
			t.free = append(t.free, in[i])
		}
	}
	var all []*ad.Node
	for _, p := range t.single.parts {
		all = append(all, p.expected(rates))
	}
	t.mean = ad.Concat(0, all...)
	return t.mean.Err()
}

// build returns the rates of all sights over nodes by the names of the parameters, and selects the numbers that are compared.
func (t *Task) build(nodes map[string]*ad.Node) (*ad.Node, error) {
	places := 0
	t.single, places = selected(t.models())
	t.joined = t.single.joined(places)
	for _, p := range slices.Concat(t.single.parts, t.joined.parts) {
		p.pedestal = nodes["pedestal"]
	}
	if t.single.size() == 0 {
		return nil, fmt.Errorf("measured: no pixel is left to compare (%v left out): widen the mask", t.single.left)
	}
	t.restoreWidths()
	var all, scatter []*ad.Node
	for _, m := range t.models() {
		rates, variances, err := m.sightRates(func(name string) *ad.Node { return nodes[name] }, t.start)
		if err != nil {
			return nil, err
		}
		all, scatter = append(all, rates), append(scatter, variances)
	}
	rates := ad.Concat(0, all...)
	t.scatter = ad.Concat(0, scatter...)
	return rates, rates.Err()
}

// isScale reports whether a parameter is the scale of a noise.
func (t *Task) isScale(name string) bool {
	return slices.ContainsFunc(t.single.parts, func(p *part) bool { return p.noise.scale != "" && p.scaleName(t.models()) == name })
}

// residuals returns the residuals of some parts with scales by name.
func (t *Task) residuals(parts []*part, scale func(name string) *ad.Node) *ad.Node {
	var all []*ad.Node
	for _, p := range parts {
		var s *ad.Node
		if name := p.scaleName(t.models()); name != "" {
			s = scale(name)
		}
		all = append(all, p.noise.residual(p, p.expected(t.rates), s))
	}
	return ad.Concat(0, all...)
}

// Means returns the expected counts of the compared pixels at the starting values.
func (t *Task) Means() ([]float64, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	var x []float64
	for _, p := range t.Params {
		x = append(x, p.Start)
	}
	return t.meansAt(x)
}

// leastCounts keeps the mean of counts above 0. It is too small to matter for any mean that could produce a count.
const leastCounts = 1e-9

// Fit maximises the likelihood of the data times the priors. Standard deviations are those of the Fisher information at the maximum.
// Scales of noise that are searched for are found in turns with the other parameters.
func (t *Task) Fit(ctx context.Context, s optim.Settings) (*Solution, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	if err := t.dark(); err != nil {
		return nil, err
	}
	scales := t.scales()
	problem, set, err := t.problem(scales)
	if err != nil {
		return nil, err
	}
	out, err := t.fitAt(ctx, problem, s, scales)
	for round := 0; round < mostRounds && out != nil && err == nil && ctx.Err() == nil; round++ {
		turned, fail := t.unequal(out, scales)
		if fail != nil {
			return out, fail
		}
		moved, fail := t.rescale(out, scales)
		if fail != nil {
			return out, fail
		}
		if max(moved, turned) < 0.01 {
			break
		}
		nfev := out.NFev
		t.startFrom(out)
		if turned > 0 { // widths are constants of the graph
			problem, set, err = t.problem(scales)
		} else {
			err = set()
		}
		if err != nil {
			return out, err
		}
		if out, err = t.fitAt(ctx, problem, s, scales); out != nil {
			out.NFev += nfev
		}
	}
	if out == nil {
		return nil, err
	}
	if fail := t.complete(out, scales); fail != nil && err == nil {
		err = fail
	}
	return out, err
}

// DarkError says that all of N numbers that are compared are 0.
type DarkError struct{ N int }

func (e *DarkError) Error() string {
	return fmt.Sprintf("measured: all %d numbers that are compared are 0: look at the data, and copy them again with all their files and chunks", e.N)
}

// dark returns an error if all numbers that are compared are 0.
func (t *Task) dark() error {
	if slices.ContainsFunc(t.single.parts, func(p *part) bool { return slices.ContainsFunc(p.values, func(x float64) bool { return x != 0 }) }) {
		return nil
	}
	return &DarkError{t.single.size()}
}

// usualPatience is how many evaluations, beside one for each parameter, may pass without a gain: a fit follows what the data do not determine
// for hundreds, and one that a region of the wrong size holds up finds it within ten.
const usualPatience = 10

// mostRounds bounds how often the scales of noise are found anew.
const mostRounds = 12

// startFrom moves the starts to a solution without building the graph anew.
func (t *Task) startFrom(s *Solution) {
	for i := range t.Params {
		if k := slices.Index(s.Names, t.Params[i].Name); k >= 0 {
			t.Params[i].Start = s.X[k]
		}
	}
}

// problem returns the least-squares problem of all parameters but the scales, and what takes over scales that have changed.
func (t *Task) problem(scales map[string]float64) (*optim.Problem, func() error, error) {
	var data []optim.Data
	nodes := map[string]*ad.Node{}
	names := slices.Sorted(maps.Keys(scales))
	for _, name := range names {
		nodes[name] = ad.Input("scale " + name)
		data = append(data, optim.Data{Node: nodes[name], Values: []float64{scales[name]}})
	}
	p, err := optim.FromGraphOn(t.backend(), t.withPriors(t.residuals(t.joined.parts, func(name string) *ad.Node { return nodes[name] })), t.free, data...)
	return p, func() error {
		var values [][]float64
		for _, name := range names {
			values = append(values, []float64{scales[name]})
		}
		return p.SetData(values...)
	}, err
}

// fitAt fits all parameters but the scales.
func (t *Task) fitAt(ctx context.Context, p *optim.Problem, s optim.Settings, scales map[string]float64) (*Solution, error) {
	p.Start, p.Lower, p.Upper = nil, nil, nil
	s.Priors = slices.Clone(s.Priors)
	for _, q := range t.Params {
		if t.isScale(q.Name) {
			continue
		}
		low, high := q.ends()
		p.Start, p.Lower, p.Upper = append(p.Start, q.Start), append(p.Lower, low), append(p.Upper, high)
		if q.SD > 0 {
			s.Priors = append(s.Priors, optim.Gaussian(q.Name, q.Mean, q.SD))
		}
	}
	s.NoPolish = true // what follows is far below the errors
	if s.FTol == 0 {
		s.FTol = 1e-3 / float64(max(1, t.joined.size()))
	}
	if s.Patience == 0 {
		s.Patience = usualPatience + len(p.Start)
	}
	r, err := optim.LeastSquares(ctx, p, s)
	if r == nil {
		return nil, err
	}
	out := &Solution{NFev: r.NFev, Status: r.Status, Warnings: r.Warnings, Pixels: t.single.size(), cost: 2 * r.Cost}
	for _, q := range t.Params {
		out.Names = append(out.Names, q.Name)
		if k := slices.Index(r.Names, q.Name); k >= 0 {
			out.X = append(out.X, r.X[k])
		} else {
			out.X = append(out.X, scales[q.Name])
		}
	}
	return out, err
}

// backend is what runs the graphs of fits.
func (t *Task) backend() ad.Backend {
	if t.Backend == nil {
		return ad.CPU{}
	}
	return t.Backend
}

// evaluate returns the values of nodes over the parameters at x.
func (t *Task) evaluate(x []float64, nodes ...*ad.Node) ([][]float64, error) {
	program, err := ad.Compile(nodes, ad.Settings{Inputs: t.in, Backend: t.Backend})
	if err != nil {
		return nil, err
	}
	state := program.NewState()
	for i, v := range x {
		state.Input(i)[0] = v
	}
	if err := state.Run(); err != nil {
		return nil, err
	}
	out := make([][]float64, len(nodes))
	for i := range nodes {
		out[i] = slices.Clone(state.Output(i))
	}
	return out, nil
}

// meansAt returns the expectations of the numbers one by one.
func (t *Task) meansAt(x []float64) ([]float64, error) {
	if t.means == nil {
		program, err := ad.Compile([]*ad.Node{t.mean}, ad.Settings{Inputs: t.in, Backend: t.Backend})
		if err != nil {
			return nil, err
		}
		t.means = program.NewState()
	}
	for i, v := range x {
		t.means.Input(i)[0] = v
	}
	if err := t.means.Run(); err != nil {
		return nil, err
	}
	return slices.Clone(t.means.Output(0)), nil
}

// complete fills in what follows from the estimates: the sums of squares, and the covariance, which is the inverse of the Fisher information
// and that of the priors.
func (t *Task) complete(s *Solution, scales map[string]float64) error {
	values, err := t.evaluate(s.X, t.mean, t.residuals(t.single.parts, func(name string) *ad.Node { return ad.Scalar(scales[name]) }))
	if err != nil {
		return err
	}
	s.Deviance, s.Pearson = 0, 0
	for _, v := range values[1] {
		s.Deviance += v * v
	}
	k := 0
	for _, p := range t.single.parts {
		scale := t.scaleAt(p, scales)
		for i, v := range p.values {
			m := values[0][k+i]
			s.Pearson += (v - m) * (v - m) / p.noise.variance(p, i, m, scale)
		}
		k += len(p.values)
	}
	at, err := t.sensitivity(s.X, scales, len(t.Params))
	if err != nil {
		return err
	}
	if err := t.covariance(s, at, scales); err != nil {
		return err
	}
	s.Warnings = append(s.Warnings, t.cutEnvelope(s.X)...)
	return t.beyondFlat(s, scales)
}

// information returns the Fisher information of the data at x: J^T diag(1/variance) J.
func (t *Task) information(x []float64, scales map[string]float64) ([]float64, error) {
	n := len(t.Params)
	out := make([]float64, n*n)
	s, err := t.sensitivity(x, scales, len(t.Params))
	if err != nil {
		return nil, err
	}
	s.information(out, func(int) bool { return true })
	return out, t.scaleInformation(out, x, scales)
}

// sensitivity is how the expectations of the numbers depend on the parameters.
type sensitivity struct {
	n, m     int       // of all parameters, and of numbers
	index    []int     // the parameters that are no scales
	mean, j  []float64 // expectations, and their derivatives by parameter in the order of index
	weight   []float64 // 1/variance of each number
	residual []float64 // numbers less expectations
	place    []int
}

// fewestAtOnce is the number of columns of a Jacobian that one graph computes at least.
const fewestAtOnce = 8

// jacobian returns the values of a vector at x, and its derivatives by the parameters with an index, one after another. Graphs have as many
// of the derivatives as most says: they share what few parameters change, such as the amplitudes of particles, and take memory for each.
func (t *Task) jacobian(of *ad.Node, index []int, x []float64, most int) (values, j []float64, err error) {
	for group := range slices.Chunk(index, max(most, fewestAtOnce)) {
		var params []*ad.Node
		var data []optim.Data
		var at []float64
		for i, n := range t.in {
			if slices.Contains(group, i) {
				params, at = append(params, n), append(at, x[i])
			} else {
				data = append(data, optim.Data{Node: n, Values: x[i : i+1]})
			}
		}
		p, err := optim.FromGraphOn(t.backend(), of, params, data...)
		if err != nil {
			return nil, nil, err
		}
		if values == nil {
			values = make([]float64, p.M)
			if err := p.Residual(values, at); err != nil {
				return nil, nil, err
			}
		}
		from := len(j)
		j = append(j, make([]float64, p.M*p.N)...)
		if err := p.Jacobian(j[from:], at); err != nil {
			return nil, nil, err
		}
	}
	return values, j, nil
}

// sensitivity computes the derivatives of the joined numbers at x, in graphs of so many of them at most.
func (t *Task) sensitivity(x []float64, scales map[string]float64, most int) (*sensitivity, error) {
	s := &sensitivity{n: len(t.Params)}
	var means []*ad.Node
	for i, p := range t.Params {
		if !t.isScale(p.Name) {
			s.index = append(s.index, i)
		}
	}
	for _, p := range t.joined.parts {
		means = append(means, p.expected(t.rates))
	}
	if len(s.index) == 0 {
		return s, nil
	}
	var err error
	if s.mean, s.j, err = t.jacobian(ad.Concat(0, means...), s.index, x, most); err != nil {
		return nil, err
	}
	s.m = len(s.mean)
	for _, q := range t.joined.parts {
		scale := t.scaleAt(q, scales)
		for i, v := range q.values {
			k := len(s.weight)
			s.weight = append(s.weight, 1/q.noise.variance(q, i, s.mean[k], scale))
			s.residual, s.place = append(s.residual, v-s.mean[k]), append(s.place, q.place[i])
		}
	}
	return s, nil
}

// information adds J^T W J of some of the numbers to a matrix of all parameters.
func (s *sensitivity) information(out []float64, of func(number int) bool) {
	weight := slices.Clone(s.weight)
	for i := range weight {
		if !of(i) {
			weight[i] = 0
		}
	}
	row := make([]float64, s.m)
	for a, ia := range s.index {
		for i, w := range weight {
			row[i] = w * s.j[a*s.m+i]
		}
		for b, ib := range s.index[:a+1] {
			v := linalg.Dot(row, s.j[b*s.m:(b+1)*s.m])
			out[ia*s.n+ib] += v
			if ia != ib {
				out[ib*s.n+ia] += v
			}
		}
	}
}

func filled(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}
