package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// prelude stands before all kernels. R is the type of reals. NVRTC has no headers, so that the
// constants of math.h are made of their bits.
const prelude = `#ifdef __CUDACC_RTC__
#pragma nv_diag_suppress 177 // what a kernel declares and does not use
#endif
#ifndef INFINITY
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
typedef long long index_t;
__shared__ double room[256]; // partial results of a block; kernels that do not use it have none
static inline __device__ double eu_sum(double a, double b) { return a + b; }
static inline __device__ double eu_max(double a, double b) { return a != a || b != b ? a + b : fmax(a, b); }
static inline __device__ double eu_min(double a, double b) { return a != a || b != b ? a + b : fmin(a, b); }
`

// Source is the text of all kernels of a program, and how to launch them.
type Source struct {
	Text string
	Jobs [][]Launch // launches of each job in order; none for steps that run on the processor
	// Partials is the number of float64 that kernels need for partial results.
	Partials int
	// Tables are arrays of indices whose addresses follow those of the program's arrays.
	Tables [][]int64
	Fails  bool // whether a kernel may report that it cannot do its job
}

// Launch is one kernel and its geometry in one dimension.
type Launch struct {
	Kernel string
	Grid   int // number of blocks
	Block  int // threads of a block
}

// generator collects the text of kernels.
type generator struct {
	precision int
	text      strings.Builder
	helpers   strings.Builder
	known     map[string]bool // helper functions that are there
	kernels   int
	partials  int
	isolate   bool // whether lanes of a batch fail alone
	buffers   int  // number of arrays of the program
	tables    [][]int64
	reals     map[string]string // tables of reals by name
	fails     bool
}

// Generate makes the kernels of a program, of reals of 32 or 64 bits. isolate says
// whether lanes of a batch fail alone.
func Generate(p *compiler.Program, precision int, isolate bool) *Source {
	g := &generator{precision: precision, isolate: isolate, known: map[string]bool{}, reals: map[string]string{}, buffers: len(p.Buffers)}
	s := &Source{Jobs: make([][]Launch, len(p.Jobs))}
	last := lastReads(p)
	for i := 0; i < len(p.Jobs); i++ {
		if list := join(p, i); list != nil {
			s.Jobs[i] = g.joined(list, i+len(list.loops), last)
			for range list.loops[1:] {
				i++
				s.Jobs[i] = []Launch{} // done by the first
			}
		} else if j := p.Jobs[i]; j.Loop != nil {
			s.Jobs[i] = g.loop(j.Loop)
		} else {
			s.Jobs[i] = g.step(i, j.Step)
		}
	}
	s.Partials, s.Tables, s.Fails = g.partials, g.tables, g.fails
	s.Text = fmt.Sprintf("typedef %s R;\n", map[int]string{32: "float", 64: "double"}[precision]) + prelude + g.helpers.String() + g.text.String()
	return s
}

// name makes the name of the next kernel.
func (g *generator) name(kind string) string {
	g.kernels++
	return fmt.Sprintf("eu_%s_%d", kind, g.kernels)
}

// help adds the helper functions of an operation that are not there yet.
func (g *generator) help(op *compiler.Op) {
	for _, f := range strings.SplitAfter(op.Helper, "\n}\n") {
		if !g.known[f] {
			g.known[f] = true
			g.helpers.WriteString(strings.ReplaceAll(f, "__device__", "static inline __device__"))
		}
	}
}

// literal matches a number that C takes for a double.
var literal = regexp.MustCompile(`\b(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)\b`)

// expression returns the C expression of an operation in the precision of the generator: its
// numbers become reals, so that no overload of a function is ambiguous.
func (g *generator) expression(op *compiler.Op) string {
	if g.precision == 64 {
		return op.C
	}
	return literal.ReplaceAllString(op.C, "R($1)")
}

// number writes an integer for C.
func number(n int) string {
	if int(int32(n)) == n {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + "LL"
}
