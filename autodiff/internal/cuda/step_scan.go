// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"
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
	scanJobs  = 264       // pieces of lines that should be in work at a time: two for each multiprocessor
)

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
		return true
	}
	c.helpers(s)
	tiles := (n + scanTile - 1) / scanTile
	pieces := max(1, min(tiles, scanJobs/lines))
	length := (tiles + pieces - 1) / pieces * scanTile
	pieces = (n + length - 1) / length
	if pieces > 1 {
		s.g.partials = max(s.g.partials, 2*lines*pieces)
		c.shared(s, lines, pieces, length, n, at, step, true)
		s.Lines(lines, fmt.Sprintf(`		index_t first = %[1]s;
		pair_t h = %[2]s;
		for (index_t piece = 0; piece < %[3]d; piece++) {
			pair_t next = {partial[2 * (i * %[3]d + piece)], partial[2 * (i * %[3]d + piece) + 1]};
			partial[2 * (i * %[3]d + piece)] = h.a;
			partial[2 * (i * %[3]d + piece) + 1] = h.b;
			if (eu_safe_%[4]s(next)) { h = eu_then_%[4]s(h, next); continue; }
			index_t end = (piece + 1) * %[5]s < %[6]s ? (piece + 1) * %[5]s : %[6]s;
			for (index_t t = piece * %[5]s; t < end; t++) { index_t at = first + t * %[7]s; h = eu_walk_%[4]s(h, %[8]s); }
		}`, at, c.start, pieces, c.name, number(length), number(n), number(step), c.arguments(s, "at", "t")))
	}
	c.shared(s, lines, pieces, length, n, at, step, false)
	return true
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
__shared__ double scan_a[%[2]d], scan_b[%[2]d];
`, scanTile+scanTile/8, block/warp+1))
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
	k := Launch{Kernel: s.g.name("scan"), Grid: max(1, min(lines*pieces, mostGrid)), Block: block}
	s.Begin(k)
	start, store := "", ""
	switch {
	case only:
		start = "none"
	case pieces > 1:
		start = "{partial[2 * job], partial[2 * job + 1]}"
	default:
		start = c.start
	}
	// Results take the places of elements, so that neighbouring threads store neighbours; indices have no room
	// there.
	to := "scan_x[e + e / 8] = (R)"
	put := fmt.Sprintf("\tfor (int e = threadIdx.x; e < %d; e += %d)\n\t\tif (from + e < to) out[first + (from + e) * %s] = scan_x[e + e / 8];\n", scanTile, block, number(step))
	if s.IsInt {
		to, put = fmt.Sprintf("out[first + (from + e) * %s] = (index_t)", number(step)), ""
	}
	if !only {
		store = fmt.Sprintf(`	if (__syncthreads_or(!safe)) {
		if (threadIdx.x == 0)
			for (int e = 0; e < %[1]d && from + e < to; e++) {
				pair_t before = h;
				h = eu_walk_%[2]s(h, scan_x[e + e / 8], scan_y[e + e / 8], from + e);
				%[7]s eu_result_%[2]s(%[3]s);
			}
		if (threadIdx.x == 0) { scan_a[%[4]d] = h.a; scan_b[%[4]d] = h.b; }
		__syncthreads();
		h.a = scan_a[%[4]d];
		h.b = scan_b[%[4]d];
	} else {
		pair_t own = eu_then_%[2]s(h, before_me);
		for (int q = 0; q < 8; q++) {
			int e = threadIdx.x * 8 + q;
			if (from + e >= to) break;
			pair_t before = own;
			own = eu_walk_%[2]s(own, scan_x[e + e / 8], scan_y[e + e / 8], from + e);
			%[7]s eu_result_%[2]s(%[5]s);
		}
		h = eu_then_%[2]s(h, all);
	}
	__syncthreads();
%[6]s`, scanTile, c.name, pick(c.exclusive, "before", "h"), block/warp, pick(c.exclusive, "before", "own"), put, to)
	} else {
		store = fmt.Sprintf("\th = eu_then_%s(h, all);\n\tif (__syncthreads_or(!safe)) { h.a = NAN; h.b = NAN; }\n", c.name)
	}
	none := strings.Replace(c.none(), "NAME", c.name, -1)
	s.Printf(`	const pair_t none = %[1]s;
	int lane = threadIdx.x %% 32, team = threadIdx.x / 32;
	for (index_t job = blockIdx.x; job < %[2]s; job += gridDim.x) {
	index_t i = job / %[3]d, piece = job %% %[3]d, first = %[4]s, to = (piece + 1) * %[5]s < %[6]s ? (piece + 1) * %[5]s : %[6]s;
	pair_t h = %[7]s;
	for (index_t from = piece * %[5]s; from < to; from += %[8]d) {
	for (int e = threadIdx.x; e < %[8]d; e += %[9]d)
		if (from + e < to) { index_t at = first + (from + e) * %[10]s; scan_x[e + e / 8] = in0[at]; scan_y[e + e / 8] = %[11]s; }
	__syncthreads();
	pair_t mine = none;
	bool safe = true;
	for (int q = 0; q < 8; q++) {
		int e = threadIdx.x * 8 + q;
		if (from + e < to) mine = q == 0 ? eu_one_%[12]s(scan_x[e + e / 8], scan_y[e + e / 8], from + e) : eu_then_%[12]s(mine, eu_one_%[12]s(scan_x[e + e / 8], scan_y[e + e / 8], from + e));
	}
	safe = eu_safe_%[12]s(mine);
	pair_t until = mine; // of the threads of the warp up to this one
	for (int d = 1; d < 32; d *= 2) {
		pair_t other;
		other.a = __shfl_up_sync(0xffffffffu, until.a, d);
		other.b = __shfl_up_sync(0xffffffffu, until.b, d);
		if (lane >= d) until = eu_then_%[12]s(other, until);
	}
	safe = safe && eu_safe_%[12]s(until);
	if (lane == 31) { scan_a[team] = until.a; scan_b[team] = until.b; }
	pair_t before_me;
	before_me.a = __shfl_up_sync(0xffffffffu, until.a, 1);
	before_me.b = __shfl_up_sync(0xffffffffu, until.b, 1);
	if (lane == 0) before_me = none;
	__syncthreads();
	pair_t all = none, lead = none;
	for (int w = 0; w < %[13]d; w++) {
		if (w == team) lead = all;
		pair_t part = {scan_a[w], scan_b[w]};
		all = eu_then_%[12]s(all, part);
	}
	before_me = eu_then_%[12]s(lead, before_me);
	safe = safe && eu_safe_%[12]s(all) && eu_safe_%[12]s(before_me);
%[14]s	__syncthreads();
	}
`, none, number(lines*pieces), pieces, at, number(length), number(n), start, scanTile, block, number(step), pick(s.Op.Name == "linear_scan", "in1[at]", "R(0)"), c.name, block/warp, store)
	if only {
		s.Printf("\tif (threadIdx.x == 0) { partial[2 * job] = h.a; partial[2 * job + 1] = h.b; }\n")
	}
	s.Printf("\t}\n}\n\n")
}

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
