// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeGuess is the random stream of Guess.
const purposeGuess uint32 = 132

// Numbers of Guess: places that are tried for each parameter that the formula is not linear in, at most, and fits from the best of them.
const (
	placesEach, mostPlaces = 400, 4000
	fitsFrom               = 12
	sameMinimum            = 1e-6 // relative difference of cost
	sameCurve              = 1    // distance of two curves at the rows, in standard deviations of one row, up to which the data do not tell them apart
	hardlyWorse            = 3.84 // rise of chi-square up to which another minimum is told, as chance is 5 % that the better one is the wrong one
	aliasPart              = 0.01 // of a parameter, by which its values at equally good minima differ at least
)

// Guessed says how a start was found.
type Guessed struct {
	Names []string // parameters that had no start
	Fits  int      // fits from different places
	Best  int      // fits that ended at the minimum with the least cost
	Next  float64  // cost of the second best minimum divided by that of the best; NaN without one
	// Aliases are parameters of which the data do not tell values apart: equally good minima have them. The start is the least.
	Aliases []Alias
	// Near are parameters with other magnitudes at minima that fit hardly worse. The start is that of the best.
	Near []Alias
}

// Alias is a parameter with the magnitudes that it has at equally good minima, in ascending order.
type Alias struct {
	Name   string
	Values []float64
}

// Guess gives a start to the parameters of the formula that have none: the minimum with the least cost of fits from many places. Places are
// drawn on the scales of the columns, and parameters in which the formula is linear follow from the others. Data of more than 2000 rows are thinned
// for it. The result does not depend on a seed.
func (p *Problem) Guess(ctx context.Context) (g Guessed, err error) {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return g, fmt.Errorf("expr: field expr: %w", err)
	}
	for _, name := range f.Names() {
		_, column := p.Data[name]
		_, fixed := p.Fixed[name]
		if !column && !fixed && p.Tied[name] == "" && p.Start[name] == nil {
			g.Names = append(g.Names, name)
		}
	}
	if len(g.Names) == 0 {
		return g, nil
	}
	if err := p.misspelt(f, g.Names); err != nil {
		return g, err
	}
	vectors, err := p.vectors(f)
	if err != nil {
		return g, fmt.Errorf("expr: %w", err)
	}
	if p.Start == nil {
		p.Start = map[string]Values{}
	}
	for _, name := range g.Names {
		p.Start[name] = Values{1}
		if b, ok := p.Bounds[name]; ok {
			p.Start[name] = Values{min(max(1, b[0]), b[1])}
		}
	}
	most := mostRows
	if len(vectors) > 0 {
		most *= 10 // so that no label loses its rows
	}
	few := p.thinned(most)
	if few.SigmaX, few.CorrelationXY = nil, nil; few.Implicit {
		return g, fmt.Errorf("expr: an implicit formula needs a start of %s: 0 everywhere would fit any data", strings.Join(g.Names, ", "))
	}
	few.Cov, few.AR1, few.ScaleError, few.OffsetError, few.Priors = nil, "", "", "", nil // a start need not know them
	problem, s, err := few.leastSquares(nil)
	if err == nil {
		problem, err = problem.Reduced(s) // what is tied follows at every place that is tried
	}
	if err != nil {
		return g, fmt.Errorf("expr: %w", err)
	}
	s.Fixed, s.Tied = nil, nil
	var elements []string
	for _, name := range g.Names {
		elements = append(elements, vectors[name].elements(name)...)
	}
	w, err := newGuesser(ctx, few, problem, elements)
	if err != nil {
		return g, err
	}
	p.linear = len(w.linear) == problem.N
	w.suggest(few.componentStarts())
	best, err := w.search(ctx, s, &g)
	if err != nil {
		return g, err
	}
	for _, name := range g.Names {
		p.Start[name] = nil
		for _, e := range vectors[name].elements(name) {
			p.Start[name] = append(p.Start[name], best[slices.Index(problem.Names, e)])
		}
	}
	return g, nil
}

