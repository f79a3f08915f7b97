// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed arrays.cu
var arraysText string

// reductions are the types of arrays.cu that reduce, by the names of their kernels.
var reductions = []struct{ name, op string }{
	{"sum", "Sum<%s>"}, {"prod", "Prod<%s>"}, {"max", "Extremum<%s, 1>"}, {"min", "Extremum<%s, -1>"}, {"argmax", "Where<%s, 1>"}, {"argmin", "Where<%s, -1>"},
}

// arrays returns arrays.cu with its kernels.
func arrays() string {
	var b strings.Builder
	b.WriteString(arraysText)
	kernel := func(name, parameters, body string) {
		fmt.Fprintf(&b, "\nextern \"C\" __global__ void __launch_bounds__(256) %s(%s) {\n%s}\n", name, parameters, body)
	}
	for _, t := range []struct {
		bytes int
		name  string
	}{{1, "unsigned char"}, {4, "unsigned"}, {8, "unsigned long long"}} {
		both := fmt.Sprintf("const %[1]s* x, %[1]s* y, index_t n, Layout l", t.name)
		kernel(fmt.Sprintf("gather_%d", t.bytes), both, "  EACH(i, n) y[i] = x[place(l, i)];\n")
		kernel(fmt.Sprintf("scatter_%d", t.bytes), both, "  EACH(i, n) y[place(l, i)] = x[i];\n")
		if t.bytes > 1 {
			kernel(fmt.Sprintf("transpose_%d", t.bytes), fmt.Sprintf("const %[1]s* x, %[1]s* y, index_t batches, index_t rows, index_t columns, index_t sb, index_t sc", t.name),
				fmt.Sprintf("  __shared__ %s tile[32][33];\n  transpose(tile, x, y, batches, rows, columns, sb, sc);\n", t.name))
		}
		kernel(fmt.Sprintf("fill_%d", t.bytes), fmt.Sprintf("%[1]s* y, index_t n, %[1]s value", t.name), "  EACH(i, n) y[i] = value;\n")
	}
	for _, t := range []struct{ name, suffix string }{{"float", "f32"}, {"double", "f64"}} {
		for _, r := range reductions {
			op, name := fmt.Sprintf(r.op, t.name), r.name+"_"+t.suffix
			sizes := fmt.Sprintf("const %s* x, %[2]s::R* y, %[2]s::A* part, index_t outer, index_t length, index_t inner, index_t pieces", t.name, op)
			kernel(name+"_rows", sizes, fmt.Sprintf("  __shared__ %[2]s::A tree[256];\n  rows<%[1]s, %[2]s>(x, y, part, tree, outer, length, pieces);\n", t.name, op))
			kernel(name+"_columns", sizes, fmt.Sprintf("  columns<%s, %s>(x, y, part, outer, length, inner, pieces);\n", t.name, op))
			kernel(name+"_finish", fmt.Sprintf("const %[1]s::A* part, %[1]s::R* y, index_t results, index_t pieces", op), fmt.Sprintf("  finish<%s>(part, y, results, pieces);\n", op))
		}
		product := func(name string, quads int) {
			kernel(name+t.suffix, fmt.Sprintf("const %[1]s* a, const %[1]s* b, %[1]s* c, index_t m, index_t n, index_t k, index_t ar, index_t ac, index_t br, index_t bc, index_t cr, index_t cc, index_t share, index_t cq", t.name),
				fmt.Sprintf("  __shared__ __align__(16) %[1]s sa[2][8][%[2]d], sb[2][8][%[2]d];\n  matmul<%[1]s, %[3]d>(sa, sb, a, b, c, m, n, k, ar, ac, br, bc, cr, cc, share, cq);\n", t.name, 64*quads+4, quads))
		}
		product("matmul_", 1)
		if t.name == "float" {
			product("matmul_large_", 2)
		}
		kernel("matvec_"+t.suffix, fmt.Sprintf("const %[1]s* a, const %[1]s* x, %[1]s* y, index_t m, index_t k, index_t ar, index_t ac, index_t xs, index_t ys", t.name),
			fmt.Sprintf("  __shared__ %[1]s tree[256];\n  matvec<%[1]s>(tree, a, x, y, m, k, ar, ac, xs, ys);\n", t.name))
	}
	return b.String()
}
