// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed cu/pairs.cu
var pairsText string

// pairText is a model in CUDA C: what belongs to frames, what g is of two of them, and what its derivatives by channels have to do with
// the parameters. In its text f.v are the outputs of frameNodes and f.a, f.b and f.c the constants that constants returns.
type pairText struct {
	quantities int      // of a frame
	factors    int      // of a frame, relative to another
	channels   int      // that g is differentiated by
	tables     []string // of a frame i: what derivatives by channels are multiplied by
	// frame writes the quantities q of frame i at an angle, row and column the factors k, and whether those of a row are finite; factored and direct
	// compute *g and its derivatives s from the factors p and k, or from the quantities r and q, of the first and the second frame.
	frame, row, column, factored, direct string
	columns                              int // of a thread
	helpers                              string
	entries                              [][]entry
}

// entry is one term of the derivative by a parameter: a channel times a table.
type entry struct {
	channel, table int
	of             sides
}

// sides says of which frames of a pair a table is taken.
type sides int

const (
	fall   sides = iota // of the first less that of the second
	both                // of both, added
	first               // of the first
	second              // of the second
	none                // 1
)

// derivative is the entry at a pair with the tables t and v.
func (e entry) derivative() string {
	switch e.of {
	case fall:
		return fmt.Sprintf("s[%d] * (t[%d] - v[%[2]d])", e.channel, e.table)
	case both:
		return fmt.Sprintf("s[%d] * (t[%d] + v[%[2]d])", e.channel, e.table)
	case first:
		return fmt.Sprintf("s[%d] * t[%d]", e.channel, e.table)
	case second:
		return fmt.Sprintf("s[%d] * v[%d]", e.channel, e.table)
	}
	return fmt.Sprintf("s[%d]", e.channel)
}

// falls are entries of one channel with tables from some number on, a parameter each.
func falls(channel, table, count int) (all [][]entry) {
	for k := range count {
		all = append(all, []entry{{channel, table + k, fall}})
	}
	return all
}

// outputs are tables that are outputs of the program of frames.
func outputs(numbers ...int) (all []string) {
	for _, k := range numbers {
		all = append(all, fmt.Sprintf("f.v[%d][i]", k))
	}
	return all
}

// limitText is the largest range of exponents in the rows of a block, beyond which factors may overflow.
const limitText = "250.0"

var staticText = pairText{quantities: 1, factors: 1, channels: 1, tables: outputs(1, 2, 3), columns: 4,
	frame:    "q[0] = f.a * f.v[0][i];",
	row:      "double x = q[0] - ref[0]; k[0] = exp(x); return fabs(x) < " + limitText + ";",
	column:   "k[0] = exp(ref[0] - q[0]);",
	factored: "*g = s[0] = p[0] * k[0];",
	direct:   "*g = s[0] = exp(r[0] - q[0]);",
	entries:  falls(0, 0, 3)}

// exp(-2 a) (sin x/x)^2 = (h sin x/x)^2, by -2 a and by 2 x.
var laminarText = pairText{quantities: 2, factors: 3, channels: 2, tables: outputs(1, 2, 3, 5, 6, 7, 4), columns: 4, helpers: shearedText,
	frame: "q[0] = f.a * f.v[0][i]; q[1] = f.b * f.v[8][angle] * f.v[4][i];",
	row: `double x = q[0] - ref[0], h = exp(x), sine, cosine;
	sincos(q[1] - ref[1], &sine, &cosine);
	k[0] = h; k[1] = h * sine; k[2] = h * cosine;
	return fabs(2 * x) < ` + limitText + ";",
	column: `double h = exp(ref[0] - q[0]), sine, cosine;
	sincos(q[1] - ref[1], &sine, &cosine);
	k[0] = h; k[1] = h * sine; k[2] = h * cosine;`,
	factored: `double x = (q[1] - ref[1]) - (r[1] - ref[1]), sine = k[1] * p[2] - k[2] * p[1], cosine = k[2] * p[2] + k[1] * p[1];
	sheared(x, p[0] * k[0], sine, cosine, g, s);`,
	direct: `double x = q[1] - r[1], h = exp(r[0] - q[0]), sine, cosine;
	sincos(x, &sine, &cosine);
	sheared(x, h, h * sine, h * cosine, g, s);`,
	entries: append(append(falls(0, 0, 3), falls(1, 3, 3)...), []entry{{1, 6, fall}})}

