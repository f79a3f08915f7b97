//go:build !slow

package correlate

const slowTests = false
