// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"
)

// mostScratch is the number of float64 of scratch memory beyond which fewer blocks work at a time.
const mostScratch = 1 << 24

// dense makes a kernel in which each block works on one matrix after another in float64, whatever the
// precision of the program, as the processor does. text sees the number of the matrix and
// `double *work`, scratch memory of some size: in shared memory if it is small.
func dense(s *Step, count, size, edge int, text string) bool {
	if edge > mostMatrix {
		return false
	}
	threads := warp
	for threads < edge && threads < block {
		threads *= 2
	}
	l := Launch{Kernel: s.g.name("dense"), Grid: max(1, min(count, mostGrid)), Block: threads}
	room, work := 512, ""
	if size > room {
		room = 4096
	}
	if size <= room {
		work = fmt.Sprintf("matrix_room_%d", room)
		s.Shared(work, fmt.Sprintf("__shared__ double %s[%d];\n", work, room))
	} else {
		l.Grid = max(1, min(l.Grid, mostScratch/size))
		s.g.partials = max(s.g.partials, l.Grid*size)
		work = fmt.Sprintf("(partial + blockIdx.x * (index_t)%d)", size)
	}
	s.Shared("dense", denseText)
	s.Begin(l)
	s.g.fails = s.g.fails || strings.Contains(text, "fail(")
	s.Printf("\tconst int tid = threadIdx.x, threads = %d;\n\tdouble *work = %s;\n\tfor (index_t matrix = blockIdx.x; matrix < %s; matrix += gridDim.x) {\n%s\n\t__syncthreads();\n\t}\n}\n\n", threads, work, number(count), text)
	return true
}

// denseText has what blocks do to matrices together: all threads call, and wait for each other.
var denseText = fmt.Sprintf(`__shared__ int perm[%[1]d], where[%[2]d];
__shared__ double diagonal[%[1]d], sine[%[1]d];
`, mostMatrix, block) + `static inline __device__ double eu_warp_total(double x) {
	for (int half = 16; half > 0; half /= 2) x += __shfl_xor_sync(0xffffffffu, x, half);
	return x;
}
// eu_pair is pair number k of a round in which each of n teams, n even, meets another; p < q.
static inline __device__ void eu_pair(int n, int round, int k, int *p, int *q) {
	int a = k == 0 ? n - 1 : (round + k) % (n - 1), b = (round + n - 1 - k) % (n - 1);
	*p = a < b ? a : b;
	*q = a < b ? b : a;
}
static __device__ __attribute__((noinline)) double eu_total(double x) { // of all threads
	room[threadIdx.x] = x;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
		__syncthreads();
	}
	x = room[0];
	__syncthreads();
	return x;
}
static __device__ __attribute__((noinline)) double eu_largest(double x) { // of all threads; NaN if one is
	room[threadIdx.x] = x;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half) room[threadIdx.x] = eu_max(room[threadIdx.x], room[threadIdx.x + half]);
		__syncthreads();
	}
	x = room[0];
	__syncthreads();
	return x;
}
// eu_lu factors a by rows with partial pivoting: row i of the factors is row perm[i] of a. It returns the
// sign of the permutation, and 0 in good if a pivot is 0 or NaN.
static __device__ __attribute__((noinline)) double eu_lu(double *a, int n, int *good) {
	const int tid = threadIdx.x, threads = blockDim.x, across = tid % 32, down = tid / 32;
	double sign = 1.0;
	*good = 1;
	for (int i = tid; i < n; i += threads) perm[i] = i;
	for (int k = 0; k < n; k++) {
		double best = -1.0;
		int at = k;
		for (int i = k + tid; i < n; i += threads) {
			double v = fabs(a[i * n + k]);
			if (best == best && (v != v || v > best)) { best = v; at = i; }
		}
		room[tid] = best;
		where[tid] = at;
		__syncthreads();
		for (int half = threads / 2; half > 0; half /= 2) {
			if (tid < half) {
				double x = room[tid], y = room[tid + half];
				int i = where[tid], j = where[tid + half];
				bool other = x == x ? (y != y || y > x || (y == x && j < i)) : (y != y && j < i);
				if (other) { room[tid] = y; where[tid] = j; }
			}
			__syncthreads();
		}
		int p = where[0];
		if (p != k) {
			sign = -sign;
			for (int j = tid; j < n; j += threads) { double v = a[k * n + j]; a[k * n + j] = a[p * n + j]; a[p * n + j] = v; }
			if (tid == 0) { int i = perm[k]; perm[k] = perm[p]; perm[p] = i; }
			__syncthreads();
		}
		double pivot = a[k * n + k];
		if (pivot == 0.0 || pivot != pivot) *good = 0;
		if (pivot != 0.0)
			for (int i = k + 1 + tid; i < n; i += threads) a[i * n + k] /= pivot;
		__syncthreads();
		for (int i = k + 1 + down; i < n; i += threads / 32) {
			double f = a[i * n + k];
			for (int j = k + 1 + across; j < n; j += 32) a[i * n + j] -= f * a[k * n + j];
		}
		__syncthreads();
	}
	return sign;
}
// eu_solve replaces the n x m matrix x by the solution of a x = x for a triangle of a, or of its
// transpose; unit says that the diagonal is 1.
static __device__ __attribute__((noinline)) void eu_solve(const double *a, int n, double *x, int m, bool lower, bool transposed, bool unit) {
	const int tid = threadIdx.x, threads = blockDim.x;
	bool forwards = lower != transposed;
	for (int t = 0; t < n; t++) {
		int k = forwards ? t : n - 1 - t;
		if (!unit) {
			for (int j = tid; j < m; j += threads) x[k * m + j] /= a[k * n + k];
			__syncthreads();
		}
		int from = forwards ? k + 1 : 0, rows = forwards ? n - 1 - k : k;
		for (int e = tid; e < rows * m; e += threads) {
			int i = from + e / m, j = e % m;
			x[i * m + j] -= (transposed ? a[k * n + i] : a[i * n + k]) * x[k * m + j];
		}
		__syncthreads();
	}
}
`

