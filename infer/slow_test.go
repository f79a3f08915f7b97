//go:build slow

package infer

const SlowTests = true