const shearedText = `
static __device__ __forceinline__ void sheared(double x, double h, double sine, double cosine, double *g, double *s) {
	double square = x * x, inverse = 1.0 / x, r = sine * inverse, slope = (cosine - r) * inverse;
	if (square < 1e-5) { // where these cancel, the series
		r = h * (1.0 - square * (1.0 / 6.0));
		slope = h * x * (square * (1.0 / 30.0) - 1.0 / 3.0);
	}
	*g = s[0] = r * r;
	s[1] = r * slope;
}
`

// |a + b e^(i x)|^2, by 2 log a, 2 log b and -2 x.
var mixtureText = pairText{quantities: 5, factors: 4, channels: 3, columns: 2, helpers: mixedText,
	tables: append(append(outputs(1, 2, 3, 5, 6, 7, 9, 10, 11, 8),
		"by_reference(f, i) * f.v[13][i]", "by_reference(f, i) * f.v[14][i]", "by_reference(f, i) * f.v[15][i]", "by_reference(f, i) * f.v[16][i]"),
		"by_sample(f, i) * f.v[13][i]", "by_sample(f, i) * f.v[14][i]", "by_sample(f, i) * f.v[15][i]", "by_sample(f, i) * f.v[16][i]"),
	frame: `double x = f.v[12][i], norm = sqrt((1.0 - x) * (1.0 - x) + x * x);
	q[0] = above(1.0 - x) / norm; q[1] = above(x) / norm;
	q[2] = f.a * f.v[0][i]; q[3] = f.a * f.v[4][i]; q[4] = f.b * f.v[17][angle] * f.v[8][i];`,
	row: `double x = q[2] - ref[2], y = q[3] - ref[3];
	k[0] = q[0] * exp(x); k[1] = q[1] * exp(y);
	sincos(q[4] - ref[4], k + 2, k + 3);
	return fabs(2 * x) < ` + limitText + " && fabs(2 * y) < " + limitText + ";",
	column: `k[0] = q[0] * exp(ref[2] - q[2]); k[1] = q[1] * exp(ref[3] - q[3]);
	sincos(q[4] - ref[4], k + 2, k + 3);`,
	factored: "mixed(p[0] * k[0], p[1] * k[1], k[2] * p[3] - k[3] * p[2], k[3] * p[3] + k[2] * p[2], g, s);",
	direct: `double sine, cosine;
	sincos(q[4] - r[4], &sine, &cosine);
	mixed(r[0] * q[0] * exp(r[2] - q[2]), r[1] * q[1] * exp(r[3] - q[3]), sine, cosine, g, s);`,
	entries: append(append(append(append(falls(0, 0, 3), falls(1, 3, 3)...), falls(2, 6, 3)...),
		[]entry{{0, 10, both}, {1, 14, both}}, []entry{{0, 11, both}, {1, 15, both}}, []entry{{0, 12, both}, {1, 16, both}}, []entry{{0, 13, both}, {1, 17, both}}),
		[]entry{{2, 9, fall}})}

const mixedText = `
static __device__ __forceinline__ double above(double x) { return fabs(x) < 1e-15 ? copysign(1e-15, x) : x; }
// Twice the derivatives of the logarithms of both amplitudes by the fraction of the sample.
static __device__ __forceinline__ double by_reference(const Frames &f, int i) {
	double x = f.v[12][i], r = 1.0 - x;
	return 2.0 * (-1.0 / above(r) - (x - r) / (r * r + x * x));
}
static __device__ __forceinline__ double by_sample(const Frames &f, int i) {
	double x = f.v[12][i], r = 1.0 - x;
	return 2.0 * (1.0 / above(x) - (x - r) / (r * r + x * x));
}
static __device__ __forceinline__ void mixed(double a, double b, double sine, double cosine, double *g, double *s) {
	double product = a * b, cross = product * cosine;
	s[0] = a * a + cross;
	s[1] = b * b + cross;
	s[2] = product * sine;
	*g = s[0] + s[1];
}
`

