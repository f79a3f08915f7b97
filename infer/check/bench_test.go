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
