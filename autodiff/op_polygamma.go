package autodiff

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// Polygamma returns the n-th derivative of Digamma for n >= 0 (n = 1 is the
// trigamma function). Gradient: Polygamma(n+1, x).
func Polygamma(n int, x *Node) *Node {
	if n < 0 {
		return mistake("polygamma", "order %d: want 0 or more", n)
	}
	if n == 0 {
		return Digamma(x)
	}
	return apply(polygammaOp(n), x)
}

var (
	polygammas   = map[int]*Op{}
	polygammasMu sync.Mutex
)

// polygammaOp returns the operation of order n, made at first use: each order's
// gradient needs the next.
func polygammaOp(n int) *Op {
	polygammasMu.Lock()
	defer polygammasMu.Unlock()
	if op := polygammas[n]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("polygamma_%d", n),
		CPU:    func(x float64) float64 { return polygamma(n, x) },
		CUDA:   fmt.Sprintf("eu_polygamma(%d, x)", n),
		Helper: cudaPolygamma,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Polygamma(n+1, x)) },
		Domain: Interval{0.5, 12},
	}.define()
	polygammas[n] = op
	return op
}

func init() {
	polygammaOp(1)
	polygammaOp(2)
}

// digamma moves x up to 10 by psi(x) = psi(x+1) - 1/x, then uses the asymptotic
// series (Abramowitz & Stegun 6.3.18); negative x by reflection (6.3.7).
func digamma(x float64) float64 {
	if x <= 0 && x == math.Floor(x) {
		return math.NaN()
	}
	if x < 0 {
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*x)
	}
	s := 0.0
	for ; x < 10; x++ {
		s -= 1 / x
	}
	q := 1 / (x * x)
	tail := q * (1./12 - q*(1./120-q*(1./252-q*(1./240-q*(1./132-q*(691./32760-q/12))))))
	return s + math.Log(x) - 0.5/x - tail
}

// polygamma is (-1)^(n+1) n! zeta(n+1, x) for x > 0 (A&S 6.4.10); trigamma of
// negative x by reflection (6.4.7).
func polygamma(n int, x float64) float64 {
	if x <= 0 {
		if n == 1 && x != math.Floor(x) {
			s := math.Sin(math.Pi * x)
			return math.Pi*math.Pi/(s*s) - polygamma(1, 1-x)
		}
		return math.NaN()
	}
	v := math.Gamma(float64(n+1)) * mathext.Zeta(float64(n+1), x)
	if n%2 == 0 {
		return -v
	}
	return v
}
