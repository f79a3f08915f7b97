// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Degrees are synapse counts: neuron i has Count[i] synapses from K firing neurons.
type Degrees struct {
	Count []int
	K     int // number of possible synapses of each neuron
}

// Beta returns the exact posterior of the probability p of a synapse, Beta(alpha,
// beta), after the prior Beta(1, 1).
func (d Degrees) Beta() (alpha, beta float64, err error) {
	if err := counts("count", d.Count, d.K); err != nil {
		return 0, 0, err
	}
	sum := d.sum()
	return 1 + float64(sum), 1 + float64(len(d.Count)*d.K-sum), nil
}

func (d Degrees) sum() (n int) {
	for _, c := range d.Count {
		n += c
	}
	return n
}

// Model returns the model of the degrees:
//
//	p ~ Beta(1, 1),  degree_i ~ Binomial(K, p)
//
// The sum of the degrees is sufficient for p, but not for checking the model: each degree is
// observed separately, so that degrees which scatter more than binomial ones are noticed.
func (d Degrees) Model() (*infer.Model, error) {
	if err := counts("count", d.Count, d.K); err != nil {
		return nil, err
	}
	m := infer.NewModel("connection probability")
	p := m.Param("p", dist.Beta(1, 1))
	m.Observe("degree", dist.Binomial(float64(d.K), p), floats(d.Count))
	return m, nil
}

// Strengths are weights of synapses after plasticity.
type Strengths struct {
	Weight []float64 // weight of each observation, summed over its synapses
	Count  []int     // number of synapses in each sum; 1 for a single synapse
	Times  []int     // number of times that each was strengthened
}

// Model returns the distribution of the weights:
//
//	beta ~ HalfNormal(0.2),  log_sigma ~ Normal(log 0.05, 1)
//	log(weight/count) ~ Normal(times log(1 + beta), sigma)
func (s Strengths) Model() (*infer.Model, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	y := make([]float64, len(s.Weight))
	for i, w := range s.Weight {
		y[i] = math.Log(w / float64(s.Count[i]))
	}
	m := infer.NewModel("plasticity")
	times := m.Data("times", floats(s.Times))
	beta := m.Param("beta", dist.HalfNormal(0.2))
	logSigma := m.Param("log_sigma", dist.Normal(math.Log(0.05), 1))
	sigma := m.Deterministic("sigma", ad.Exp(logSigma))
	m.Observe("log_weight", dist.Normal(ad.Mul(times, ad.Log1p(beta)), sigma), y)
	return m, nil
}

func (s Strengths) check() error {
	n := len(s.Weight)
	if n == 0 || len(s.Count) != n || len(s.Times) != n {
		return fmt.Errorf("connectome: there are %d weights, %s and %s of times: give as many of each, and at least one", n, errtext.Count(len(s.Count), "count"), errtext.Count(len(s.Times), "number"))
	}
	var bad []error
	for i, w := range s.Weight {
		switch {
		case !(w > 0) || math.IsInf(w, 1):
			bad = append(bad, fmt.Errorf("connectome: weight[%d] is %g: want a finite number above 0; leave out neurons without synapses", i, w))
		case s.Count[i] < 1:
			bad = append(bad, fmt.Errorf("connectome: count[%d] is %d: want at least 1 synapse", i, s.Count[i]))
		case s.Times[i] < 0:
			bad = append(bad, fmt.Errorf("connectome: times[%d] is %d: want 0 or more", i, s.Times[i]))
		}
	}
	return errors.Join(bad...)
}

// Completion measures how much of an assembly is restored from a part of it.
type Completion struct {
	Alpha     []float64 // fraction of the assembly that was made to fire, 0 to 1
	Recovered []int     // number of the assembly's neurons that fired in the end
	K         int       // number of neurons of the assembly
}

