package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// sides returns the K of a K x K matrix of n elements.
func sides(n int) int { return int(math.Round(math.Sqrt(float64(n)))) }

func strictLower(n int) int { k := sides(n); return k * (k - 1) / 2 }

func lowerAndDiagonal(n int) int { k := sides(n); return k * (k + 1) / 2 }

// CorrCholeskyTransform maps K(K-1)/2 numbers, row by row, to the Cholesky
// factor L of a correlation matrix:
//
//	z = tanh x, L_ij = z_ij sqrt(1 - sum_(k<j) L_ik^2), L_ii = sqrt(1 - sum L_ik^2)
func CorrCholeskyTransform(k int) Transform {
	return Transform{Name: "corr_cholesky", Free: strictLower,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { l, j, _ := corrCholesky(x, k); return l, j },
		Inverse:   func(y []float64, _ ...float64) ([]float64, error) { return fromCorrCholesky(y, k) },
	}
}

// corrCholesky also returns the logarithms of the diagonal, row by row.
//
// Row i is a cumulative product: with w = log sqrt(1 - z^2) per element, the
// factor before z_ij is exp of the sum of w to its left.
func corrCholesky(x *ad.Node, k int) (l, logJ *ad.Node, logDiag []*ad.Node) {
	rows := []*ad.Node{ad.Const(unit(0, k))}
	logDiag = []*ad.Node{ad.Scalar(0)}
	logJ = ad.Scalar(0)
	at := 0
	for i := 1; i < k; i++ {
		r := ad.Slice(x, 0, at, at+i)
		at += i
		w := logSech(r) // log sqrt(1 - tanh^2)
		left := ad.CumsumWith(w, 0, true, false)
		total := ad.Sum(w)
		parts := []*ad.Node{ad.Mul(ad.Tanh(r), ad.Exp(left)), ad.Reshape(ad.Exp(total), 1)}
		if i+1 < k {
			parts = append(parts, ad.Full(0, k-1-i))
		}
		rows, logDiag = append(rows, ad.Concat(0, parts...)), append(logDiag, total)
		logJ = ad.Add(logJ, ad.Sum(ad.Add(ad.Scale(2, w), left)))
	}
	return ad.Concat(0, rows...), logJ, logDiag
}

// logSech returns log(1/cosh x) = log 2 - |x| - log1p(exp(-2|x|)).
func logSech(x *ad.Node) *ad.Node {
	return ad.Sub(ad.Scalar(math.Ln2), ad.Add(x, ad.Softplus(ad.Scale(-2, x))))
}

func unit(i, k int) []float64 {
	v := make([]float64, k)
	v[i] = 1
	return v
}

func fromCorrCholesky(y []float64, k int) ([]float64, error) {
	if len(y) != k*k {
		return nil, fmt.Errorf("dist: %d elements: want a %d x %d matrix", len(y), k, k)
	}
	var x []float64
	for i := 1; i < k; i++ {
		rest := 1.0
		for j := range i {
			v := y[i*k+j]
			z := v / math.Sqrt(rest)
			if !(math.Abs(z) < 1) {
				return nil, fmt.Errorf("dist: element (%d, %d) is %g: not the Cholesky factor of a correlation matrix", i, j, v)
			}
			x = append(x, math.Atanh(z))
			rest -= v * v
		}
	}
	return x, nil
}

// CorrMatrixTransform maps K(K-1)/2 numbers to a correlation matrix L L^T.
func CorrMatrixTransform(k int) Transform {
	return Transform{Name: "corr_matrix", Free: strictLower,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			l, logJ, logDiag := corrCholesky(x, k)
			m := ad.Reshape(l, k, k)
			for i, d := range logDiag { // Jacobian of L -> L L^T on the strict lower part
				logJ = ad.Add(logJ, ad.Scale(float64(k-i-1), d))
			}
			return ad.Reshape(ad.MatMul(m, ad.T(m)), k*k), logJ
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			l, err := cholesky(y, k)
			if err != nil {
				return nil, err
			}
			return fromCorrCholesky(l, k)
		},
	}
}

// CholeskyCovTransform maps K(K+1)/2 numbers, row by row, to a lower triangle
// with exp on the diagonal.
func CholeskyCovTransform(k int) Transform {
	return Transform{Name: "cholesky_cov", Free: lowerAndDiagonal,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			l, diag := lowerTriangle(x, k)
			return l, ad.Sum(diag)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) { return fromLowerTriangle(y, k) },
	}
}

// lowerTriangle also returns the logarithms of the diagonal.
func lowerTriangle(x *ad.Node, k int) (l, logDiag *ad.Node) {
	var rows, diag []*ad.Node
	at := 0
	for i := range k {
		d := ad.Slice(x, 0, at+i, at+i+1)
		if i > 0 {
			rows = append(rows, ad.Slice(x, 0, at, at+i))
		}
		rows, diag = append(rows, ad.Exp(d)), append(diag, d)
		if i+1 < k {
			rows = append(rows, ad.Full(0, k-1-i))
		}
		at += i + 1
	}
	return ad.Concat(0, rows...), ad.Concat(0, diag...)
}

func fromLowerTriangle(y []float64, k int) ([]float64, error) {
	if len(y) != k*k {
		return nil, fmt.Errorf("dist: %d elements: want a %d x %d matrix", len(y), k, k)
	}
	var x []float64
	for i := range k {
		for j := range i {
			x = append(x, y[i*k+j])
		}
		d := y[i*k+i]
		if !(d > 0) {
			return nil, fmt.Errorf("dist: diagonal element %d is %g: want it above 0", i, d)
		}
		x = append(x, math.Log(d))
	}
	return x, nil
}

// CovMatrixTransform maps K(K+1)/2 numbers to a covariance matrix L L^T.
func CovMatrixTransform(k int) Transform {
	return Transform{Name: "cov_matrix", Free: lowerAndDiagonal,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			l, diag := lowerTriangle(x, k)
			m := ad.Reshape(l, k, k)
			w := make([]float64, k)
			for i := range w {
				w[i] = float64(k - i + 1)
			}
			logJ = ad.Shift(ad.Dot(diag, ad.Const(w)), float64(k)*math.Ln2)
			return ad.Reshape(ad.MatMul(m, ad.T(m)), k*k), logJ
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			l, err := cholesky(y, k)
			if err != nil {
				return nil, err
			}
			return fromLowerTriangle(l, k)
		},
	}
}

// cholesky returns the lower factor of a k x k matrix, row-major.
func cholesky(a []float64, k int) ([]float64, error) {
	if len(a) != k*k {
		return nil, fmt.Errorf("dist: %d elements: want a %d x %d matrix", len(a), k, k)
	}
	l := make([]float64, k*k)
	for i := range k {
		for j := 0; j <= i; j++ {
			s := a[i*k+j]
			for p := range j {
				s -= l[i*k+p] * l[j*k+p]
			}
			if i == j {
				if !(s > 0) {
					return nil, fmt.Errorf("dist: pivot %d is %g: the matrix is not positive definite", i, s)
				}
				l[i*k+i] = math.Sqrt(s)
			} else {
				l[i*k+j] = s / l[j*k+j]
			}
		}
	}
	return l, nil
}
