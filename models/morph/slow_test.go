//go:build slow

package morph_test

const slowTests = true