// Model returns the distribution of the curve:
//
//	c ~ Beta(8, 2),  log_s ~ Normal(log 10, 1),  a50 ~ Normal(0.2, 0.2)
//	recovered ~ Binomial(K, c sigmoid(s (alpha - a50)))
func (c Completion) Model() (*infer.Model, error) {
	if len(c.Alpha) != len(c.Recovered) {
		return nil, fmt.Errorf("connectome: there are %d fractions alpha, but %s of recovered neurons: give as many of each", len(c.Alpha), errtext.Count(len(c.Recovered), "count"))
	}
	if err := counts("recovered", c.Recovered, c.K); err != nil {
		return nil, err
	}
	for i, a := range c.Alpha {
		if !(a >= 0 && a <= 1) {
			percent := ""
			if least, most := slices.Min(c.Alpha), slices.Max(c.Alpha); least >= 0 && most > 1 && most <= 100 {
				percent = fmt.Sprintf("; if the %d numbers, %g to %g, are in percent, divide them by 100", len(c.Alpha), least, most)
			}
			return nil, fmt.Errorf("connectome: alpha[%d] is %g: want a fraction from 0 to 1%s", i, a, percent)
		}
	}
	m := infer.NewModel("pattern completion")
	alpha := m.Data("alpha", c.Alpha)
	top := m.Param("c", dist.Beta(8, 2))
	at, level := c.reference()
	above := ad.Shift(top, -level) // c - level, kept above 0 by what the counts leave open
	open := 6 * math.Sqrt(level*(1-level)/float64(c.K))
	above = ad.Scale(0.5, ad.Add(above, ad.Sqrt(ad.Shift(ad.Square(above), 4*open*open))))
	steeper := dist.AffineTransform(ad.Sub(ad.Log(top), ad.Log(above)), 1)
	logS := m.Param("log_s", dist.Normal(math.Log(10), 1), infer.By(steeper))
	width := ad.Exp(ad.Neg(logS))
	logit := ad.Shift(ad.Neg(ad.Log(above)), math.Log(level))
	ridge := dist.SinhTransform(ad.Shift(ad.Neg(ad.Mul(logit, width)), at), ad.Scale(3, width), 3)
	half := m.Param("a50", dist.Normal(0.2, 0.2), infer.By(ridge))
	m.Deterministic("logit_c", ad.Sub(ad.Log(top), ad.Log1p(ad.Neg(top))))
	m.Deterministic("s", ad.Exp(logS))
	share := ad.Mul(top, ad.Sigmoid(ad.Mul(ad.Exp(logS), ad.Sub(alpha, half))))
	m.Observe("recovered", dist.Binomial(float64(c.K), share), floats(c.Recovered))
	return m, nil
}

// reference returns the fraction of the assembly at which the curve is steepest, estimated from the
// nearest rising curve through the counts, and the share restored there.
//
// The counts determine c sigmoid(s (alpha - a50)) and its slope at that point, whatever c and s are.
// So a50 is sampled as the place where the curve passes that share, plus a multiple of 1/s, and log
// s as the part of the slope that c does not explain: the bent ridges of the posterior become
// straight. If all counts lie on the upper arm, a50 may lie any distance below, to the end of the
// prior: the multiple grows as a hyperbolic sine.
func (c Completion) reference() (at, level float64) {
	order := make([]int, len(c.Alpha))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.Alpha[i], c.Alpha[j]) })
	share := make([]float64, len(order))
	for k, i := range order {
		share[k] = (float64(c.Recovered[i]) + 0.5) / (float64(c.K) + 1)
	}
	rising(share)
	best, half := math.Inf(1), max(share[len(share)-1], 0.6)/2
	for k, i := range order {
		d := math.Abs(share[k] - half)
		if d < best || d == best && share[k] < half { // of equal ones, that next to the step
			best, at, level = d, c.Alpha[i], share[k]
		}
	}
	return at, level
}

// rising replaces v by the nearest sequence that never falls, by pooling neighbours that do.
// Reference: Ayer et al. 1955, doi:10.1214/aoms/1177728423.
func rising(v []float64) {
	var mean []float64
	var size []int
	for _, x := range v {
		n := 1
		for k := len(mean); k > 0 && mean[k-1] >= x; k = len(mean) {
			x = (x*float64(n) + mean[k-1]*float64(size[k-1])) / float64(n+size[k-1])
			n += size[k-1]
			mean, size = mean[:k-1], size[:k-1]
		}
		mean, size = append(mean, x), append(size, n)
	}
	at := 0
	for k, n := range size {
		for range n {
			v[at] = mean[k]
			at++
		}
	}
}

