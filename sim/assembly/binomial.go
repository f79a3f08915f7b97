package assembly

import (
	"math"
	"sort"
)

// binomial is the law of the input of a neuron that never fired: how many of n firing
// neurons connect to it.
type binomial struct {
	from int       // the value of tail[0]
	tail []float64 // P(X > from + i), down to 1e-300
}

func newBinomial(n int, p float64) *binomial {
	switch {
	case p <= 0 || n == 0:
		return &binomial{tail: []float64{0}}
	case p >= 1:
		return &binomial{from: n, tail: []float64{0}}
	}
	mode := int(float64(n+1) * p)
	ratio := p / (1 - p)
	up, down := []float64{}, []float64{} // masses over that of the mode, above and below it
	for k, w := mode, 1.0; k < n; k++ {
		if w *= float64(n-k) / float64(k+1) * ratio; w < 1e-310 {
			break
		}
		up = append(up, w)
	}
	for k, w := mode, 1.0; k > 0; k-- {
		if w *= float64(k) / float64(n-k+1) / ratio; w < 1e-20 {
			break
		}
		down = append(down, w)
	}
	b := &binomial{from: mode - len(down), tail: make([]float64, len(up)+len(down)+1)}
	sum := 0.0
	for i := len(b.tail) - 1; i >= 0; i-- { // small terms first
		b.tail[i] = sum
		switch j := i - len(down); {
		case j > 0:
			sum += up[j-1]
		case j == 0:
			sum++
		default:
			sum += down[-j-1]
		}
	}
	for i := range b.tail {
		b.tail[i] /= sum
	}
	return b
}

// quantile returns the smallest value that is exceeded with probability at most s.
func (b *binomial) quantile(s float64) int {
	return b.from + min(sort.Search(len(b.tail), func(i int) bool { return b.tail[i] <= s }), len(b.tail)-1)
}

// order gives the largest, the second largest, ... of n independent draws, one after
// the other: U_1 = V_1^(1/n), U_(i+1) = U_i V_i^(1/(n-i)) are the largest uniforms.
//
// Reference: Devroye, Non-Uniform Random Variate Generation (1986), section V.3.
type order struct {
	law  *binomial
	left int // draws not yet given
	log  float64
}

// next returns the next draw, from a uniform number v; false when none is left.
func (o *order) next(v float64) (int, bool) {
	if o.left == 0 {
		return 0, false
	}
	o.log += math.Log(v) / float64(o.left)
	o.left--
	return o.law.quantile(-math.Expm1(o.log)), true
}
