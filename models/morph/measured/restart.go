// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// FitSettings are the settings of FitBest.
type FitSettings struct {
	optim.Settings
	// Restarts is the number of further starts that are fitted whatever the first fit finds. Default: UsualRestarts of them, where the
	// first fit leaves a misfit or lengths of other values promise a second minimum. A negative number stands for none.
	Restarts int
	Seed     uint64 // seed of the starts that are tried
	// Restarting is called before a further start is fitted: number k of at most so many.
	Restarting func(k, of int)
}

// Minimum is where a fit from a further start ended, beside the best one.
type Minimum struct {
	X []float64 // parameters in the order of Names
	// Above is the sum of squares of the residuals and the priors above that of the best fit.
	Above   float64
	Differs string // parameter of the sample that differs most from the best fit's, in its standard deviations
}

const (
	// UsualRestarts is the number of further starts that are fitted where they are needed.
	UsualRestarts = 2
	// fewestTried is the number of starts within the priors and bounds that are compared before a fit of the best of them.
	fewestTried = 24
	// firstEvaluations bounds the first fit until others are tried: it takes tens, or creeps along a bound far from the best minimum.
	firstEvaluations = 100
	// firstSteps are the evaluations from stepped times as many starts as are then fitted.
	firstSteps, stepped = 4, 4
	// trialEvaluations bounds the fit from a further start. One that ends below the best fit goes on.
	trialEvaluations = 15
	// promising is the sum of squares of a start over that of a fit without a misfit up to which it is fitted, too.
	promising = 2.0
	// lowerBy is the fall of the sum of squares from which on another minimum takes the place of a fit, and undecided that up to which the
	// data do not tell two minima apart: normal errors differ by so much once in 900 times.
	lowerBy, undecided = 0.5, 11.0
	// apart is by how many standard deviations of the best fit another minimum differs from it.
	apart = 5.0
)

// factors multiply lengths of a fit, one at a time, in the search for other minima.
var factors = []float64{0.35, 0.45, 0.55, 0.68, 0.82, 1.22, 1.45, 1.75, 2.2, 2.8}

// purposeStart is the random stream of starts.
const purposeStart uint32 = 171

// FitBest is Fit, and goes on from further starts where the first fit may have ended in a wrong minimum: starts at other lengths, and starts
// spread over priors and bounds as a Latin square, are compared by the sum of squares that they have with the best scale, and the lowest are
// fitted. The lowest minimum of all is returned; the others are in Elsewhere, and verdicts tell those that the data do not exclude. Starts
// without a fit cost three evaluations each.
func (t *Task) FitBest(ctx context.Context, s FitSettings) (*Solution, error) {
	t.elsewhere = nil
	if s.Restarts < 0 {
		return t.Fit(ctx, s.Settings)
	}
	first := s.Settings
	first.MaxEvaluations = cmp.Or(first.MaxEvaluations, firstEvaluations)
	best, err := t.Fit(ctx, first)
	if err != nil || best == nil || ctx.Err() != nil {
		return best, err
	}
	r := &restarts{Task: t, of: t, scales: t.scalesOf(best), base: best}
	if err := r.open(); err != nil {
		return best, err
	}
	starts, err := r.starts(ctx, s)
	if err == nil {
		err = r.tryAll(ctx, starts, s)
	}
	if ctx.Err() != nil {
		return best, nil
	}
	if err != nil {
		return best, err
	}
	return r.finish(ctx, s.Settings)
}

// tryAll takes a few steps from all starts, and goes on from those that are lowest then.
func (r *restarts) tryAll(ctx context.Context, starts [][]float64, s FitSettings) error {
	most := cmp.Or(s.Restarts, UsualRestarts)
	var list []*Solution
	for _, x := range starts {
		if ctx.Err() != nil {
			return nil
		}
		e, err := r.try(ctx, x, firstSteps)
		if err != nil {
			return err
		}
		if e != nil {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *Solution) int { return compare(a.cost, b.cost) })
	list = slices.CompactFunc(list, func(a, b *Solution) bool { return math.Abs(a.cost-b.cost) < lowerBy })
	list = list[:min(len(list), most)]
	for k, e := range list {
		if ctx.Err() != nil {
			return nil
		}
		if s.Restarting != nil {
			s.Restarting(k+1, len(list))
		}
		on, err := r.try(ctx, e.X, trialEvaluations)
		if err != nil {
			return err
		}
		if on != nil {
			r.ends = append(r.ends, on)
		}
	}
	return nil
}

