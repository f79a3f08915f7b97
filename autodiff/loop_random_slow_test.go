// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Thousands of random programs, one in fifty of them on a device.
func TestManyRandomLoops(t *testing.T) {
	emulated(t)
	randomLoops(t, 1000, 5000, func(seed uint64) bool { return seed%50 == 0 })
}

func TestManyRandomWindows(t *testing.T) {
	emulated(t)
	randomConvolutions(t, 1000, 3000, func(seed uint64) bool { return seed%100 == 0 })
	randomPools(t, 1000, 6000, func(seed uint64) bool { return seed%100 == 0 })
}

// A scan of more steps than a graph of launches should have runs on a device, each time.
func TestLongScanOnDevice(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 4)
	last, _ := ad.Scan(func(c, _ []*ad.Node) (next, y []*ad.Node) { return []*ad.Node{ad.Sin(c[0])}, nil }, []*ad.Node{x}, nil, 300_000, ad.ScanSettings{})
	agree(t, last, []*ad.Node{x}, [][]float64{{1, 2, 3, 4}}, 64, 1e-12, func(int) string { return "sines" })
}

// A loop whose steps float32 does not count says so.
func TestWhileBeyondFloat32(t *testing.T) {
	x := ad.Input("x")
	last, count := ad.While(func([]*ad.Node) *ad.Node { return ad.Scalar(1) }, func(c []*ad.Node) []*ad.Node { return c }, []*ad.Node{x}, 1<<24+1)
	for bits, want := range map[int]bool{32: false, 64: true} {
		p, err := ad.Compile([]*ad.Node{last[0], count}, ad.Settings{Precision: bits})
		if err != nil {
			t.Fatal(err)
		}
		if s := p.NewState(); (s.Run() == nil) != want || want && s.OutputFloat64(1)[0] != 1<<24+1 {
			t.Errorf("float%d: %v steps", bits, s.OutputFloat64(1))
		}
	}
}
