// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkJudge is the cost of a verdict on a right model.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{50, 1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := noise(rand.New(rand.NewPCG(1, 1)), n, false)
			for b.Loop() {
				if _, err := Judge(d, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorkspace is the cost of one of many verdicts along the same axis.
func BenchmarkWorkspace(b *testing.B) {
	d := noise(rand.New(rand.NewPCG(1, 1)), 50, false)
	var m Workspace
	for b.Loop() {
		if _, err := m.Judge(d, Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