// restarts is a search for other minima beside a fit.
type restarts struct {
	*Task
	scales   map[string]float64
	problem  *optim.Problem
	residual []float64
	of       *Task
	base     *Solution   // the first fit
	cost     float64     // its sum of squares, and then that of the best fit
	ends     []*Solution // fits from further starts
}

// scored is a start with its sum of squares.
type scored struct {
	x    []float64
	cost float64
}

// open builds what compares starts with the noise of the first fit.
func (r *restarts) open() (err error) {
	k := *r.Task
	k.mean, k.Params = nil, slices.Clone(r.Params)
	if err = k.prepare(); err != nil {
		return err
	}
	r.Task = &k
	if r.problem, _, err = k.problem(r.scales); err != nil {
		return err
	}
	r.residual = make([]float64, r.problem.M)
	r.cost, err = r.score(r.base.X)
	return err
}

// score returns the sum of squares at x, priors included.
func (r *restarts) score(x []float64) (float64, error) {
	var free []float64
	sum := 0.0
	for i, p := range r.Params {
		if !r.isScale(p.Name) {
			free = append(free, x[i])
		}
		if p.SD > 0 {
			z := (x[i] - p.Mean) / p.SD
			sum += z * z
		}
	}
	if err := r.problem.Residual(r.residual, free); err != nil {
		return 0, err
	}
	if sum += linalg.Dot(r.residual, r.residual); math.IsNaN(sum) {
		return math.Inf(1), nil
	}
	return sum, nil
}

// unlit returns the expectations without the sample's scattering, on which its parameters have no influence; nil if there is no scale to leave
// it out by.
func (r *restarts) unlit(x []float64) ([]float64, error) {
	for i, p := range r.Params {
		if r.bare(p.Name) == "log_scale" {
			x = slices.Clone(x)
			x[i] = noScattering
			return r.meansAt(x)
		}
	}
	return nil, nil
}

// scaled moves the scales of intensities so that the model has as many counts as the data, and returns the sum of squares there. rest are the
// expectations without the sample's scattering.
func (r *restarts) scaled(ctx context.Context, x, rest []float64) (scored, error) {
	if ctx.Err() != nil {
		return scored{}, ctx.Err()
	}
	x = slices.Clone(x)
	for i, p := range r.Params {
		if r.bare(p.Name) != "log_scale" {
			continue
		}
		means, err := r.meansAt(x)
		if err != nil {
			return scored{}, err
		}
		light, counts, k := 0.0, 0.0, 0
		for _, part := range r.single.parts {
			for _, v := range part.values {
				light, counts = light+means[k]-rest[k], counts+v-rest[k]
				k++
			}
		}
		if light > 0 && counts > 0 {
			low, high := p.ends()
			x[i] = min(max(x[i]+math.Log(counts/light), low), high)
		}
		break
	}
	cost, err := r.score(x)
	return scored{x, cost}, err
}

