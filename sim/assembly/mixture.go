// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// inputDistribution is the distribution of the input of a new neuron, and of the sources it comes from.
type inputDistribution struct {
	*binomial
	parts []part
	rest  []*pmf // distributions of the sum of the parts after each one
}

// part is a number of firing neurons, all of which connect with probability p.
type part struct {
	n int
	p float64
	*pmf
}

// pmf is a distribution given as its probability mass function: the probabilities of from, from+1, ...
type pmf struct {
	from int
	mass []float64
}

func (s *pmf) at(k int) float64 {
	if k < s.from || k >= s.from+len(s.mass) {
		return 0
	}
	return s.mass[k-s.from]
}

// plus returns the distribution of the sum of two independent numbers.
func (s *pmf) plus(o *pmf) *pmf {
	sum := &pmf{s.from + o.from, make([]float64, len(s.mass)+len(o.mass)-1)}
	for i, a := range s.mass {
		for j, b := range o.mass {
			sum.mass[i+j] += a * b
		}
	}
	return sum
}

// inputOf returns the distribution of the input of t in this step: a binomial if all fibres have the same
// probability, else a sum of binomials.
func (b *Brain) inputOf(t *target) *inputDistribution {
	l := &inputDistribution{}
	for _, f := range t.active {
		l.parts = append(l.parts, part{n: f.firing(), p: f.P})
	}
	if same := l.merge(); same {
		l.binomial = b.binomial(l.parts[0].n, l.parts[0].p)
		return l
	}
	for i := range l.parts {
		from, mass := masses(l.parts[i].n, l.parts[i].p)
		l.parts[i].pmf = &pmf{from, mass}
	}
	l.rest = make([]*pmf, len(l.parts))
	sum := &pmf{0, []float64{1}}
	for i := len(l.parts) - 1; i >= 0; i-- {
		l.rest[i] = sum
		sum = l.parts[i].plus(sum)
	}
	l.binomial = fromMasses(sum.from, sum.mass)
	return l
}

// merge joins all parts into one if they have the same probability, and reports whether it did.
func (l *inputDistribution) merge() bool {
	one := l.parts[0]
	for _, p := range l.parts[1:] {
		if p.p != one.p {
			return false
		}
		one.n += p.n
	}
	l.parts = []part{one}
	return true
}

// moments returns the number of neurons that fire, and the mean and variance of the input.
func (l *inputDistribution) moments() (fired int, mean, variance float64) {
	for _, p := range l.parts {
		fired += p.n
		mean += float64(p.n) * p.p
		variance += float64(p.n) * p.p * (1 - p.p)
	}
	return fired, mean, variance
}

// sources draws which m of all firing neurons connect to a new neuron: first how many of each part,
// given their sum, and then which. It appends them to b.arena.
func (l *inputDistribution) sources(b *Brain, src *randomStream, m int) {
	first := int32(0)
	for i, p := range l.parts {
		have := m
		if i < len(l.parts)-1 {
			have = p.given(m, l.rest[i], src)
		}
		for i, part := 0, b.subset(src, p.n, have); i < len(part); i++ {
			part[i] += first
		}
		first += int32(p.n)
		m -= have
	}
}

// given draws the number of the part, given that it and the rest sum to m.
func (p part) given(m int, rest *pmf, src *randomStream) int {
	total := 0.0
	for k := range min(p.n, m) + 1 {
		total += p.at(k) * rest.at(m-k)
	}
	u := src.uniform() * total
	last := 0
	for k := range min(p.n, m) + 1 {
		w := p.at(k) * rest.at(m-k)
		if w == 0 {
			continue
		}
		last = k
		if u -= w; u < 0 {
			break
		}
	}
	return last
}

// pair is the key of a cached distribution.
type pair struct {
	n int
	p float64
}

// binomial returns the distribution of the input from n firing neurons.
func (b *Brain) binomial(n int, p float64) *binomial {
	if b.distributions == nil || len(b.distributions) > 64 {
		b.distributions = map[pair]*binomial{}
	}
	l := b.distributions[pair{n, p}]
	if l == nil {
		l = newBinomial(n, p)
		b.distributions[pair{n, p}] = l
	}
	return l
}
