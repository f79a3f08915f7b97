package ccf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// Settings are those of a search. The zero value is the default.
type Settings struct {
	// MinVel and MaxVel bound the velocity, in km/s. Default -1000 and 1000.
	MinVel, MaxVel float64
	// Step is the step of the velocities that are compared, in km/s. Default 5.
	Step float64
	// Starts is the largest number of starts that are returned for a star. Default 2.
	Starts int
	// Compat takes lags for velocities as the reference does, with pixels too narrow by one part in their
	// number, c = 3e5 km/s and linear interpolation between lags.
	Compat bool
	// Threads is the number of goroutines. Default GOMAXPROCS.
	Threads int
}

// Load reads the templates of some arms from a folder of rvspecfit, those whose continuum was divided out or
// those that keep it.
func Load(dir string, arms []string, continuum bool) ([]*rvspecfit.CCF, error) {
	var list []*rvspecfit.CCF
	for _, arm := range arms {
		c, err := rvspecfit.LoadCCF(dir, arm, continuum)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// Finder finds first guesses. It is safe for concurrent use.
type Finder struct {
	s         Settings
	continuum bool
	arms      map[string]*arm
	names     []string // of the arms
	templates int
	params    [][]float64
	vsini     []float64
	vel       []float64 // grid of velocities
	width     []float64 // range of each parameter
}

// arm is what the correlation with the templates of one arm needs.
type arm struct {
	grid sim.LogGrid
	fit  sim.ContinuumFit
	c    *sim.Correlator
	lags [3]lags // of every pixel at 1, of every other one at 2
}

// lags are those that a search needs.
type lags struct {
	by   int
	from int       // the first, in units of by pixels
	vel  []float64 // velocity of each
}

// Guess is what is found of a star.
type Guess struct {
	// Starts are the best parameters, best first: those of other templates follow if they are about as good.
	Starts []spectra.Start
	// Curve is the sum over the arms of the chi-square of the best template, up to a constant, at Velocities.
	Curve      []float64
	Velocities []float64
	Template   int // number of the best template
	Err        error
}

// New makes a finder from templates of some arms, which must be of the same stars.
func New(templates []*rvspecfit.CCF, s Settings) (*Finder, error) {
	if s.MinVel == 0 && s.MaxVel == 0 {
		s.MinVel, s.MaxVel = -1000, 1000
	}
	if s.Step == 0 {
		s.Step = 5
	}
	if s.Starts == 0 {
		s.Starts = 2
	}
	if s.Threads == 0 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	far := max(math.Abs(s.MinVel), math.Abs(s.MaxVel))
	switch {
	case !(s.MinVel < s.MaxVel) || !(far < sim.SpeedOfLight/2) || !(s.Step > 0) || far/s.Step > 1e6:
		return nil, fmt.Errorf("ccf: velocities from %g to %g km/s in steps of %g: want an ascending range below half of the speed of light, and no more than 1e6 steps", s.MinVel, s.MaxVel, s.Step)
	case s.Starts < 1 || s.Threads < 1:
		return nil, fmt.Errorf("ccf: %d starts and %d threads: want at least 1", s.Starts, s.Threads)
	case len(templates) == 0:
		return nil, errors.New("ccf: no templates")
	}
	f := &Finder{s: s, arms: map[string]*arm{}, continuum: templates[0].Continuum}
	// The reference's grid is symmetric, and passes through 0.
	for i, n := 0, int(far/s.Step); i <= 2*n; i++ {
		f.vel = append(f.vel, -far+2*far*float64(i)/float64(max(2*n, 1)))
	}
	if len(f.vel) < 3 {
		return nil, fmt.Errorf("ccf: steps of %g km/s between %g and %g: want at least two", s.Step, s.MinVel, s.MaxVel)
	}
	first := templates[0]
	shape := first.Params.Shape()
	f.templates = shape[0]
	values := first.Params.Float64s()
	for t := range f.templates {
		f.params = append(f.params, values[t*shape[1]:(t+1)*shape[1]])
	}
	f.vsini = make([]float64, f.templates)
	for t, v := range first.VSini { // none: the templates do not rotate
		f.vsini[t] = max(v, 0)
	}
	f.width = make([]float64, shape[1])
	for k := range f.width {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, p := range f.params {
			lo, hi = min(lo, p[k]), max(hi, p[k])
		}
		if f.width[k] = hi - lo; !(f.width[k] > 0) {
			f.width[k] = 1
		}
	}
	for _, t := range templates {
		if t.Continuum != f.continuum || !slices.Equal(t.Params.Float64s(), values) || !slices.Equal(t.VSini, first.VSini) {
			return nil, fmt.Errorf("ccf: the templates of %s and of %s are not of the same stars and kind: make them anew from one library", t.Setup, first.Setup)
		}
		a, err := f.newArm(t)
		if err != nil {
			return nil, fmt.Errorf("ccf: arm %s: %w", t.Setup, err)
		}
		f.arms[t.Setup] = a
		f.names = append(f.names, t.Setup)
	}
	return f, nil
}

func (f *Finder) newArm(t *rvspecfit.CCF) (*arm, error) {
	if t.Models == nil {
		return nil, errors.New("there are no templates, only their transforms: the file ccfmod_ of the arm is missing")
	}
	if t.Points < 16 || !(t.LogL0 < t.LogL1) || math.IsInf(t.LogL1-t.LogL0, 0) {
		return nil, fmt.Errorf("%d pixels with logarithms of wavelengths from %g to %g: want at least 16 in an ascending range", t.Points, t.LogL0, t.LogL1)
	}
	a := &arm{grid: sim.LogGrid{First: t.LogL0, Last: t.LogL1, N: t.Points}, fit: sim.ContinuumFit{Step: t.Step}}
	rows := make([][]float32, f.templates)
	v := t.Models.Float64s()
	for i := range rows {
		rows[i] = make([]float32, t.Points)
		for k := range rows[i] {
			rows[i][k] = float32(v[i*t.Points+k])
		}
	}
	var err error
	if f.continuum {
		a.c, err = sim.NewCorrelator(t.Points, rows)
	} else {
		a.c, err = sim.NewScaledCorrelator(t.Points, rows)
	}
	if err != nil {
		return nil, err
	}
	for by := 1; by <= 2; by++ {
		l := &a.lags[by]
		l.by = by
		l.from, l.vel = a.grid.Lags(f.vel[0], f.vel[len(f.vel)-1], by, f.s.Compat)
	}
	if n := len(a.lags[1].vel); n+4 > t.Points {
		return nil, fmt.Errorf("velocities up to %g km/s are %d pixels, the templates have %d: give a smaller range", f.vel[len(f.vel)-1], n/2, t.Points)
	}
	return a, nil
}

// observed is a star ready for correlation: what is seen of it in an arm.
type observed struct {
	arm  *arm
	data []*sim.Data
}

// Find makes first guesses of stars. An error of one is in its Guess and ends no other; the error returned is
// that of ctx. Guesses do not depend on the number of threads, or on other stars.
func (f *Finder) Find(ctx context.Context, stars []spectra.Star) ([]Guess, error) {
	out := make([]Guess, len(stars))
	// Stars are compared with a template one after another, while it is in the cache.
	const block = 8
	blocks := (len(stars) + block - 1) / block
	parallel.Do(min(f.s.Threads, max(blocks, 1)), blocks, func(_, b int) {
		lo := b * block
		hi := min(len(stars), lo+block)
		if ctx.Err() == nil {
			f.find(stars[lo:hi], out[lo:hi])
		}
	})
	return out, ctx.Err()
}

// find makes the guesses of a few stars.
func (f *Finder) find(stars []spectra.Star, out []Guess) {
	seen := make([][]observed, len(stars))
	least := make([][]float64, len(stars)) // chi-square of each template at its best velocity
	at := make([][]int, len(stars))        // which velocity that is
	for i := range stars {
		if seen[i], out[i].Err = f.prepare(&stars[i]); out[i].Err == nil {
			least[i], at[i] = make([]float64, f.templates), make([]int, f.templates)
		}
	}
	var w sim.Workspace
	curve := make([]float64, len(f.vel))
	first := func(i, t, by int) {
		f.curve(curve, seen[i], t, by, &w)
		least[i][t] = math.Inf(1)
		for k, v := range curve {
			if v < least[i][t] && f.vel[k] >= f.s.MinVel && f.vel[k] <= f.s.MaxVel {
				least[i][t], at[i][t] = v, k
			}
		}
	}
	by := 2
	if !f.continuum || f.templates <= few {
		by = 1
	}
	for t := range f.templates {
		for i := range stars {
			if out[i].Err == nil {
				first(i, t, by)
			}
		}
	}
	for i := range stars {
		if out[i].Err != nil {
			continue
		}
		order := byValue(least[i])
		if by == 2 {
			for _, t := range order[:few] {
				first(i, t, 1)
			}
		}
		f.choose(&out[i], seen[i], order, least[i], at[i], &w)
	}
}

// few is the number of templates that are compared at every pixel, after all were at every other one.
const few = 32

// byValue returns the order of values.
func byValue(v []float64) []int {
	order := make([]int, len(v))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	return order
}

// curve sets the chi-squares of a template at all velocities.
func (f *Finder) curve(curve []float64, seen []observed, t, by int, w *sim.Workspace) {
	clear(curve)
	for _, o := range seen {
		l := &o.arm.lags[by]
		chi := make([]float64, len(l.vel))
		for _, d := range o.data {
			if f.continuum {
				o.arm.c.Compare(chi, d, t, l.from, by, w)
			} else {
				o.arm.c.Scaled(chi, d, t, l.from, w)
			}
			f.add(curve, l, chi)
		}
	}
}

// add interpolates chi-squares from lags to velocities and adds them.
func (f *Finder) add(curve []float64, l *lags, chi []float64) {
	k := 0
	for i, v := range f.vel {
		for l.vel[k+1] <= v {
			k++
		}
		x := (v - l.vel[k]) / (l.vel[k+1] - l.vel[k])
		if f.s.Compat && l.by == 1 || k == 0 || k+2 >= len(chi) {
			curve[i] += (1-x)*chi[k] + x*chi[k+1]
			continue
		}
		// The cubic through four lags.
		p := chi[k-1 : k+3]
		curve[i] += p[1] + x*(p[2]-p[0]/3-p[1]/2-p[3]/6+x*((p[0]+p[2])/2-p[1]+x*((p[1]-p[2])/2+(p[3]-p[0])/6)))
	}
}

// near is how much worse the next start may be than the best, as a part of what the best one is better than
// no template at all; apart is how far from others it is, in units of the ranges of the parameters.
const near, apart = 0.1, 0.15

// choose fills a guess, given the chi-square of each template and where it is, and their order.
func (f *Finder) choose(g *Guess, seen []observed, order []int, least []float64, at []int, w *sim.Workspace) {
	// Float32 may take one template for another that is as good: the first few are compared in float64.
	if some := order[:min(few, len(order))]; f.continuum {
		slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(least[a], least[b]) })
		f.refine(some[:min(16, len(some))], seen, least, at)
	}
	best := order[0]
	if math.IsInf(least[best], 0) || math.IsNaN(least[best]) {
		g.Err = errors.New("no template can be compared with it at any velocity")
		return
	}
	worst := least[order[len(order)-1]]
	g.Template, g.Velocities, g.Curve = best, slices.Clone(f.vel), make([]float64, len(f.vel))
	var taken []int
	for _, t := range order {
		if len(g.Starts) == f.s.Starts || len(taken) > 0 && least[t]-least[best] > near*(worst-least[best]) {
			break
		}
		if slices.ContainsFunc(taken, func(o int) bool { return f.distance(t, o) < apart }) {
			continue
		}
		taken = append(taken, t)
		curve := make([]float64, len(f.vel))
		f.curve(curve, seen, t, 1, w)
		if t == best {
			copy(g.Curve, curve)
		}
		g.Starts = append(g.Starts, spectra.Start{Vel: parabola(f.vel, curve, at[t]), Vsini: f.vsini[t], Params: slices.Clone(f.params[t])})
	}
}

