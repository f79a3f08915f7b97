// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gp

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Kernel is the covariance between the values of a process at two points.
type Kernel struct {
	Name string
	// Cov returns the covariances between the points x and y, a matrix with one row for
	// each point of x. Gradient: with respect to points and hyperparameters.
	Cov func(x, y *ad.Node) *ad.Node
	// Var returns the vector of variances at the points x.
	Var func(x *ad.Node) *ad.Node
}

// Add is the kernel of the sum of independent processes.
func Add(kernels ...Kernel) Kernel { return join("sum", ad.Add, kernels) }

// Mul is the kernel whose covariances are the products of those of the given kernels.
func Mul(kernels ...Kernel) Kernel { return join("product", ad.Mul, kernels) }

func join(name string, op func(a, b *ad.Node) *ad.Node, kernels []Kernel) Kernel {
	fold := func(f func(k Kernel) *ad.Node) *ad.Node {
		var out *ad.Node
		for _, k := range kernels {
			if v := f(k); out == nil {
				out = v
			} else {
				out = op(out, v)
			}
		}
		if out == nil {
			return fault(fmt.Errorf("the %s has no kernels: pass at least one", name))
		}
		return out
	}
	return Kernel{Name: name,
		Cov: func(x, y *ad.Node) *ad.Node { return fold(func(k Kernel) *ad.Node { return k.Cov(x, y) }) },
		Var: func(x *ad.Node) *ad.Node { return fold(func(k Kernel) *ad.Node { return k.Var(x) }) },
	}
}

// fault returns a Node that carries err.
func fault(err error) *ad.Node { return ad.Fail(fmt.Errorf("gp: %w", err)) }

// rows reshapes points to (n, d); a vector has d = 1.
func rows(x *ad.Node) *ad.Node {
	if x.Err() != nil {
		return x
	}
	switch s := x.Shape(); len(s) {
	case 1:
		return ad.Reshape(x, s[0], 1)
	case 2:
		return x
	default:
		return fault(fmt.Errorf("the points have shape %v: want a vector, or a matrix with a row for each point", s))
	}
}

// differences returns x_i - y_j with shape (n, m, d), divided by scale, which is one
// number or one per column.
func differences(x, y, scale *ad.Node) *ad.Node {
	x, y = rows(x), rows(y)
	if x.Err() != nil || y.Err() != nil {
		return ad.Add(x, y)
	}
	n, m, d := x.Shape()[0], y.Shape()[0], x.Shape()[1]
	if e := y.Shape()[1]; e != d {
		return fault(fmt.Errorf("the points have %d coordinates in one array and %d in the other: want equal numbers", d, e))
	}
	if s := scale.Shape(); scale.Err() == nil && !slices.Equal(s, []int{}) && !slices.Equal(s, []int{1}) && !slices.Equal(s, []int{d}) {
		return fault(fmt.Errorf("the length scales have shape %v for %d coordinates: give one, or one for each", s, d))
	}
	return ad.Div(ad.Sub(ad.Reshape(x, n, 1, d), ad.Reshape(y, 1, m, d)), scale)
}

// stationary returns the kernel alpha^2 f(d2), where d2 is the squared distance in units
// of rho.
func stationary(name string, alpha, rho any, f func(d2 *ad.Node) *ad.Node) Kernel {
	a, r := ad.Square(ad.Of(alpha)), ad.Of(rho)
	return Kernel{Name: name,
		Cov: func(x, y *ad.Node) *ad.Node {
			return ad.Mul(a, f(ad.SumAxes(ad.Square(differences(x, y, r)), -1)))
		},
		Var: func(x *ad.Node) *ad.Node { return constant(a, x) },
	}
}

// constant returns v repeated for every point of x.
func constant(v, x *ad.Node) *ad.Node {
	if x = rows(x); x.Err() != nil {
		return x
	}
	return ad.Broadcast(v, x.Shape()[0])
}

