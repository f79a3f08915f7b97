// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package optim_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// covered counts intervals that hold the truth at 68.27 and 95 %.
type covered struct {
	n, failed           int
	covariance, profile [2]int
}

func (c *covered) add(o covered) {
	c.n, c.failed = c.n+o.n, c.failed+o.failed
	for l := range c.covariance {
		c.covariance[l] += o.covariance[l]
		c.profile[l] += o.profile[l]
	}
}

func (c covered) share(counts [2]int) (a, b float64) {
	return 100 * float64(counts[0]) / float64(c.n), 100 * float64(counts[1]) / float64(c.n)
}

var coverLevels = [2]float64{0.682689492137086, 0.95}

// cover fits data at their true parameters and counts. A profile interval holds the truth where the cost with the parameter held there has risen by less than the quantile.
func cover(p *optim.Problem, s optim.Settings, truth []float64) (c covered) {
	p.Start = truth
	r, err := optim.LeastSquares(context.Background(), p, s)
	if err != nil || !r.Status.Converged() {
		return covered{failed: 1}
	}
	sd := r.SD()
	for k, x := range truth {
		held := s
		held.Fixed = map[string]float64{r.Names[k]: x}
		p.Start = r.X
		at, err := optim.LeastSquares(context.Background(), p, held)
		if err != nil {
			c.failed++
			continue
		}
		c.n++
		for l, level := range coverLevels {
			z := distuv.UnitNormal.Quantile(0.5 + level/2)
			if math.Abs(r.X[k]-x) <= z*sd[k] {
				c.covariance[l]++
			}
			if 2*(at.Cost-r.Cost) <= z*z {
				c.profile[l]++
			}
		}
	}
	return c
}

// sets runs count data sets on two goroutines, each with its own maker of problems.
func sets(count int, maker func() func(random *tensor.Stream) covered) (all covered) {
	var lock sync.Mutex
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			one := maker()
			for k := g; k < count; k += 2 {
				random := tensor.NewStream(7, 0, uint32(k))
				c := one(&random)
				lock.Lock()
				all.add(c)
				lock.Unlock()
			}
		}()
	}
	wg.Wait()
	return all
}

// Of 10,000 simulated data sets of each of ten problems of NIST, 68 and 95 % of the intervals by profiles hold the truth within a point; those of the covariance are told beside.
func TestCoverageOfNISTProblems(t *testing.T) {
	var all covered
	references := references(t)
	for _, name := range []string{"Misra1a", "Chwirut2", "DanWood", "BoxBOD", "Rat42", "Rat43", "Eckerle4", "MGH09", "Kirby2", "MGH17"} {
		s := references[name]
		sigma := math.Sqrt(s.RSS / float64(len(s.Y)-len(s.Certified)))
		c := sets(10000, func() func(random *tensor.Stream) covered {
			zero := s.problem(t, make([]float64, len(s.Y)))
			mean := make([]float64, len(s.Y))
			if err := zero.Residual(mean, s.Certified); err != nil {
				t.Fatal(err)
			}
			r := make([]float64, len(mean))
			y := make([]float64, len(mean))
			p := *zero
			p.Residual = func(out, x []float64) error {
				err := zero.Residual(r, x)
				for i := range out {
					out[i] = (r[i] + y[i]) / sigma // zero's residual is 0 - model
				}
				return err
			}
			p.Jacobian = func(j, x []float64) error {
				err := zero.Jacobian(j, x)
				for i := range j {
					j[i] /= sigma
				}
				return err
			}
			p.JVP, p.VJP, p.Second = nil, nil, nil
			plain := optim.Problem{M: p.M, N: p.N, Names: p.Names, Residual: p.Residual, Jacobian: p.Jacobian}
			return func(random *tensor.Stream) covered {
				for i, m := range mean {
					y[i] = -m + sigma*random.Normal()
				}
				return cover(&plain, optim.Settings{}, s.Certified)
			}
		})
		a, b := c.share(c.profile)
		d, e := c.share(c.covariance)
		t.Logf("%-9s %5d intervals: profile %.1f and %.1f %%, covariance %.1f and %.1f %%; %d fits failed", name, c.n, a, b, d, e, c.failed)
		all.add(c)
	}
	a, b := all.share(all.profile)
	d, e := all.share(all.covariance)
	t.Logf("all: profile %.2f and %.2f %%, covariance %.2f and %.2f %% of %d", a, b, d, e, all.n)
	if math.Abs(a-68.27) > 1 || math.Abs(b-95) > 1 {
		t.Errorf("profiles hold %.2f and %.2f %%", a, b)
	}
}

