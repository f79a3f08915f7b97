// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// scan is an operation that goes along lines and keeps a state of two numbers, a and b: what a thread does
// with a whole line, and what lets threads share one.
type scan struct {
	name string
	// before declares the state of a thread that walks a whole line; each is what it does at an element: at is
	// its position, t counts from 0.
	before, each string
	// Whether it goes backwards.
	reverse bool
	// one, then, safe and result are functions of C: the state of one element, that of two stretches one after
	// the other, whether a state has not left the range of numbers, and what a state becomes in the result. start
	// is the state before the first element of line i.
	one, then, safe, result, start string
	// exclusive is whether the result of an element is that before it.
	exclusive bool
}

const (
	scanTile  = 8 * block // elements that a block scans at a time, 8 in each thread
	scanShare = 512       // shortest line that a block shares
	scanLines = 264       // lines from which on no line is cut: two for each of 132 multiprocessors
	scanJobs  = 132 * 6   // most pieces of lines that are in work at a time
)

// alone is whether a state is a alone.
func (c scan) alone() bool { return c.name == "sum" || c.name == "product" }

// resident is the number of blocks that a multiprocessor is to hold at once.
func (c scan) resident() int { return pick(c.alone(), 6, 4) }

// make makes the kernels of a scan. A thread walks each line where lines are many or short. A block shares a
// longer one tile by tile; few long lines are cut into pieces, whose states are found first and then joined
// in their order. What a thread cannot join without leaving the range of numbers, it walks.
func (c scan) make(s *Step) bool {
	outer, inner, n := Around(s.Value.Shape, s.Attr[0])
	lines := outer * inner
	step, first := inner, 0
	if c.reverse {
		step, first = -inner, (n-1)*inner
	}
	at := fmt.Sprintf("i / %[1]s * %[2]s + i %% %[1]s + %[3]s", number(inner), number(inner*n), number(first))
	if n < scanShare || lines >= 1<<14 || inner >= warp && lines >= 2048 {
		s.Lines(lines, fmt.Sprintf("\t\tindex_t at = %s;\n%s\n\t\tfor (index_t t = 0; t < %s; t++, at += %s) {\n%s\n\t\t}", at, c.before, number(n), number(step), c.each))
		s.revise(func(w *roofline.Work) {
			all := float64(lines * n)
			w.Sectors, w.Conflicts = patterned(lines*n, s.g.precision/8, func(k int) int { i := k % lines; return i/inner*inner*n + i%inner + k/lines*inner })
			w.Sectors, w.Conflicts = 2*w.Sectors, 2*w.Conflicts
			w.Float64, w.Integers, w.Accesses = 3*all, 6*all, 2*all
			w.Trips *= float64(n)
		})
		return true
	}
	c.helpers(s)
	tiles := (n + scanTile - 1) / scanTile
	pieces := 1
	if lines < scanLines {
		pieces = max(1, min(tiles, min(scanJobs, 132*c.resident())/lines))
	}
	length := (tiles + pieces - 1) / pieces * scanTile
	pieces = (n + length - 1) / length
	if pieces > 1 && c.name == "sum" && s.g.choice("single_pass") == 1 {
		c.ahead(s, lines, tiles, n, at, step)
		return true
	}
	if pieces > 1 {
		s.g.partials = max(s.g.partials, 2*lines*pieces)
		c.shared(s, lines, pieces, length, n, at, step, true)
		c.join(s, lines, pieces, length, n, at, step)
	}
	c.shared(s, lines, pieces, length, n, at, step, false)
	return true
}

