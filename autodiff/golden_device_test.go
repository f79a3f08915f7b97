// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// families are the golden cases of operations by the names of their files.
var families = map[string]func(t *testing.T) []goldenCase{
	"ops_unary": unaryGoldens, "ops_binary": binaryGoldens, "ops_reduce": reduceGoldens, "ops_matmul": matmulGoldens, "ops_scan_sort": scanGoldens,
	"ops_linalg": linalgGoldens, "ops_fft": fourierGoldens, "nn_gather": gatherGoldens,
	"nn_conv": convolutionGoldens, "nn_pool": poolingGoldens,
}

// The device keeps to the tolerances of the reference, and so does the processor in other tests. All
// cases of a family are one program; those in float32 are in the slow tests.
func TestGoldensOnDevice(t *testing.T) {
	emulated(t)
	for name, family := range families {
		t.Run(name, func(t *testing.T) { goldensOnDevice(t, family(t), 64) })
	}
}

func goldensOnDevice(t *testing.T, cases []goldenCase, bits int) {
	t.Helper()
	var in, outs []*ad.Node
	var values [][]float64
	var checks []func(got []float64)
	for _, c := range cases {
		names, nodes := c.listed(t)
		in, values, outs = append(in, c.inputs...), append(values, c.values...), append(outs, nodes...)
		for _, name := range names {
			checks = append(checks, func(got []float64) { c.compare(t, name, bits, "on the device", got) })
		}
	}
	for i, got := range onDevice(t, outs, in, values, bits) {
		checks[i](got)
	}
}

// Functions are exact on the device at the points at which they are exact on the processor.
func TestSpecialPointsOnDevice(t *testing.T) {
	emulated(t)
	list := specialPoints(t)
	var in, outs []*ad.Node
	var values [][]float64
	for _, p := range list {
		in, values, outs = append(in, p.x), append(values, p.at), append(outs, p.y)
	}
	for _, bits := range []int{64, 32} {
		for i, got := range onDevice(t, outs, in, values, bits) {
			list[i].compare(t, bits, "on the device", got)
		}
	}
}
