// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"regexp"
	"strconv"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/tensor"
)

// narrow says which arrays of a program are held in the type of storage: large ones that only loops and
// such steps use whose text converts what it reads and writes. Maxima and minima are not: their gradients
// look for the elements that are equal to them, which may be held in full. With Weights only constants are that are
// nothing but factors of products of matrices.
func narrow(p *compiler.Program, o Settings) []bool {
	list := make([]bool, len(p.Buffers))
	if o.Storage == "" {
		return list
	}
	for i, b := range p.Buffers {
		list[i] = b.Value != nil && b.Kind != compiler.IntBuf && b.Size >= small && (!o.Weights || b.Kind == compiler.ConstBuf)
	}
	for i, j := range p.Jobs {
		if o.Weights && (j.Loop != nil || j.Step.Op.Code != compiler.MatMul) {
			for _, b := range append(j.Reads(), j.Writes()...) {
				list[b] = false
			}
		}
		if j.Loop != nil {
			for _, s := range j.Loop.Sums {
				if s.Op.Code != compiler.Sum {
					list[s.Out] = false
				}
			}
			continue
		}
		s := &Step{Value: j.Step, g: newGenerator(p, o), job: i}
		if make := Steps[j.Step.Op]; make != nil && j.Step.Size() > 0 && make(s) && s.converts {
			continue
		}
		for _, b := range append(j.Reads(), j.Writes()...) {
			list[b] = false
		}
	}
	return list
}

// Types of storage.
const (
	Float16  = "eu_f16"
	BFloat16 = "eu_bf16"
)

// shorten rounds numbers to a type of storage.
func shorten[T cpu.Real](to []uint16, from []T, storage string) {
	for i, v := range from {
		if storage == Float16 {
			to[i] = uint16(tensor.HalfOf(float64(float32(v))))
		} else {
			to[i] = uint16(tensor.BFloat16Of(float32(v)))
		}
	}
}

// lengthen is the way back.
func lengthen[T cpu.Real](to []T, from []uint16, storage string) {
	for i, v := range from {
		if storage == Float16 {
			to[i] = T(tensor.Half(v).Float32())
		} else {
			to[i] = T(tensor.BFloat16(v).Float32())
		}
	}
}

// arrayName matches an array in the text of a kernel.
var arrayName = regexp.MustCompile(`\bbuf\[(\d+)\]`)

// stored returns the expression of a number as those will see it who read it from an array, so that it is the same
// number in the kernel that computes it as in others.
func (g *generator) stored(buf int, value string) string {
	if !g.narrow[buf] {
		return value
	}
	return "eu_stored(" + value + ")"
}

// typed gives arrays that are held in the type of storage that type.
func (g *generator) typed(text string) string {
	return arrayName.ReplaceAllStringFunc(text, func(name string) string {
		if k, _ := strconv.Atoi(name[len("buf[") : len(name)-1]); k < len(g.narrow) && g.narrow[k] {
			return "((S *)" + name + ")"
		}
		return name
	})
}

// Converts says that the text of a step converts between the elements of arrays and R, so that they may
// be held in another type.
func (s *Step) Converts() { s.converts = true }

// element returns the type of the elements of a value's array.
func (s *Step) element(v *compiler.Value) string {
	switch {
	case v.IsInt:
		return "index_t"
	case s.g.narrow[v.Layout.Root.Place.Buf]:
		return "S"
	}
	return "R"
}
