// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

const (
	sortRoom   = 2048 // longest line, a power of two, that a network sorts in shared memory; elements of a tile of longer ones
	sortLines  = 264  // lines from which on a block sorts each alone: two for each multiprocessor
	sortDigits = 256
)

var (
	sortAlone = 8192 // longest line that a block sorts alone where lines are few
	sortJobs  = 1056 // parts of lines that should be in work at a time: eight blocks for each multiprocessor
)

// Argsort ranks the elements along an axis: attributes say the axis and whether the order descends. A NaN
// is the largest; of equals the lower index comes first, so that there is only one result. It keeps as
// many indices as the result has.
//
// Lines that fit into shared memory are sorted there by a bitonic network, longer ones by their digits.
func Argsort(s *Step) bool {
	outer, inner, n := Around(s.InShape(0), s.Attr[0])
	if n >= 1<<31 {
		return false
	}
	o := order{Step: s, rows: outer * inner, inner: inner, n: n, keep: s.Value.Shape[s.Attr[0]], digits: s.g.precision / 8}
	s.Shared("sort", o.text(sortText))
	if n <= sortRoom {
		o.network()
		return true
	}
	s.Shared("sort digits", o.text(digitText))
	size := 2 * o.rows * n * (o.digits + 4) // bytes of two arrays of keys and of two of places
	if n <= sortAlone || o.rows >= sortLines {
		o.alone()
	} else {
		tiles := (n + sortRoom - 1) / sortRoom
		each := (tiles + max(1, sortJobs/o.rows) - 1) / max(1, sortJobs/o.rows)
		o.length = each * sortRoom
		o.parts = (n + o.length - 1) / o.length
		size += 4 * sortDigits * o.rows * (o.parts + 1)
		for pass := range o.digits {
			o.count(pass)
			o.offsets()
			o.scatter(pass)
		}
	}
	s.g.partials = max(s.g.partials, (size+7)/8)
	return true
}

// order is an Argsort whose kernels are being made: rows lines of n elements that are inner apart, of which keep
// indices are kept. Keys have so many digits. Lines that several blocks share are cut into parts of a length.
type order struct {
	*Step
	rows, inner, n, keep, digits int
	parts, length                int
}

// text fills in what depends on the sort, and on the precision.
func (o order) text(text string, more ...string) string {
	key := pick(o.digits == 4, "unsigned", "unsigned long long")
	bitsOf := pick(o.digits == 4, "__float_as_uint(v)", "(eu_key)__double_as_longlong(v)")
	infinity := pick(o.digits == 4, "0x7f800000u", "0x7ff0000000000000ull")
	all := o.rows * o.n
	return strings.NewReplacer(append([]string{"KEYTYPE", key, "BITS", bitsOf, "INFINITE", infinity, "ROOM", number(sortRoom), "DIGITS", number(o.digits),
		"ROWS", number(o.rows), "LONG", number(o.n), "PARTS", number(o.parts), "JOBS", number(o.rows * o.parts), "LENGTH", number(o.length), "KEEP", number(o.keep),
		"ELEMENT", fmt.Sprintf("eu_order(x[%s], %d)", pick(o.inner == 1, "j", fmt.Sprintf("j * (index_t)%d", o.inner)), o.Attr[1]),
		"LINE", fmt.Sprintf("in0 + row / %[1]s * %[2]s + row %% %[1]s", number(o.inner), number(o.inner*o.n)),
		"RESULT", fmt.Sprintf("out[(row / %[1]s * %[2]s + to) * %[1]s + row %% %[1]s]", number(o.inner), number(o.keep)),
		"OTHER", fmt.Sprintf("%dLL", all), "COUNTS", fmt.Sprintf("((unsigned *)((eu_key *)partial + %s) + %s)", number(2*all), number(2*all)), "TOTALS", number(o.rows * o.parts * sortDigits),
		"KEYS", "((eu_key *)partial)", "PLACES", fmt.Sprintf("((unsigned *)((eu_key *)partial + %s))", number(2*all))}, more...)...).Replace(text)
}

// kernel makes a kernel of a text; of its blocks so many are to be resident, or as many as come for 0.
func (o order) kernel(grid, resident int, work roofline.Work, text string, more ...string) {
	o.Begin(Launch{Kernel: o.g.name("sort"), Grid: max(1, min(grid, mostGrid)), Block: block, Resident: resident, Work: work, Shared: sortRoom*(o.digits+4) + 12<<10})
	o.Printf("%s}\n\n", o.text(text, more...))
}

