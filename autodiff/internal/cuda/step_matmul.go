// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"

	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// product is a batch of products of matrices, m x depth by depth x n, whose kernels are being made.
type product struct {
	s            *Step
	m, n, depth  int
	lda, ldb     int  // columns of the matrices as they are in memory
	ta, tb       bool // whether they are in memory with rows and columns exchanged
	batches      int
	places       []int64 // positions of both matrices of each batch
	place        string  // the same on the device
	parts, share int     // parts into which the sums are cut, and the length of one

	// Of a product in tiles: what tells it apart where it is timed, C text that declares what the factors use of a
	// batch, the factors, and the position of element (i, j) of the result of a batch.
	name  string
	shape []int
	open  string
	a, b  factor
	at    string
	// finding are the integer instructions that find an element of b where it is gathered.
	finding float64
}

// factor is a matrix whose elements a product in tiles reads, in memory or computed.
type factor struct {
	element func(row, column string) string // C expression of an element
	along   bool                            // whether neighbours in memory are terms of one sum
}

// MatMul multiplies matrices batch by batch. Sums are in the precision of the program, in the order of
// the columns; where results are few and sums long, parts of the sums are added up in float64.
func MatMul(s *Step) bool {
	k := len(s.Value.Shape)
	as, bs := tensor.Shape(s.InShape(0)), tensor.Shape(s.InShape(1))
	x := &product{s: s, m: s.Value.Shape[k-2], n: s.Value.Shape[k-1], ta: s.Attr[0] == 1, tb: s.Attr[1] == 1, lda: as[len(as)-1], ldb: bs[len(bs)-1]}
	x.depth = x.lda
	if x.ta {
		x.depth = as[len(as)-2]
	}
	x.batches = tensor.Shape(s.Value.Shape[:k-2]).Size()
	s.Converts()
	x.places = pairTable(s, as[len(as)-2]*x.lda, bs[len(bs)-2]*x.ldb)
	switch {
	case x.byLibrary():
	case x.m == 1 && x.tb || x.n == 1 && !x.ta:
		x.rows()
	case x.m == 1 || x.n == 1:
		x.columns()
	default:
		x.matrices()
	}
	return true
}

// byLibrary lets cuBLAS make a large product whose matrices lie at equal distances, and reports whether
// it does.
func (x *product) byLibrary() bool {
	s := x.s
	if s.g.libraries == nil || x.m*x.n*x.depth*x.batches < s.g.choice("library_product") || min(x.m, x.n) < 16 || s.g.narrow[s.Place.Buf] {
		x.place = s.Table(x.places)
		return false
	}
	strideA, strideB := 0, 0
	if x.batches > 1 {
		strideA, strideB = int(x.places[2]), int(x.places[3])
	}
	even := strideA >= 0 && strideB >= 0
	for i := range x.batches {
		even = even && x.places[2*i] == int64(i*strideA) && x.places[2*i+1] == int64(i*strideB)
	}
	a, b := s.Value.In[0], s.Value.In[1]
	bufA, bufB, bufC := a.Layout.Root.Place.Buf, b.Layout.Root.Place.Buf, s.Place.Buf
	if !even || s.g.narrow[bufA] || s.g.narrow[bufB] || !s.g.libraries.HasBLAS() {
		x.place = s.Table(x.places)
		return false
	}
	m := device.MatMul{Type: device.Float64, M: x.m, N: x.n, K: x.depth, TransA: x.ta, TransB: x.tb, Batch: x.batches, StrideA: strideA, StrideB: strideB, StrideC: x.m * x.n, TF32: s.g.tf32}
	if s.g.precision == 32 {
		m.Type = device.Float32
	}
	size := s.g.precision / 8
	offA, offB := a.Layout.Offset*size, b.Layout.Offset*size
	s.list = append(s.list, Launch{Kernel: "cuBLAS", Library: func(l *device.Libraries, on *device.Stream, at func(buf int) device.Part) error {
		m := m
		m.A, m.B, m.C = at(bufA), at(bufB), at(bufC)
		m.A.Offset += offA
		m.B.Offset += offB
		return l.MatMul(on, m)
	}})
	return true
}

// split cuts the sums so that there are enough threads or blocks for a device: most is how many are
// enough, have how many there are without, least the shortest part.
func (x *product) split(have, most, least int) {
	x.parts = max(1, min((most+have-1)/have, x.depth/least))
	x.share = (x.depth + x.parts - 1) / max(x.parts, 1)
	x.share = (x.share + strip - 1) / strip * strip
	x.parts = max(1, (x.depth+x.share-1)/max(x.share, 1))
	if x.parts > 1 {
		x.s.g.partials = max(x.s.g.partials, x.parts*x.s.Size())
	}
}

// join adds up the parts.
func (x *product) join() {
	if x.parts == 1 {
		return
	}
	x.s.elements("join", x.s.Size(), 1, block, fmt.Sprintf(`		double sum = 0.0;
		for (int part = 0; part < %d; part++) sum += partial[part * (index_t)%s + i];
		out[i] = (R)sum;`, x.parts, number(x.s.Size())))
	x.s.count(joinWork(x.s.Size(), x.parts, 1, x.s.g.precision/8))
}