// The customary models have no factors: their smooth absolute values are no sums over frames.
const (
	noRow    = "k[0] = 0; return false;"
	noColumn = "k[0] = 0;"
	noFactor = "*g = 0; s[0] = 0;"
)

var customaryStaticText = pairText{quantities: 1, factors: 1, channels: 1, tables: outputs(1, 2, 3), columns: 2, helpers: decayText + squaredText, row: noRow, column: noColumn, factored: noFactor,
	frame: "q[0] = f.v[0][i];",
	direct: `double slope, h = decay(f.a, 1.0, q[0] - r[0], &slope), by;
	*g = squared(h, &by);
	s[0] = -by * slope;`,
	entries: falls(0, 0, 3)}

var customaryLaminarText = pairText{quantities: 3, factors: 1, channels: 3, tables: outputs(1, 2, 3, 5, 6, 7), columns: 2, helpers: decayText + squaredText + sincText, row: noRow, column: noColumn, factored: noFactor,
	frame: "q[0] = f.v[0][i]; q[1] = f.v[4][i]; q[2] = f.v[8][angle];",
	direct: `double slope, h = decay(f.a, 1.0, q[0] - r[0], &slope), by;
	double d = q[1] - r[1], size = sqrt(d * d + 1e-12), along, c = sinc(f.b * q[2] * size, &along);
	*g = squared(h * c * c, &by);
	s[0] = -by * slope * c * c;
	s[1] = -by * h * 2.0 * c * along * f.b * q[2] * d / size;
	s[2] = by * h * 2.0 * c * along * f.b * size;`,
	entries: append(append(falls(0, 0, 3), falls(1, 3, 3)...), []entry{{2, 0, none}})}

var customaryMixtureText = pairText{quantities: 5, factors: 1, channels: 6, tables: outputs(1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 16), columns: 1, helpers: decayText, row: noRow, column: noColumn, factored: noFactor,
	frame: "q[0] = f.v[0][i]; q[1] = f.v[4][i]; q[2] = f.v[8][i]; q[3] = f.v[12][i]; q[4] = f.v[17][angle];",
	direct: `double s0, s1, h0 = decay(f.a, f.c, q[0] - r[0], &s0), h1 = decay(f.a, f.c, q[1] - r[1], &s1);
	double d = q[2] - r[2], sine, cosine;
	sincos(f.b * q[4] * d, &sine, &cosine);
	double x = r[3], y = q[3], u = 1.0 - x, v = 1.0 - y, p = x * x + u * u, w = y * y + v * v, norm = 1.0 / (p * w);
	double a = u * v * h0, b = x * y * h1, byA = 2.0 * (a + b * cosine) * norm, byB = 2.0 * (b + a * cosine) * norm, bySine = 2.0 * a * b * sine * norm;
	*g = (a * a + b * b + 2.0 * a * b * cosine) * norm;
	s[0] = -byA * u * v * s0;
	s[1] = -byB * x * y * s1;
	s[2] = bySine * f.b * q[4];
	s[3] = byB * y * h1 - byA * v * h0 - *g * 2.0 * (x - u) / p;
	s[4] = byB * x * h1 - byA * u * h0 - *g * 2.0 * (y - v) / w;
	s[5] = -bySine * f.b * d;`,
	entries: append(append(append(append(falls(0, 0, 3), falls(1, 3, 3)...), falls(2, 6, 3)...),
		[]entry{{3, 9, first}, {4, 9, second}}, []entry{{3, 10, first}, {4, 10, second}}, []entry{{3, 11, first}, {4, 11, second}}, []entry{{3, 12, first}, {4, 12, second}}),
		[]entry{{5, 0, none}})}

const decayText = `
// exp(max(-a |step d|, -700)) with the smooth absolute value, and its derivative by d.
static __device__ __forceinline__ double decay(double a, double step, double d, double *slope) {
	double x = step * d, size = sqrt(x * x + 1e-12), e = -a * size;
	double h = exp(e < -700.0 ? -700.0 : e);
	*slope = e < -700.0 ? 0.0 : -a * h * step * x / size;
	return h;
}
`

