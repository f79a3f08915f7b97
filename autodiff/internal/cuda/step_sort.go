// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math/bits"
)

// sortRoom is the longest line, a power of two, that a block sorts in shared memory.
const sortRoom = 2048

// Argsort ranks the elements along an axis: attributes say the axis and whether the order descends. A NaN
// is the largest; of equals the lower index comes first, so that there is only one result. It keeps as
// many indices as the result has.
//
// Lines that fit into shared memory are sorted there by a bitonic network; pieces of longer ones are, and
// are then merged in pairs.
func Argsort(s *Step) bool {
	outer, inner, n := Around(s.InShape(0), s.Attr[0])
	keep := s.Value.Shape[s.Attr[0]]
	rows := outer * inner
	if n >= 1<<31 {
		return false
	}
	s.Shared("sort", sortText)
	line := fmt.Sprintf("const R *x = in0 + row / %[1]s * %[2]s + row %% %[1]s;", number(inner), number(inner*n))
	place := func(rank string) string {
		return fmt.Sprintf("out[(row / %[1]s * %[2]s + %[3]s) * %[1]s + row %% %[1]s]", number(inner), number(keep), rank)
	}
	desc := s.Attr[1]
	if n <= sortRoom {
		s.pieces(1<<bits.Len(uint(n-1)), rows, inner, desc, fmt.Sprintf("index_t row = piece; int from = 0, to = %d; %s", n, line),
			fmt.Sprintf("index_t row = piece; if (row < %s && j < %d) %s = sort_place[e];", number(rows), keep, place("j")))
		return true
	}
	parts := (n + sortRoom - 1) / sortRoom
	s.g.partials = max(s.g.partials, rows*n) // two arrays of 32-bit indices
	ints := func(k int) string { return fmt.Sprintf("((int *)partial + %s)", number(k%2*rows*n)) }
	piece := fmt.Sprintf("index_t row = piece / %[1]d; int from = piece %% %[1]d * %[2]d;", parts, sortRoom)
	s.pieces(sortRoom, rows*parts, inner, desc, fmt.Sprintf("%s int to = from + %d < %[3]d ? from + %[2]d : %[3]d; %[4]s", piece, sortRoom, n, line),
		fmt.Sprintf("%s if (piece < %s && from + j < %d) %s[row * %[3]d + from + j] = sort_place[e];", piece, number(rows*parts), n, ints(0)))
	k := 0
	for size := sortRoom; size < n; size *= 2 {
		store := ints(k+1) + fmt.Sprintf("[row * %s + rank] = me;", number(n))
		if 2*size >= n {
			store = fmt.Sprintf("if (rank < %s) %s = me;", number(keep), place("rank"))
		}
		s.Elements(rows*n, fmt.Sprintf(`		index_t row = i / %[1]s;
		int j = (int)(i %% %[1]s), me = %[2]s[i], first = j / %[3]s * %[3]s, other = first / %[3]s %% 2 ? first - %[3]s : first + %[3]s;
		%[4]s
		const int *run = %[2]s + row * %[1]s + other;
		int low = 0, high = %[1]s - other < %[3]s ? %[1]s - other : %[3]s;
		if (high < 0) high = 0;
		while (low < high) {
			int middle = low + (high - low) / 2;
			if (eu_before(x[run[middle] * (index_t)%[5]s], run[middle], x[me * (index_t)%[5]s], me, %[6]d)) low = middle + 1;
			else high = middle;
		}
		int rank = (first < other ? first : other) + j - first + low;
		%[7]s`, number(n), ints(k), number(size), line, number(inner), desc, store))
		k++
	}
	return true
}

// pieces makes the kernel that sorts count pieces of at most p elements, p a power of two. open declares, for a
// piece, the line x and the bounds from and to of the piece in it; store keeps element j of the order.
func (s *Step) pieces(p, count, inner, desc int, open, store string) {
	each := max(1, min(count, 512/p))
	size := each * p
	groups := (count + each - 1) / each
	k := Launch{Kernel: s.g.name("sort"), Grid: max(1, min(groups, mostGrid)), Block: max(warp, min(block, size/2))}
	s.Begin(k)
	s.Printf("\tfor (index_t group = blockIdx.x; group < %s; group += gridDim.x) {\n", number(groups))
	each1 := fmt.Sprintf("\tfor (int e = threadIdx.x; e < %d; e += %d) {\n\t\tindex_t piece = group * %d + e / %d; int j = e %% %d;\n", size, k.Block, each, p, p)
	s.Printf("%s\t\tsort_place[e] = -1;\n\t\tif (piece < %s) { %s if (from + j < to) { sort_key[e] = x[(from + j) * (index_t)%s]; sort_place[e] = from + j; } }\n\t}\n\t__syncthreads();\n",
		each1, number(count), open, number(inner))
	s.Printf("\teu_sort(%d, %d, %d);\n%s\t\t%s\n\t}\n\t__syncthreads();\n\t}\n}\n\n", size, p, desc, each1, store)
}

// sortText has the order of elements, and the bitonic network that sorts lines of n in shared memory. Places
// that hold nothing are -1 and come last.
//
// Reference: Batcher, doi:10.1145/1468075.1468121.
var sortText = fmt.Sprintf(`__shared__ R sort_key[%[1]d];
__shared__ int sort_place[%[1]d];
static inline __device__ bool eu_before(R a, int i, R b, int j, int descending) {
	if (descending) { R c = a; a = b; b = c; }
	if (a < b || (a == a && b != b)) return true;
	if (a > b || (a != a && b == b)) return false;
	return i < j;
}
static inline __device__ void eu_sort(int all, int n, int descending) {
	for (int size = 2; size <= n; size *= 2)
		for (int step = size / 2; step > 0; step /= 2) {
			for (int e = threadIdx.x; e < all / 2; e += blockDim.x) {
				int i = e / step * 2 * step + e %% step, j = i + step;
				int p = sort_place[i], q = sort_place[j];
				R a = sort_key[i], b = sort_key[j];
				bool up = (i %% n & size) == 0 || size == n;
				bool wrong = up ? q >= 0 && (p < 0 || eu_before(b, q, a, p, descending)) : p >= 0 && (q < 0 || eu_before(a, p, b, q, descending));
				if (wrong) { sort_place[i] = q; sort_place[j] = p; sort_key[i] = b; sort_key[j] = a; }
			}
			__syncthreads();
		}
}
`, sortRoom)