// SquaredExponential is the kernel of smooth processes with standard deviation alpha and
// length scale rho, which is one number or one per coordinate.
//
//	k = alpha^2 exp(-r^2/2), r^2 = sum ((x_d - y_d)/rho_d)^2
func SquaredExponential(alpha, rho any) Kernel {
	return stationary("squared exponential", alpha, rho, func(d2 *ad.Node) *ad.Node { return ad.Exp(ad.Scale(-0.5, d2)) })
}

// Matern12 is the kernel of the Ornstein-Uhlenbeck process, which is continuous and
// rough: alpha^2 exp(-r), with r as in SquaredExponential.
func Matern12(alpha, rho any) Kernel {
	return stationary("matern 1/2", alpha, rho, func(d2 *ad.Node) *ad.Node { return ad.Exp(ad.Neg(distance(d2))) })
}

// Matern32 is the kernel of processes that are once differentiable:
//
//	k = alpha^2 (1 + sqrt(3) r) exp(-sqrt(3) r)
func Matern32(alpha, rho any) Kernel {
	return stationary("matern 3/2", alpha, rho, func(d2 *ad.Node) *ad.Node {
		s := ad.Scale(math.Sqrt(3), distance(d2))
		return ad.Mul(ad.Shift(s, 1), ad.Exp(ad.Neg(s)))
	})
}

// Matern52 is the kernel of processes that are twice differentiable:
//
//	k = alpha^2 (1 + sqrt(5) r + 5 r^2/3) exp(-sqrt(5) r)
func Matern52(alpha, rho any) Kernel {
	return stationary("matern 5/2", alpha, rho, func(d2 *ad.Node) *ad.Node {
		s := ad.Scale(math.Sqrt(5), distance(d2))
		return ad.Mul(ad.Add(ad.Shift(s, 1), ad.Scale(5./3, d2)), ad.Exp(ad.Neg(s)))
	})
}

// distance returns the root of d2. Its gradient at equal points is defined as 0.
func distance(d2 *ad.Node) *ad.Node {
	apart := ad.Greater(d2, ad.Scalar(0))
	return ad.Where(apart, ad.Sqrt(ad.Where(apart, d2, ad.Scalar(1))), ad.Scalar(0))
}

// Periodic is the kernel of periodic processes:
//
//	k = alpha^2 exp(-2 sum (sin(pi (x_d - y_d)/period)/rho_d)^2)
func Periodic(alpha, rho, period any) Kernel {
	a, r, p := ad.Square(ad.Of(alpha)), ad.Of(rho), ad.Of(period)
	return Kernel{Name: "periodic",
		Cov: func(x, y *ad.Node) *ad.Node {
			s := ad.Div(ad.Sin(ad.Scale(math.Pi, differences(x, y, p))), r)
			return ad.Mul(a, ad.Exp(ad.Scale(-2, ad.SumAxes(ad.Square(s), -1))))
		},
		Var: func(x *ad.Node) *ad.Node { return constant(a, x) },
	}
}

// Linear is the kernel of straight lines, or planes, that are 0 at the point center.
// alpha is the standard deviation of their slopes, one number or one per coordinate:
//
//	k = sum alpha_d^2 (x_d - center_d) (y_d - center_d)
func Linear(alpha, center any) Kernel {
	a, c := ad.Of(alpha), ad.Of(center)
	part := func(x *ad.Node) *ad.Node { return ad.Mul(ad.Sub(rows(x), c), a) }
	return Kernel{Name: "linear",
		Cov: func(x, y *ad.Node) *ad.Node { return ad.MatMul(part(x), ad.T(part(y))) },
		Var: func(x *ad.Node) *ad.Node { return ad.SumAxes(ad.Square(part(x)), -1) },
	}
}

// Constant is the kernel of a constant function whose value has standard deviation alpha.
func Constant(alpha any) Kernel {
	a := ad.Square(ad.Of(alpha))
	return Kernel{Name: "constant",
		Cov: func(x, y *ad.Node) *ad.Node {
			if x, y = rows(x), rows(y); x.Err() != nil || y.Err() != nil {
				return ad.Add(x, y)
			}
			return ad.Broadcast(a, x.Shape()[0], y.Shape()[0])
		},
		Var: func(x *ad.Node) *ad.Node { return constant(a, x) },
	}
}