// starts returns those from which a few steps are taken.
func (r *restarts) starts(ctx context.Context, s FitSettings) (list [][]float64, err error) {
	misfit := s.Restarts > 0 || !r.base.Status.Converged()
	if !misfit {
		if misfit, err = r.misfit(); err != nil {
			return nil, err
		}
	}
	most := cmp.Or(s.Restarts, UsualRestarts)
	all, err := r.lengths(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range lowest(all, most) {
		if misfit || a.cost < promising*r.cost {
			list = append(list, a.x)
		}
	}
	if !misfit {
		return list, nil
	}
	if all, err = r.spread(ctx, max(fewestTried, 12*s.Restarts), s.Seed); err != nil {
		return nil, err
	}
	for _, a := range lowest(all, stepped*most-len(list)) {
		list = append(list, a.x)
	}
	return list, nil
}

// lowest returns the n lowest of some starts, in their order.
func lowest(all []scored, n int) []scored {
	slices.SortStableFunc(all, func(a, b scored) int { return compare(a.cost, b.cost) })
	return all[:min(n, len(all))]
}

// misfit reports whether the verdict on the first fit has a flag that another minimum could remove.
func (r *restarts) misfit() (bool, error) {
	v, list, err := r.of.judge(r.base, nil)
	if err != nil {
		return false, err
	}
	r.base.judged = &judged{v, list}
	return slices.ContainsFunc(v.Flags, func(f check.Flag) bool {
		return f.Kind != check.KindUnconverged && f.Kind != check.KindUnknown && f.Kind != kindNoiseless
	}), nil
}

// lengths returns starts at which one length of the sample is another than in the fit, where the sum of squares along it has a minimum.
func (r *restarts) lengths(ctx context.Context) (out []scored, err error) {
	rest, err := r.unlit(r.base.X)
	if err != nil {
		return nil, err
	}
	for _, name := range r.Model.Lengths {
		i := slices.Index(r.Names(), name)
		if i < 0 {
			continue
		}
		low, high := r.Params[i].ends()
		line := []scored{{r.base.X, r.cost}}
		for _, f := range factors {
			x := slices.Clone(r.base.X)
			if x[i] *= f; !(x[i] > low && x[i] < high) {
				continue
			}
			next, err := r.scaled(ctx, x, rest)
			if err != nil {
				return nil, err
			}
			line = append(line, next)
		}
		slices.SortStableFunc(line, func(a, b scored) int { return compare(a.x[i], b.x[i]) })
		for k, a := range line {
			if below := (k == 0 || a.cost < line[k-1].cost) && (k == len(line)-1 || a.cost < line[k+1].cost); below && a.x[i] != r.base.X[i] {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// spread returns n starts of the sample's parameters over their priors and bounds, a Latin square: each nth of the range of each parameter
// has one. The measurement's parameters start where the first fit did.
func (r *restarts) spread(ctx context.Context, n int, seed uint64) (out []scored, err error) {
	random := tensor.NewStream(seed, purposeStart, 0)
	at := make([][]float64, n)
	for k := range at {
		at[k] = r.Task.starts()
	}
	for i := range r.Params {
		p := &r.Params[i]
		if !slices.Contains(r.Model.Morphology, r.bare(p.Name)) {
			continue
		}
		for k, cell := range shuffled(n, &random) {
			at[k][i] = p.quantile((float64(cell)+random.Float64())/float64(n), slices.Contains(r.Model.Lengths, p.Name))
		}
	}
	rest, err := r.unlit(r.Task.starts())
	if err != nil {
		return nil, err
	}
	for _, x := range at {
		next, err := r.scaled(ctx, x, rest)
		if err != nil {
			return nil, err
		}
		out = append(out, next)
	}
	return out, nil
}

// shuffled returns 0 to n-1 in a random order.
func shuffled(n int, random *tensor.Stream) []int {
	out := make([]int, n)
	for i := range out {
		k := min(int(random.Float64()*float64(i+1)), i)
		out[i], out[k] = out[k], i
	}
	return out
}

// quantile is the place within the prior or the bounds of a parameter below which a share u of the starts lies. Without either, lengths are
// a third to three times the start, and others within 50 % of it.
func (p *Param) quantile(u float64, length bool) float64 {
	low, high := p.ends()
	bounded := !math.IsInf(low, 0) && !math.IsInf(high, 0)
	x := p.Start
	switch {
	case p.SD > 0:
		x = p.Mean + 2*p.SD*(2*u-1)
	case bounded && length && low > 0:
		x = low * math.Pow(high/low, u)
	case bounded:
		x = low + (high-low)*u
	case length:
		x *= math.Pow(3, 2*u-1)
	default:
		x += max(math.Abs(x), 1) * 0.5 * (2*u - 1)
	}
	return min(max(x, low), high)
}

// try fits from a start with the noise of the first fit; nil where that leads nowhere.
func (r *restarts) try(ctx context.Context, x []float64, evaluations int) (*Solution, error) {
	k := *r.Task
	k.Params = slices.Clone(r.Params)
	for i := range k.Params {
		k.Params[i].Start = x[i]
	}
	s, err := k.fitAt(ctx, r.problem, optim.Settings{MaxEvaluations: evaluations}, r.scales)
	if err != nil {
		return nil, nil
	}
	r.base.NFev += s.NFev
	s.cost, err = r.score(s.X)
	return s, err
}

// finish goes on from the lowest end if it is below the first fit, and returns the best fit with the other minima.
func (r *restarts) finish(ctx context.Context, s optim.Settings) (*Solution, error) {
	best, nfev := r.base, r.base.NFev
	low, on := -1, []float64(nil)
	if !r.base.Status.Converged() && s.MaxEvaluations == 0 {
		on = r.base.X
	}
	for k, e := range r.ends {
		if e.cost < r.cost-lowerBy && (low < 0 || e.cost < r.ends[low].cost) {
			low = k
		}
	}
	if low >= 0 {
		on = r.ends[low].X
	}
	if on != nil {
		k := *r.Task
		k.mean, k.Params = nil, slices.Clone(r.Params)
		k.StartAt(on)
		next, err := k.Fit(ctx, s)
		if err != nil || ctx.Err() != nil {
			return best, err
		}
		at, err := r.score(next.X)
		if err != nil {
			return best, err
		}
		if low < 0 || at < r.cost-lowerBy {
			next.NFev += nfev
			if best = next; low >= 0 {
				r.ends[low] = r.base
				r.base.cost = r.cost
			}
			r.cost = at
		}
	}
	best.Elsewhere = r.minima(best)
	r.of.elsewhere = best.Elsewhere
	if best != r.base {
		if m := slices.IndexFunc(best.Elsewhere, func(m Minimum) bool { return slices.Equal(m.X, r.base.X) }); m >= 0 {
			best.Warnings = append(best.Warnings, fmt.Sprintf("the fit from the problem's start ended in another minimum, with a sum of squares that is higher by %.3g; another start found this one", best.Elsewhere[m].Above))
		}
	}
	return best, nil
}

// minima returns the other ends that differ from the best fit, each once, the lowest first.
func (r *restarts) minima(best *Solution) (out []Minimum) {
	slices.SortStableFunc(r.ends, func(a, b *Solution) int { return compare(a.cost, b.cost) })
	for _, e := range r.ends {
		m := Minimum{X: e.X, Above: e.cost - r.cost}
		most := apart
		for i, name := range r.Names() {
			by := math.Abs(e.X[i]-best.X[i]) / best.SD[i]
			if slices.Contains(r.Model.Morphology, r.bare(name)) && by > most {
				most, m.Differs = by, name
			}
		}
		same := slices.ContainsFunc(out, func(o Minimum) bool { return math.Abs(o.Above-m.Above) < lowerBy })
		if m.Differs != "" && !same {
			out = append(out, m)
		}
	}
	return out
}

// undecided returns findings about other minima that the data do not exclude.
func (t *Task) undecided(s *Solution) (list []check.Flag) {
	for _, m := range s.Elsewhere {
		if !(m.Above < undecided) || strings.HasSuffix(m.Differs, "_deg") { // a turned sample may have the same patterns
			continue
		}
		k := slices.Index(s.Names, m.Differs)
		list = append(list, check.Flag{Kind: check.KindUnknown, Where: m.Differs, Text: fmt.Sprintf("the data do not tell two minima apart: another fit has %s = %.4g in place of %.4g, with a sum of squares that is higher by only %.2g; standard deviations and draws are those about the lower one", m.Differs, m.X[k], s.X[k], max(0, m.Above)),
			Remedy: fmt.Sprintf("give %s a prior or bounds that leave one of them, or measure longer or at another energy", m.Differs)})
	}
	return list
}
