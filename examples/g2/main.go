// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command g2 makes the demonstration result file of "euryale demo g2": a synthetic
// multi-tau analysis in the APS 8-ID layout.
//
//	go run ./examples/g2 demo/g2_result.hdf
//
// The sample diffuses, tau = 1/(D q^2), with a contrast that falls with q. The errors
// follow the shot noise at the stated count rate. Nothing in the file was measured, and
// the file says so.
package main

import (
	"fmt"
	"math"
	"os"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	bins      = 12
	frames    = 100_000
	frameTime = 1e-3  // time between frames in s
	diffusion = 4.2e4 // diffusion coefficient in Å^2/s
	seed      = 20240817
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: g2 RESULT.hdf")
		os.Exit(64)
	}
	if err := nexus.Write(os.Args[1], Result()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(73)
	}
}

// lags returns the multi-tau delays in frames: 1 to 8, then four per octave.
func lags() []float64 {
	out := []float64{1, 2, 3, 4}
	for step := 1; 8*step < frames/8; step *= 2 {
		for _, k := range []int{5, 6, 7, 8} {
			out = append(out, float64(k*step))
		}
	}
	return out
}

// Result simulates the analysis.
func Result() *nexus.Result {
	delay := lags()
	g, sd := nexus.NewMatrix(len(delay), bins), nexus.NewMatrix(len(delay), bins)
	random := tensor.NewStream(seed, 0, 0)
	var qs []float64
	for b := range bins {
		q := 0.003 * math.Pow(1.16, float64(b))
		qs = append(qs, q)
		tau, contrast := 1/(diffusion*q*q), 0.28*math.Exp(-q/0.03)
		baseline := 1 + 4e-4*random.Normal()
		for i, d := range delay {
			level := math.Exp2(math.Floor(math.Log2(max(d/4, 1))))
			s := 1.5e-3 * (1 + 2*q/0.02) / math.Sqrt(level) * math.Sqrt(1+d*level/frames*40)
			v := baseline + contrast*math.Exp(-2*d*frameTime/tau)
			g.Set(i, b, v+s*random.Normal())
			sd.Set(i, b, s)
		}
	}
	cells := make([]int, bins)
	for i := range cells {
		cells[i] = i
	}
	return &nexus.Result{
		Flavour: nexus.Nexus, Start: "2024-08-17 12:00:00", FrameTime: frameTime, CountTime: frameTime, Energy: 10.9,
		PixelX: 75e-6, PixelY: 75e-6,
		QMap:     &nexus.QMap{Dynamic: nexus.Partition{Cells: cells, Axis0: qs, Axis1: []float64{0}}},
		Multitau: &nexus.Multitau{Delay: delay, G2: g, Err: sd, Stride: 1, Average: 1},
		Attrs:    map[string]string{"note": "synthetic demonstration data: simulated diffusion with shot noise, not a measurement"},
	}
}
