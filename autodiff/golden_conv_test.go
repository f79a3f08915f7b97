// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
)

// pair reads an attribute that is a number or two.
func pair(v any) (p [2]int) {
	switch v := v.(type) {
	case float64:
		p = [2]int{int(v), int(v)}
	case []any:
		p = [2]int{int(v[0].(float64)), int(v[1].(float64))}
	}
	return p
}

// gradientCase makes a case of inputs by name, a result y and the gradients of sum(y grad_y).
func gradientCase(c golden.Case, in map[string]*ad.Node, names []string, y *ad.Node, more map[string]*ad.Node, tol func(name string) (f64, f32 float64)) goldenCase {
	outputs := map[string]*ad.Node{"y": y}
	for name, n := range more {
		outputs[name] = n
	}
	g := goldenCase{Case: c, outputs: outputs, tol: tol}
	for _, name := range names {
		g.inputs, g.values = append(g.inputs, in[name]), append(g.values, c.Inputs[name].Values())
	}
	if gy, ok := c.Inputs["grad_y"]; ok {
		seed := ad.Input("grad_y", gy.Shape...)
		g.inputs, g.values = append(g.inputs, seed), append(g.values, gy.Values())
		for _, name := range names {
			outputs["grad_"+name] = ad.VJP(y, seed, in[name])[0]
		}
	}
	return g
}

// inputsOf makes inputs for those that a case has of some names.
func inputsOf(c golden.Case, names ...string) (in map[string]*ad.Node, have []string) {
	in = map[string]*ad.Node{}
	for _, name := range names {
		if x, ok := c.Inputs[name]; ok {
			in[name] = ad.Input(name, x.Shape...)
			have = append(have, name)
		}
	}
	return in, have
}

func TestConvolutionGoldens(t *testing.T) { check(t, convolutionGoldens(t)) }

func convolutionGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "nn_conv.json") {
		in, names := inputsOf(c, "x", "w", "b")
		s := ad.Convolution{Stride: pair(c.Attrs["stride"]), Pad: pair(c.Attrs["padding"]), Dilation: pair(c.Attrs["dilation"]), Groups: int(c.Attrs["groups"].(float64))}
		var y *ad.Node
		switch c.Op {
		case "conv2d":
			y = ad.Conv2D(in["x"], in["w"], s)
		case "conv_transpose2d":
			y = ad.ConvTranspose2D(in["x"], in["w"], s, pair(c.Attrs["output_padding"]))
		default:
			t.Errorf("no operation %s", c.Op)
			continue
		}
		if b := in["b"]; b != nil {
			y = ad.Add(y, ad.Reshape(b, b.Size(), 1, 1))
		}
		list = append(list, gradientCase(c, in, names, y, nil, func(name string) (float64, float64) {
			if name == "y" {
				return 1e-13, 2e-6
			}
			return 1e-12, 1e-5
		}))
	}
	return list
}

func TestPoolingGoldens(t *testing.T) { check(t, poolingGoldens(t)) }

func poolingGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "nn_pool.json") {
		in, names := inputsOf(c, "x")
		s := ad.Pooling{Size: pair(c.Attrs["kernel"]), Stride: pair(c.Attrs["stride"]), Pad: pair(c.Attrs["padding"]), Dilation: pair(c.Attrs["dilation"])}
		s.Ceil, _ = c.Attrs["ceil_mode"].(bool)
		var y *ad.Node
		more := map[string]*ad.Node{}
		switch c.Op {
		case "max_pool2d":
			y, more["indices"] = ad.MaxPool2D(in["x"], s), ad.MaxPool2DIndices(in["x"], s)
		case "avg_pool2d":
			y = ad.AveragePool2D(in["x"], s, c.Attrs["count_include_pad"].(bool))
		case "adaptive_avg_pool2d":
			size := pair(c.Attrs["output"])
			y = ad.AdaptiveAveragePool2D(in["x"], size[0], size[1])
		default:
			t.Errorf("no operation %s", c.Op)
			continue
		}
		list = append(list, gradientCase(c, in, names, y, more, func(name string) (float64, float64) {
			switch name {
			case "indices":
				return 0, 0
			case "y":
				return 1e-14, 4e-7
			}
			return 1e-12, 1e-5
		}))
	}
	return list
}
