// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

var (
	_ Rule = NAdam{}
	_ Rule = RAdam{}
	_ Rule = Adamax{}
)

func init() { graphRules = append(graphRules, Adam{}) }

// Adam scales steps by running moments of the gradient (Kingma & Ba, arXiv:1412.6980); AMSGrad
// keeps the largest second moment (arXiv:1904.09237). With Decoupled, weight decay acts on the
// parameters directly and not through the gradient: AdamW (arXiv:1711.05101).
//
//	m = b1 m + (1-b1) g, v = b2 v + (1-b2) g^2
//	x -= lr m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps)
type Adam struct {
	// Beta1 and Beta2 are the decay rates of the first and the second moment. Default 0.9, 0.999.
	Beta1, Beta2 float64
	// Eps is added to the square root. Default 1e-8.
	Eps         float64
	AMSGrad     bool
	WeightDecay float64
	Decoupled   bool
}

func (a Adam) update(s *DescentState, lr float64, x, g []float64) {
	b1, b2, eps := s.momentumOr(orDefault(a.Beta1, 0.9)), orDefault(a.Beta2, 0.999), orDefault(a.Eps, 1e-8)
	if a.Decoupled {
		for i := range x {
			x[i] *= 1 - lr*a.WeightDecay
		}
	} else {
		decayed(g, x, a.WeightDecay)
	}
	m, v := moments(s, g, b1, b2)
	top := v
	if a.AMSGrad {
		top = s.buffer(2, len(x))
		for i := range top {
			top[i] = math.Max(top[i], v[i])
		}
	}
	t := float64(s.Step)
	c1, c2 := 1-math.Pow(b1, t), math.Sqrt(1-math.Pow(b2, t))
	for i := range x {
		x[i] -= lr / c1 * m[i] / (math.Sqrt(top[i])/c2 + eps)
	}
}

func (a Adam) buffers(bool) int {
	if a.AMSGrad {
		return 3
	}
	return 2
}

func (a Adam) nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	b1, b2 := u.momentumOr(orDefault(a.Beta1, 0.9)), ad.Scalar(orDefault(a.Beta2, 0.999))
	x, g := u.X, u.G
	if a.Decoupled {
		x = ad.Mul(x, ad.Sub(ad.Scalar(1), ad.Mul(u.decay(a.WeightDecay), u.Rate)))
	} else {
		g = u.decayed(a.WeightDecay)
	}
	m, v := mixed(b1, u.Memory[0], g), mixed(b2, u.Memory[1], ad.Square(g))
	memory, top := []*ad.Node{m, v}, v
	if a.AMSGrad {
		top = ad.Maximum(u.Memory[2], v)
		memory = append(memory, top)
	}
	one := ad.Scalar(1)
	c1, c2 := ad.Sub(one, ad.Pow(b1, u.Step)), ad.Sqrt(ad.Sub(one, ad.Pow(b2, u.Step)))
	d := ad.Div(m, ad.Shift(ad.Div(ad.Sqrt(top), c2), orDefault(a.Eps, 1e-8)))
	return u.moved(x, ad.Div(u.Rate, c1), d), memory
}

// moments updates the first two moments of the gradient, buffers 0 and 1.
func moments(s *DescentState, g []float64, b1, b2 float64) (m, v []float64) {
	m, v = s.buffer(0, len(g)), s.buffer(1, len(g))
	for i, d := range g {
		m[i] = b1*m[i] + (1-b1)*d
		v[i] = b2*v[i] + (1-b2)*d*d
	}
	return m, v
}

