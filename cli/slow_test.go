//go:build slow

package cli

const slowTests = true
