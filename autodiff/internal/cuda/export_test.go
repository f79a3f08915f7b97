// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

// SetFourierRoom changes the shared memory of transforms and returns what undoes it.
func SetFourierRoom(bytes int) (undo func()) {
	old := fourierRoom
	fourierRoom = bytes
	return func() { fourierRoom = old }
}

// SetSolverRows changes the number of rows above which libraries factor and solve, and returns what undoes it.
func SetSolverRows(n int) (undo func()) {
	old := solverRows
	solverRows = n
	return func() { solverRows = old }
}

// SetTunedProduct changes the number of multiplications from which on products are timed, and returns what undoes it.
func SetTunedProduct(n int) (undo func()) {
	old := tunedProduct
	tunedProduct = n
	return func() { tunedProduct = old }
}

// SetTilings lets products be cut in one way alone of those that there are, and returns what undoes it.
func SetTilings(k int) (undo func()) {
	old := tilings
	tilings = tilings[k : k+1]
	return func() { tilings = old }
}

// Tilings is the number of ways to cut products.
func Tilings() int { return len(tilings) }

// SetLeastTile changes the number of rows and columns from which on convolutions are products in tiles, and returns
// what undoes it.
func SetLeastTile(n int) (undo func()) {
	old := leastTile
	leastTile = n
	return func() { leastTile = old }
}

// SetSort changes the length of lines above which several blocks sort one, and the number of their parts, and returns
// what undoes it.
func SetSort(alone, jobs int) (undo func()) {
	oldAlone, oldJobs := sortAlone, sortJobs
	sortAlone, sortJobs = alone, jobs
	return func() { sortAlone, sortJobs = oldAlone, oldJobs }
}

// SetMostGrid changes the most blocks of kernels that walk in strides of the grid, and returns what undoes it.
func SetMostGrid(n int) (undo func()) {
	old := mostGrid
	mostGrid = n
	return func() { mostGrid = old }
}

// SetShortest changes the size from which on places have 64 bits, and returns what undoes it.
func SetShortest(n int) (undo func()) {
	old := shortest
	shortest = n
	return func() { shortest = old }
}
