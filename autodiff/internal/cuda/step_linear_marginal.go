// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

// marginalText is arithmetic with unevaluated sums of two numbers, as on the processor, and the sum of such numbers
// over the threads of a block. NVRTC contracts a product and a sum to one
// rounding, which must not happen where errors are found: such a product is an fma with 0.
const marginalText = `struct eu_dd { double hi, lo; };
__shared__ double marginal_lo[256];
static inline __device__ eu_dd eu_dd_make(double hi, double lo) { eu_dd x; x.hi = hi; x.lo = lo; return x; }
static inline __device__ eu_dd eu_dd_sum(double a, double b) { double s = a + b, t = s - a; return eu_dd_make(s, (a - (s - t)) + (b - t)); }
static inline __device__ eu_dd eu_dd_product(double a, double b) { double p = fma(a, b, 0.0); return eu_dd_make(p, fma(a, b, -p)); }
static inline __device__ eu_dd eu_dd_add(eu_dd x, eu_dd y) { eu_dd s = eu_dd_sum(x.hi, y.hi); return eu_dd_sum(s.hi, s.lo + (x.lo + y.lo)); }
static inline __device__ eu_dd eu_dd_sub(eu_dd x, eu_dd y) { return eu_dd_add(x, eu_dd_make(-y.hi, -y.lo)); }
static inline __device__ eu_dd eu_dd_mul(eu_dd x, eu_dd y) { eu_dd p = eu_dd_product(x.hi, y.hi); return eu_dd_sum(p.hi, fma(x.hi, y.lo, fma(x.lo, y.hi, p.lo))); }
static inline __device__ eu_dd eu_dd_div(eu_dd x, eu_dd y) { double q = x.hi / y.hi; eu_dd rest = eu_dd_sub(x, eu_dd_mul(y, eu_dd_make(q, 0.0))); return eu_dd_sum(q, rest.hi / y.hi); }
static inline __device__ eu_dd eu_dd_root(eu_dd x) { double r = sqrt(x.hi); eu_dd rest = eu_dd_sub(x, eu_dd_product(r, r)); return eu_dd_sum(r, rest.hi / (2.0 * r)); }
static __device__ __attribute__((noinline)) eu_dd eu_dd_total(eu_dd x) {
	room[threadIdx.x] = x.hi;
	marginal_lo[threadIdx.x] = x.lo;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half) {
			eu_dd s = eu_dd_add(eu_dd_make(room[threadIdx.x], marginal_lo[threadIdx.x]), eu_dd_make(room[threadIdx.x + half], marginal_lo[threadIdx.x + half]));
			room[threadIdx.x] = s.hi;
			marginal_lo[threadIdx.x] = s.lo;
		}
		__syncthreads();
	}
	x = eu_dd_make(room[0], marginal_lo[0]);
	__syncthreads();
	return x;
}
`

// basisText reads a basis, of which programs of float32 hold two parts.
func basisText(s *Step) string {
	return fmt.Sprintf("static inline __device__ double eu_basis(const R *x, const R *rest, index_t i) { return %s; }\n",
		pick(s.g.precision == 64, "x[i]", "(double)x[i] + rest[i]"))
}

