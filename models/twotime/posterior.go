package twotime

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// Normal is the mean and the standard deviation of a belief.
type Normal struct{ Mean, SD float64 }

// Priors are beliefs before the data.
type Priors struct {
	// Motion has a distribution for each parameter of the motion, by name; log_NAME stands for that of the natural logarithm of NAME.
	Motion map[string]dist.Dist
	// Contrast and Offset are those of each angle, which are independent of each other and integrated out in closed form. Zero values stand for
	// 0.3 +- 0.2 and 1 +- 0.1.
	Contrast, Offset Normal
}

func (p *Priors) defaults() {
	if p.Contrast == (Normal{}) {
		p.Contrast = Normal{0.3, 0.2}
	}
	if p.Offset == (Normal{}) {
		p.Offset = Normal{1, 0.1}
	}
}

// Posterior is the posterior of the motion, in which contrasts and offsets are integrated out.
type Posterior struct {
	*infer.Posterior
	angles int
}

// New returns the posterior of the motion under independent errors of the entries. Where the parameters have no meaning in the model its
// density is 0: see transport.Setup.Domain.
func New(d Data, p Priors) (*Posterior, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	p.defaults()
	if !(p.Contrast.SD > 0 && p.Offset.SD > 0) {
		return nil, fmt.Errorf("twotime: beliefs of %+v about contrast and %+v about offset: want standard deviations above 0", p.Contrast, p.Offset)
	}
	m := infer.NewModel("two-time")
	names := d.Setup.Names()
	var theta []*ad.Node
	for name := range p.Motion {
		if !slices.Contains(names, strings.TrimPrefix(name, "log_")) {
			return nil, fmt.Errorf("twotime: a prior of %s: there are %v, each also with log_ before it", name, names)
		}
	}
	for k := 0; k < len(names); k++ {
		for _, name := range names[k:min(k+3, len(names))] {
			if _, plain := p.Motion[name]; plain == has(p.Motion, "log_"+name) {
				return nil, fmt.Errorf("twotime: want one prior of %s or of log_%s", name, name)
			}
		}
		if isRate(names[k]) && p.parted(names[k], names[k+2]) {
			theta = append(theta, p.rate(m, &d.Setup, names[k:k+3])...)
			k += 2
			continue
		}
		if prior, plain := p.Motion[names[k]]; plain {
			theta = append(theta, m.Param(names[k], prior))
		} else {
			theta = append(theta, ad.Exp(m.Param("log_"+names[k], p.Motion["log_"+names[k]])))
		}
	}
	pairs := transport.AllPairs(len(d.Setup.Times))
	for k, g := range d.Setup.Pairs(theta, pairs) {
		one := marginal(&d, k, g, p)
		m.AddLogProb(fmt.Sprintf("angle %d", k), one.logProb)
		m.Deterministic(fmt.Sprintf("scales %d", k), one.conditional)
	}
	m.AddLogProb("domain", domain(&d.Setup, theta))
	post, err := m.Compile()
	if err != nil {
		return nil, err
	}
	return &Posterior{post, len(d.Setup.Angles)}, nil
}

func has(m map[string]dist.Dist, name string) bool {
	_, ok := m[name]
	return ok
}

// parted reports whether a rate a t^b + c is sampled by its logarithm in the middle of the measurement and the share of c in it. Data
// tell these, while a and c make up for each other.
func (p *Priors) parted(rate, offset string) bool {
	c, plain := p.Motion[offset]
	if !plain {
		return false
	}
	lower, upper := c.Support.Ends()
	a, plain := p.Motion[rate]
	if plain {
		if lower, _ := a.Support.Ends(); lower < 0 {
			return false
		}
	}
	return math.IsInf(upper, 1) && (lower == 0 || math.IsInf(lower, -1))
}

// rate declares the parameters of a rate a t^b + c under their priors, by the logarithm u of the rate at the geometric mean time g and the
// share s of c in it: a = (1-s) e^u g^-b, c = s e^u. It returns a, b and c.
func (p *Priors) rate(m *infer.Model, s *transport.Setup, names []string) []*ad.Node {
	logG, count := 0.0, 0
	for _, t := range s.Times {
		if t > 0 {
			logG, count = logG+math.Log(t), count+1
		}
	}
	logG /= float64(max(1, count))
	size, inLogs := p.Motion["log_"+names[0]]
	if !inLogs {
		size = p.Motion[names[0]]
	}
	middle := 0.0
	if v, err := dist.Numbers(size); err == nil && inLogs && size.Name == "normal" {
		middle = v[0][0]
	}
	u := m.Flat("log_rate_"+names[0], dist.AffineTransform(middle, 1))
	b := m.Param(names[1], p.Motion[names[1]])
	within := dist.UpperTransform(1)
	if lower, _ := p.Motion[names[2]].Support.Ends(); lower == 0 {
		within = dist.IntervalTransform(0, 1)
	}
	share := m.Flat("share_"+names[2], within)
	logA := ad.AddN(u, ad.Log(ad.Sub(ad.Scalar(1), share)), ad.Scale(-logG, b))
	a, c := m.Deterministic(names[0], ad.Exp(logA)), m.Deterministic(names[2], ad.Mul(share, ad.Exp(u)))
	density := size.LogProb(a)
	if inLogs {
		density = ad.Sub(size.LogProb(m.Deterministic("log_"+names[0], logA)), logA)
	}
	// the determinant of (a, c) by (u, s) is e^2u g^-b
	m.AddLogProb("prior of "+names[0], ad.AddN(density, p.Motion[names[2]].LogProb(c), ad.Scale(2, u), ad.Scale(-logG, b)))
	return []*ad.Node{a, b, c}
}

