package cuda

// SetFourierRoom changes the shared memory of transforms and returns what undoes it.
func SetFourierRoom(bytes int) (undo func()) {
	old := fourierRoom
	fourierRoom = bytes
	return func() { fourierRoom = old }
}
