//go:build slow

package spectra_test

func init() { everyHessian = true }