// distance is the largest difference of the parameters of two templates, in units of their ranges.
func (f *Finder) distance(t, o int) float64 {
	d := 0.0
	for k, w := range f.width {
		d = max(d, math.Abs(f.params[t][k]-f.params[o][k])/w)
	}
	return d
}

// refine computes the least chi-squares of some templates in float64 and sorts them.
func (f *Finder) refine(some []int, seen []observed, least []float64, at []int) {
	exact := &Finder{s: f.s, vel: f.vel}
	for _, t := range some {
		lo, hi := max(at[t]-1, 0), min(at[t]+1, len(f.vel)-1)
		exact.vel = f.vel[lo : hi+1]
		curve := make([]float64, len(exact.vel))
		for _, o := range seen {
			l := &o.arm.lags[1]
			chi := make([]float64, len(l.vel))
			for k := range chi { // those that the interpolation uses
				if pixel := l.vel[1] - l.vel[0]; l.vel[k] > exact.vel[0]-3*pixel && l.vel[k] < exact.vel[len(exact.vel)-1]+3*pixel {
					for _, d := range o.data {
						chi[k] += o.arm.c.At(d, t, l.from+k)
					}
				}
			}
			exact.add(curve, l, chi)
		}
		least[t] = math.Inf(1)
		for k, v := range curve {
			if v < least[t] && exact.vel[k] >= f.s.MinVel && exact.vel[k] <= f.s.MaxVel {
				least[t], at[t] = v, lo+k
			}
		}
	}
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Or(cmp.Compare(least[a], least[b]), a-b) })
}

