// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
)

func TestGatherGoldens(t *testing.T) { check(t, gatherGoldens(t)) }

func gatherGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "nn_gather.json") {
		from := "x"
		if c.Op == "embedding" {
			from = "table"
		}
		in, ix, gy := c.Inputs[from], c.Inputs["index"], c.Inputs["grad_y"]
		x, idx, g := ad.Input("x", in.Shape...), ad.IntInput("i", ix.Shape...), ad.Input("g", gy.Shape...)
		var y *ad.Node
		switch c.Op {
		case "embedding":
			rows := x
			if pad, ok := c.Attrs["padding_index"].(float64); ok { // that row has no gradient
				trained := make([]float64, in.Shape[0])
				for i := range trained {
					trained[i] = 1
				}
				trained[int(pad)] = 0
				rows = ad.Where(ad.Const(trained, len(trained), 1), x, ad.StopGradient(x))
			}
			y = ad.Gather(rows, idx, 0)
		case "index_select":
			y = ad.Gather(x, idx, int(c.Attrs["axis"].(float64)))
		case "gather":
			y = ad.TakeAlong(x, idx, int(c.Attrs["axis"].(float64)))
		case "scatter_add":
			y = ad.ScatterAlong(x, idx, int(c.Attrs["axis"].(float64)), int(c.Attrs["size"].(float64)))
		default:
			t.Errorf("no operation %s", c.Op)
			continue
		}
		list = append(list, goldenCase{c, map[string]*ad.Node{"y": y, "grad_" + from: ad.VJP(y, g, x)[0]}, []*ad.Node{x, idx, g},
			[][]float64{in.Values(), ix.Values(), gy.Values()}, func(name string) (float64, float64) {
				if name == "y" {
					return 1e-14, 4e-7
				}
				return 1e-12, 1e-5
			}})
	}
	return list
}