// join makes the kernel in which a block turns the states of the pieces of a line into those before them.
func (c scan) join(s *Step, lines, pieces, length, n int, at string, step int) {
	s.Begin(Launch{Kernel: s.g.name("scan"), Grid: min(lines, mostGrid), Block: block, Work: c.joinWork(lines, pieces)})
	s.Printf("%s", strings.NewReplacer("NONE", c.none(), "START", c.start, "LINES", number(lines), "PIECES", number(pieces), "EACH", number((pieces+block-1)/block), "FIRST", at,
		"LENGTH", number(length), "LONG", number(n), "STEP", number(step), "ELEMENT", c.arguments(s, "at", "t"), "TEAMS", c.teams(), "BEFORE", c.beforeMe(), "WATCH", strings.ReplaceAll(c.watch("mine"), "NAME", c.name), "NAME", c.name).Replace(`	const pair_t none = NONE;
	int lane = threadIdx.x % 32, team = threadIdx.x / 32, begin = threadIdx.x * EACH, end = begin + EACH < PIECES ? begin + EACH : PIECES;
	for (index_t i = blockIdx.x; i < LINES; i += gridDim.x) {
	index_t first = FIRST;
	for (int piece = threadIdx.x; piece < PIECES; piece += blockDim.x) {
		join_a[piece] = partial[2 * (i * PIECES + piece)];
		join_b[piece] = partial[2 * (i * PIECES + piece) + 1];
	}
	__syncthreads();
	pair_t h = START, mine = none;
	bool safe = true;
	for (int piece = begin; piece < end; piece++) {
		pair_t next = {join_a[piece], join_b[piece]};
		safe = safe && eu_safe_NAME(next);
		mine = eu_then_NAME(mine, next);WATCH
	}
TEAMSBEFORE	if (__syncthreads_or(!safe)) {
		if (threadIdx.x == 0)
			for (int piece = 0; piece < PIECES; piece++) {
				pair_t next = {join_a[piece], join_b[piece]};
				join_a[piece] = h.a;
				join_b[piece] = h.b;
				if (eu_safe_NAME(next)) { h = eu_then_NAME(h, next); continue; }
				index_t stop = (piece + 1) * (index_t)LENGTH < LONG ? (piece + 1) * (index_t)LENGTH : LONG;
				for (index_t t = piece * (index_t)LENGTH; t < stop; t++) { index_t at = first + t * STEP; h = eu_walk_NAME(h, ELEMENT); }
			}
	} else {
		h = eu_then_NAME(h, before_me);
		for (int piece = begin; piece < end; piece++) {
			pair_t next = {join_a[piece], join_b[piece]};
			join_a[piece] = h.a;
			join_b[piece] = h.b;
			h = eu_then_NAME(h, next);
		}
	}
	__syncthreads();
	for (int piece = threadIdx.x; piece < PIECES; piece += blockDim.x) {
		partial[2 * (i * PIECES + piece)] = join_a[piece];
		partial[2 * (i * PIECES + piece) + 1] = join_b[piece];
	}
	__syncthreads();
	}
}

`))
}

// watch is the text that asks of a state that is made on the way whether it has left the range of numbers. That of a product can come back,
// with fewer digits; others cannot.
func (c scan) watch(state string) string {
	if c.name != "product" {
		return ""
	}
	return " safe = safe && eu_safe_NAME(" + state + ");"
}

// teams is the text in which the states of threads, mine, become those of warps, in scan_a and scan_b; before_me is
// then the state of the threads of a warp before this one.
func (c scan) teams() string {
	b := pick(c.alone(), "other.b = 0.0;", "other.b = __shfl_up_sync(0xffffffffu, until.b, d);")
	return strings.ReplaceAll(`	safe = safe && eu_safe_NAME(mine);
	pair_t until = mine; // of the threads of the warp up to this one
	for (int d = 1; d < 32; d *= 2) {
		pair_t other;
		other.a = __shfl_up_sync(0xffffffffu, until.a, d);
		`+b+`
		if (lane >= d) { until = eu_then_NAME(other, until);`+c.watch("until")+` }
	}
	safe = safe && eu_safe_NAME(until);
	if (lane == 31) { scan_a[team] = until.a; scan_b[team] = until.b; }
	pair_t before_me;
	before_me.a = __shfl_up_sync(0xffffffffu, until.a, 1);
	`+strings.NewReplacer("other", "before_me", ", d)", ", 1)").Replace(b)+`
	if (lane == 0) before_me = none;
	__syncthreads();
	pair_t all = none, lead = none;
`, "NAME", c.name)
}

// beforeMe is the text that makes before_me that of all threads of the block before this one, and all that of all.
func (c scan) beforeMe() string {
	return strings.ReplaceAll(fmt.Sprintf(`	for (int w = 0; w < %d; w++) {
		if (w == team) lead = all;
		pair_t part = {scan_a[w], scan_b[w]};
		all = eu_then_NAME(all, part);%s
	}
	before_me = eu_then_NAME(lead, before_me);
	safe = safe && eu_safe_NAME(all) && eu_safe_NAME(before_me);
`, block/warp, c.watch("all")), "NAME", c.name)
}

