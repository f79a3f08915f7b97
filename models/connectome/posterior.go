package connectome

import (
	"context"
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Degrees are counts of synapses: neuron i has Count[i] from K neurons that fire.
type Degrees struct {
	Count []int
	K     int // possible synapses of each neuron
}

// Beta returns the exact posterior of the probability p of a synapse, Beta(alpha,
// beta), after the prior Beta(1, 1).
func (d Degrees) Beta() (alpha, beta float64, err error) {
	if err := counts("degree", d.Count, d.K); err != nil {
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
// Their sum is all that they tell of p, but not of the model: each is observed by
// itself, so that degrees which scatter more than binomial ones are seen.
func (d Degrees) Model() (*infer.Model, error) {
	if err := counts("degree", d.Count, d.K); err != nil {
		return nil, err
	}
	m := infer.NewModel("connection probability")
	p := m.Param("p", dist.Beta(1, 1))
	m.Observe("degree", dist.Binomial(float64(d.K), p), floats(d.Count))
	return m, nil
}

// Strengths are weights of synapses after plasticity.
type Strengths struct {
	Weight []float64 // summed over the synapses counted
	Count  []int     // synapses that it sums; 1 for a single one
	Times  []int     // how often they were strengthened
}

// Model returns the law of the weights:
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
		return fmt.Errorf("connectome: %d weights, %d counts and %d times strengthened: want as many of each, at least one", n, len(s.Count), len(s.Times))
	}
	var bad []error
	for i, w := range s.Weight {
		switch {
		case !(w > 0) || math.IsInf(w, 1):
			bad = append(bad, fmt.Errorf("connectome: weight[%d] is %g: want it above 0 and finite, without synapses leave it out", i, w))
		case s.Count[i] < 1:
			bad = append(bad, fmt.Errorf("connectome: count[%d] is %d: want at least 1 synapse", i, s.Count[i]))
		case s.Times[i] < 0:
			bad = append(bad, fmt.Errorf("connectome: times[%d] is %d: want 0 or more", i, s.Times[i]))
		}
	}
	return errors.Join(bad...)
}

// Completion is how much of an assembly comes back from a part of it.
type Completion struct {
	Alpha     []float64 // parts of the assembly that were fired, 0 to 1
	Recovered []int     // of its neurons that fired in the end
	K         int       // neurons of the assembly
}

// Model returns the law of the curve:
//
//	c ~ Beta(8, 2),  log_s ~ Normal(log 10, 1),  a50 ~ Normal(0.2, 0.2)
//	recovered ~ Binomial(K, c sigmoid(s (alpha - a50)))
func (c Completion) Model() (*infer.Model, error) {
	if len(c.Alpha) != len(c.Recovered) {
		return nil, fmt.Errorf("connectome: %d parts alpha and %d counts recovered: want as many of each", len(c.Alpha), len(c.Recovered))
	}
	if err := counts("recovered", c.Recovered, c.K); err != nil {
		return nil, err
	}
	for i, a := range c.Alpha {
		if !(a >= 0 && a <= 1) {
			return nil, fmt.Errorf("connectome: alpha[%d] is %g: want a part from 0 to 1", i, a)
		}
	}
	m := infer.NewModel("pattern completion")
	alpha := m.Data("alpha", c.Alpha)
	top := m.Param("c", dist.Beta(8, 2))
	logS := m.Param("log_s", dist.Normal(math.Log(10), 1))
	ridge := dist.AffineTransform(c.reference(), ad.Exp(ad.Neg(logS)))
	half := m.Param("a50", dist.Normal(0.2, 0.2), infer.By(ridge))
	m.Deterministic("logit_c", ad.Sub(ad.Log(top), ad.Log1p(ad.Neg(top))))
	m.Deterministic("s", ad.Exp(logS))
	share := ad.Mul(top, ad.Sigmoid(ad.Mul(ad.Exp(logS), ad.Sub(alpha, half))))
	m.Observe("recovered", dist.Binomial(float64(c.K), share), floats(c.Recovered))
	return m, nil
}

// reference returns the part at which the curve is steepest, as the counts tell. The
// data fix s (alpha - a50) there, whatever s is: in terms of it the posterior has no
// bent ridge, which is why a50 is sampled as that plus a multiple of 1/s.
func (c Completion) reference() float64 {
	top, best, at := 0.0, -1.0, 0
	for _, r := range c.Recovered {
		top = max(top, float64(r))
	}
	for i, r := range c.Recovered {
		q := (float64(r) + 0.5) / (top + 1)
		if v := q * (1 - q); v > best {
			best, at = v, i
		}
	}
	return c.Alpha[at]
}

// Association is how the overlap of two assemblies grows while their parents fire
// together.
type Association struct {
	Rounds  []float64 // joint rounds so far
	Overlap []int     // neurons in common
	K       int       // neurons of an assembly
}

// Model returns the law of the curve:
//
//	a ~ Normal(0, 2),  b ~ Normal(0, 1)
//	overlap ~ Binomial(K, sigmoid(a + b (round - 15)/5))
func (a Association) Model() (*infer.Model, error) {
	if len(a.Rounds) != len(a.Overlap) {
		return nil, fmt.Errorf("connectome: %d rounds and %d overlaps: want as many of each", len(a.Rounds), len(a.Overlap))
	}
	if err := counts("overlap", a.Overlap, a.K); err != nil {
		return nil, err
	}
	for i, r := range a.Rounds {
		if !(r >= 0) || math.IsInf(r, 1) {
			return nil, fmt.Errorf("connectome: round[%d] is %g: want 0 or more", i, r)
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
func FitP(ctx context.Context, d Degrees, c infer.Config) (*infer.Fit, error) {
	return sampled(ctx, d.Model, c)
}

// FitBeta samples the plasticity from weights; columns: beta, log_sigma, sigma.
func FitBeta(ctx context.Context, s Strengths, c infer.Config) (*infer.Fit, error) {
	return sampled(ctx, s.Model, c)
}

// FitCompletion samples a completion curve; columns: c, log_s, a50, logit_c, s.
func FitCompletion(ctx context.Context, d Completion, c infer.Config) (*infer.Fit, error) {
	return sampled(ctx, d.Model, c)
}

// FitAssociation samples an association curve; columns: a, b.
func FitAssociation(ctx context.Context, d Association, c infer.Config) (*infer.Fit, error) {
	return sampled(ctx, d.Model, c)
}

// sampled makes and samples a model. Draws default to 3000 a chain: these models are
// cheap, and summaries then have two sure digits.
func sampled(ctx context.Context, model func() (*infer.Model, error), c infer.Config) (*infer.Fit, error) {
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

// counts checks numbers of neurons or synapses out of k.
func counts(what string, v []int, k int) error {
	if len(v) == 0 {
		return fmt.Errorf("connectome: no %s counts: want at least one", what)
	}
	if k < 1 {
		return fmt.Errorf("connectome: %s counts out of K = %d: want K of at least 1", what, k)
	}
	for i, c := range v {
		if c < 0 || c > k {
			return fmt.Errorf("connectome: %s[%d] is %d of K = %d: want 0 to K", what, i, c, k)
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