// Misspelt returns an error if a parameter of which nothing is said has probably the name of a column that was meant, or if the formula has no column.
func (p *Problem) Misspelt() error {
	f, err := p.formula()
	if err != nil {
		return fmt.Errorf("expr: %w", err)
	}
	var names []string
	for _, name := range f.Names() {
		_, column := p.Data[name]
		_, fixed := p.Fixed[name]
		_, bounded := p.Bounds[name]
		if !column && !fixed && !bounded && p.Tied[name] == "" && p.Priors[name] == "" && p.Start[name] == nil {
			names = append(names, name)
		}
	}
	return p.misspelt(f, names)
}

// misspelt returns an error if a name that is taken for a parameter is probably that of a column, or if the formula has no column.
func (p *Problem) misspelt(f *formula.Formula, names []string) error {
	var unused []string
	for _, c := range sortedKeys(p.Data) {
		if !slices.Contains(f.Names(), c) && c != p.Sigma && c != p.Y {
			unused = append(unused, c)
		}
	}
	if len(unused) == len(p.Data) || !slices.ContainsFunc(f.Names(), func(n string) bool { _, column := p.Data[n]; return column }) {
		return fmt.Errorf("expr: the formula %q uses none of the columns %s: write it with one of them", p.Expr, strings.Join(sortedKeys(p.Data), ", "))
	}
	for _, n := range names {
		for _, c := range unused {
			if strings.EqualFold(n, c) || len(n) > 3 && spelling.Meant(n, []string{c}) != "" {
				return fmt.Errorf("expr: the formula has %s, which is no column, and does not use the column %s: did you mean it? If %s is a parameter, give it a start", n, c, n)
			}
		}
	}
	return nil
}

// mostRows is how many rows the search looks at.
const mostRows = 2000

// thinned returns the problem with some rows, evenly from all.
func (p *Problem) thinned(most int) *Problem {
	few, n := *p, 0
	few.Data = map[string]Column{}
	for name, c := range p.Data {
		few.Data[name], n = c, c.Len()
	}
	if n > most {
		few.Keep(func(i int) bool { return i*most/n != (i-1)*most/n || i == 0 })
	}
	return &few
}

// guesser tries places.
type guesser struct {
	problem  *optim.Problem
	free     []int // parameters without a start
	linear   []int // of these, those in which the residual is linear
	scales   []float64
	ranges   [][2]float64 // of the columns
	features []float64    // places, widths and frequencies that the data show
	random   tensor.Stream
	known    [][]float64 // places that components suggest
	data     *Problem
	tried    int
	without  []int // in how many of the places that were tried each row has no finite value
	r, j     []float64
}

func newGuesser(ctx context.Context, p *Problem, problem *optim.Problem, names []string) (*guesser, error) {
	w := &guesser{problem: problem, data: p, without: make([]int, problem.M), random: tensor.NewStream(0, purposeGuess, 0), r: make([]float64, problem.M), j: make([]float64, problem.M*problem.N)}
	for _, name := range names {
		w.free = append(w.free, slices.Index(problem.Names, name))
	}
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	columns := [][]float64{y}
	for _, name := range p.Numeric() {
		if name != p.Sigma {
			columns = append(columns, p.Data[name].Values)
		}
	}
	for _, c := range columns {
		lo, hi := slices.Min(c), slices.Max(c)
		w.ranges = append(w.ranges, [2]float64{lo, hi})
		for _, s := range []float64{hi - lo, max(math.Abs(lo), math.Abs(hi))} {
			if s > 0 {
				w.scales = append(w.scales, s, 1/s)
			}
		}
	}
	w.scales = append(w.scales, 1)
	for _, c := range columns[1:] {
		w.features = append(w.features, featuresOf(c, y)...)
	}
	w.findLinear(ctx)
	return w, nil
}

