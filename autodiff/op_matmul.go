package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// MatMul returns the matrix product of the last two axes; leading axes are
// batches and broadcast. A vector is a row on the left and a column on the
// right, and that axis goes. Gradient: g b^T, a^T g.
func MatMul(a, b *Node) *Node {
	if bad := notReal("matmul", a, b); bad != nil {
		return bad
	}
	as, bs := a.shape, b.shape
	if len(as) == 0 || len(bs) == 0 || as[len(as)-1] != bs[max(0, len(bs)-2)] {
		return failed(&tensor.ShapeError{Op: "matmul", Got: []tensor.Shape{as, bs}, Want: "columns of the first equal to rows of the second"})
	}
	row, col := len(as) == 1, len(bs) == 1
	if row {
		a = Reshape(a, 1, as[0])
	}
	if col {
		b = Reshape(b, bs[0], 1)
	}
	y := matmul(a, b)
	if y.err != nil || !(row || col) {
		return y
	}
	s := y.shape.Clone()
	if col {
		s = s[:len(s)-1]
	}
	if row {
		i := len(y.shape) - 2
		s = slices.Delete(s, i, i+1)
	}
	return Reshape(y, s...)
}

// Outer returns the matrix x_i y_j of two vectors.
func Outer(x, y *Node) *Node {
	if bad := notReal("outer", x, y); bad != nil {
		return bad
	}
	return Mul(Reshape(x, x.Size(), 1), Reshape(y, 1, y.Size()))
}

func matmul(a, b *Node) *Node {
	p, q := len(a.shape)-2, len(b.shape)-2
	lead, ok := tensor.Broadcast(a.shape[:p], b.shape[:q])
	if !ok {
		return failed(&tensor.ShapeError{Op: "matmul", Got: []tensor.Shape{a.shape, b.shape}, Want: "leading axes that broadcast"})
	}
	return newNode(matmulOp, slices.Concat(lead, tensor.Shape{a.shape[p], b.shape[q+1]}), a, b)
}

var matmulOp *Op

func init() {
	matmulOp = register(&Op{Name: "matmul", code: codeMatmul, Arity: 2, kind: step, lift: (*batcher).matmul, Smooth: true,
		vjp: func(g, _ *Node, x []*Node) []*Node {
			return []*Node{matmul(g, T(x[1])), matmul(T(x[0]), g)}
		},
		run: func(c *call) error { return runMatmul(c) },
		Sample: func(in Source) []*Node {
			return []*Node{MatMul(in(-2, 2, 2, 3), in(-2, 2, 3, 4)), MatMul(in(-1, 1, 2, 1, 3, 2), in(-1, 1, 3, 2, 2)), MatMul(in(-2, 2, 3), in(-2, 2, 3, 2))}
		}})
}

// product is one matrix product of a batch, bound to its arrays.
type product struct {
	ta, tb   bool
	m, n, k  int
	lda, ldb int

	a64, b64, out64 []float64
	a32, b32, out32 []float32
}

// runMatmul multiplies batch by batch. The attribute, written by the compiler,
// says which factors are stored transposed.
func runMatmul(c *call) error {
	k := len(c.shape)
	as, bs := c.inShape[0], c.inShape[1]
	p := product{ta: c.attr[0] == 1, tb: c.attr[1] == 1, m: c.shape[k-2], n: c.shape[k-1], lda: as[len(as)-1], ldb: bs[len(bs)-1]}
	p.k = as[len(as)-1]
	if p.ta {
		p.k = as[len(as)-2]
	}
	sizeA, sizeB := as[len(as)-2]*p.lda, bs[len(bs)-2]*p.ldb
	if c.offsets == nil {
		c.offsets = batchOffsets(c.shape[:k-2], as[:len(as)-2], bs[:len(bs)-2])
	}
	for i := 0; i < len(c.offsets); i += 2 {
		oa, ob, oc := c.offsets[i]*sizeA, c.offsets[i+1]*sizeB, i/2*p.m*p.n
		if c.in64 != nil {
			p.a64, p.b64, p.out64 = c.in64[0][oa:oa+sizeA], c.in64[1][ob:ob+sizeB], c.out64[oc:oc+p.m*p.n]
		} else {
			p.a32, p.b32, p.out32 = c.in32[0][oa:oa+sizeA], c.in32[1][ob:ob+sizeB], c.out32[oc:oc+p.m*p.n]
		}
		if c.threads > 1 && p.m*p.n*p.k >= shareFrom {
			c.shareProduct(p)
		} else {
			p.part(c.level, c.ws, 0, p.m, 0, p.n)
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

// batchOffsets lists, for each batch of the result, which batch of a and of b
// it multiplies.
func batchOffsets(lead, a, b tensor.Shape) []int {
	out := make([]int, 0, 2*lead.Size())
	sa, sb := alignedStrides(a, a.Strides(), lead), alignedStrides(b, b.Strides(), lead)
	walk(lead, func(idx []int, _ int) {
		oa, ob := 0, 0
		for i, k := range idx {
			oa, ob = oa+k*sa[i], ob+k*sb[i]
		}
		out = append(out, oa, ob)
	})
	return out
}

// alignedStrides returns the strides of an array of shape s seen in the
// broadcast shape to: 0 where it repeats.
func alignedStrides(s tensor.Shape, strides []int, to tensor.Shape) []int {
	out := make([]int, len(to))
	lead := len(to) - len(s)
	for i := range s {
		if s[i] == to[lead+i] && s[i] != 1 {
			out[lead+i] = strides[i]
		}
	}
	return out
}
