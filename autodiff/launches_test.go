// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// Launches of every operation and of its gradient have work that a model can use.
func TestLaunchesOfOperations(t *testing.T) {
	card, err := roofline.Find("A100")
	if err != nil {
		t.Fatal(err)
	}
	kernels, partly := 0, 0
	for _, op := range standard {
		if op.Sample == nil {
			continue
		}
		var in []*ad.Node
		outs := op.Sample(func(lo, hi float64, shape ...int) *ad.Node {
			in = append(in, ad.Input(fmt.Sprint("x", len(in)), shape...))
			return in[len(in)-1]
		})
		if op.Differentiable() {
			outs = append(outs, ad.Grad(squares(outs), in...)...)
		}
		list, err := ad.Launches(outs, ad.Settings{Inputs: in, Precision: 32, Backend: ad.CUDA{}})
		if err != nil {
			t.Fatalf("%s: %v", op.Name, err)
		}
		for _, l := range list {
			kernels++
			if l.Work.Unknown != "" {
				partly++
			}
			w := l.Work
			for _, v := range []float64{w.Bytes(), w.Sectors, w.Float32, w.Float64, w.Integers, w.Special, w.Accesses, w.Conflicts, w.Trips, w.Serial} {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Errorf("%s: %s has the work %+v", op.Name, l.Kernel, w)
					break
				}
			}
			if s := card.Predict(l, true).Seconds; l.Grid < 1 || l.Block < 1 || w.Bytes() == 0 || !(s > 0 && s < 1e-2) {
				t.Errorf("%s: %s of %d x %d threads takes %g s, with %+v", op.Name, l.Kernel, l.Grid, l.Block, s, w)
			}
		}
	}
	if kernels < 500 || partly > kernels/4 {
		t.Errorf("of %d kernels %d have loops that are not counted", kernels, partly)
	}
	t.Logf("%d kernels, of which %d have loops that are not counted", kernels, partly)
}

// A loop's kernels are launched for each of its steps.
func TestLaunchesOfLoops(t *testing.T) {
	x := ad.Input("x", 50, 3)
	last, _ := ad.Scan(func(carry, x []*ad.Node) (next, y []*ad.Node) {
		return []*ad.Node{ad.Sin(ad.Add(carry[0], x[0]))}, nil
	}, []*ad.Node{ad.Const(make([]float64, 3), 3)}, []*ad.Node{x}, 50, ad.ScanSettings{})
	list, err := ad.Launches(last, ad.Settings{Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, l := range list {
		times = max(times, l.Times)
	}
	if times != 50 {
		t.Errorf("kernels of a loop of 50 steps are launched %d times: %+v", times, list)
	}
	if _, err := ad.Launches(last, ad.Settings{}); err == nil {
		t.Error("the processor has launches")
	}
}