const squaredText = `
// max(x, 1e-10)^2 and its derivative.
static __device__ __forceinline__ double squared(double x, double *slope) {
	*slope = x > 1e-10 ? 2.0 * x : 0.0;
	return x > 1e-10 ? x * x : 1e-20;
}
`

const sincText = `
static __device__ __forceinline__ double sinc(double x, double *slope) {
	double q = x * x;
	if (q < 0.25) {
		double c = 1.0, s = 1.0; // 1 - q/6 (1 - q/20 (1 - ...)), and 1 - q/10 (1 - q/28 (...))
		for (double k = 7.0; k >= 1.0; k -= 1.0) {
			s = 1.0 - q / (2.0 * k * (2.0 * k + 3.0)) * s;
			c = 1.0 - q / (2.0 * k * (2.0 * k + 1.0)) * c;
		}
		*slope = -x / 3.0 * s;
		return c;
	}
	double c = sin(x) / x;
	*slope = (cos(x) - c) / x;
	return c;
}
`

// pairText returns the model of a setup in CUDA C.
func (s *Setup) pairText() pairText {
	if s.Customary {
		return map[Model]pairText{Static: customaryStaticText, Laminar: customaryLaminarText, TwoComponent: customaryMixtureText}[s.Model]
	}
	return map[Model]pairText{Static: staticText, Laminar: laminarText, TwoComponent: mixtureText}[s.Model]
}

const (
	blockRows    = 64
	blockThreads = 64
	mostProducts = 40 // of derivatives that a kernel sums, each in a register
)

// parts is the number of kernels that sum products of derivatives, and width how many each has.
func (t *pairText) parts() (parts, width int) {
	all := len(t.entries) * (len(t.entries) + 1) / 2
	parts = (all + mostProducts - 1) / mostProducts
	return parts, (all + parts - 1) / parts
}

// firstSums is the number of sums of the value and the gradient.
func (t *pairText) firstSums() int { return 3 + 3*len(t.entries) }