// network makes the kernel that sorts lines in shared memory, several in a block where they are short.
func (o order) network() {
	p := 1 << bits.Len(uint(o.n-1))
	each := max(1, min(o.rows, 512/p))
	size := each * p
	groups := (o.rows + each - 1) / each
	k := Launch{Kernel: o.g.name("sort"), Grid: max(1, min(groups, mostGrid)), Block: min(block, (max(size/2, 1)+warp-1)/warp*warp), Shared: sortRoom * (o.digits + 4)}
	k.Work = o.networkWork(groups, size, p, k.Block)
	o.Begin(k)
	o.Printf("%s", o.text(`	for (index_t group = blockIdx.x; group < GROUPS; group += gridDim.x) {
	for (unsigned e = threadIdx.x; e < SIZE; e += THREADS) {
		index_t row = group * EACH + e / POWER;
		unsigned j = e % POWER;
		sort_key[e] = ~(eu_key)0;
		sort_place[e] = ~0u;
		if (row < ROWS && j < LONG) {
			const R *x = LINE;
			sort_key[e] = ELEMENT;
			sort_place[e] = j;
		}
	}
	__syncthreads();
	eu_network(SIZE, POWER);
	for (unsigned e = threadIdx.x; e < SIZE; e += THREADS) {
		index_t row = group * EACH + e / POWER;
		unsigned to = e % POWER;
		if (row < ROWS && to < KEEP) RESULT = sort_place[e];
	}
	__syncthreads();
	}
}

`, "GROUPS", number(groups), "SIZE", number(size), "THREADS", number(k.Block), "EACH", number(each), "POWER", number(p)))
}

// alone makes the kernel in which each block sorts whole lines. The digits of all passes are counted at once.
func (o order) alone() {
	o.kernel(o.rows, 0, o.aloneWork(), `	unsigned thread = threadIdx.x;
	for (index_t row = blockIdx.x; row < ROWS; row += gridDim.x) {
	const R *x = LINE;
	eu_key *keys = KEYS + row * LONG;
	unsigned *places = PLACES + row * LONG;
	for (int pass = 0; pass < DIGITS; pass++) digit_all[pass * 256 + thread] = 0;
	__syncthreads();
	for (unsigned from = 0; from < LONG; from += ROOM) {
		eu_key key[8];
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + q * 256 + thread;
			if (j < LONG) key[q] = ELEMENT;
		}
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + q * 256 + thread;
			if (j >= LONG) continue;
			keys[j] = key[q];
			for (int pass = 0; pass < DIGITS; pass++) atomicAdd(&digit_all[pass * 256 + eu_digit(key[q], pass * 8)], 1u);
		}
	}
	__syncthreads();
	for (int pass = 0; pass < DIGITS; pass++) {
	index_t old = pass % 2 ? OTHER : 0, next = OTHER - old;
	digit_next[thread] = eu_ahead(digit_all[pass * 256 + thread]);
	for (unsigned from = 0; from < LONG; from += ROOM) {
		eu_key key[8];
		unsigned place[8];
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + thread / 32 * 256 + q * 32 + thread % 32;
			key[q] = j < LONG ? keys[old + j] : ~(eu_key)0;
			place[q] = j < LONG && pass > 0 ? places[old + j] : j;
		}
		eu_split(key, place, pass * 8);
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned e = q * 256 + thread;
			if (from + e >= LONG) continue;
			unsigned to = digit_first[eu_digit(sort_key[e], pass * 8)] + e;
			if (pass < DIGITS - 1) { keys[next + to] = sort_key[e]; places[next + to] = sort_place[e]; }
			else if (to < KEEP) RESULT = sort_place[e];
		}
	}
	__syncthreads();
	}
	}
`)
}

// keyOf returns how a pass finds the key of element j of a line; keys of the first are copied for the second kernel
// if the line is not contiguous.
func (o order) keyOf(pass int, copied bool) string {
	if pass == 0 && !copied {
		return "ELEMENT"
	}
	return fmt.Sprintf("KEYS[%s + row * LONG + j]", number((pass+1)%2*o.rows*o.n))
}

