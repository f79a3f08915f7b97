// Package gp holds Gaussian processes as graphs: kernels, which give the
// covariance between points, and the distributions of the values there.
//
// A Kernel is a value made of its hyperparameters, numbers or Nodes, and kernels
// add and multiply. Points are a vector, or a matrix with one row per point; a
// length scale may be a vector with one number per column. Marginal is the distribution of
// noisy observations, Predict that of the process at other points given them.
//
//	k := gp.SquaredExponential(alpha, rho)
//	m.Observe("y", gp.Marginal(k, x, nil, sigma2), ys)
//	p := gp.Condition(k, x, ys, nil, sigma2, xNew)
//	m.Deterministic("f", p.Mean)
//
// Conventions: alpha is a standard deviation, noise a variance. Where there is no
// noise, 1e-10 of the mean variance stands for it in Cholesky's factorisation.
package gp
