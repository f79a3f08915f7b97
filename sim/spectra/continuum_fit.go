package spectra

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// ContinuumFit fits the continuum of spectra for cross-correlation: the exponential of a quadratic spline, which is
// determined by the soft-L1 norm of (continuum - flux)/err, so that lines and outliers count little.
type ContinuumFit struct {
	// Step is the distance of the spline's nodes, as a velocity in km/s: each is 1 + Step/3e5 times the one before.
	Step float64
}

// referenceC is the speed of light in km/s by which the reference spaces nodes.
const referenceC = 3e5

// continuumSteps is the largest number of steps of a fit, and continuumGain the relative gain at which it ends.
const (
	continuumSteps = 100
	continuumGain  = 1e-10
)

// Nodes returns the spline's nodes for wavelengths from lam[0] to its last one.
func (c ContinuumFit) Nodes(lam []float64) ([]float64, error) {
	first, last := lam[0], lam[len(lam)-1]
	q := math.Log1p(c.Step / referenceC)
	n := math.Ceil(math.Log(last/first) / q)
	if !(c.Step > 0) || !(n >= 1) || n > 1e5 {
		return nil, fmt.Errorf("spectra: a continuum with nodes every %g km/s from %g to %g Angstrom: want at least one node and no more than 1e5", c.Step, first, last)
	}
	nodes := make([]float64, max(int(n), 3))
	for i := range nodes {
		nodes[i] = first * math.Exp(float64(i)*q)
	}
	return nodes, nil
}

// Fit returns the continuum at ascending wavelengths lam (Angstrom). Errors are positive; a pixel without
// information has a large one. The result is positive.
func (c ContinuumFit) Fit(lam, flux, err []float64) ([]float64, error) {
	n := len(lam)
	if n < 4 || len(flux) != n || len(err) != n {
		return nil, fmt.Errorf("spectra: a continuum of %d wavelengths, %d fluxes and %d errors: want as many of each, and at least 4", n, len(flux), len(err))
	}
	nodes, e := c.Nodes(lam)
	if e != nil {
		return nil, e
	}
	q, e := NewQuadraticSpline(nodes)
	if e != nil {
		return nil, e
	}
	f := &continuumSearch{flux: flux, err: err, n: len(nodes), first: make([]int, n), b: make([][3]float64, n), model: make([]float64, n)}
	row := make([]float64, len(nodes))
	for k, x := range lam {
		q.row(row, x)
		j := min(max(sort.Search(len(q.knots), func(i int) bool { return q.knots[i] > x })-1, 2), len(nodes)-1)
		f.first[k], f.b[k] = j-2, [3]float64(row[j-2:j+1])
	}
	start, e := f.start(q, lam)
	if e != nil {
		return nil, e
	}
	f.search(start)
	return f.model, nil
}

// continuumSearch is a damped Gauss-Newton search for the coefficients of B-splines.
type continuumSearch struct {
	flux, err []float64
	n         int          // coefficients
	first     []int        // of the three B-splines at each pixel
	b         [][3]float64 // their values
	model     []float64
}

// start returns coefficients of a spline through the logarithms of medians about the nodes.
func (f *continuumSearch) start(q *QuadraticSpline, lam []float64) ([]float64, error) {
	all := slices.Clone(f.flux)
	slices.Sort(all)
	least := 1e-3 * all[len(all)/2]
	if !(least > 0) {
		least = 1e-3 * max(math.Abs(all[0]), math.Abs(all[len(all)-1]))
	}
	if !(least > 0) || math.IsInf(least, 0) {
		return nil, errors.New("spectra: no continuum fits a flux that is 0, or not finite")
	}
	y := mat.NewVecDense(f.n, nil)
	for i := range f.n {
		from, to := 0, len(lam)
		if i > 0 {
			from = sort.SearchFloat64s(lam, (q.nodes[i-1]+q.nodes[i])/2)
		}
		if i < f.n-1 {
			to = sort.SearchFloat64s(lam, (q.nodes[i]+q.nodes[i+1])/2)
		}
		if from >= to {
			from = min(max(from-1, 0), len(lam)-1)
			to = from + 1
		}
		part := slices.Clone(f.flux[from:to])
		slices.Sort(part)
		y.SetVec(i, math.Log(max(part[len(part)/2], least)))
	}
	var c mat.VecDense
	if err := q.fit.SolveVecTo(&c, false, y); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, fmt.Errorf("spectra: the spline through %d nodes: %w", f.n, err)
	}
	return c.RawVector().Data, nil
}

// cost sets the model and returns half of the soft-L1 norm.
func (f *continuumSearch) cost(c []float64) float64 {
	sum := 0.0
	for k := range f.flux {
		b, j := &f.b[k], f.first[k]
		s := b[0]*c[j] + b[1]*c[j+1] + b[2]*c[j+2]
		f.model[k] = math.Exp(min(max(s, -100), 100))
		z := (f.model[k] - f.flux[k]) / f.err[k]
		sum += math.Sqrt(1+z*z) - 1
	}
	return sum
}

// search minimises the norm by Levenberg and Marquardt's method on weights that are renewed in each step.
func (f *continuumSearch) search(c []float64) {
	const half = 2
	g, trial := make([]float64, f.n), make([]float64, f.n)
	h := mat.NewSymBandDense(f.n, min(half, f.n-1), nil)
	raw := h.RawSymBand()
	best, damping := f.cost(c), 1e-3
	for range continuumSteps {
		clear(g)
		clear(raw.Data)
		for k := range f.flux {
			z := (f.model[k] - f.flux[k]) / f.err[k]
			slope := f.model[k] / f.err[k] // of z with respect to the spline
			w := 1 / math.Sqrt(1+z*z)
			u, v := w*z*slope, w*slope*slope
			b, j := &f.b[k], f.first[k]
			for p := range 3 {
				g[j+p] += u * b[p]
				for r := p; r < 3; r++ {
					raw.Data[(j+p)*raw.Stride+r-p] += v * b[p] * b[r]
				}
			}
		}
		gain, ok := 0.0, false
		for range 20 {
			damped := mat.NewSymBandDense(f.n, raw.K, slices.Clone(raw.Data))
			for i := range f.n {
				d := raw.Data[i*raw.Stride]
				damped.SetSymBand(i, i, d+damping*max(d, 1e-12))
			}
			var chol mat.BandCholesky
			var step mat.VecDense
			if chol.Factorize(damped) && chol.SolveVecTo(&step, mat.NewVecDense(f.n, g)) == nil {
				for i := range trial {
					trial[i] = c[i] - step.AtVec(i)
				}
				if now := f.cost(trial); now < best {
					gain, best, ok = best-now, now, true
					copy(c, trial)
					damping = max(damping/10, 1e-12)
					break
				}
			}
			damping = max(damping*10, 1e-6)
		}
		if !ok || gain <= continuumGain*best {
			break
		}
	}
	f.cost(c)
}
