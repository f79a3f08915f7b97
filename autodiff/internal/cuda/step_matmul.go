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
		x.tiles()
	}
	return true
}

// libraryProducts is the number of multiplications from which on cuBLAS makes a product, where it is
// found.
const libraryProducts = 1 << 21

// byLibrary lets cuBLAS make a large product whose matrices lie at equal distances, and reports whether
// it does.
func (x *product) byLibrary() bool {
	s := x.s
	if s.g.libraries == nil || x.m*x.n*x.depth*x.batches < libraryProducts || min(x.m, x.n) < 16 || s.g.narrow[s.Place.Buf] {
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
	x.join()
}

// strip is the length of the strips of both matrices that a block has in shared memory at a time.
const strip = 8

// tiling is how a block computes a part of a product: edge x edge threads, each of which has quads x
// quads groups of 4 x 4 elements.
type tiling struct{ edge, quads int }

func (t tiling) size() int { return t.edge * t.quads * 4 }

// Ways to cut a product: a thread has 16 or 64 elements, a block 32 x 32, 64 x 64 or 128 x 128.
var smallTiling, middleTiling, largeTiling = tiling{8, 1}, tiling{16, 1}, tiling{16, 2}

// tiling chooses large parts where there are enough of them: each element that is read serves as many
// products as the part is wide.
func (x *product) tiling() tiling {
	count := func(t tiling) int {
		return (x.m + t.size() - 1) / t.size() * ((x.n + t.size() - 1) / t.size()) * x.batches
	}
	switch {
	case x.s.g.precision == 32 && min(x.m, x.n) > 64 && count(largeTiling) >= 64:
		return largeTiling
	case min(x.m, x.n) > 32:
		return middleTiling
	}
	return smallTiling
}

// tiles makes the kernel of a product of matrices. Strips of both are in shared memory twice, so that
// the next one is fetched while the last one is used.
func (x *product) tiles() {
	s, t := x.s, x.tiling()
	blocks := func() (rows, columns int) { return (x.m + t.size() - 1) / t.size(), (x.n + t.size() - 1) / t.size() }
	rows, columns := blocks()
	// How sums are cut does not depend on what was chosen by timing: the bits are the same.
	x.split(rows*columns*x.batches, 128, 256)
	if x.m*x.n*x.depth*x.batches >= tunedProduct {
		s.g.products = append(s.g.products, tunable{job: s.job, name: fmt.Sprintf("matmul %v %v %v", x.ta, x.tb, s.g.tf32), shape: []int{x.batches, x.m, x.n, x.depth}})
		if chosen, ok := s.g.tiles[s.job]; ok {
			t = chosen
			rows, columns = blocks()
		}
	}
	size, threads := t.size(), t.edge*t.edge
	jobs := rows * columns * x.batches * x.parts
	l := Launch{Kernel: s.g.name("matmul"), Grid: max(1, min(jobs, 1<<16)), Block: threads}
	s.Shared("quad", "struct alignas(16) eu_quad { R v[4]; };\n")
	s.Shared(fmt.Sprint("strips", size), fmt.Sprintf("alignas(16) __shared__ R sa%[1]d[2][%[2]d][%[3]d], sb%[1]d[2][%[2]d][%[3]d];\n", size, strip, size+4))
	each := strip * size / threads // elements of each strip that a thread fetches
	element := func(transposed bool, row, column string, ld, length int) string {
		if transposed {
			row, column = column, row
		}
		return "(" + wide(length) + ")(" + row + ") * " + number(ld) + " + (" + column + ")"
	}
	// The position of element e of a strip, so that neighbouring threads read neighbouring elements.
	where := func(alongStrip bool) string {
		if alongStrip {
			return fmt.Sprintf("p = e %% %[1]d, q = e / %[1]d", strip)
		}
		return fmt.Sprintf("p = e / %[1]d, q = e %% %[1]d", size)
	}
	factor := func(at string) string { return at }
	if s.g.tf32 {
		factor = func(at string) string { return "eu_tf32(" + at + ")" }
	}
	fetch := fmt.Sprintf(`		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[3]s;
			na[k] = i0 + q < %[4]s && p0 + p < to ? R(%[5]s) : R(0);
		}
		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[6]s;
			nb[k] = j0 + q < %[7]s && p0 + p < to ? R(%[8]s) : R(0);
		}`, each, threads, where(!x.ta), number(x.m), factor("a["+element(x.ta, "i0 + q", "p0 + p", x.lda, x.m*x.depth)+"]"), where(x.tb), number(x.n), factor("b["+element(x.tb, "p0 + p", "j0 + q", x.ldb, x.n*x.depth)+"]"))
	put := fmt.Sprintf(`		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[3]s;
			sa%[5]d[side][p][q] = na[k];
		}
		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[4]s;
			sb%[5]d[side][p][q] = nb[k];
		}`, each, threads, where(!x.ta), where(x.tb), size)
	s.Begin(l)
	s.Printf("	const index_t *place = %s;\n	int ty = threadIdx.x / %[2]d, tx = threadIdx.x %% %[2]d;\n", x.place, t.edge)
	s.Printf("	for (index_t job = blockIdx.x; job < %s; job += gridDim.x) {\n", number(jobs))
	s.Printf("	index_t part = job / %[1]d, cut = job %% %[1]d, batch = part / %[2]s;\n", x.parts, number(rows*columns))
	s.Printf("	int i0 = (int)(part %% %[1]s / %[2]s) * %[3]d, j0 = (int)(part %% %[2]s) * %[3]d;\n", number(rows*columns), number(columns), size)
	s.Printf("	const auto *a = in0 + place[2 * batch]; const auto *b = in1 + place[2 * batch + 1];\n")
	s.Printf("	int p0 = (int)cut * %[1]s, to = p0 + %[1]s < %[2]s ? p0 + %[1]s : %[2]s, side = 0;\n", number(x.share), number(x.depth))
	s.Printf("	R sum[%[1]d][%[1]d] = {}, na[%[2]d], nb[%[2]d];\n	__syncthreads();\n	{\n%[3]s\n%[4]s\n	}\n	__syncthreads();\n", 4*t.quads, each, fetch, put)
	s.Printf(`	for (p0 += %[1]d;; p0 += %[1]d) {
		bool more = p0 < to;
		if (more) {
%[2]s
		}
		#pragma unroll
		for (int p = 0; p < %[1]d; p++) {
			eu_quad x[%[3]d], y[%[3]d];
			for (int h = 0; h < %[3]d; h++) {
				x[h] = *(const eu_quad *)&sa%[4]d[side][p][4 * ty + %[5]d * h];
				y[h] = *(const eu_quad *)&sb%[4]d[side][p][4 * tx + %[5]d * h];
			}
			for (int r = 0; r < %[6]d; r++)
				for (int c = 0; c < %[6]d; c++) sum[r][c] = fma(x[r / 4].v[r %% 4], y[c / 4].v[c %% 4], sum[r][c]);
		}
		if (!more) break;
		side = 1 - side;
%[7]s
		__syncthreads();
	}
	for (int r = 0; r < %[6]d; r++)
		for (int c = 0; c < %[6]d; c++) {
			int i = i0 + 4 * ty + r / 4 * %[5]d + r %% 4, j = j0 + 4 * tx + c / 4 * %[5]d + c %% 4;
			if (i < %[8]s && j < %[9]s) %[10]s
		}
	}
}

`, strip, fetch, t.quads, size, 4*t.edge, 4*t.quads, put, number(x.m), number(x.n), x.store(fmt.Sprintf("((batch * %s + i) * %s + j)", number(x.m), number(x.n)), "sum[r][c]"))
	x.join()
}

// wide returns the type of positions among n elements.
func wide(n int) string {
	if strings.HasSuffix(number(n), "LL") {
		return "index_t"
	}
	return "int"
}
