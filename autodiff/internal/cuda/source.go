// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// prelude stands before all kernels. R is the type of reals. NVRTC has no headers, so that the
// constants of math.h, which are of type float, are made of their bits.
const prelude = `#ifdef __CUDACC_RTC__
#pragma nv_diag_suppress 177, 550 // what a kernel declares, or sets, and does not use
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
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
	// Tables are arrays of indices, numbered after the program's arrays.
	Tables [][]int64
	// Addresses are the numbers of the arrays that the launches use, one launch after another.
	Addresses []int
	Fails     bool   // whether a kernel may report that it cannot do its job
	Narrow    []bool // arrays that are held in the type of storage
	// Last is, for each job, the last of those that one kernel does together with it: that of the first
	// of them does all.
	Last []int

	products []tunable
	err      error // of a custom operation
}

// Launch is one kernel and its geometry in one dimension, or a call of one of NVIDIA's libraries.
type Launch struct {
	Kernel   string
	Grid     int // number of blocks
	Block    int // threads of a block
	Resident int // blocks that a multiprocessor is to hold at once, for which the compiler saves registers; 0 for as many as come
	// Library makes the call, on arrays that at finds; nil for a kernel.
	Library func(l *device.Libraries, s *device.Stream, at func(buf int) device.Part) error
	Waits   bool // whether the call may wait for the device, which no capture allows

	table  int           // place of its first array in Addresses
	Shared int           // bytes of shared memory of a block
	Work   roofline.Work // what the kernel does, for the model of the machine

	repeated *repeated     // in place of a kernel: a program that is launched again and again
	external *externalCall // in place of a kernel: a custom operation
}

// launches returns the number of launches of a run.
func (s *Source) launches() (n int) {
	for _, list := range s.Jobs {
		for _, l := range list {
			if l.repeated != nil {
				n += l.repeated.launches()
			} else {
				n++
			}
		}
	}
	return n
}

// longHelper is the number of lines from which on a helper function is called.
const longHelper = 6

// Settings say what kernels are made.
type Settings struct {
	Bits    int  // of reals, 32 or 64
	Isolate bool // whether lanes of a batch fail alone
	// Storage is the type in which the text holds large arrays, such as eu_f16; that of the reals if
	// empty.
	Storage string
	Weights bool // whether only constant factors of products of matrices are held so
	TF32    bool // whether products of matrices round their factors as tensor cores do
	// Device is where the program is to run, for custom operations; nil if only text is wanted.
	Device *device.Device
	Count  bool // whether the work of kernels is counted
	Tune   bool // whether large products of matrices are timed before they are cut
	// Libraries are used for large work where they are found; nil for none.
	Libraries *device.Libraries
}

// generator collects the text of kernels.
type generator struct {
	p         *compiler.Program
	precision int
	narrow    []bool // arrays that are held in the type of storage
	tf32      bool
	libraries *device.Libraries
	text      strings.Builder
	helpers   strings.Builder
	known     map[string]bool // helper functions that are there
	kernels   int
	partials  int
	isolate   bool // whether lanes of a batch fail alone
	options   Settings
	small     bool // whether places in all arrays have 32 bits
	buffers   int  // number of arrays of the program
	tables    [][]int64
	reals     map[string]string // tables of reals by name
	fails     bool
	products  []tunable      // that may be cut in several ways
	tiles     map[int]tiling // how those of jobs are cut that were timed
	externals map[*compiler.Value]*external
	err       error // of a custom operation
}

func newGenerator(p *compiler.Program, o Settings) *generator {
	return &generator{p: p, precision: o.Bits, isolate: o.Isolate, options: o, tf32: o.TF32 && o.Bits == 32, libraries: o.Libraries, known: map[string]bool{}, reals: map[string]string{},
		externals: map[*compiler.Value]*external{}, buffers: len(p.Buffers), narrow: make([]bool, len(p.Buffers)), small: shortPlaces(p)}
}

// shortPlaces reports whether places in all arrays of a program have 32 bits.
func shortPlaces(p *compiler.Program) bool {
	for i := range p.Buffers {
		if p.Size(i) >= shortest {
			return false
		}
	}
	return true
}

// Generate makes the kernels of a program.
func Generate(p *compiler.Program, o Settings) *Source { return generate(p, o, nil) }

func generate(p *compiler.Program, o Settings, tiles map[int]tiling) *Source {
	g := newGenerator(p, o)
	g.tiles = tiles
	g.narrow = narrow(p, o)
	s := &Source{Jobs: make([][]Launch, len(p.Jobs)), Narrow: g.narrow, Last: make([]int, len(p.Jobs))}
	last := lastReads(p)
	for i := 0; i < len(p.Jobs); i++ {
		s.Last[i] = i
		if list := join(p, i); list != nil {
			end := i + len(list.loops)
			s.Jobs[i] = g.joined(list, end, last)
			for s.Last[i] = end - 1; i < end-1; {
				i++
				s.Jobs[i], s.Last[i] = []Launch{}, end-1 // done by the first
			}
		} else if list := g.pooled(p, i, last); list != nil {
			s.Jobs[i], s.Jobs[i+1] = list, []Launch{} // done by the first
			s.Last[i], s.Last[i+1] = i+1, i+1
			i++
		} else if j := p.Jobs[i]; j.Loop != nil {
			s.Jobs[i] = g.loop(j.Loop)
		} else {
			s.Jobs[i] = g.step(i, j.Step)
		}
	}
	s.Partials, s.Tables, s.Fails, s.products, s.err = g.partials, g.tables, g.fails, g.products, g.err
	s.Text, s.Addresses = g.all(o, s.Jobs)
	return s
}

// all returns the text of all kernels that were made, and the arrays that the launches of the jobs use.
func (g *generator) all(o Settings, jobs [][]Launch) (text string, addresses []int) {
	head := fmt.Sprintf("typedef %s R;\n", map[int]string{32: "float", 64: "double"}[o.Bits]) + prelude
	if o.Storage != "" || g.tf32 {
		head += device.Narrow
	}
	if o.Storage != "" {
		head += "typedef " + o.Storage + " S;\nstatic inline __device__ R eu_stored(R v) { S s; s = v; return s; }\n"
	}
	head += g.helpers.String()
	text, addresses = share(head, g.typed(g.text.String()), jobs)
	return head + text, addresses
}

// name makes the name of the next kernel.
func (g *generator) name(kind string) string {
	g.kernels++
	return fmt.Sprintf("eu_%s_%d", kind, g.kernels)
}

// help adds the helper functions of an operation that are not there yet, in the type in which it is
// computed: one function may be there for both float and double. Long ones stay functions: in
// line they make NVIDIA's compiler take minutes for a loop of many operations, in calls seconds.
func (g *generator) help(op *compiler.Op) {
	for _, f := range strings.SplitAfter(g.inReals(op, op.Helper), "\n}\n") {
		if !g.known[f] {
			g.known[f] = true
			kind := "static inline __device__"
			if strings.Count(f, "\n") > longHelper {
				kind = "static __noinline__ __device__"
			}
			g.helpers.WriteString(strings.ReplaceAll(f, "__device__", kind))
		}
	}
}

var doubleType = regexp.MustCompile(`\bdouble\b`)

// literal matches a number that C takes for a double.
var literal = regexp.MustCompile(`\b(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)`)

// real returns the type in which an operation is computed.
func (g *generator) real(op *compiler.Op) string {
	if op.Double {
		return "double"
	}
	return "R"
}

// inReals returns C text of an operation, which is written for double, in the type in which the operation
// is computed. Numbers become reals too: no overload of a function is ambiguous, and nothing is
// computed in double.
func (g *generator) inReals(op *compiler.Op, text string) string {
	if g.precision == 64 || op.Double {
		return text
	}
	return doubleType.ReplaceAllString(literal.ReplaceAllString(text, "R($1)"), "R")
}

// number writes an integer for C.
func number(n int) string {
	if int(int32(n)) == n {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n) + "LL"
}