// text writes the program for pairs of a number type and with weights or without.
func (t *pairText) text(outputs int, number string, weighted bool) string {
	var b strings.Builder
	p := len(t.entries)
	parts, width := t.parts()
	define := func(name string, value any) { fmt.Fprintf(&b, "#define %s %v\n", name, value) }
	define("Y", number)
	define("WEIGHTED", map[bool]int{true: 1}[weighted])
	define("PARAMETERS", p)
	define("CHANNELS", t.channels)
	define("QUANTITIES", t.quantities)
	define("FACTORS", t.factors)
	define("TABLES", len(t.tables))
	define("FIRST_SUMS", t.firstSums())
	define("PRODUCTS", width)
	define("ROWS", blockRows)
	define("THREADS", blockThreads)
	define("COLUMNS", t.columns)
	define("CHUNK", 24)
	fmt.Fprintf(&b, "struct Frames%[1]d { const double *v[%[1]d]; double a, b, c; };\ntypedef Frames%[1]d Frames;\n", outputs)
	b.WriteString(t.helpers)
	function := func(head, body string) {
		fmt.Fprintf(&b, "static __device__ __forceinline__ %s {\n\t%s\n}\n", head, body)
	}
	function("void load_frame(const Frames &f, int angle, int i, double *q)", t.frame)
	var lines []string
	for k, text := range t.tables {
		lines = append(lines, fmt.Sprintf("t[%d] = %s;", k, text))
	}
	function("void load_tables(const Frames &f, int i, double *t)", strings.Join(lines, "\n\t"))
	function("bool row_factors(const double *q, const double *ref, double *k)", t.row)
	function("void column_factors(const double *q, const double *ref, double *k)", t.column)
	function("void factored(const double *r, const double *p, const double *q, const double *k, const double *ref, double *g, double *s)", t.factored)
	function("void direct(const double *r, const double *q, double *g, double *s, const Frames &f)", t.direct)
	// of what is taken off from frame to frame a common part has no effect, and less is lost to rounding without it
	lines = nil
	seen := map[int]bool{}
	for _, all := range t.entries {
		for _, e := range all {
			if e.of == fall && !seen[e.table] {
				seen[e.table] = true
				lines = append(lines, fmt.Sprintf("t[%d] -= base[%d];", e.table, e.table))
			}
		}
	}
	function("void relative(double *t, const double *base)", strings.Join(lines, "\n\t"))
	var row, column, by []string
	for k, all := range t.entries {
		var terms []string
		for _, e := range all {
			for kind := range 3 {
				sum := fmt.Sprintf("sums[%d]", 3*e.channel+kind)
				to := fmt.Sprintf("u[%d]", kind*p+k)
				switch e.of {
				case fall:
					row, column = append(row, fmt.Sprintf("%s += %s * t[%d];", to, sum, e.table)), append(column, fmt.Sprintf("%s -= %s * t[%d];", to, sum, e.table))
				case both:
					row, column = append(row, fmt.Sprintf("%s += %s * t[%d];", to, sum, e.table)), append(column, fmt.Sprintf("%s += %s * t[%d];", to, sum, e.table))
				case first:
					row = append(row, fmt.Sprintf("%s += %s * t[%d];", to, sum, e.table))
				case second:
					column = append(column, fmt.Sprintf("%s += %s * t[%d];", to, sum, e.table))
				case none:
					column = append(column, fmt.Sprintf("%s += %s;", to, sum))
				}
			}
			terms = append(terms, e.derivative())
		}
		by = append(by, fmt.Sprintf("by[%d] = %s;", k, strings.Join(terms, " + ")))
	}
	function("void add_row(const double *t, const double *sums, double *u)", strings.Join(row, "\n\t"))
	function("void add_column(const double *t, const double *sums, double *u)", strings.Join(column, "\n\t"))
	function("void derivatives(const double *t, const double *v, const double *s, double *by)", strings.Join(by, "\n\t"))
	b.WriteString("template <int PART> static __device__ __forceinline__ void products(double weight, const double *by, double *u) {\n")
	at := 0
	for i := range p {
		for j := i; j < p; j++ {
			fmt.Fprintf(&b, "\tif (PART == %d) u[%d] += weight * by[%d] * by[%d];\n", at/width, at%width, i, j)
			at++
		}
	}
	b.WriteString("}\n")
	b.WriteString(pairsText)
	for k := range parts {
		fmt.Fprintf(&b, `
extern "C" __global__ void __launch_bounds__(THREADS) curvature%d(const int4 *blocks, Frames f, const Y *w, int n, int band, double *out) {
	__shared__ double rows[ROWS * RECORD];
	__shared__ double room[CHUNK * SPREAD];
	curvature_part<%d>(rows, room, blocks, f, w, n, band, out);
}
`, k, k)
	}
	return b.String()
}

// constants are a, b and c of the text: what makes exponents and phases of quantities of frames.
func (s *Setup) constants() [3]float64 {
	q2 := s.Q * s.Q
	switch {
	case s.Customary && s.Model == TwoComponent:
		return [3]float64{q2 / 2, s.Q * s.Step, s.Step}
	case s.Customary:
		return [3]float64{q2 * s.Step / 2, s.Q * s.Gap * s.Step / (2 * math.Pi), s.Step}
	case s.Model == Static:
		return [3]float64{q2}
	case s.Model == Laminar:
		return [3]float64{q2 / 2, s.Q * s.Gap / 2}
	}
	return [3]float64{q2 / 2, s.Q}
}

// scales are what derivatives of g by the parameters, as the text has them, are to be multiplied by at an angle.
func (s *Setup) scales(theta []float64, angle int) []float64 {
	scales := slices.Repeat([]float64{1}, len(theta))
	set := func(from, to int, v float64) {
		for k := from; k < to; k++ {
			scales[k] = v
		}
	}
	q2, last := s.Q*s.Q, len(theta)-1
	var cosine, slope float64
	if s.Model != Static {
		cosine, slope = s.cosine(theta, angle)
	}
	switch {
	case s.Customary && s.Model != Static:
		scales[last] = slope
	case s.Customary:
	case s.Model == Static:
		set(0, 3, q2)
	case s.Model == Laminar:
		set(0, 3, q2)
		set(3, 6, -s.Q*s.Gap*cosine)
		scales[last] = -s.Q * s.Gap * slope
	default:
		set(0, 6, q2)
		set(6, 9, 2*s.Q*cosine)
		scales[last] = 2 * s.Q * slope
	}
	return scales
}