// LinearMarginal makes the record of a linear model whose coefficients are integrated out: chi-square, coefficients
// and L^-1, each as two numbers. A block has a row, and computes in twice the precision of float64.
func LinearMarginal(s *Step) bool {
	shape := s.InShape(2)
	k, n := shape[0], shape[1]
	pairs := k * (k + 1) / 2
	size := 1 + k + pairs
	s.Shared("linear marginal", marginalText)
	s.Shared("linear marginal basis", basisText(s))
	return dense(s, s.Size()/(2*size), 4*pairs+4*k+2, block, fmt.Sprintf(`	const int k = %[1]d, pairs = %[2]d, size = %[3]d;
	const index_t n = %[4]s, *place = %[5]s + 4 * matrix;
	const R *t = in0 + place[0], *d = in1 + place[1];
	R *to = out + matrix * 2 * size;
	eu_dd *m = (eu_dd *)work, *inverse = m + pairs, *v = inverse + pairs, *a = v + k;
	for (int i = 0; i < k; i++)
		for (int j = 0; j <= i + 1; j++) {
			eu_dd sum = eu_dd_make(0.0, 0.0);
			for (index_t e = tid; e < n; e += threads) {
				eu_dd x = eu_dd_product(eu_basis(in2, in3, i * n + e), t[e]), y = j <= i ? eu_dd_product(eu_basis(in2, in3, j * n + e), t[e]) : eu_dd_make(d[e], 0.0);
				sum = eu_dd_add(sum, eu_dd_mul(x, y));
			}
			sum = eu_dd_total(sum);
			if (tid == 0) { if (j <= i) m[i * (i + 1) / 2 + j] = sum; else v[i] = sum; }
		}
	if (tid == 0) {
		bool good = true;
		double logdet = 0.0;
		for (int i = 0; i < k && good; i++)
			for (int j = 0; j <= i; j++) {
				eu_dd x = m[i * (i + 1) / 2 + j];
				for (int e = 0; e < j; e++) x = eu_dd_sub(x, eu_dd_mul(m[i * (i + 1) / 2 + e], m[j * (j + 1) / 2 + e]));
				if (j < i) { m[i * (i + 1) / 2 + j] = eu_dd_div(x, m[j * (j + 1) / 2 + j]); continue; }
				if (!(x.hi > 0.0) || isinf(x.hi)) { good = false; break; }
				logdet += log(x.hi);
				m[i * (i + 1) / 2 + i] = eu_dd_root(x);
			}
		for (int i = 0; i < k && good; i++)
			for (int j = 0; j <= i; j++) {
				eu_dd x = eu_dd_make(i == j ? 1.0 : 0.0, 0.0);
				for (int e = j; e < i; e++) x = eu_dd_sub(x, eu_dd_mul(m[i * (i + 1) / 2 + e], inverse[e * (e + 1) / 2 + j]));
				inverse[i * (i + 1) / 2 + j] = eu_dd_div(x, m[i * (i + 1) / 2 + i]);
			}
		for (int i = 0; i < k && good; i++) {
			a[i] = eu_dd_make(0.0, 0.0);
			for (int j = 0; j <= i; j++) a[i] = eu_dd_add(a[i], eu_dd_mul(inverse[i * (i + 1) / 2 + j], v[j]));
		}
		for (int j = 0; j < k && good; j++) {
			eu_dd x = eu_dd_make(0.0, 0.0);
			for (int i = j; i < k; i++) x = eu_dd_add(x, eu_dd_mul(inverse[i * (i + 1) / 2 + j], a[i]));
			v[j] = x;
		}
		work[4 * pairs + 4 * k] = good ? logdet : NAN;
	}
	__syncthreads();
	double chi = 0.0;
	for (index_t e = tid; e < n; e += threads) {
		double c = 0.0;
		for (int i = 0; i < k; i++) c += v[i].hi * eu_basis(in2, in3, i * n + e);
		double r = d[e] - c * t[e];
		chi += r * r;
	}
	chi = eu_total(chi) + work[4 * pairs + 4 * k];
	for (int e = tid; e < size; e += threads) {
		double x = e == 0 ? chi : e <= k ? v[e - 1].hi : inverse[e - 1 - k].hi;
		if (chi != chi) x = NAN;
		to[e] = (R)x;
		double rest = x - (double)(R)x;
		to[size + e] = rest - rest == 0.0 ? (R)rest : R(0);
	}`, k, pairs, size, number(n), rowTable(s, 1, 1, 1, 2, 2)))
}

// LinearMarginalPart copies the chi-square or the coefficients from the record.
func LinearMarginalPart(s *Step) bool {
	k := s.InShape(3)[0]
	size := 2 * (1 + k + k*(k+1)/2)
	width, first := 1, 0
	if s.Op.Name == "linear_marginal_fit" {
		width, first = k, 1
	}
	s.Elements(s.Size(), fmt.Sprintf("\t\tout[i] = in0[i / %[1]d * %[2]d + %[3]d + i %% %[1]d];", width, size, first))
	return true
}

// inverseFactor is the C expression of element e of L^-1 in a record of k coefficients.
func inverseFactor(k int) string {
	return fmt.Sprintf("((double)l[e] + l[e + %d])", 1+k+k*(k+1)/2)
}