// Settings returns c with defaults that suit the posterior of a completion curve: 3000 draws a chain
// and a target acceptance rate of 0.98. With them, 195 of 200 posteriors of data from the prior have
// a good verdict at once.
func (Completion) Settings(c infer.Settings) infer.Settings {
	if c.Draws == 0 {
		c.Draws = 3000
	}
	if c.TargetAccept == 0 {
		c.TargetAccept = 0.98
	}
	return c
}

// Association measures how the overlap of two assemblies grows while their parents fire together.
type Association struct {
	Rounds  []float64 // number of joint rounds so far
	Overlap []int     // number of neurons in common
	K       int       // number of neurons of an assembly
}

// Model returns the distribution of the curve:
//
//	a ~ Normal(0, 2),  b ~ Normal(0, 1)
//	overlap ~ Binomial(K, sigmoid(a + b (round - 15)/5))
func (a Association) Model() (*infer.Model, error) {
	if len(a.Rounds) != len(a.Overlap) {
		return nil, fmt.Errorf("connectome: there are %d rounds, but %s: give as many of each", len(a.Rounds), errtext.Count(len(a.Overlap), "overlap"))
	}
	if err := counts("overlap", a.Overlap, a.K); err != nil {
		return nil, err
	}
	for i, r := range a.Rounds {
		if !(r >= 0) || math.IsInf(r, 1) {
			return nil, fmt.Errorf("connectome: round[%d] is %g: want a finite number of at least 0", i, r)
		}
	}
	m := infer.NewModel("association")
	rounds := m.Data("rounds", a.Rounds)
	level, slope := m.Param("a", dist.Normal(0, 2)), m.Param("b", dist.Normal(0, 1))
	logit := ad.Add(level, ad.Mul(slope, ad.Scale(0.2, ad.Shift(rounds, -15))))
	m.Observe("overlap", dist.BinomialLogit(float64(a.K), logit), floats(a.Overlap))
	return m, nil
}

// FitP samples the probability of a synapse from degrees; columns: p. Degrees.Beta
// is the exact posterior.
func FitP(ctx context.Context, d Degrees, c infer.Settings) (*infer.Fit, error) {
	return sampled(ctx, d.Model, c)
}

// FitBeta samples the plasticity from weights; columns: beta, log_sigma, sigma.
func FitBeta(ctx context.Context, s Strengths, c infer.Settings) (*infer.Fit, error) {
	return sampled(ctx, s.Model, c)
}

// FitCompletion samples a completion curve; columns: c, log_s, a50, logit_c, s.
func FitCompletion(ctx context.Context, d Completion, c infer.Settings) (*infer.Fit, error) {
	return sampled(ctx, d.Model, d.Settings(c))
}

// FitAssociation samples an association curve; columns: a, b.
func FitAssociation(ctx context.Context, d Association, c infer.Settings) (*infer.Fit, error) {
	return sampled(ctx, d.Model, c)
}

// sampled makes a model and samples it. Draws default to 3000 a chain, because these models are
// cheap and summaries then have two reliable digits.
func sampled(ctx context.Context, model func() (*infer.Model, error), c infer.Settings) (*infer.Fit, error) {
	m, err := model()
	if err != nil {
		return nil, err
	}
	post, err := m.Compile()
	if err != nil {
		return nil, err
	}
	if c.Draws == 0 {
		c.Draws = 3000
	}
	return infer.Sample(ctx, post, c)
}

// counts returns an error unless v are counts of neurons or synapses out of k.
func counts(what string, v []int, k int) error {
	if len(v) == 0 {
		return fmt.Errorf("connectome: the list of counts, %s, is empty: give at least one", what)
	}
	if k < 1 {
		return fmt.Errorf("connectome: the counts %s are out of K = %d neurons: want K of at least 1", what, k)
	}
	for i, c := range v {
		if c < 0 || c > k {
			return fmt.Errorf("connectome: %s[%d] is %d, but k is %d: want 0 to k", what, i, c, k)
		}
	}
	return nil
}

func floats(v []int) []float64 {
	out := make([]float64, len(v))
	for i, c := range v {
		out[i] = float64(c)
	}
	return out
}