// count makes the kernel that counts the digits of a pass in each part of a line.
func (o order) count(pass int) {
	put := ""
	if pass == 0 && o.inner > 1 {
		put = o.text("KEYS[OTHER + row * LONG + j] = key[q];")
	}
	o.kernel(o.rows*o.parts, 0, o.sortWork(float64(o.length/sortRoom), 1, false), o.text(`	unsigned thread = threadIdx.x, *count = digit_count + thread / 32 * 256;
	for (index_t job = blockIdx.x; job < JOBS; job += gridDim.x) {
	index_t row = job / PARTS;
	const R *x = LINE;
	unsigned begin = (unsigned)(job % PARTS) * LENGTH, end = begin + LENGTH < LONG ? begin + LENGTH : LONG;
	for (unsigned d = thread % 32; d < 256; d += 32) count[d] = 0;
	__syncwarp();
	for (unsigned from = begin; from < end; from += ROOM) {
		eu_key key[8];
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + q * 256 + thread;
			if (j < end) key[q] = FIND;
		}
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + q * 256 + thread;
			if (j < end) { atomicAdd(&count[eu_digit(key[q], SHIFT)], 1u); PUT }
		}
	}
	__syncthreads();
	unsigned sum = 0;
	for (int w = 0; w < 8; w++) sum += digit_count[w * 256 + thread];
	COUNTS[job * 256 + thread] = sum;
	__syncthreads();
	}
`, "FIND", o.text(o.keyOf(pass, false)), "PUT", put, "SHIFT", number(8*pass)))
}

// offsets makes the kernel that turns the numbers of a digit in the parts of a line into those in all parts before,
// and adds them up. A block has eight digits, and 32 threads for each.
func (o order) offsets() {
	each := (o.parts + 31) / 32
	o.kernel(o.rows*sortDigits/8, 0, o.offsetsWork(each), `	unsigned thread = threadIdx.x, group = thread / 8;
	for (index_t job = blockIdx.x; job < ROWS * 32LL; job += gridDim.x) {
	index_t row = job / 32;
	unsigned digit = (unsigned)(job % 32) * 8 + thread % 8, *count = COUNTS + row * (PARTS * 256LL) + digit, *total = COUNTS + TOTALS;
	unsigned begin = group * EACH, here[EACH], sum = 0;
#pragma unroll
	for (int q = 0; q < EACH; q++) {
		here[q] = begin + q < PARTS ? count[(begin + q) * 256] : 0;
		sum += here[q];
	}
	digit_count[thread] = sum;
	__syncthreads();
	unsigned before = 0;
	for (unsigned g = 0; g < group; g++) before += digit_count[g * 8 + thread % 8];
	if (group == 31) total[row * 256 + digit] = before + sum;
#pragma unroll
	for (int q = 0; q < EACH; q++) {
		if (begin + q < PARTS) count[(begin + q) * 256] = before;
		before += here[q];
	}
	__syncthreads();
	}
`, "EACH", number(each))
}

// scatter makes the kernel that puts the elements of a line in the order of a digit.
func (o order) scatter(pass int) {
	old, next := number((pass+1)%2*o.rows*o.n), number(pass%2*o.rows*o.n)
	place := "j"
	if pass > 0 {
		place = o.text("PLACES[" + old + " + row * LONG + j]")
	}
	put := o.text("KEYS[" + next + " + row * LONG + to] = sort_key[e]; PLACES[" + next + " + row * LONG + to] = sort_place[e];")
	if pass == o.digits-1 {
		put = o.text("if (to < KEEP) RESULT = sort_place[e];")
	}
	o.kernel(o.rows*o.parts, pick(o.digits == 4, 4, 0), o.sortWork(float64(o.length/sortRoom), 1, true), `	unsigned thread = threadIdx.x;
	for (index_t job = blockIdx.x; job < JOBS; job += gridDim.x) {
	index_t row = job / PARTS;
	const R *x = LINE;
	unsigned begin = (unsigned)(job % PARTS) * LENGTH, end = begin + LENGTH < LONG ? begin + LENGTH : LONG;
	digit_next[thread] = eu_ahead((COUNTS + TOTALS)[row * 256 + thread]) + COUNTS[job * 256 + thread];
	for (unsigned from = begin; from < end; from += ROOM) {
		eu_key key[8];
		unsigned place[8];
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned j = from + thread / 32 * 256 + q * 32 + thread % 32;
			key[q] = ~(eu_key)0;
			place[q] = 0;
			if (j < end) { key[q] = FIND; place[q] = WHERE; }
		}
		eu_split(key, place, SHIFT);
#pragma unroll
		for (int q = 0; q < 8; q++) {
			unsigned e = q * 256 + thread;
			if (from + e >= end) continue;
			unsigned to = digit_first[eu_digit(sort_key[e], SHIFT)] + e;
			PUT
		}
	}
	}
`, "FIND", o.text(o.keyOf(pass, o.inner > 1)), "WHERE", place, "SHIFT", number(8*pass), "PUT", put)
}