// NAdam is Adam with Nesterov momentum (Dozat 2016).
//
//	mu_t = b1 (1 - 0.96^(t decay)/2)
//	x -= lr [(1-mu_t)/(1-prod_t) g + mu_t+1/(1-next_t) m] / (sqrt(v/(1-b2^t)) + eps)
//
// with prod_t = mu_1 .. mu_t and next_t = prod_t mu_t+1.
type NAdam struct {
	// Beta1 and Beta2 are the decay rates of the first and the second moment. Default 0.9, 0.999.
	Beta1, Beta2 float64
	// Eps is added to the square root. Default 1e-8.
	Eps float64
	// MomentumDecay is the decay of the momentum. Default 0.004.
	MomentumDecay float64
	WeightDecay   float64
	// Torch110 uses next_t = prod_t mu_t mu_t+1, as PyTorch 1.10 to 1.12 did, so that their runs
	// can be repeated.
	Torch110 bool
}

func (a NAdam) update(s *DescentState, lr float64, x, g []float64) {
	b1, b2, eps := orDefault(a.Beta1, 0.9), orDefault(a.Beta2, 0.999), orDefault(a.Eps, 1e-8)
	decayed(g, x, a.WeightDecay)
	m, v := moments(s, g, b1, b2)
	t, decay := float64(s.Step), orDefault(a.MomentumDecay, 0.004)
	mu := b1 * (1 - 0.5*math.Pow(0.96, t*decay))
	next := b1 * (1 - 0.5*math.Pow(0.96, (t+1)*decay))
	if s.Scalars == nil {
		s.Scalars = []float64{1}
	}
	s.Scalars[0] *= mu
	product, c2 := s.Scalars[0], 1-math.Pow(b2, t)
	ahead := product * next
	if a.Torch110 {
		ahead *= mu
	}
	for i := range x {
		d := math.Sqrt(v[i]/c2) + eps
		x[i] -= lr * (1 - mu) / (1 - product) * g[i] / d
		x[i] -= lr * next / (1 - ahead) * m[i] / d
	}
}

// RAdam is Adam without adaptive steps until the variance of the adaptive step size can be
// estimated (arXiv:1908.03265).
type RAdam struct {
	// Beta1 and Beta2 are the decay rates of the first and the second moment. Default 0.9, 0.999.
	Beta1, Beta2 float64
	// Eps is added to the square root. Default 1e-8.
	Eps         float64
	WeightDecay float64
}

func (a RAdam) update(s *DescentState, lr float64, x, g []float64) {
	b1, b2, eps := orDefault(a.Beta1, 0.9), orDefault(a.Beta2, 0.999), orDefault(a.Eps, 1e-8)
	decayed(g, x, a.WeightDecay)
	m, v := moments(s, g, b1, b2)
	t := float64(s.Step)
	c1, c2 := 1-math.Pow(b1, t), 1-math.Pow(b2, t)
	end := 2/(1-b2) - 1
	rho := end - 2*t*math.Pow(b2, t)/c2
	for i := range x {
		step := m[i] / c1
		if rho > 5 {
			step *= math.Sqrt((rho-4)*(rho-2)*end/((end-4)*(end-2)*rho)) * math.Sqrt(c2) / (math.Sqrt(v[i]) + eps)
		}
		x[i] -= lr * step
	}
}

// Adamax is Adam with a decaying maximum of the gradient in place of the second moment.
type Adamax struct {
	// Beta1 and Beta2 are the decay rates of the mean and of the maximum norm. Default 0.9, 0.999.
	Beta1, Beta2 float64
	// Eps is added to the absolute value of the gradient. Default 1e-8.
	Eps         float64
	WeightDecay float64
}

func (a Adamax) update(s *DescentState, lr float64, x, g []float64) {
	b1, b2, eps := orDefault(a.Beta1, 0.9), orDefault(a.Beta2, 0.999), orDefault(a.Eps, 1e-8)
	decayed(g, x, a.WeightDecay)
	m, u := s.buffer(0, len(x)), s.buffer(1, len(x))
	c := lr / (1 - math.Pow(b1, float64(s.Step)))
	for i, d := range g {
		m[i] = b1*m[i] + (1-b1)*d
		u[i] = math.Max(b2*u[i], math.Abs(d)+eps)
		x[i] -= c * m[i] / u[i]
	}
}