// store writes an element of the result, or of one of its parts, at a position.
func (x *product) store(at, value string) string {
	if x.parts == 1 {
		return fmt.Sprintf("out[%s] = (R)(%s);", at, value)
	}
	return fmt.Sprintf("partial[cut * (index_t)%s + %s] = %s;", number(x.s.Size()), at, value)
}

// vector returns the vector and the matrix of a product in which one of them is a vector.
func (x *product) vector() (vector, matrix string, results int) {
	if x.m == 1 {
		return "a", "b", x.n
	}
	return "b", "a", x.m
}

// rows makes the kernel of a product with a vector whose matrix has the terms of a sum one after
// another: a warp has a sum.
func (x *product) rows() {
	vector, matrix, results := x.vector()
	s, count := x.s, results*x.batches
	x.split(count, 1<<12, 1<<12)
	l := Launch{Kernel: s.g.name("matvec"), Grid: gridOf(count*x.parts*warp, 1, mostGrid), Block: block}
	s.Begin(l)
	s.Printf(`	const index_t *place = %[1]s;
	for (index_t job = (blockIdx.x * (index_t)%[2]d + threadIdx.x) / 32; job < %[3]s; job += (index_t)gridDim.x * %[4]d) {
		index_t cut = job / %[5]s, i = job %% %[5]s, batch = i / %[6]s, r = i %% %[6]s;
		const auto *a = in0 + place[2 * batch]; const auto *b = in1 + place[2 * batch + 1];
		const auto *line = %[7]s + r * %[8]s;
		index_t from = cut * %[9]s, to = from + %[9]s < %[8]s ? from + %[9]s : %[8]s;
		double sum = 0.0, more = 0.0;
		index_t p = from + threadIdx.x %% 32;
		for (; p + 32 < to; p += 64) {
			sum += (double)line[p] * %[10]s[p];
			more += (double)line[p + 32] * %[10]s[p + 32];
		}
		if (p < to) sum += (double)line[p] * %[10]s[p];
		sum += more;
		for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
		if (threadIdx.x %% 32 == 0) %[11]s
	}
}

`, x.place, block, number(count*x.parts), block/warp, number(count), number(results), matrix, number(x.depth), number(x.share), vector, x.store("i", "sum"))
	x.reduced(warp)
	x.join()
}

// columns makes the kernel of a product with a vector whose matrix has the sums beside each other: a
// thread has a sum.
func (x *product) columns() {
	vector, matrix, results := x.vector()
	s, count := x.s, results*x.batches
	x.split(count, 1<<16, 64)
	ld := x.ldb
	if x.n == 1 {
		ld = x.lda
	}
	s.elements("matvec", count*x.parts, 1, block, fmt.Sprintf(`		const index_t *place = %[1]s;
		index_t cut = i / %[2]s, e = i %% %[2]s, batch = e / %[3]s, r = e %% %[3]s;
		const auto *a = in0 + place[2 * batch]; const auto *b = in1 + place[2 * batch + 1];
		index_t from = cut * %[4]s, to = from + %[4]s < %[5]s ? from + %[4]s : %[5]s;
		double sum = 0.0;
		for (index_t p = from; p < to; p++) sum += (double)%[6]s[p * %[7]s + r] * %[8]s[p];
		%[9]s`, x.place, number(count), number(results), number(x.share), number(x.depth), matrix, number(ld), vector, x.store("e", "sum")))
	x.reduced(1)
	x.join()
}

// matrices makes the kernel of a product of two matrices in memory.
func (x *product) matrices() {
	element := func(of string, transposed bool, ld, length int) func(row, column string) string {
		return func(row, column string) string {
			if transposed {
				row, column = column, row
			}
			at := of + "[(" + wide(length) + ")(" + row + ") * " + number(ld) + " + (" + column + ")]"
			if x.s.g.tf32 {
				return "eu_tf32(" + at + ")"
			}
			return at
		}
	}
	x.name, x.shape = fmt.Sprintf("matmul %v %v %v", x.ta, x.tb, x.s.g.tf32), []int{x.batches, x.m, x.n, x.depth}
	x.open = "const index_t *place = " + x.place + "; const auto *a = in0 + place[2 * batch]; const auto *b = in1 + place[2 * batch + 1];"
	x.a = factor{element("a", x.ta, x.lda, x.m*x.depth), !x.ta}
	x.b = factor{element("b", x.tb, x.ldb, x.n*x.depth), x.tb}
	x.at = fmt.Sprintf("((batch * %s + i) * %s + j)", number(x.m), number(x.n))
	x.tiles()
}

// wide returns the type of positions among n elements.
func wide(n int) string {
	if strings.HasSuffix(number(n), "LL") {
		return "index_t"
	}
	return "int"
}
