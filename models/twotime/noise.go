package twotime

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Noise is what makes entries of c2 scatter: the number of speckles that they are means over, and one over the mean count of a pixel in a
// frame, which adds to the diagonal. The covariance of two entries is
//
//	Cov(c2_ij, c2_kl) = (C_ik C_jl + C_il C_jk) / P,  C_ij = contrast g_ij + offset - 1 (+ 1/count if i = j)
//
// without cumulants of higher order: entries that share a frame scatter together.
type Noise struct {
	Speckles     float64 // P
	InverseCount float64
}

// Sandwich returns the covariance of parameters that were fitted to pairs with weights, whose derivatives by the parameters are given as
// symmetric matrices with zeros on the diagonal (pairs that are not used are 0 too): H^-1 Q H^-1 with H = J'WJ and Q = J'W V W J, and the
// effective number of independent entries, of so many, m p / tr(H^-1 Q). c is C of the fitted model. It takes a few products of matrices
// of frames for each parameter.
func (n Noise) Sandwich(c *mat.SymDense, weights *mat.SymDense, derivatives []*mat.SymDense) (cov, h, q *mat.SymDense, effective float64, err error) {
	size, p := c.SymmetricDim(), len(derivatives)
	h, q = mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	products := make([]*mat.Dense, p) // C A_a
	entries := 0
	for i := range size {
		for j := i + 1; j < size; j++ {
			if weights.At(i, j) > 0 {
				entries++
			}
		}
	}
	for a, d := range derivatives {
		weighted := mat.NewSymDense(size, nil)
		for i := range size {
			for j := i + 1; j < size; j++ {
				weighted.SetSym(i, j, weights.At(i, j)*d.At(i, j))
			}
		}
		products[a] = mat.NewDense(size, size, nil)
		products[a].Mul(c, weighted)
		for b := range a + 1 {
			sum := 0.0
			for i := range size {
				for j := i + 1; j < size; j++ {
					sum += weighted.At(i, j) * derivatives[b].At(i, j)
				}
			}
			h.SetSym(b, a, sum)
		}
	}
	for a := range p {
		for b := a; b < p; b++ {
			trace := 0.0 // of C A_a C A_b
			for i := range size {
				for j := range size {
					trace += products[a].At(i, j) * products[b].At(j, i)
				}
			}
			q.SetSym(a, b, trace/(2*n.Speckles))
		}
	}
	inverse, ok := inverted(h, p)
	if !ok {
		return nil, nil, nil, 0, fmt.Errorf("twotime: the data do not tell all %d parameters apart: hold some fixed", p)
	}
	var left, both mat.Dense
	left.Mul(inverse, q)
	both.Mul(&left, inverse)
	cov = mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			cov.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	return cov, h, q, float64(entries*p) / mat.Trace(&left), nil
}

// Wishart returns the log likelihood -(P/2)(log det C + tr(C^-1 S)) of measured correlations S = c2 - 1, with their diagonal: that of the
// covariance of P independent Gaussian numbers of each frame. g is symmetric, with ones on the diagonal: of transport.Square.
func Wishart(g, contrast, offset, inverseCount, speckles, s *ad.Node) *ad.Node {
	if len(g.Shape()) != 2 {
		return ad.Fail(fmt.Errorf("twotime: correlations of shape %v: want a matrix of frames", g.Shape()))
	}
	c := ad.Add(ad.Add(ad.Mul(contrast, g), ad.Shift(offset, -1)), ad.Mul(inverseCount, ad.Eye(g.Shape()[0])))
	l := ad.Cholesky(c)
	trace := ad.Sum(ad.Diag(ad.CholeskySolve(l, s)))
	return ad.Mul(ad.Scale(-0.5, speckles), ad.Add(ad.CholeskyLogDet(l), trace))
}
