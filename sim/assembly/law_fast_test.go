//go:build !slow

package assembly

// slow says that tests may take minutes.
const slow = false