// angleMarginal is the likelihood of an angle without its contrast and offset, and their distribution given the motion: means of contrast
// and offset-1, and the triangle of their covariance.
type angleMarginal struct{ logProb, conditional *ad.Node }

func marginal(d *Data, angle int, g *ad.Node, p Priors) angleMarginal {
	n := len(d.Setup.Times)
	var w, y []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			u := d.weight(angle, i, j)
			w = append(w, u)
			if u > 0 {
				y = append(y, d.C2[angle][i*n+j]-1)
			} else {
				y = append(y, 0)
			}
		}
	}
	square := make([]float64, len(w))
	rest, ones, ys := 0.0, 0.0, 0.0 // sums that do not depend on the motion
	for i, u := range w {
		square[i] = u * u
		rest += u * u * y[i] * y[i]
		ones += u * u
		ys += u * u * y[i]
	}
	w2, data := ad.Const(square), ad.Const(y)
	weighted := ad.Mul(w2, g)
	pc, po := 1/(p.Contrast.SD*p.Contrast.SD), 1/(p.Offset.SD*p.Offset.SD)
	mc, mo := p.Contrast.Mean, p.Offset.Mean-1
	a := ad.Shift(ad.Sum(ad.Mul(weighted, g)), pc) // precision of contrast and offset: [a b; b c]
	b := ad.Sum(weighted)
	c := ones + po
	hc, ho := ad.Shift(ad.Sum(ad.Mul(weighted, data)), pc*mc), ys+po*mo
	det := ad.Sub(ad.Scale(c, a), ad.Square(b))
	contrast := ad.Div(ad.Sub(ad.Scale(c, hc), ad.Scale(ho, b)), det)
	offset := ad.Div(ad.Sub(ad.Scale(ho, a), ad.Mul(b, hc)), det)
	// sum of squares at the best contrast and offset, beliefs included
	left := ad.Sub(ad.Scalar(rest+pc*mc*mc+po*mo*mo), ad.Add(ad.Mul(hc, contrast), ad.Scale(ho, offset)))
	sd := ad.Sqrt(ad.Div(ad.Scalar(c), det))                         // of contrast
	along := ad.Neg(ad.Div(b, ad.Sqrt(ad.Scale(c, det))))            // of offset, for each sd of contrast
	across := ad.Broadcast(ad.Scalar(1/math.Sqrt(c)), sd.Shape()...) // of offset, by itself
	return angleMarginal{ad.Scale(-0.5, ad.Add(left, ad.Log(det))), ad.Stack(0, contrast, offset, sd, along, across)}
}

// domain is 0 where rates and fractions have a meaning, and minus infinity elsewhere.
func domain(s *transport.Setup, theta []*ad.Node) *ad.Node {
	sum := ad.Scalar(0)
	if s.Customary {
		return sum
	}
	wrong := func(bad *ad.Node) { sum = ad.Add(sum, ad.Where(bad, ad.Scalar(math.Inf(-1)), ad.Scalar(0))) }
	ends := []float64{s.Times[0], s.Times[len(s.Times)-1]}
	for i, name := range s.Names() {
		if !isRate(name) {
			continue
		}
		if s.Times[0] == 0 {
			wrong(ad.LessEqual(theta[i+1], ad.Scalar(-1)))
		}
		for _, t := range ends {
			if name != "v0" && t > 0 {
				wrong(ad.Less(ad.Add(ad.Mul(theta[i], ad.Exp(ad.Scale(math.Log(t), theta[i+1]))), theta[i+2]), ad.Scalar(0)))
			}
		}
	}
	if s.Model == transport.TwoComponent {
		for _, t := range ends {
			f := ad.Add(ad.Mul(theta[9], ad.Exp(ad.Mul(theta[10], ad.Shift(ad.Neg(theta[11]), t)))), theta[12])
			wrong(ad.Less(f, ad.Scalar(0)))
			wrong(ad.Greater(f, ad.Scalar(1)))
		}
	}
	return sum
}

// Scales draws contrast and offset of each angle for every draw of a posterior: they belong to the draws of the motion. The first index is the
// angle, then chain and draw.
func (p *Posterior) Scales(fit *infer.Fit, seed uint64) (contrast, offset [][][]float64) {
	for k := range p.angles {
		var of [5][][]float64
		for i := range of {
			of[i] = fit.Draws(fmt.Sprintf("scales %d[%d]", k, i))
		}
		c, o := make([][]float64, fit.Chains()), make([][]float64, fit.Chains())
		for chain := range c {
			z := tensor.NewStream(seed, uint32(k), uint32(chain))
			for draw := range fit.Len(chain) {
				u := z.Normal()
				c[chain] = append(c[chain], of[0][chain][draw]+of[2][chain][draw]*u)
				o[chain] = append(o[chain], 1+of[1][chain][draw]+of[3][chain][draw]*u+of[4][chain][draw]*z.Normal())
			}
		}
		contrast, offset = append(contrast, c), append(offset, o)
	}
	return contrast, offset
}