// factors copies a matrix to work and factors it; sign and good say how it went.
const factors = `	double *a = work;
	for (int e = tid; e < %[1]d; e += threads) a[e] = from[e];
	__syncthreads();
	int good;
	double sign = eu_lu(a, %[2]d, &good);
`

// columns returns how many columns of a right side of n rows a block solves at a time.
func columns(n, m int) int { return max(1, min(m, 1<<15/max(n, 1))) }

// singular is what to do about a singular matrix, for all threads.
func (s *Step) singular(n int, fill string) string {
	if s.g.isolate {
		return fmt.Sprintf("\tif (!good) { for (int e = tid; e < %d; e += threads) %s = (R)NAN; continue; }\n", n, fill)
	}
	return fmt.Sprintf("\tif (!good) { if (tid == 0) fail(%d); continue; }\n", FaultSingular)
}

// Solve solves a x = b for any square a, or its transpose if the attribute is 1.
func Solve(s *Step) bool {
	k := len(s.Value.Shape)
	n, m := s.Value.Shape[k-2], s.Value.Shape[k-1]
	count := s.Size() / (n * m)
	if solvedBySolver(s, count, n, m) {
		return true
	}
	if n > mostMatrix {
		return false
	}
	c := columns(n, m)
	load, steps, store := "from2[perm[i] * (index_t)%[2]d + j0 + j]", `		eu_solve(a, %[1]d, x, c, true, false, true);
		eu_solve(a, %[1]d, x, c, false, false, false);
`, "to[i * (index_t)%[2]d + j0 + j]"
	if s.Attr[0] == 1 {
		load, store = strings.Replace(load, "perm[i]", "i", 1), strings.Replace(store, "[i ", "[perm[i] ", 1)
		steps = `		eu_solve(a, %[1]d, x, c, false, true, false);
		eu_solve(a, %[1]d, x, c, true, true, true);
`
	}
	return dense(s, count, n*n+n*c, n, fmt.Sprintf("\tconst index_t *place = "+pairs(s, n*n, n*m)+";\n\tconst R *from = in0 + place[2 * matrix], *from2 = in1 + place[2 * matrix + 1];\n\tR *to = out + matrix * %[3]s;\n", n, m, number(n*m))+
		fmt.Sprintf(factors, n*n, n)+s.singular(n*m, "to[e]")+fmt.Sprintf(`	double *x = work + %[3]d;
	for (int j0 = 0; j0 < %[2]d; j0 += %[4]d) {
		int c = %[2]d - j0 < %[4]d ? %[2]d - j0 : %[4]d;
		for (int e = tid; e < %[1]d * c; e += threads) { int i = e / c, j = e %% c; x[e] = `+load+`; }
		__syncthreads();
`+steps+`		for (int e = tid; e < %[1]d * c; e += threads) { int i = e / c, j = e %% c; `+store+` = (R)x[e]; }
		__syncthreads();
	}`, n, m, n*n, c))
}

