// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package linalg holds the dense linear algebra of small problems: vectors (vectors.go,
// arena.go), the factorisations of Cholesky, Householder with column pivoting (qr.go) and
// singular values (svd.go), and the least-squares problems that are solved with them:
// damped (damped.go), non-negative (active_set.go) and by products alone (lsmr.go).
//
// Matrices of a least-squares problem have few columns by tens to millions of rows and are
// stored column by column; square ones are stored row by row. Their sums run in four parts,
// which keeps the adders busy and halves the rounding error. Samplers, whose vectors may have
// two numbers or thousands, use FastDot.
package linalg