// arguments are what the state of an element is made of: the numbers of the inputs that have it, and its
// place in the line.
func (c scan) arguments(s *Step, at, t string) string {
	second := "R(0)"
	if s.Op.Name == "linear_scan" {
		second = "in1[" + at + "]"
	}
	return fmt.Sprintf("in0[%s], %s, %s", at, second, t)
}

// helpers adds the functions of a scan.
func (c scan) helpers(s *Step) {
	s.Shared("scan state", fmt.Sprintf(`struct pair_t { double a, b; };
__shared__ R scan_x[%[1]d], scan_y[%[1]d];
__shared__ double scan_a[%[2]d], scan_b[%[2]d], join_a[%[3]d], join_b[%[3]d];
`, scanTile+scanTile/8, block/warp+1, scanJobs))
	s.Shared("scan "+c.name, strings.ReplaceAll(fmt.Sprintf(`static inline __device__ pair_t eu_one_NAME(R x, R y, index_t t) { pair_t s; %s return s; }
static inline __device__ pair_t eu_then_NAME(pair_t p, pair_t q) { pair_t s; %s return s; }
static inline __device__ bool eu_safe_NAME(pair_t s) { return %s; }
static inline __device__ double eu_result_NAME(pair_t s) { return %s; }
static inline __device__ pair_t eu_walk_NAME(pair_t p, R x, R y, index_t t) { %s }
`, c.one, c.then, c.safe, c.result, pick(strings.HasPrefix(c.name, "linear"), "pair_t s; s.a = 0.0; s.b = t == "+pick(c.name == "linear_free", "0", "-1")+" ? (double)y : (double)x * p.b + y; return s;", "return eu_then_NAME(p, eu_one_NAME(x, y, t));")), "NAME", c.name))
}

// shared makes the kernel in which blocks scan pieces of lines; with only set it finds the states of the
// pieces alone.
func (c scan) shared(s *Step, lines, pieces, length, n int, at string, step int, only bool) {
	s.Begin(Launch{Kernel: s.g.name("scan"), Grid: max(1, min(lines*pieces, mostGrid)), Block: block, Resident: c.resident(), Work: c.scanWork(s, n, lines, pieces, length, only),
		Shared: 2*(scanTile+scanTile/8)*s.g.precision/8 + 16*(block/warp+1)})
	start := c.start
	switch {
	case only:
		start = "none"
	case pieces > 1:
		start = "{partial[2 * job], partial[2 * job + 1]}"
	}
	fill := append(c.fill(s, at, n, step), "START", start, "JOBS", number(lines*pieces), "PIECES", number(pieces), "LENGTH", number(length), "SLOT", number(block/warp))
	print := func(text string) { s.Printf("%s", strings.NewReplacer(fill...).Replace(text)) }
	print(`	const pair_t none = NONE;
	int lane = threadIdx.x % 32, team = threadIdx.x / 32;
	for (index_t job = blockIdx.x; job < JOBS; job += gridDim.x) {
	index_t i = job / PIECES, piece = job % PIECES, first = FIRST, to = (piece + 1) * LENGTH < LONG ? (piece + 1) * LENGTH : LONG;
	pair_t h = START;
	bool lost = false;
`)
	print(`	for (index_t from = piece * LENGTH; from < to; from += TILE) {
	int count = to - from < TILE ? (int)(to - from) : TILE;
` + scanLoad + `TEAMS`)
	if only {
		print(pick(c.safe == "true", "\tif (threadIdx.x == 0) {\nBEFORE\t}\n", "BEFORE") + `	lost = lost || !safe;
	h = eu_then_NAME(h, all);
	}
	if (__syncthreads_or(lost)) { h.a = NAN; h.b = NAN; }
	if (threadIdx.x == 0) { partial[2 * job] = h.a; partial[2 * job + 1] = h.b; }
	}
}

`)
		return
	}
	print("BEFORE")
	if c.safe != "true" {
		print(`	if (SAFE) {
		if (threadIdx.x == 0) {
			for (int e = 0; e < count; e++) {
				pair_t before = h;
				h = eu_walk_NAME(h, scan_x[e + e / 8], TAKEY, from + e);
				PUT RESULT;
			}
			scan_a[SLOT] = h.a;
			scan_b[SLOT] = h.b;
		}
		__syncthreads();
		h.a = scan_a[SLOT];
		h.b = scan_b[SLOT];
	} else {
`)
	}
	print(scanOwn + "\th = eu_then_NAME(h, all);\n")
	if c.safe != "true" {
		print("\t}\n")
	}
	print("\t__syncthreads();\n")
	if !s.IsInt {
		print(scanPut)
	}
	print("\t}\n\t}\n}\n\n")
}

