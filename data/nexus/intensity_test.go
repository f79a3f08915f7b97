// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// traceOf returns a trace with a scatter from frame to frame.
func traceOf(seed uint64, frames int, scatter float64, of func(i int) float64) *Trace {
	z := tensor.NewStream(seed, 0, 0)
	t := &Trace{}
	for i := range frames {
		t.Frame, t.Mean = append(t.Frame, float64(2*i)), append(t.Mean, max(0, of(i)*(1+scatter*z.Normal())))
	}
	return t
}

// A step and a drift are found, with the frame and the factor.
func TestChangeOfIntensity(t *testing.T) {
	step := traceOf(1, 2000, 0.05, func(i int) float64 { return map[bool]float64{true: 1.5, false: 0.9}[i < 1000] })
	step.Mean[77] = 0
	if c, ok := step.Change(); !ok || !c.Step || c.Frame != 2000 || math.Abs(c.Factor-0.6) > 0.01 {
		t.Errorf("%+v %v: want a step by 0.6 from frame 2000 on", c, ok)
	}
	if text, remedy := DescribeIntensity(step); !strings.Contains(text, "from frame 2000 on") || !strings.Contains(remedy, "--begin 2000") {
		t.Error(text, remedy)
	}
	drift := traceOf(2, 500, 0.05, func(i int) float64 { return 1 + float64(i)/500 })
	if c, ok := drift.Change(); !ok || c.Step || math.Abs(c.Factor-2) > 0.1 {
		t.Errorf("%+v %v: want a drift by 2", c, ok)
	}
}

// A beam that is steady, flickers, swings or has few photons has no step and no drift.
func TestNoChangeOfIntensity(t *testing.T) {
	for name, of := range map[string]func(i int) float64{
		"steady": func(int) float64 { return 1 },
		"swings": func(i int) float64 { return 1 + 0.3*math.Sin(float64(i)/6) },
		"1 %":    func(i int) float64 { return map[bool]float64{true: 1, false: 0.99}[i < 200] },
	} {
		for seed := range uint64(100) {
			for _, scatter := range []float64{0, 0.03, 1} {
				if c, ok := traceOf(seed, 50+int(seed)*20, scatter, of).Change(); ok {
					t.Errorf("%s, scatter %g, seed %d: %+v", name, scatter, seed, c)
				}
			}
		}
	}
	if text, _ := DescribeIntensity(nil); text != "" {
		t.Error(text)
	}
}
