// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// product is one matrix product of a batch, bound to its arrays.
type product struct {
	ta, tb   bool
	m, n, k  int
	lda, ldb int

	a64, b64, out64 []float64
	a32, b32, out32 []float32
}

// Matmul multiplies batch by batch. The attribute, which the compiler writes, says which factors are
// stored transposed.
func Matmul(c *Call) error {
	k := len(c.Shape)
	as, bs := c.InShape[0], c.InShape[1]
	p := product{ta: c.Attr[0] == 1, tb: c.Attr[1] == 1, m: c.Shape[k-2], n: c.Shape[k-1]}
	p.k = as[len(as)-1]
	if p.ta {
		p.k = as[len(as)-2]
	}
	var sizeA, sizeB int
	p.lda, sizeA = rowsOf(as, c.strides[0])
	p.ldb, sizeB = rowsOf(bs, c.strides[1])
	if c.offsets == nil {
		c.offsets = batchOffsets(c.Shape[:k-2], as[:len(as)-2], bs[:len(bs)-2], c.strides[0], c.strides[1])
	}
	for i := 0; i < len(c.offsets); i += 2 {
		oa, ob, oc := c.offsets[i], c.offsets[i+1], i/2*p.m*p.n
		if c.In64 != nil {
			p.a64, p.b64, p.out64 = c.In64[0][oa:oa+sizeA], c.In64[1][ob:ob+sizeB], c.Out64[oc:oc+p.m*p.n]
		} else {
			p.a32, p.b32, p.out32 = c.In32[0][oa:oa+sizeA], c.In32[1][ob:ob+sizeB], c.Out32[oc:oc+p.m*p.n]
		}
		if c.Threads > 1 && p.m*p.n*p.k >= shareFrom {
			c.shareProduct(p)
		} else {
			c.ws.Keep(c.factor)
			p.part(c.Level, c.ws, 0, p.m, 0, p.n)
			c.ws.Keep(nil)
		}
	}
	return nil
}

// part computes rows i0..i1-1 and columns j0..j1-1.
func (p *product) part(l kernels.Level, ws *kernels.Workspace, i0, i1, j0, j1 int) {
	if p.a64 != nil {
		kernels.GemmPart64(l, ws, p.ta, p.tb, p.m, p.n, p.k, 1, p.a64, p.lda, p.b64, p.ldb, 0, p.out64, p.n, i0, i1, j0, j1)
	} else {
		kernels.GemmPart32(l, ws, p.ta, p.tb, p.m, p.n, p.k, 1, p.a32, p.lda, p.b32, p.ldb, 0, p.out32, p.n, i0, i1, j0, j1)
	}
}

// rowsOf returns the distance between the rows of a matrix, and the elements from its first to its last one.
func rowsOf(s tensor.Shape, strides []int) (ld, size int) {
	k := len(s)
	rows, columns := s[k-2], s[k-1]
	if ld = strides[k-2]; rows < 2 {
		ld = columns
	}
	if rows == 0 || columns == 0 {
		return ld, 0
	}
	return ld, (rows-1)*ld + columns
}

// batchOffsets lists, for each batch of the result, where the batches of a and of b begin that are multiplied, in steps of strides.
func batchOffsets(lead, a, b tensor.Shape, strideA, strideB []int) []int {
	out := make([]int, 0, 2*lead.Size())
	sa, sb := compiler.AlignedStrides(a, strideA[:len(a)], lead), compiler.AlignedStrides(b, strideB[:len(b)], lead)
	compiler.Walk(lead, func(idx []int, _ int) {
		oa, ob := 0, 0
		for i, k := range idx {
			oa, ob = oa+k*sa[i], ob+k*sb[i]
		}
		out = append(out, oa, ob)
	})
	return out
}

// Systems lists, for each matrix of the result, the matrices that it is computed from.
func (c *Call) Systems() []int {
	if c.offsets == nil {
		as, bs := c.InShape[0], c.InShape[1]
		as, bs = as[:len(as)-2], bs[:len(bs)-2]
		c.offsets = batchOffsets(c.Shape[:len(c.Shape)-2], as, bs, as.Strides(), bs.Strides())
	}
	return c.offsets
}

// Scratch returns memory that an operation keeps between runs; the first run allocates it.
func Scratch[W any](c *Call, make func() *W) *W {
	if c.work == nil {
		c.work = make()
	}
	return c.work.(*W)
}

// Gemm adds alpha op(a) op(b) to the m x n matrix out.
func (c *Call) Gemm(ta, tb bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, out []float64, ldo int) {
	if m > 0 && n > 0 && k > 0 {
		kernels.Gemm64(c.Level, c.ws, ta, tb, m, n, k, alpha, a, lda, b, ldb, 1, out, ldo)
	}
}