// fill lists what the words of the texts of a tile stand for.
func (c scan) fill(s *Step, at string, n, step int) []string {
	two := s.Op.Name == "linear_scan"
	return []string{"NONE", c.none(), "FIRST", at, "LONG", number(n),
		"STEP", number(step), "TILE", number(scanTile), "BLOCK", number(block), "TEAMS", c.teams(), "BEFORE", c.beforeMe(), "WATCH", strings.ReplaceAll(c.watch("mine"), "NAME", c.name),
		"RESULT", fmt.Sprintf("eu_result_%s(%s)", c.name, pick(c.exclusive, "before", "h")), "OWN", fmt.Sprintf("eu_result_%s(%s)", c.name, pick(c.exclusive, "before", "own")),
		"LOADY", pick(two, "y[q] = in1[at];", ""), "KEEPY", pick(two, "scan_y[e + e / 8] = y[q];", ""), "TAKEY", pick(two, "scan_y[e + e / 8]", "R(0)"),
		"SAFE", pick(c.safe == "true", "", "__syncthreads_or(!safe)"), "NAME", c.name,
		// Results take the places of elements, so that neighbouring threads store neighbours; indices have no room there.
		"PUT", pick(s.IsInt, fmt.Sprintf("out[first + (from + e) * %s] = (index_t)", number(step)), "scan_x[e + e / 8] = (R)")}
}

// What threads do with a tile of count elements from element `from` of a line on: load it into shared memory and find the state of eight neighbours each,
// find the results of these, and store them.
const (
	scanLoad = `	{
	R x[8], y[8];
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) { index_t at = first + (from + e) * STEP; x[q] = in0[at]; LOADY }
	}
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) { scan_x[e + e / 8] = x[q]; KEEPY }
	}
	}
	__syncthreads();
	pair_t mine = none;
	bool safe = true;
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = threadIdx.x * 8 + q;
		if (e >= count) break;
		pair_t next = eu_one_NAME(scan_x[e + e / 8], TAKEY, from + e);
		mine = q == 0 ? next : eu_then_NAME(mine, next);WATCH
	}
`
	scanOwn = `	pair_t own = eu_then_NAME(h, before_me);
#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = threadIdx.x * 8 + q;
		if (e >= count) break;
		pair_t before = own;
		own = eu_walk_NAME(own, scan_x[e + e / 8], TAKEY, from + e);
		PUT OWN;
	}
`
	scanPut = `#pragma unroll
	for (int q = 0; q < 8; q++) {
		int e = q * BLOCK + threadIdx.x;
		if (e < count) out[first + (from + e) * STEP] = scan_x[e + e / 8];
	}
`
)

// none is the state of no elements.
func (c scan) none() string {
	switch {
	case strings.HasPrefix(c.name, "linear"), c.name == "product":
		return "{1.0, 0.0}"
	case c.name == "logsum":
		return "{-INFINITY, 0.0}"
	case strings.HasPrefix(c.name, "best"):
		return "{0.0, -1.0}"
	}
	return "{0.0, 0.0}"
}

// Cumsum sums along an axis: attributes say the axis, whether the element itself is left out, and
// whether it goes backwards.
func Cumsum(s *Step) bool {
	s.Converts()
	c := scan{name: "sum", before: "\t\tdouble sum = 0.0;", each: "\t\tsum += in0[at];\n\t\tout[at] = (R)sum;", reverse: s.Attr[2] == 1, exclusive: s.Attr[1] == 1,
		one: "s.a = x; s.b = 0.0;", then: "s.a = p.a + q.a; s.b = 0.0;", safe: "true", result: "s.a", start: "{0.0, 0.0}"}
	if c.exclusive {
		c.each = "\t\tdouble v = in0[at];\n\t\tout[at] = (R)sum;\n\t\tsum += v;"
	}
	return c.make(s)
}

