package assembly

// inputLaw is the law of the input of a new neuron, and of where it comes from.
type inputLaw struct {
	*binomial
	parts []part
	rest  []*spread // of the parts after each one
}

// part is a number of firing neurons, all of which connect with probability p.
type part struct {
	n int
	p float64
	*spread
}

// spread is a law by its probabilities of from, from+1, ...
type spread struct {
	from int
	mass []float64
}

func (s *spread) at(k int) float64 {
	if k < s.from || k >= s.from+len(s.mass) {
		return 0
	}
	return s.mass[k-s.from]
}

// plus is the law of the sum of two independent numbers.
func (s *spread) plus(o *spread) *spread {
	sum := &spread{s.from + o.from, make([]float64, len(s.mass)+len(o.mass)-1)}
	for i, a := range s.mass {
		for j, b := range o.mass {
			sum.mass[i+j] += a * b
		}
	}
	return sum
}

// lawInto returns the law of the input that t gets now: a binomial where all fibres
// have the same probability, else of a sum of binomials.
func (b *Brain) lawInto(t *target) *inputLaw {
	l := &inputLaw{}
	for _, f := range t.active {
		l.parts = append(l.parts, part{n: f.firing(), p: f.P})
	}
	if same := l.merge(); same {
		l.binomial = b.binomial(l.parts[0].n, l.parts[0].p)
		return l
	}
	for i := range l.parts {
		from, mass := masses(l.parts[i].n, l.parts[i].p)
		l.parts[i].spread = &spread{from, mass}
	}
	l.rest = make([]*spread, len(l.parts))
	sum := &spread{0, []float64{1}}
	for i := len(l.parts) - 1; i >= 0; i-- {
		l.rest[i] = sum
		sum = l.parts[i].plus(sum)
	}
	l.binomial = lawOf(sum.from, sum.mass)
	return l
}

// merge makes one part of all if they have the same probability.
func (l *inputLaw) merge() bool {
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

// moments returns how many neurons fire, and mean and variance of the input.
func (l *inputLaw) moments() (fired int, mean, variance float64) {
	for _, p := range l.parts {
		fired += p.n
		mean += float64(p.n) * p.p
		variance += float64(p.n) * p.p * (1 - p.p)
	}
	return fired, mean, variance
}

// sources draws which of all that fire connect to a new neuron, m in number: how many
// of each part, given their sum, and then which.
func (l *inputLaw) sources(b *Brain, src *dice, m int) []int32 {
	if len(l.parts) == 1 {
		return b.subset(src, l.parts[0].n, m)
	}
	var list []int32
	first := 0
	for i, p := range l.parts {
		have := m
		if i < len(l.parts)-1 {
			have = p.given(m, l.rest[i], src)
		}
		for _, s := range b.subset(src, p.n, have) {
			list = append(list, int32(first)+s)
		}
		first += p.n
		m -= have
	}
	return list
}

// given draws the part's number, given that with the rest it makes m.
func (p part) given(m int, rest *spread, src *dice) int {
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

// pair keys laws.
type pair struct {
	n int
	p float64
}

// binomial returns the law of the input from n firing neurons.
func (b *Brain) binomial(n int, p float64) *binomial {
	if b.laws == nil || len(b.laws) > 64 {
		b.laws = map[pair]*binomial{}
	}
	l := b.laws[pair{n, p}]
	if l == nil {
		l = newBinomial(n, p)
		b.laws[pair{n, p}] = l
	}
	return l
}
