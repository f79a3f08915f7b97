//go:build slow

package infer

const slowTests = true
