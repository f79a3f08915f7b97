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
