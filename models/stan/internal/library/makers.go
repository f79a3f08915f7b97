// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// makers are functions that make containers.
func makers() {
	repeat := func(c *Call, shape ...int) (value.Value, error) {
		for _, n := range shape {
			if n < 0 {
				return value.Value{}, fmt.Errorf("the size %d is negative: use one of at least 0", n)
			}
		}
		if value.Size(shape) > mostElements {
			return value.Value{}, fmt.Errorf("%s are more elements than the %d that are allowed", sizes(shape), mostElements)
		}
		v := c.Args[0]
		full := append(slices.Clone(shape), v.Shape...)
		index := make([]int, 0, max(1, v.Lanes)*value.Size(full))
		for l := range max(1, v.Lanes) {
			for range value.Size(shape) {
				for k := range v.Size() {
					index = append(index, l*v.Size()+k)
				}
			}
		}
		return v.Take(index, c.Result, v.Lanes, full...), nil
	}
	repeated := func(c *Call) (value.Value, error) {
		shape, err := sameInAll(c.Args[1:]...)
		if err != nil {
			return value.Value{}, err
		}
		return repeat(c, shape...)
	}
	register("rep_vector", true, repeated, "real int => vector")
	register("rep_row_vector", true, repeated, "real int => row_vector")
	register("rep_array", true, repeated)
	for n := 1; n <= 3; n++ {
		text := "int|real|complex|vector|row_vector|matrix|int[]|real[]|vector[]|row_vector[]|matrix[]|int[,]|real[,]"
		for range n {
			text += " int"
		}
		o := typing.Sig(text + " => real")
		o.Result = func(a []typing.Type) (typing.Type, bool) { return a[0].Array(n), true }
		overload("rep_array", o)
	}
	register("rep_matrix", false, func(c *Call) (value.Value, error) {
		if len(c.Args) == 3 {
			return repeat(c, c.Args[1].Integer(), c.Args[2].Integer())
		}
		v := c.Args[0]
		m, err := repeat(c, c.Args[1].Integer())
		if err != nil || v.Type.Kind == typing.RowVector {
			return m, err
		}
		return Transpose(m, c.Result)
	}, "real int int => matrix", "vector int => matrix", "row_vector int => matrix")
	fill := func(name string, kind string, numbers func(args []value.Value) ([]float64, error), args string) {
		register(name, false, func(c *Call) (value.Value, error) {
			n := c.Args[0].Integer()
			if n < 0 || n > mostElements {
				return value.Value{}, fmt.Errorf("the size is %d: want one from 0 to %d", n, mostElements)
			}
			f, err := numbers(c.Args)
			return value.Known(c.Result, f, n), err
		}, args+" => "+kind)
	}
	for suffix, kind := range map[string]string{"vector": "vector", "row_vector": "row_vector", "array": "real[]", "int_array": "int[]"} {
		whole := suffix == "int_array"
		fill("linspaced_"+suffix, kind, func(a []value.Value) ([]float64, error) {
			n, lo, hi := a[0].Integer(), a[1].Number(), a[2].Number()
			if hi < lo || n == 0 && whole {
				return nil, fmt.Errorf("the upper end %g is below the lower one %g", hi, lo)
			}
			f := make([]float64, n)
			for i := range f {
				switch {
				case i == n-1:
					f[i] = hi
				default:
					f[i] = lo + (hi-lo)*float64(i)/float64(n-1)
				}
				if whole {
					f[i] = math.Trunc(f[i])
				}
			}
			return f, nil
		}, map[bool]string{false: "int real real", true: "int int int"}[whole])
		for name, x := range map[string]float64{"zeros_": 0, "ones_": 1} {
			fill(name+suffix, kind, func(a []value.Value) ([]float64, error) {
				f := make([]float64, a[0].Integer())
				for i := range f {
					f[i] = x
				}
				return f, nil
			}, "int")
		}
		fill("one_hot_"+suffix, kind, func(a []value.Value) ([]float64, error) {
			f, k := make([]float64, a[0].Integer()), a[1].Integer()
			if k < 1 || k > len(f) {
				return nil, fmt.Errorf("the place %d is not one of %d: use one from 1 to the size", k, len(f))
			}
			f[k-1] = 1
			return f, nil
		}, "int int")
	}
	fill("uniform_simplex", "vector", func(a []value.Value) ([]float64, error) {
		f := make([]float64, a[0].Integer())
		for i := range f {
			f[i] = 1 / float64(len(f))
		}
		return f, nil
	}, "int")
	register("identity_matrix", false, func(c *Call) (value.Value, error) {
		n := c.Args[0].Integer()
		if n < 0 || n > 10000 {
			return value.Value{}, fmt.Errorf("the size is %d: want one from 0 to 10000", n)
		}
		f := make([]float64, n*n)
		for i := range n {
			f[i*n+i] = 1
		}
		return value.Known(c.Result, f, n, n), nil
	}, "int => matrix")
}