// jacobian returns the columns of the free parameters at a place; nil where they are not finite.
func (w *guesser) jacobian(at []float64) []float64 {
	if w.problem.Residual(w.r, at) != nil || w.problem.Jacobian(w.j, at) != nil || !linalg.AllFinite(w.r) || !linalg.AllFinite(w.j) {
		return nil
	}
	return slices.Clone(w.j)
}

// findLinear finds parameters on none of which the derivatives with respect to any of them depend: all at once, or else one after another.
func (w *guesser) findLinear(ctx context.Context) {
	var able []int
	for _, k := range w.free {
		if _, _, bounded := w.bounds(k); !bounded {
			able = append(able, k)
		}
	}
	before := w.random
	if w.linearIn(able, able) {
		w.linear = able
	}
	w.random = before
	for _, k := range w.free {
		if len(w.linear) == len(able) || ctx.Err() != nil {
			return
		}
		with := append(slices.Clone(w.linear), k)
		if ok := w.linearIn(with, []int{k}); ok && slices.Contains(able, k) {
			w.linear = with
		}
	}
}

// linearIn reports whether the derivatives with respect to parameters stay when these move, at three places where all of those called new change something.
func (w *guesser) linearIn(with, new []int) bool {
	column := func(j []float64, k int) []float64 { return j[k*w.problem.M : (k+1)*w.problem.M] }
	tried := 0
	for range 40 {
		at := w.place(w.free)
		before := w.jacobian(at)
		for _, moved := range with {
			at[moved] = at[moved]*1.7 + 0.3
		}
		after := w.jacobian(at)
		if before == nil || after == nil || slices.ContainsFunc(new, func(k int) bool {
			return linalg.MaxAbs(column(before, k)) == 0 || linalg.MaxAbs(column(after, k)) == 0
		}) {
			continue // where nothing depends on the parameter, such as far from a narrow peak, nothing is learned
		}
		if slices.ContainsFunc(with, func(l int) bool { return !sameColumn(column(before, l), column(after, l)) }) {
			return false
		}
		if tried++; tried == 3 {
			break
		}
	}
	return tried > 0
}

// sameColumn reports whether two columns of derivatives are equal but for rounding.
func sameColumn(a, b []float64) bool {
	scale := linalg.MaxAbs(a) + linalg.MaxAbs(b)
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*scale {
			return false
		}
	}
	return true
}

// bounds returns those of a parameter, and whether it has any.
func (w *guesser) bounds(k int) (lo, hi float64, any bool) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if w.problem.Lower != nil {
		lo, hi = w.problem.Lower[k], w.problem.Upper[k]
	}
	return lo, hi, !math.IsInf(lo, 0) || !math.IsInf(hi, 0)
}

// place draws the given parameters: on a scale of the data, most often, or within the range of a column.
func (w *guesser) place(which []int) []float64 {
	at := slices.Clone(w.problem.Start)
	for _, k := range which {
		lo, hi, _ := w.bounds(k)
		if !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
			at[k] = lo + (hi-lo)*w.random.Float64()
			continue
		}
		var x float64
		switch u := w.random.Float64(); {
		case u < 0.3 && len(w.features) > 0:
			x = w.features[int(w.random.Float64()*float64(len(w.features)))]
			if w.random.Float64() < 0.5 {
				x *= math.Exp2(2*w.random.Float64() - 1)
			}
		case u < 0.7:
			x = w.scales[int(w.random.Float64()*float64(len(w.scales)))] * math.Pow(10, 3*w.random.Float64()-2)
			if w.random.Float64() < 0.25 {
				x = -x
			}
		default:
			r := w.ranges[int(w.random.Float64()*float64(len(w.ranges)))]
			x = r[0] + (r[1]-r[0])*w.random.Float64()
		}
		at[k] = min(max(x, lo), hi)
	}
	return at
}

