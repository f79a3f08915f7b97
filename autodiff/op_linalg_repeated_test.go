// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// repeatedGrad runs the gradient of f at a matrix.
func repeatedGrad(t *testing.T, w way, m, n int, a []float64, f func(a *ad.Node) *ad.Node) []float64 {
	t.Helper()
	x := ad.Input("a", m, n)
	return results(t, w, ad.Grad(f(x), x), []*ad.Node{x}, [][]float64{a})[0]
}

// Functions v diag(f(w)) v^T of a symmetric matrix with repeated eigenvalues have the gradient f'(w) off the diagonal,
// weighted as the lower triangle is; projectors have 0 inside the space; eigenvectors themselves have none, which NaN says.
func TestGradientsAtRepeatedEigenvalues(t *testing.T) {
	weights := ad.Const([]float64{0.3, 1.1, -0.7, 1.1, 0.9, 0.4, -0.7, 0.4, -1.2}, 3, 3)
	spectral := func(f func(*ad.Node) *ad.Node) func(a *ad.Node) *ad.Node {
		return func(a *ad.Node) *ad.Node {
			w, v := ad.EigenSymmetric(a)
			return ad.Sum(ad.Mul(weights, ad.MatMul(ad.Mul(v, ad.Reshape(f(w), 1, 3)), ad.T(v))))
		}
	}
	identity := []float64{2, 0, 0, 0, 2, 0, 0, 0, 2}
	twice := []float64{2, 0, 0, 0, 5, 0, 0, 0, 2}
	near := []float64{2, 0, 0, 1e-13, 2, 0, 0, 0, 2 + 1e-12}
	e2, e5 := math.Exp(2), math.Exp(5)
	gap := (e5 - e2) / 3
	for _, w := range ways() {
		for name, c := range map[string]struct {
			a, want []float64
			f       func(a *ad.Node) *ad.Node
		}{
			"exp of 2 I":             {identity, []float64{0.3 * e2, 0, 0, 2.2 * e2, 0.9 * e2, 0, -1.4 * e2, 0.8 * e2, -1.2 * e2}, spectral(ad.Exp)},
			"exp near 2 I":           {near, []float64{0.3 * e2, 0, 0, 2.2 * e2, 0.9 * e2, 0, -1.4 * e2, 0.8 * e2, -1.2 * e2}, spectral(ad.Exp)},
			"the matrix itself":      {identity, []float64{0.3, 0, 0, 2.2, 0.9, 0, -1.4, 0.8, -1.2}, spectral(func(w *ad.Node) *ad.Node { return w })},
			"exp, two equal":         {twice, []float64{0.3 * e2, 0, 0, 2.2 * gap, 0.9 * e5, 0, -1.4 * e2, 0.8 * gap, -1.2 * e2}, spectral(ad.Exp)},
			"sum of the eigenvalues": {twice, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, func(a *ad.Node) *ad.Node { return ad.Sum(ad.EigenvaluesSymmetric(a)) }},
			"projector": {twice, []float64{0, 0, 0, -2.2 / 3, 0, 0, 0, -0.8 / 3, 0}, func(a *ad.Node) *ad.Node {
				_, v := ad.EigenSymmetric(a)
				u := ad.Slice(v, 1, 0, 2)
				return ad.Sum(ad.Mul(weights, ad.MatMul(u, ad.T(u))))
			}},
		} {
			got := repeatedGrad(t, w, 3, 3, c.a, c.f)
			sameNumbers(t, name+" "+w.String(), got, c.want)
		}
		vector := repeatedGrad(t, w, 3, 3, identity, func(a *ad.Node) *ad.Node {
			_, v := ad.EigenSymmetric(a)
			return ad.Sum(ad.Mul(ad.Const([]float64{0.3, 2, -0.7, 1.1, 0.9, 0.4, 3, 0.1, -1.2}, 3, 3), v))
		})
		if !math.IsNaN(vector[3]) {
			t.Errorf("%v: the gradient of an eigenvector that is not determined is %v, want NaN", w, vector)
		}
	}
}

// Functions u diag(f(s)) v^T of a matrix with repeated singular values have their gradient too: that of a matrix function
// of a a^T, here the cube a a^T a, and the matrix itself.
func TestGradientsAtRepeatedSingularValues(t *testing.T) {
	weights := []float64{0.3, 2, -0.7, 1.1, 0.9, 0.4, 3, 0.1, -1.2}
	turn := []float64{0, -2, 0, 2, 0, 0, 0, 0, 2} // 2 times a rotation
	for _, w := range ways() {
		for _, power := range []float64{1, 3} {
			got := repeatedGrad(t, w, 3, 3, turn, func(a *ad.Node) *ad.Node {
				u, s, v := ad.SVD(a)
				f := ad.Pow(s, ad.Scalar(power))
				return ad.Sum(ad.Mul(ad.Const(weights, 3, 3), ad.MatMul(ad.Mul(u, ad.Reshape(f, 1, 3)), ad.T(v))))
			})
			want := repeatedGrad(t, w, 3, 3, turn, func(a *ad.Node) *ad.Node {
				if power == 3 {
					a = ad.MatMul(ad.MatMul(a, ad.T(a)), a)
				}
				return ad.Sum(ad.Mul(ad.Const(weights, 3, 3), a))
			})
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 2e-5*math.Abs(want[i])+1e-6) {
					t.Errorf("%v, power %g: %v, want %v", w, power, got, want)
					break
				}
			}
		}
	}
}

// Singular values, eigenvalues and factors keep their digits and gradients at scales whose squares have no number.
func TestDecompositionsAtExtremeScales(t *testing.T) {
	base := []float64{4, 1, 0, 1, 3, 1, 0, 1, 2}
	for _, w := range ways() {
		scales := []float64{1e-155, 1e170, 1e-300}
		if w.bits == 32 {
			scales = []float64{1e-23, 1e20, 1e-35}
		}
		for name, f := range map[string]func(a *ad.Node) *ad.Node{
			"singular values":                ad.SingularValues,
			"eigenvalues":                    ad.EigenvaluesSymmetric,
			"qr":                             func(a *ad.Node) *ad.Node { _, r := ad.QR(a); return r },
			"singular values of two columns": func(a *ad.Node) *ad.Node { return ad.SingularValues(ad.Slice(a, 1, 0, 2)) },
		} {
			one := func(scale float64) (value, grad []float64) {
				a := make([]float64, 9)
				for i, v := range base {
					a[i] = v * scale
				}
				x := ad.Input("a", 3, 3)
				y := f(x)
				got := results(t, w, []*ad.Node{y, ad.Grad(y, x)[0]}, []*ad.Node{x}, [][]float64{a})
				return got[0], got[1]
			}
			value, grad := one(1)
			for _, scale := range scales {
				v, g := one(scale)
				for i := range v {
					v[i] /= scale
				}
				nearNumbers(t, w.String()+" "+name, v, value)
				nearNumbers(t, w.String()+" gradient of "+name, g, grad)
			}
		}
	}
}

func nearNumbers(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 3e-6*(1+math.Abs(want[i]))) {
			t.Errorf("%s: %v, want %v", name, got, want)
			return
		}
	}
}