// parabola returns where the parabola through the points about k is least; x[k] at an end.
func parabola(x, y []float64, k int) float64 {
	if k == 0 || k == len(x)-1 {
		return x[k]
	}
	a, b := (y[k]-y[k-1])/(x[k]-x[k-1]), (y[k+1]-y[k])/(x[k+1]-x[k])
	c := (b - a) / (x[k+1] - x[k-1])
	if !(c > 0) {
		return x[k]
	}
	return min(max((x[k-1]+x[k])/2-a/(2*c), x[k-1]), x[k+1])
}

// prepare brings the spectra of a star to the grids of the templates. All exposures of an arm count.
func (f *Finder) prepare(star *spectra.Star) ([]observed, error) {
	var out []observed
	for _, name := range f.names {
		a := f.arms[name]
		var flux, ivar [][]float64
		for i := range star.Spectra {
			s := &star.Spectra[i]
			if s.Arm != name {
				continue
			}
			x, iv, err := f.normalised(a, s)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", star.Name, name, err)
			}
			if x != nil {
				flux, ivar = append(flux, x), append(ivar, iv)
			}
		}
		if len(flux) == 0 {
			continue
		}
		o := observed{arm: a}
		if f.continuum {
			o.data = []*sim.Data{a.c.NewData(flux, ivar)}
		} else {
			for e := range flux { // each has a factor of its own
				o.data = append(o.data, a.c.NewData(flux[e:e+1], ivar[e:e+1]))
			}
		}
		out = append(out, o)
	}
	for i := range star.Spectra {
		if name := star.Spectra[i].Arm; f.arms[name] == nil {
			return nil, fmt.Errorf("%s: there are no templates of arm %s for cross-correlation, only of %v", star.Name, name, f.names)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no pixel of its spectra can be used", star.Name)
	}
	return out, nil
}

