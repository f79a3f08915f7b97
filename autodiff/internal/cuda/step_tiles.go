// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

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
	for _, t := range tilings {
		if t.size() == x.s.g.choice("product_tile") {
			return t
		}
	}
	switch {
	case x.s.g.precision == 32 && min(x.m, x.n) > 64 && count(largeTiling) >= 64:
		return largeTiling
	case min(x.m, x.n) > 32:
		return middleTiling
	}
	return smallTiling
}

// tiles makes the kernel of a product of matrices, which lie in memory or are gathered from it. Strips of both are in shared memory twice, so that
// the next one is fetched while the last one is used.
func (x *product) tiles() {
	s, t := x.s, x.tiling()
	blocks := func() (rows, columns int) { return (x.m + t.size() - 1) / t.size(), (x.n + t.size() - 1) / t.size() }
	rows, columns := blocks()
	// How sums are cut does not depend on what was chosen by timing: the bits are the same.
	x.split(rows*columns*x.batches, 128, 256)
	if x.m*x.n*x.depth*x.batches >= tunedProduct {
		s.g.products = append(s.g.products, tunable{job: s.job, name: x.name, shape: x.shape})
		if chosen, ok := s.g.tiles[s.job]; ok {
			t = chosen
			rows, columns = blocks()
		}
	}
	size, threads := t.size(), t.edge*t.edge
	jobs := rows * columns * x.batches * x.parts
	l := Launch{Kernel: s.g.name("matmul"), Grid: max(1, min(jobs, 1<<16)), Block: threads}
	if t == largeTiling && s.g.precision == 32 {
		l.Resident = 2 // of 128 registers each; gathered factors took 170 and keep at most 48 bytes of addresses in memory with these (ptxas 12.9)
	}
	l.Shared = 2 * 2 * strip * (size + 4) * s.g.precision / 8
	l.Work = x.tileWork(t, jobs)
	s.Shared("quad", "struct alignas(16) eu_quad { R v[4]; };\n")
	s.Shared(fmt.Sprint("strips", size), fmt.Sprintf("alignas(16) __shared__ R sa%[1]d[2][%[2]d][%[3]d], sb%[1]d[2][%[2]d][%[3]d];\n", size, strip, size+4))
	each := strip * size / threads // elements of each strip that a thread fetches
	// The position of element e of a strip, so that neighbouring threads read neighbouring elements.
	where := func(f factor) string {
		if f.along {
			return fmt.Sprintf("p = e %% %[1]d, q = e / %[1]d", strip)
		}
		return fmt.Sprintf("p = e / %[1]d, q = e %% %[1]d", size)
	}
	fetch := fmt.Sprintf(`		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[3]s;
			na[k] = i0 + q < %[4]s && p0 + p < to ? R(%[5]s) : R(0);
		}
		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[6]s;
			nb[k] = j0 + q < %[7]s && p0 + p < to ? R(%[8]s) : R(0);
		}`, each, threads, where(x.a), number(x.m), x.a.element("i0 + q", "p0 + p"), where(x.b), number(x.n), x.b.element("p0 + p", "j0 + q"))
	put := fmt.Sprintf(`		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[3]s;
			sa%[5]d[side][p][q] = na[k];
		}
		for (int k = 0; k < %[1]d; k++) {
			int e = threadIdx.x + k * %[2]d, %[4]s;
			sb%[5]d[side][p][q] = nb[k];
		}`, each, threads, where(x.a), where(x.b), size)
	s.Begin(l)
	s.Printf("	int ty = threadIdx.x / %[1]d, tx = threadIdx.x %% %[1]d;\n", t.edge)
	s.Printf("	for (index_t job = blockIdx.x; job < %s; job += gridDim.x) {\n", number(jobs))
	s.Printf("	index_t part = job / %[1]d, cut = job %% %[1]d, batch = part / %[2]s;\n", x.parts, number(rows*columns))
	s.Printf("	int i0 = (int)(part %% %[1]s / %[2]s) * %[3]d, j0 = (int)(part %% %[2]s) * %[3]d;\n", number(rows*columns), number(columns), size)
	s.Printf("	%s\n", x.open)
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

`, strip, fetch, t.quads, size, 4*t.edge, 4*t.quads, put, number(x.m), number(x.n), x.store(x.at, "sum[r][c]"))
	x.join()
}
