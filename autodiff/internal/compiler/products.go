// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Products of matrices are joined if the left factors have at most so many rows, and the result at least so many
// columns: then reading the right factor takes a good part of the time. A joined product has at most joinMost rows,
// since all of its results are in memory at a time.
const (
	joinRows    = 256
	joinColumns = 64
	joinMost    = 2048
)

// family is what products have in common that are joined. Equal depths mean that none depends on another.
type family struct {
	right              *Value
	rows, inner, depth int
}

// joinProducts joins products a B, b B, ... with the same right factor to one product of the left factors below each
// other, whose rows are the results: B is read once. Derivatives along several directions are such products.
func (r *Graph) joinProducts(values, roots []*Value) []*Value {
	depth := make([]int, len(r.values))
	families := map[family][]*Value{}
	var order []family
	for _, v := range values {
		d := 0
		for _, x := range v.In {
			d = max(d, depth[x.id])
		}
		if v.is(MatMul) {
			d++
			if a, b := v.In[0].Shape, v.In[1].Shape; len(a) == 2 && len(b) == 2 && a[0] <= joinRows && b[1] >= joinColumns {
				f := family{v.In[1], a[0], a[1], d}
				if families[f] == nil {
					order = append(order, f)
				}
				families[f] = append(families[f], v)
			}
		}
		depth[v.id] = d
	}
	joined := false
	for _, f := range order {
		for list := range slices.Chunk(families[f], max(1, joinMost/max(1, f.rows))) {
			if len(list) > 1 {
				r.join(f, list)
				joined = true
			}
		}
	}
	if !joined {
		return values
	}
	return sorted(values, roots)
}

// join makes products of a family the slices of one.
func (r *Graph) join(f family, list []*Value) {
	var left []*Value
	columns := f.right.Shape[1]
	for _, v := range list {
		left = append(left, v.In[0])
	}
	rows := f.rows * len(list)
	all := r.add(&Value{Op: coded[Concat], Shape: tensor.Shape{rows, f.inner}, Attr: []int{0}, In: left})
	product := r.add(&Value{Op: coded[MatMul], Shape: tensor.Shape{rows, columns}, In: []*Value{all, f.right}})
	for i, v := range list {
		v.Op, v.In, v.Attr = coded[Slice], []*Value{product}, []int{i * f.rows, 1, f.rows, 0, 1, columns}
	}
}

// sorted returns what roots are made from, inputs before outputs, and otherwise in the order of values.
func sorted(values, roots []*Value) []*Value {
	seen := make(map[*Value]bool, len(values))
	var out []*Value
	visit := func(root *Value) {
		stack := []*Value{root}
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if seen[v] {
				stack = stack[:len(stack)-1]
				continue
			}
			n := len(stack)
			for _, x := range slices.Backward(v.In) {
				if !seen[x] {
					stack = append(stack, x)
				}
			}
			if len(stack) == n {
				seen[v] = true
				out = append(out, v)
				stack = stack[:n-1]
			}
		}
	}
	for _, v := range values {
		visit(v)
	}
	for _, v := range roots {
		visit(v)
	}
	return out
}