// Inverse inverts any square matrices.
func Inverse(s *Step) bool {
	n := s.Value.Shape[len(s.Value.Shape)-1]
	if invertedBySolver(s, s.Size()/(n*n), n) {
		return true
	}
	return dense(s, s.Size()/(n*n), 2*n*n, n, fmt.Sprintf("\tconst R *from = in0 + matrix * %[1]d;\n\tR *to = out + matrix * %[1]d;\n", n*n)+
		fmt.Sprintf(factors, n*n, n)+s.singular(n*n, "to[e]")+fmt.Sprintf(`	double *x = work + %[2]d;
	for (int e = tid; e < %[2]d; e += threads) x[e] = perm[e / %[1]d] == e %% %[1]d ? 1.0 : 0.0;
	__syncthreads();
	eu_solve(a, %[1]d, x, %[1]d, true, false, true);
	eu_solve(a, %[1]d, x, %[1]d, false, false, false);
	for (int e = tid; e < %[2]d; e += threads) to[e] = (R)x[e];`, n, n*n))
}

// Det is the determinant; a factor of 0 or NaN is one like others.
func Det(s *Step) bool {
	return determinant(s, 1, "1", `double det = sign;
		for (int i = 0; i < %[1]d; i++) det *= a[i * %[1]d + i];
		out[matrix] = (R)det;`)
}

// SignLogDet is the sign of the determinant and the logarithm of its size.
func SignLogDet(s *Step) bool {
	return determinant(s, 2, "i % 2 == 0 ? 1 : 0", `double log_size = 0.0;
		for (int i = 0; i < %[1]d; i++) {
			double v = a[i * %[1]d + i];
			if (v < 0.0) sign = -sign;
			else if (v == 0.0) sign = 0.0;
			else if (v != v) sign = v;
			log_size += log(fabs(v));
		}
		out[2 * matrix] = (R)sign;
		out[2 * matrix + 1] = (R)log_size;`)
}

func determinant(s *Step, each int, empty, text string) bool {
	shape := s.InShape(0)
	n := shape[len(shape)-1]
	if n == 0 {
		s.Elements(s.Size(), "\t\tout[i] = (R)("+empty+");")
		return true
	}
	if determinantBySolver(s, s.Size()/each, n, fmt.Sprintf(text, n)) {
		return true
	}
	return dense(s, s.Size()/each, n*n, n, fmt.Sprintf("\tconst R *from = in0 + matrix * %d;\n", n*n)+
		fmt.Sprintf(factors, n*n, n)+"\tif (tid == 0) {\n\t\t"+fmt.Sprintf(text, n)+"\n\t}")
}

// CholeskyGrad is the gradient of a matrix from that of its factor: Phi(S + S^T) with S = L^-T P L^-1 and
// P = Phi(L^T g), where Phi takes the lower triangle with half the diagonal.
func CholeskyGrad(s *Step) bool {
	n := s.Value.Shape[len(s.Value.Shape)-1]
	if choleskyGradBySolver(s, s.Size()/(n*n), n) {
		return true
	}
	return dense(s, s.Size()/(n*n), 2*n*n, n, fmt.Sprintf(`	const R *g = in1 + matrix * %[2]d;
	R *to = out + matrix * %[2]d;
	double *l = work, *x = work + %[2]d;
	for (int e = tid; e < %[2]d; e += threads) l[e] = in0[matrix * %[2]d + e];
	__syncthreads();
	for (int e = tid; e < %[2]d; e += threads) {
		int i = e / %[1]d, j = e %% %[1]d;
		double sum = 0.0;
		if (j <= i) for (int k = i; k < %[1]d; k++) sum += l[k * %[1]d + i] * (double)g[k * %[1]d + j];
		x[e] = i == j ? 0.5 * sum : sum;
	}
	__syncthreads();
	eu_solve(l, %[1]d, x, %[1]d, true, true, false);
	for (int e = tid; e < %[2]d; e += threads) {
		int i = e / %[1]d, j = e %% %[1]d;
		if (j < i) { double v = x[e]; x[e] = x[j * %[1]d + i]; x[j * %[1]d + i] = v; }
	}
	__syncthreads();
	eu_solve(l, %[1]d, x, %[1]d, true, true, false);
	for (int e = tid; e < %[2]d; e += threads) {
		int i = e / %[1]d, j = e %% %[1]d;
		to[e] = (R)(j > i ? 0.0 : j == i ? x[e] : x[e] + x[j * %[1]d + i]);
	}`, n, n*n))
}
