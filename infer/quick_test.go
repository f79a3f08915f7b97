//go:build !slow

package infer

const slowTests = false
