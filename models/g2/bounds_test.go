// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/g2"
)

// warned returns how many of some curves of a contrast have a warning that it is on its bound, and the last of these.
func warned(t *testing.T, contrast float64, curves int) (n int, last string) {
	t.Helper()
	model, err := g2.ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 2))
	for range curves {
		c := g2.Curve{Bin: 1}
		for i := range 40 {
			x := 1e-3 * math.Pow(10, float64(i)/10)
			c.X, c.Err = append(c.X, x), append(c.Err, 0.01)
			c.Y = append(c.Y, 1+contrast*math.Exp(-2*x/0.05)+0.01*noise.NormFloat64())
		}
		f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range f.Warnings {
			if strings.Contains(text, "bound") {
				n, last = n+1, text
			}
		}
	}
	return n, last
}

// A contrast of 1 is the most that there is: half of all fits end there, which is no reason to warn. A contrast above is, and its bound is not widened.
func TestContrastOnItsBound(t *testing.T) {
	if n, text := warned(t, 1, 200); n > 2 {
		t.Errorf("%d of 200 fits of contrast 1 warn of its bound: %s", n, text)
	}
	if n, text := warned(t, 1.1, 5); n != 5 || strings.Contains(text, "widen") || !strings.HasPrefix(text, "contrast is at its bound 1: the data would take it") {
		t.Errorf("%d of 5 fits of contrast 1.1 warn of its bound: %s", n, text)
	}
}
