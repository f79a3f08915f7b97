//go:build slow

package autodiff_test

import "testing"

// Thousands of random programs, one in a hundred of them on a device.
func TestManyRandomLoops(t *testing.T) {
	emulated(t)
	randomLoops(t, 1000, 6000, func(seed uint64) bool { return seed%100 == 0 })
}

func TestManyRandomWindows(t *testing.T) {
	emulated(t)
	randomConvolutions(t, 1000, 3000, func(seed uint64) bool { return seed%100 == 0 })
	randomPools(t, 1000, 6000, func(seed uint64) bool { return seed%100 == 0 })
}