// normalised returns a spectrum, divided by its continuum, with its inverse variances on the grid of the
// templates; nil if no pixel can be used.
func (f *Finder) normalised(a *arm, s *spectra.Spectrum) (flux, ivar []float64, err error) {
	n := len(s.Lam)
	if n < 4 || len(s.Flux) != n || len(s.Err) != n || s.Bad != nil && len(s.Bad) != n {
		return nil, nil, fmt.Errorf("%d wavelengths, %d fluxes, %d errors, %d marks of bad pixels: want as many of each, and at least 4", n, len(s.Flux), len(s.Err), len(s.Bad))
	}
	for i, x := range s.Lam {
		if !(x > 0) || math.IsInf(x, 0) || i > 0 && x <= s.Lam[i-1] {
			return nil, nil, fmt.Errorf("wavelength %d is %g Angstrom: want them positive and ascending", i, x)
		}
	}
	mark, good := f.marks(s)
	if good < 4 {
		return nil, nil, nil
	}
	clean := survey.Bridge(s.Flux, mark)
	level := median(clean)
	flux, ivar = slices.Clone(clean), make([]float64, n)
	if f.continuum {
		weight := slices.Clone(s.Err)
		for i, m := range mark {
			if m {
				weight[i] = 1e9 * max(math.Abs(level), s.Err[nearestGood(mark, i)])
			}
		}
		cont, err := a.fit.Fit(s.Lam, clean, weight)
		if err != nil {
			return nil, nil, err
		}
		for i, c := range cont {
			if level > 0 {
				c = max(c, 1e-2*level)
			}
			flux[i] /= c
			ivar[i] = c * c
		}
	} else {
		for i := range ivar {
			ivar[i] = 1
		}
	}
	for i, m := range mark {
		if m {
			flux[i], ivar[i] = 0, 0
		} else {
			ivar[i] /= s.Err[i] * s.Err[i]
		}
	}
	flux, ivar = a.grid.Resample(s.Lam, flux, ivar)
	return flux, ivar, nil
}

// nearestGood returns a pixel that is not marked; there is one.
func nearestGood(mark []bool, i int) int {
	for d := 1; ; d++ {
		if i-d >= 0 && !mark[i-d] {
			return i - d
		}
		if i+d < len(mark) && !mark[i+d] {
			return i + d
		}
	}
}

// medianWindow is the number of pixels whose median must be above 0 for the one in the middle to count.
const medianWindow = 11

// marks returns which pixels do not count, and how many do.
func (f *Finder) marks(s *spectra.Spectrum) (mark []bool, good int) {
	mark = make([]bool, len(s.Lam))
	var errs []float64
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	flux := slices.Clone(s.Flux)
	for i, e := range s.Err {
		mark[i] = s.Bad != nil && s.Bad[i] || !finite(s.Flux[i]) || !(e > 0) || !finite(e)
		if finite(e) {
			errs = append(errs, e)
		}
		if !finite(flux[i]) {
			flux[i] = 0
		}
	}
	largest := 10 * median(errs)
	smooth := sim.MedianFilter(flux, medianWindow)
	for i := range mark {
		if mark[i] = mark[i] || s.Err[i] > largest || smooth[i] <= 0; !mark[i] {
			good++
		}
	}
	return mark, good
}

// median returns the median; NaN of nothing.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	v := slices.Clone(x)
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