// LinearMarginalSolve multiplies by M^-1: a thread has a vector.
func LinearMarginalSolve(s *Step) bool {
	k := s.InShape(3)[0]
	s.Lines(s.Size()/k, fmt.Sprintf(`		const int k = %[1]d;
		const index_t *place = %[2]s + 4 * i;
		const R *l = in0 + place[0] + 1 + k, *h = in2 + place[2];
		double x[%[1]d];
		for (int r = 0; r < k; r++) {
			x[r] = 0.0;
			for (int j = 0; j <= r; j++) { int e = r * (r + 1) / 2 + j; x[r] += %[3]s * h[j]; }
		}
		for (int j = 0; j < k; j++) {
			double sum = 0.0;
			for (int r = j; r < k; r++) { int e = r * (r + 1) / 2 + j; sum += %[3]s * x[r]; }
			out[i * k + j] = (R)sum;
		}`, k, rowTable(s, 1, 1, 1, 1, 2), inverseFactor(k)))
	return true
}

// LinearMarginalLeverage is p^T M^-1 p for the columns p of the basis: a thread has a column.
func LinearMarginalLeverage(s *Step) bool {
	k, n := s.InShape(2)[0], s.InShape(2)[1]
	s.Shared("linear marginal basis", basisText(s))
	s.Elements(s.Size(), fmt.Sprintf(`		const int k = %[1]d;
		const index_t n = %[2]s, *place = %[3]s + 4 * (i / n), at = i %% n;
		const R *l = in0 + place[0] + 1 + k;
		double q = 0.0;
		for (int r = 0; r < k; r++) {
			double x = 0.0;
			for (int j = 0; j <= r; j++) { int e = r * (r + 1) / 2 + j; x += %[4]s * eu_basis(in2, in3, j * n + at); }
			q += x * x;
		}
		out[i] = (R)q;`, k, number(n), rowTable(s, 1, 1, 1, 2, 2), inverseFactor(k)))
	return true
}

// LinearMarginalProject takes out of rows what the linear model can take up: a block has a row.
func LinearMarginalProject(s *Step) bool {
	k, n := s.InShape(3)[0], s.InShape(3)[1]
	s.Shared("linear marginal basis", basisText(s))
	return dense(s, s.Size()/n, 2*k, block, fmt.Sprintf(`	const int k = %[1]d;
	const index_t n = %[2]s, *place = %[3]s + 5 * matrix;
	const R *l = in0 + place[0] + 1 + k, *t = in1 + place[1], *j = in2 + place[2];
	double *h = work, *x = work + k;
	for (int i = 0; i < k; i++) {
		double sum = 0.0;
		for (index_t p = tid; p < n; p += threads) sum += eu_basis(in3, in4, i * n + p) * ((double)t[p] * j[p]);
		sum = eu_total(sum);
		if (tid == 0) h[i] = sum;
	}
	if (tid == 0) {
		for (int r = 0; r < k; r++) {
			x[r] = 0.0;
			for (int c = 0; c <= r; c++) { int e = r * (r + 1) / 2 + c; x[r] += %[4]s * h[c]; }
		}
		for (int c = 0; c < k; c++) {
			h[c] = 0.0;
			for (int r = c; r < k; r++) { int e = r * (r + 1) / 2 + c; h[c] += %[4]s * x[r]; }
		}
	}
	__syncthreads();
	for (index_t p = tid; p < n; p += threads) {
		double c = 0.0;
		for (int i = 0; i < k; i++) c += h[i] * eu_basis(in3, in4, i * n + p);
		out[matrix * n + p] = (R)(j[p] - t[p] * c);
	}`, k, number(n), rowTable(s, 1, 1, 1, 1, 2, 2), inverseFactor(k)))
}

// LinearMarginalSum is the sum of the basis with the coefficients: a thread has a point.
func LinearMarginalSum(s *Step) bool {
	k, n := s.InShape(3)[0], s.InShape(3)[1]
	s.Shared("linear marginal basis", basisText(s))
	s.Elements(s.Size(), fmt.Sprintf(`		const int k = %[1]d;
		const index_t n = %[2]s, *place = %[3]s + 5 * (i / n), at = i %% n;
		const R *a = in0 + place[0] + 1;
		double c = 0.0;
		for (int r = 0; r < k; r++) c += ((double)a[r] + a[r + %[4]d]) * eu_basis(in3, in4, r * n + at);
		out[i] = (R)c;`, k, number(n), rowTable(s, 1, 1, 1, 1, 2, 2), 1+k+k*(k+1)/2))
	return true
}
