package infer

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// purposeWarmStart is the random stream of WarmStart.
const purposeWarmStart uint32 = 101

// WarmStart returns one unconstrained start per chain around a point fit, for
// Config.Init: values are constrained, by name; cov is their covariance in the
// order of names (one number each). Chains start at theta + L u with u of
// Student's law of 4 degrees of freedom and L L^T twice the covariance, so that
// they are spread wider than the posterior and R-hat keeps its meaning.
//
// Values on a bound are moved inside by 1e-8 of the width; variances that are
// not finite count as (a tenth of the value)^2. Starts whose density is not
// finite are drawn again, nearer.
func (p *Posterior) WarmStart(names []string, values, cov []float64, chains int, seed uint64) ([][]float64, error) {
	byName := map[string][]float64{}
	for i, n := range names {
		byName[n] = values[i : i+1]
	}
	centre, err := p.Unconstrain(byName, 1e-8)
	if err != nil {
		return nil, err
	}
	if len(centre) != len(names) {
		return nil, fmt.Errorf("infer: a warm start needs scalar parameters: %d values for %d", len(names), len(centre))
	}
	l := p.spread(names, values, cov, centre, byName)
	target := p.Clone().(*Posterior)
	g := make([]float64, p.dim)
	out := make([][]float64, chains)
	for c := range out {
		src := tensor.NewStream(seed, purposeWarmStart, uint32(c))
		out[c] = make([]float64, p.dim)
		for try := 0; ; try++ {
			jitter(&src, l, centre, out[c], math.Pow(0.7, float64(try)))
			lp, err := target.LogProbGrad(out[c], g)
			if err == nil && finite(lp) && allFinite(g) {
				break
			}
			if try == 100 {
				return nil, fmt.Errorf("infer: no finite start near the fit for chain %d: %s", c, target.Explain(out[c]))
			}
		}
	}
	return out, nil
}

// spread returns the Cholesky factor of twice the covariance in unconstrained
// space: the delta method with derivatives by differences.
func (p *Posterior) spread(names []string, values, cov, centre []float64, byName map[string][]float64) []float64 {
	n := len(names)
	slope := make([]float64, n)
	place := map[string]int{}
	for i, m := range p.model.params {
		place[m.name] = i
	}
	for i, name := range names {
		sd := math.Sqrt(cov[i*n+i])
		h := 1e-4 * max(math.Abs(values[i]), 1e-8)
		if sd > 0 && finite(sd) {
			h = 1e-2 * sd
		}
		at := func(v float64) float64 {
			byName[name] = []float64{v}
			defer func() { byName[name] = values[i : i+1] }()
			q, err := p.Unconstrain(byName, 1e-8)
			if err != nil {
				return centre[place[name]]
			}
			return q[place[name]]
		}
		slope[place[name]] = (at(values[i]+h) - at(values[i]-h)) / (2 * h)
	}
	a := make([]float64, n*n)
	for i, ni := range names {
		for j, nj := range names {
			v := cov[i*n+j]
			if !finite(v) || !finite(cov[i*n+i]) || !finite(cov[j*n+j]) || cov[i*n+i] == 0 || cov[j*n+j] == 0 {
				if v = 0; i == j {
					v = 1e-2*values[i]*values[i] + 1e-12
				}
			}
			pi, pj := place[ni], place[nj]
			a[pi*n+pj] = 2 * v * slope[pi] * slope[pj]
		}
	}
	return choleskyOrDiagonal(a, n)
}

// choleskyOrDiagonal falls back to the diagonal where a is not positive definite.
func choleskyOrDiagonal(a []float64, n int) []float64 {
	l := make([]float64, n*n)
	for i := range n {
		for j := 0; j <= i; j++ {
			s := a[i*n+j]
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			switch {
			case i != j:
				l[i*n+j] = s / l[j*n+j]
			case s > 1e-12*a[i*n+i]:
				l[i*n+i] = math.Sqrt(s)
			default:
				clear(l)
				for d := range n {
					l[d*n+d] = math.Sqrt(max(a[d*n+d], 1e-12))
				}
				return l
			}
		}
	}
	return l
}

// jitter sets q = centre + scale L u, u ~ t_4, at most 3 in each coordinate.
func jitter(src *tensor.Stream, l, centre, q []float64, scale float64) {
	n := len(q)
	u := make([]float64, n)
	for i := range u {
		chi := 0.0
		for range 4 {
			z := src.Normal()
			chi += z * z
		}
		u[i] = src.Normal() / math.Sqrt(chi/4)
	}
	for i := range q {
		s := 0.0
		for j := 0; j <= i; j++ {
			s += l[i*n+j] * u[j]
		}
		q[i] = centre[i] + min(max(scale*s, -3), 3)
	}
}
