//go:build slow

package rsoxs

const slowTests = true
