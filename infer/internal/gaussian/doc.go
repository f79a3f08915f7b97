// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gaussian integrates parameters out of log densities that are normal given the others and the data, such as the effects of groups and the states of a random
// walk that are observed with normal errors, and draws them afterwards. They are known by the density itself: it is a quadratic function of x,
//
//	l(x) = l(m) - (x - m)^T P (x - m)/2,
//
// where m and P depend on the other parameters. Then the density of the others is
//
//	l(m) - log det(P)/2 + n log(2 pi)/2,
//
// whose gradient needs none of m, at which the derivative of l is 0, and x given them is normal with mean m and precision P. P is diagonal, or has neighbours
// beside the diagonal. What is quadratic once x is gone, such as the slopes of the groups beside their means, goes next. Single numbers stay: to integrate out the
// mean of eight schools too makes gradients twice as dear and draws no better.
package gaussian
