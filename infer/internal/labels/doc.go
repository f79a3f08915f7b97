// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package labels sums over discrete variables, draws them and finds their most probable values, given tables of the logarithms of joint densities.
//
// A [Sum] holds what a log density is made of: units, such as the label of one observation or the state of a hidden chain at one time, whose variables are summed out
// together, and settings of the outer variables, such as the place of a change, on which all units depend. [Tables] are the numbers at one point.
package labels