// Intervals hold the truth where x has errors, and where y is correlated.
func TestCoverageOfOtherErrors(t *testing.T) {
	const n = 40
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 8
	}
	truth := []float64{3, 1.5, 0.5}
	curve := func(u float64) float64 { return truth[0]*math.Exp(-u/truth[1]) + truth[2] }
	model := func(xs *ad.Node) (*ad.Node, []*ad.Node) {
		in := inputs("a", "tau", "c")
		return ad.Add(ad.Mul(in[0], ad.Exp(ad.Neg(ad.Div(xs, in[1])))), in[2]), in
	}
	for name, one := range map[string]func(random *tensor.Stream) covered{
		"errors in x": func(random *tensor.Stream) covered {
			u, y := make([]float64, n), make([]float64, n)
			for i := range x {
				u[i], y[i] = x[i]+0.05*random.Normal(), curve(x[i])+0.05*random.Normal()
			}
			xs := ad.Input("x", n)
			f, in := model(xs)
			o, err := optim.FromErrorsInX(optim.ErrorsInX{Responses: []optim.Response{{Model: f, Y: y, Sigma: []float64{0.05}}}, Params: in, Variables: []optim.Variable{{Node: xs, Values: u, Sigma: []float64{0.05}}}})
			if err != nil {
				return covered{failed: 1}
			}
			return cover(o.Problem, optim.Settings{}, truth)
		},
		"correlated y": func(random *tensor.Stream) covered {
			y, cov := make([]float64, n), make([]float64, n*n)
			e := 0.0
			for i := range x {
				if e = 0.7*e + math.Sqrt(1-0.49)*random.Normal(); i == 0 {
					e = random.Normal()
				}
				y[i] = curve(x[i]) + 0.05*e
				for k := range x {
					cov[i*n+k] = 0.0025 * math.Pow(0.7, math.Abs(float64(i-k)))
				}
			}
			f, in := model(ad.Const(x))
			p, err := optim.FromModel(f, in, optim.Observed{Y: y, Cov: cov})
			if err != nil {
				return covered{failed: 1}
			}
			return cover(p, optim.Settings{}, truth)
		},
	} {
		c := sets(10000, func() func(random *tensor.Stream) covered { return one })
		a, b := c.share(c.profile)
		d, e := c.share(c.covariance)
		t.Logf("%-12s %5d intervals: profile %.1f and %.1f %%, covariance %.1f and %.1f %%; %d fits failed", name, c.n, a, b, d, e, c.failed)
		if math.Abs(a-68.27) > 1 || math.Abs(b-95) > 1 {
			t.Errorf("%s: %.1f and %.1f %%", name, a, b)
		}
	}
}

// Of 10,000 simulated data sets of a decay whose background is at its bound of 0, 68 and 95 % of the intervals hold the truth within a point, also those of the background alone; by the usual rise of
// chi-square it would be 84 and 97.5 %.
func TestCoverageAtABound(t *testing.T) {
	const n, count = 40, 10000
	truth := []float64{3, 1.5, 0}
	var inside [2][3]int
	var lock sync.Mutex
	var failed int
	sets(count, func() func(random *tensor.Stream) covered {
		x, mean := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i) / 8
			mean[i] = truth[0] * math.Exp(-x[i]/truth[1])
		}
		y := make([]float64, n)
		const sigma = 0.05
		p := &optim.Problem{M: n, N: 3, Names: []string{"a", "tau", "c"}, Lower: []float64{math.Inf(-1), math.Inf(-1), 0}}
		p.Residual = func(out, b []float64) error {
			for i, u := range x {
				out[i] = (b[0]*math.Exp(-u/b[1]) + b[2] - y[i]) / sigma
			}
			return nil
		}
		p.Jacobian = func(j, b []float64) error {
			for i, u := range x {
				e := math.Exp(-u / b[1])
				j[i], j[n+i], j[2*n+i] = e/sigma, b[0]*u/(b[1]*b[1])*e/sigma, 1/sigma
			}
			return nil
		}
		return func(random *tensor.Stream) covered {
			for i := range y {
				y[i] = mean[i] + sigma*random.Normal()
			}
			p.Start = truth
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
			if err != nil || !r.Status.Converged() {
				return covered{failed: 1}
			}
			for l, level := range coverLevels {
				all, err := optim.Profile(context.Background(), p, r, optim.ProfileSettings{Level: level})
				lock.Lock()
				if err != nil {
					failed++
				}
				for k, iv := range all {
					if iv.Lower <= truth[k] && truth[k] <= iv.Upper {
						inside[l][k]++
					}
				}
				lock.Unlock()
			}
			return covered{n: 1}
		}
	})
	for l, level := range coverLevels {
		sum := 0.0
		for k, name := range []string{"a", "tau", "c"} {
			share := 100 * float64(inside[l][k]) / count
			sum += share / 3
			t.Logf("%s: %.2f %% of %.0f %%", name, share, 100*level)
			if name == "c" && math.Abs(share-100*level) > 1 {
				t.Errorf("%.2f %% of the intervals of the background hold the truth", share)
			}
		}
		if math.Abs(sum-100*level) > 1 {
			t.Errorf("%.2f %% of the intervals of %.0f %% hold the truth", sum, 100*level)
		}
	}
	if failed > count/1000 {
		t.Errorf("%d profiles failed", failed)
	}
}