// Cumprod multiplies along an axis.
func Cumprod(s *Step) bool {
	return scan{name: "product", before: "\t\tdouble p = 1.0;", each: "\t\tp *= in0[at];\n\t\tout[at] = (R)p;",
		one: "s.a = x; s.b = 0.0;", then: "s.a = p.a * q.a; s.b = 0.0;", safe: "fabs(s.a) > 1e-290 && fabs(s.a) < 1e290", result: "s.a", start: "{1.0, 0.0}"}.make(s)
}

// LogCumsumExp is the logarithm of the sum of exponentials so far.
func LogCumsumExp(s *Step) bool {
	return scan{name: "logsum", before: "\t\tdouble top = -INFINITY, sum = 0.0;", each: `		double v = in0[at];
		if (t == 0) { top = v; sum = 1.0; }
		else if (v == top) sum += 1.0;
		else if (v < top) sum += exp(v - top);
		else { sum = sum * exp(top - v) + 1.0; top = v; }
		out[at] = (R)(isinf(top) && top < 0.0 ? top : top + log(sum));`,
		one: "s.a = x; s.b = 1.0;", then: `if (p.b == 0.0) s = q; else if (q.b == 0.0) s = p; else if (p.a == q.a) { s.a = p.a; s.b = p.b + q.b; }
	else if (q.a < p.a) { s.a = p.a; s.b = p.b + q.b * exp(q.a - p.a); } else { s.a = q.a; s.b = p.b * exp(p.a - q.a) + q.b; }`,
		safe: "true", result: "isinf(s.a) && s.a < 0.0 ? s.a : s.a + log(s.b)", start: "{-INFINITY, 0.0}"}.make(s)
}

// LinearScan is h_t = a_t h_(t-1) + b_t along an axis.
func LinearScan(s *Step) bool {
	s.Converts()
	c := scan{name: "linear_free", before: "\t\tdouble h = 0.0;", each: "\t\th = t == 0 ? (double)in1[at] : (double)in0[at] * h + in1[at];\n\t\tout[at] = (R)h;", reverse: s.Attr[1] == 1,
		one: "s.a = t == 0 ? 0.0 : (double)x; s.b = y;", then: "s.a = p.a * q.a; s.b = p.b == 0.0 ? q.b : q.a * p.b + q.b;", safe: "s.a - s.a == 0.0", result: "s.b", start: "{1.0, 0.0}"}
	if len(s.Value.In) > 2 {
		c.name, c.before, c.start, c.one = "linear", "\t\tdouble h = in2[i];", "{1.0, in2[i]}", "s.a = x; s.b = y;"
		c.each = "\t\th = (double)in0[at] * h + in1[at];\n\t\tout[at] = (R)h;"
	}
	return c.make(s)
}

// CumArg finds the first of the best elements so far along an axis; better is a C condition of a and b, and a
// NaN is better than anything.
func CumArg(better string) func(s *Step) bool {
	name := map[string]string{"a > b": "best_max", "a < b": "best_min"}[better]
	return func(s *Step) bool {
		return scan{name: name, before: "\t\tindex_t best = at, place = 0;", each: fmt.Sprintf(`		R a = in0[at], b = in0[best];
		if (b == b && (a != a || %s)) { best = at; place = t; }
		out[at] = place;`, better),
			one: "s.a = x; s.b = (double)t;", then: fmt.Sprintf("if (p.b < 0.0) return q; if (q.b < 0.0) return p; double a = q.a, b = p.a; s = b == b && (a != a || %s) ? q : p;", better),
			safe: "true", result: "s.b", start: "{0.0, -1.0}"}.make(s)
	}
}

// Delay moves elements by one along an axis.
func Delay(s *Step) bool {
	_, inner, n := Around(s.Value.Shape, s.Attr[0])
	first, back := "0", number(inner)
	if s.Attr[1] == 1 {
		first, back = number(n-1), number(-inner)
	}
	s.Elements(s.Size(), fmt.Sprintf("\t\tout[i] = i / %[1]s %% %[2]s == %[3]s ? in1[i / %[4]s * %[1]s + i %% %[1]s] : in0[i - (%[5]s)];", number(inner), number(n), first, number(inner*n), back))
	return true
}