// sortText has keys, unsigned integers in the order of the numbers, and the bitonic network that sorts lines of n in
// shared memory, all elements together. Of equals the lower place comes first; what is in no line has the largest
// key and place. Up to 64 elements stay with one warp.
//
// Reference: Batcher, doi:10.1145/1468075.1468121.
const sortText = `typedef KEYTYPE eu_key;
__shared__ eu_key sort_key[ROOM];
__shared__ unsigned sort_place[ROOM];
static inline __device__ eu_key eu_order(R v, bool descending) {
	const eu_key sign = (eu_key)1 << (8 * sizeof(eu_key) - 1);
	eu_key u = BITS, size = u & ~sign;
	if (size > INFINITE) u = ~(eu_key)0;
	else if (size == 0) u = sign;
	else u = u & sign ? ~u : u | sign;
	return descending ? ~u : u;
}
static inline __device__ void eu_network(unsigned all, unsigned n) {
	for (unsigned size = 2; size <= n; size *= 2)
		for (unsigned step = size / 2; step > 0; step /= 2) {
			for (unsigned e = threadIdx.x; e < all / 2; e += blockDim.x) {
				unsigned i = 2 * e - (e & (step - 1)), j = i + step, p = sort_place[i], q = sort_place[j];
				eu_key a = sort_key[i], b = sort_key[j];
				bool up = (i & (n - 1) & size) == 0, less = b < a || (b == a && q < p);
				if (less == up) { sort_place[i] = q; sort_place[j] = p; sort_key[i] = b; sort_key[j] = a; }
			}
			if (step > 32 || (step == 1 && size > 32)) __syncthreads();
			else __syncwarp();
		}
	__syncthreads();
}
`

// digitText has what puts a tile of elements, 8 in each thread, in the order of a digit of 8 bits of their keys.
// The elements of a warp follow each other: lane l has every 32nd from l on. Afterwards element e of the tile belongs
// into place digit_first[its digit] + e of the line; digit_next[d] is where elements of digit d go on.
//
// Reference: Merrill and Grimshaw, doi:10.1142/S0129626411000187.
const digitText = `__shared__ unsigned digit_count[8 * 256], digit_first[256], digit_next[256], digit_warp[8], digit_all[DIGITS * 256];
static inline __device__ unsigned eu_digit(eu_key key, int shift) { return (unsigned)(key >> shift) & 255; }
// The sum of the numbers of the threads of a block before this one.
static inline __device__ unsigned eu_ahead(unsigned own) {
	unsigned until = own;
	for (unsigned d = 1; d < 32; d *= 2) {
		unsigned other = __shfl_up_sync(0xffffffffu, until, d);
		if (threadIdx.x % 32 >= d) until += other;
	}
	if (threadIdx.x % 32 == 31) digit_warp[threadIdx.x / 32] = until;
	__syncthreads();
	for (unsigned w = 0; w < threadIdx.x / 32; w++) until += digit_warp[w];
	return until - own;
}
static inline __device__ void eu_split(const eu_key (&key)[8], const unsigned (&place)[8], int shift) {
	unsigned thread = threadIdx.x, lane = thread % 32, *count = digit_count + thread / 32 * 256, rank[8];
	for (unsigned d = lane; d < 256; d += 32) count[d] = 0;
	__syncwarp();
#pragma unroll
	for (int q = 0; q < 8; q++) {
		unsigned digit = eu_digit(key[q], shift), same = 0xffffffffu;
#pragma unroll
		for (int b = 0; b < 8; b++) {
			unsigned set = __ballot_sync(0xffffffffu, digit >> b & 1);
			same &= digit >> b & 1 ? set : ~set;
		}
		unsigned before = count[digit];
		__syncwarp();
		if ((int)lane == __ffs((int)same) - 1) count[digit] = before + __popc(same);
		__syncwarp();
		rank[q] = before + __popc(same & ((1u << lane) - 1));
	}
	__syncthreads();
	unsigned total = 0;
	for (int w = 0; w < 8; w++) {
		unsigned here = digit_count[w * 256 + thread];
		digit_count[w * 256 + thread] = total;
		total += here;
	}
	unsigned first = eu_ahead(total);
	for (int w = 0; w < 8; w++) digit_count[w * 256 + thread] += first;
	digit_first[thread] = digit_next[thread] - first;
	digit_next[thread] += total;
	__syncthreads();
#pragma unroll
	for (int q = 0; q < 8; q++) {
		unsigned to = count[eu_digit(key[q], shift)] + rank[q];
		sort_key[to] = key[q];
		sort_place[to] = place[q];
	}
	__syncthreads();
}
`