// featuresOf are numbers that y shows along x: where it is largest and smallest, how wide it is there, where it crosses the middle of its
// range, and the frequencies of which it has most.
func featuresOf(x, y []float64) []float64 {
	if len(x) < 5 || slices.Min(x) == slices.Max(x) {
		return nil
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	at, v := make([]float64, len(x)), make([]float64, len(x))
	for i, k := range order {
		at[i], v[i] = x[k], y[k]
	}
	lo, hi := slices.Min(v), slices.Max(v)
	var out []float64
	for _, end := range []float64{hi, lo} {
		top, half := slices.Index(v, end), (lo+hi)/2
		left, right := top, top
		for left > 0 && (v[left] > half) == (end > half) {
			left--
		}
		for right < len(v)-1 && (v[right] > half) == (end > half) {
			right++
		}
		width := at[right] - at[left]
		out = append(out, at[top], width, width/2, width*width, at[left], at[right])
	}
	return append(out, frequencies(at, v)...)
}

// frequencies are those of the highest peak of the periodogram, in cycles and in radians, and its period.
func frequencies(x, y []float64) []float64 {
	span, mean := x[len(x)-1]-x[0], 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	best, at := 0.0, 0.0
	most := min(len(x), 500)
	for k := 1; k <= most; k++ {
		f := float64(k) / (2 * span)
		var re, im float64
		for i := range x {
			sin, cos := math.Sincos(2 * math.Pi * f * (x[i] - x[0]))
			re, im = re+(y[i]-mean)*cos, im+(y[i]-mean)*sin
		}
		if power := re*re + im*im; power > best {
			best, at = power, f
		}
	}
	if at == 0 {
		return nil
	}
	return []float64{at, 2 * math.Pi * at, 1 / at}
}

// follow moves the linear parameters of a place to the least cost, and returns it.
func (w *guesser) follow(at []float64) float64 {
	m := w.problem.M
	if len(w.linear) > 0 && len(w.linear) <= m {
		j := w.jacobian(at)
		if j == nil {
			w.finite()
			return math.Inf(1)
		}
		a := mat.NewDense(m, len(w.linear), nil)
		for c, k := range w.linear {
			a.SetCol(c, j[k*m:(k+1)*m])
		}
		for c, v := range shortest(a, w.r) {
			at[w.linear[c]] -= v
		}
	}
	if w.problem.Residual(w.r, at) != nil || !w.finite() {
		return math.Inf(1)
	}
	return linalg.Dot(w.r, w.r) / 2
}

// finite reports whether all residuals are, and counts the rows whose are not.
func (w *guesser) finite() bool {
	w.tried++
	ok := true
	for i, v := range w.r {
		if !linalg.Finite(v) {
			w.without[i]++
			ok = false
		}
	}
	return ok
}

// nowhere is the error of a formula that has no finite values for all rows at any place, which names the first row that has none at any.
func (w *guesser) nowhere() error {
	i := slices.Index(w.without, w.tried)
	if i < 0 || w.tried == 0 {
		return fmt.Errorf("expr: no start was found at which the formula has finite values for all rows: give a start")
	}
	return fmt.Errorf("expr: the formula %q has no finite value in %s%s at any of %s: leave the row out, or change the formula", w.data.Expr, w.data.Row(i), w.data.where(i), errtext.Count(w.tried, "start"))
}

// where says what the columns of the formula are in a row, as in ", where x = 3,".
func (p *Problem) where(i int) string {
	f, err := p.formula()
	if err != nil {
		return ""
	}
	var all []string
	for _, name := range f.Names() {
		if c, ok := p.Data[name]; ok && c.Labels == nil && i < len(c.Values) {
			all = append(all, fmt.Sprintf("%s = %.6g", name, c.Values[i]))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", where " + strings.Join(all, " and ") + ","
}

// oneSolution is the condition number up to which a linear problem has one solution for certain.
const oneSolution = 1e12

// shortest solves a linear least-squares problem, by the shortest solution in units of the columns where there are many. It is nil if there is none.
func shortest(a *mat.Dense, r []float64) []float64 {
	m, n := a.Dims()
	b := mat.NewVecDense(m, slices.Clone(r))
	var step mat.VecDense
	var qr mat.QR
	if qr.Factorize(a); qr.Cond() < oneSolution && qr.SolveVecTo(&step, false, b) == nil {
		return step.RawVector().Data
	}
	lengths := make([]float64, n)
	for c := range lengths {
		if lengths[c] = linalg.Norm(mat.Col(nil, c, a)); lengths[c] == 0 {
			lengths[c] = 1
		}
		for i := range m {
			a.Set(i, c, a.At(i, c)/lengths[c])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		return nil
	}
	rank := svd.Rank(1e-12)
	if rank == 0 {
		return nil
	}
	var least mat.VecDense
	svd.SolveVecTo(&least, b, rank)
	out := slices.Clone(least.RawVector().Data)
	for c := range out {
		out[c] /= lengths[c]
	}
	return out
}

// suggest takes places that components suggest for parameters without a start; those without a suggestion are as the problem has them.
func (w *guesser) suggest(starts []map[string]float64) {
	for _, start := range starts {
		at := slices.Clone(w.problem.Start)
		for _, k := range w.free {
			if v, ok := start[w.problem.Names[k]]; ok {
				lo, hi, _ := w.bounds(k)
				at[k] = min(max(v, lo), hi)
			}
		}
		w.known = append(w.known, at)
	}
}

// candidate is a place with its cost.
type candidate struct {
	at   []float64
	cost float64
}

// search returns the best minimum of fits from the best places.
func (w *guesser) search(ctx context.Context, s optim.Settings, g *Guessed) ([]float64, error) {
	var all []candidate
	bent := len(w.free) - len(w.linear)
	for range max(1, min(mostPlaces, placesEach*bent)) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at := w.place(w.free)
		if cost := w.follow(at); !math.IsInf(cost, 0) {
			all = append(all, candidate{at, cost})
		}
	}
	suggested := 0
	for _, at := range w.known {
		if cost := w.follow(at); !math.IsInf(cost, 0) {
			all = append(all, candidate{at, cost})
			suggested++
		}
	}
	known := slices.Clone(all[len(all)-suggested:])
	if len(all) == 0 {
		return nil, w.nowhere()
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.cost, b.cost) })
	from := min(fitsFrom, len(all))
	if bent == 0 {
		from = 1
	}
	var minima []candidate
	best := all[0]
	for i := range from + len(known) {
		// half from the best places, and half spread over the better half of the others, so that another basin has a chance
		k := i
		if i >= from/2 && from > 1 {
			k = from/2 + (i-from/2)*max(1, (len(all)/2-from/2))/max(1, from-from/2)
		}
		own := *w.problem
		own.Start = all[min(k, len(all)-1)].at
		if i >= from {
			own.Start = known[i-from].at
		}
		s.MaxEvaluations = 100 * (w.problem.N + 1)
		r, err := optim.LeastSquares(ctx, &own, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !linalg.AllFinite(r.X) {
			continue
		}
		g.Fits++
		minima = append(minima, candidate{r.X, r.Cost})
		if r.Cost < best.cost {
			best = candidate{r.X, r.Cost}
		}
	}
	g.Next = math.NaN()
	next := math.Inf(1)
	var equal, near []candidate
	for _, m := range minima {
		if w.undistinguished(best, m) {
			equal = append(equal, m)
			continue
		}
		if 2*(m.cost-best.cost) < hardlyWorse*w.variance(best) {
			near = append(near, m)
		}
		next = min(next, m.cost)
	}
	if g.Best = len(equal); g.Best > 0 {
		best = w.simplest(equal)
		g.Aliases, g.Near = w.aliases(best, equal), w.aliases(best, near)
	}
	if !math.IsInf(next, 0) && best.cost > 0 {
		g.Next = next / best.cost
	}
	return best.at, nil
}
