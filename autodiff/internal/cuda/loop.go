// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

const (
	block = 256 // threads of a block
	warp  = 32
	// Loops over few elements have one in each thread, and small blocks, so that they spread over many multiprocessors: there are 132 of four warps each.
	fewElements = 132 * 4 * warp
	fewThreads  = 64
)

// shortest is the size from which on arrays and loops have places of 64 bits; tests make it small.
var shortest = 1 << 30

// mostGrid is the most blocks of a kernel that walks elements in strides of the grid; tests make it small.
var mostGrid = 1 << 12

// loop makes the kernels of a loop, in the order in which they are launched.
func (g *generator) loop(l *compiler.Loop) []Launch {
	for _, m := range l.Ops {
		g.help(m.Op)
	}
	switch {
	case l.N == 0:
		return g.empty(l)
	case len(l.Sums) == 0:
		return g.elements(l)
	case all(l.Sums, compiler.Total):
		return g.totals(l)
	case l.ByRow && all(l.Sums, compiler.PerRow):
		return g.rows(l)
	}
	var list []Launch
	if slices.ContainsFunc(l.Ops, func(m compiler.Instruction) bool { return m.Dst.Kind == compiler.InStep }) {
		list = g.elements(l)
	}
	for i := range l.Sums {
		list = append(list, g.gathered(l, &l.Sums[i])...)
	}
	return list
}

// empty makes the kernels of a loop over nothing, whose sums are those of no elements.
func (g *generator) empty(l *compiler.Loop) (list []Launch) {
	for i := range l.Sums {
		s := &l.Sums[i]
		k := Launch{Kernel: g.name("empty"), Grid: gridOf(s.Size, 1, mostGrid), Block: block}
		g.over(k, l.N)
		g.printf("\tfor (place_t i = blockIdx.x * (place_t)%d + threadIdx.x; i < %s; i += (place_t)gridDim.x * %d) buf[%d][i] = (R)(%s);\n}\n\n",
			block, number(s.Size), block, s.Out, identity(s))
		list = append(list, k)
	}
	return list
}

func all(sums []compiler.Reduce, kind compiler.SumKind) bool {
	return !slices.ContainsFunc(sums, func(s compiler.Reduce) bool { return s.Kind != kind })
}

// elements makes the kernel of a loop without sums.
func (g *generator) elements(l *compiler.Loop) []Launch {
	if t := tilesOf(l); t != nil && g.choice("tiles") == 1 {
		return g.tiledElements(l, t)
	}
	k := Launch{Kernel: g.name("map"), Grid: gridOf(l.N, g.choice("elements"), mostGrid), Block: block}
	few := l.N <= fewElements
	if few {
		k.Block = fewThreads
		k.Grid = (l.N + k.Block - 1) / k.Block
	}
	k.Work = g.elementsWork(l, k)
	if !few && g.plain(l) {
		g.over(k, l.N)
		g.packs(l, nil)
		g.text.WriteString("}\n\n")
		return []Launch{k}
	}
	b := g.body(l, nil)
	g.over(k, l.N)
	g.printf("\tfor (place_t i = blockIdx.x * (place_t)%[1]d + threadIdx.x; i < %[2]s; i += (place_t)gridDim.x * %[1]d) {\n", k.Block, number(l.N))
	g.text.WriteString(b.flat("i"))
	g.text.WriteString(b.lines.String())
	g.text.WriteString("\t}\n}\n\n")
	return []Launch{k}
}

// gridOf returns the number of blocks for n elements.
func gridOf(n, each, most int) int { return max(1, min((n+block*each-1)/(block*each), most)) }

func (g *generator) begin(k Launch) {
	bounds := number(k.Block)
	if k.Resident > 0 {
		bounds += ", " + number(k.Resident)
	}
	g.printf(kernelStart+" void __launch_bounds__(%s) %s(R *const *__restrict__ buf, double *__restrict__ partial, int *__restrict__ fault, int eu_job) {\n", bounds, k.Kernel)
}

// over opens a kernel whose loops count to at most n, in numbers of 32 bits where these and all arrays allow it: NVIDIA's compiler takes three to ten times
// as many instructions for a division of 64 bits.
func (g *generator) over(k Launch, n int) {
	g.begin(k)
	g.printf("\ttypedef %s place_t;\n", pick(g.short(n), "int", "index_t"))
}

// choice returns a number that a measurement of the device may have set.
func (g *generator) choice(name string) int { return g.options.Device.Choice(name) }

// short reports whether places in all arrays, and numbers up to n and a grid beyond it, have 32 bits.
func (g *generator) short(n int) bool {
	return g.small && n < shortest && g.choice("short_places") == 1
}

func (g *generator) printf(format string, v ...any) { fmt.Fprintf(&g.text, format, v...) }

// combine returns the function that combines two partial results.
func combine(s *compiler.Reduce) string {
	switch s.Op.Code {
	case compiler.Max:
		return "eu_max"
	case compiler.Min:
		return "eu_min"
	}
	return "eu_sum"
}

// identity returns the result of no elements.
func identity(s *compiler.Reduce) string {
	switch s.Op.Code {
	case compiler.Max:
		return "-INFINITY"
	case compiler.Min:
		return "INFINITY"
	}
	return "0.0"
}

// totals makes the kernels of a loop all of whose sums give one number: partial results by block,
// and then, if there are several, a block that combines them.
func (g *generator) totals(l *compiler.Loop) []Launch {
	k := Launch{Kernel: g.name("sum"), Grid: gridOf(l.N, g.choice("elements"), g.choice("sum_blocks")), Block: block}
	k.Work = g.totalsWork(l, k)
	g.over(k, l.N)
	if g.plain(l) {
		g.packs(l, l.Sums)
	} else {
		b := g.body(l, nil)
		for i := range l.Sums {
			g.printf("\tdouble acc%d = %s;\n", i, identity(&l.Sums[i]))
		}
		g.printf("\tfor (place_t i = blockIdx.x * (place_t)%d + threadIdx.x; i < %s; i += (place_t)gridDim.x * %d) {\n", block, number(l.N), block)
		g.accumulate(l, b)
	}
	for i := range l.Sums {
		s := &l.Sums[i]
		g.tree(fmt.Sprintf("acc%d", i), s)
		if k.Grid == 1 {
			g.printf("\tif (threadIdx.x == 0) buf[%d][0] = (R)room[0];\n", s.Out)
		} else {
			g.printf("\tif (threadIdx.x == 0) partial[%d + blockIdx.x] = room[0];\n", i*k.Grid)
		}
		if i+1 < len(l.Sums) {
			g.text.WriteString("\t__syncthreads();\n")
		}
	}
	g.text.WriteString("}\n\n")
	if k.Grid == 1 {
		return []Launch{k}
	}
	g.partials = max(g.partials, len(l.Sums)*k.Grid)
	last := Launch{Kernel: g.name("join"), Grid: len(l.Sums), Block: block, Work: joinWork(len(l.Sums), k.Grid, block, g.precision/8)}
	last.Work.Serial += treeSerial
	g.over(last, 0)
	for i := range l.Sums {
		s := &l.Sums[i]
		g.printf("\tif (blockIdx.x == %d) {\n\tdouble acc = %s;\n", i, identity(s))
		g.printf("\tfor (int i = threadIdx.x; i < %d; i += %d) acc = %s(acc, partial[%d + i]);\n", k.Grid, block, combine(s), i*k.Grid)
		g.tree("acc", s)
		g.printf("\tif (threadIdx.x == 0) buf[%d][0] = (R)room[0];\n\t}\n", s.Out)
	}
	g.text.WriteString("}\n\n")
	return []Launch{k, last}
}

// accumulate computes element i, adds it to acc0, acc1, ... and closes the loop over elements.
func (g *generator) accumulate(l *compiler.Loop, b *body) {
	g.text.WriteString(b.flat("i"))
	g.text.WriteString(b.lines.String())
	for i := range l.Sums {
		g.printf("\t\tacc%d = %s(acc%d, %s);\n", i, combine(&l.Sums[i]), i, b.summands[i])
	}
	g.text.WriteString("\t}\n")
}

// tree combines the numbers of a block's threads into room[0].
func (g *generator) tree(of string, s *compiler.Reduce) {
	g.printf("\troom[threadIdx.x] = %s;\n\t__syncthreads();\n", of)
	g.printf("\tfor (int half = %d; half > 0; half /= 2) {\n", block/2)
	g.printf("\t\tif (threadIdx.x < half) room[threadIdx.x] = %s(room[threadIdx.x], room[threadIdx.x + half]);\n", combine(s))
	g.text.WriteString("\t\t__syncthreads();\n\t}\n")
}

// rows makes the kernel of a loop all of whose sums give one number for each row: a warp sums a
// row, as many threads as a shorter row has elements, or a block where rows are long.
func (g *generator) rows(l *compiler.Loop) []Launch {
	c := l.Dims[len(l.Dims)-1]
	rows := l.N / max(c, 1)
	team := 1
	for team < c && team < warp {
		team *= 2
	}
	if c > g.choice("warp_row") {
		team = block
	}
	k := Launch{Kernel: g.name("rows"), Grid: max(1, min((rows*team+block-1)/block, mostGrid)), Block: block}
	k.Work = g.rowsWork(l, k, team)
	b := g.body(l, nil)
	g.over(k, l.N)
	teams := block / team
	g.printf("\tint lane = threadIdx.x %% %d;\n", team)
	// All threads stay until the last row, so that they can exchange numbers.
	g.printf("\tfor (place_t some = blockIdx.x * (place_t)%[1]d; some < %[2]s; some += (place_t)gridDim.x * %[1]d) {\n", teams, number(rows))
	g.printf("\tconst place_t row = some + threadIdx.x / %d;\n\tconst place_t columns = row < %s ? %s : 0;\n", team, number(rows), number(c))
	for i := range l.Sums {
		g.printf("\tdouble acc%d = %s;\n", i, identity(&l.Sums[i]))
	}
	g.printf("\tfor (place_t col = lane; col < columns; col += %d) {\n\t\tplace_t i = row * %s + col;\n", team, number(c))
	g.accumulate(l, b)
	for i := range l.Sums {
		s := &l.Sums[i]
		if team == block {
			g.tree(fmt.Sprintf("acc%d", i), s)
			g.printf("\tif (lane == 0) buf[%d][row] = (R)room[0];\n\t__syncthreads();\n", s.Out)
			continue
		}
		g.printf("\tfor (int half = %d; half > 0; half /= 2) acc%d = %s(acc%d, __shfl_down_sync(0xffffffffu, acc%d, half));\n", team/2, i, combine(s), i, i)
		g.printf("\tif (lane == 0 && columns > 0) buf[%d][row] = (R)acc%d;\n", s.Out, i)
	}
	g.text.WriteString("\t}\n}\n\n")
	return []Launch{k}
}

// gathered makes the kernels of one sum whose results lie anywhere: threads walk the elements of
// each result. Where results are few, several teams share the elements of one, and a second
// kernel combines what they found.
func (g *generator) gathered(l *compiler.Loop, s *compiler.Reduce) []Launch {
	var kept, over axes
	for d, n := range l.Dims {
		if s.Strides[d] != 0 {
			kept = append(kept, axis{d, n})
		} else {
			over = append(over, axis{d, n})
		}
	}
	results, terms := kept.size(), over.size()
	// Threads of a team walk along the last axis together where that is summed over; otherwise
	// neighbouring threads have neighbouring results.
	team := 1
	if len(over) > 0 && over[len(over)-1].d == len(l.Dims)-1 && over[len(over)-1].n >= 4 {
		for team < over[len(over)-1].n && team < warp {
			team *= 2
		}
	}
	parts := 1
	for results*team*parts < 1<<15 && terms/(team*parts) > 64 {
		parts *= 2
	}
	k := Launch{Kernel: g.name("gather"), Grid: max(1, min((results*team*parts+block-1)/block, mostGrid)), Block: block}
	k.Work = g.gatheredWork(l, s, k, kept, over, team, parts)
	b := g.body(l, s)
	g.over(k, l.N)
	jobs := number(results * parts)
	// All threads stay until the last job, so that they can exchange numbers.
	g.printf("\tfor (place_t some = blockIdx.x * (place_t)%[1]d; some < %[2]s; some += (place_t)gridDim.x * %[1]d) {\n", block/team, jobs)
	g.printf("\tconst bool there = some + threadIdx.x / %[1]d < %[2]s;\n\tconst place_t job = there ? some + threadIdx.x / %[1]d : %[2]s - 1;\n", team, jobs)
	g.printf("\tplace_t result = job %% %s, part = job / %s;\n", number(max(results, 1)), number(max(results, 1)))
	each := (terms + parts - 1) / parts
	g.printf("\tplace_t from = part * %s, to = from + %s < %s ? from + %s : %s;\n", number(each), number(each), number(terms), number(each), number(terms))
	g.text.WriteString(kept.split("result"))
	g.printf("\tdouble acc = %s;\n", identity(s))
	g.printf("\tfor (place_t term = from + threadIdx.x %% %d; term < to; term += %d) {\n", team, team)
	g.text.WriteString(over.split("term"))
	g.printf("\tplace_t i = %s;\n", b.position())
	g.text.WriteString(b.lines.String())
	g.printf("\t\tacc = %s(acc, %s);\n\t}\n", combine(s), b.summands[0])
	lead := "if (there) "
	if team > 1 {
		g.printf("\tfor (int half = %d; half > 0; half /= 2) acc = %s(acc, __shfl_down_sync(0xffffffffu, acc, half));\n", team/2, combine(s))
		lead = fmt.Sprintf("if (there && threadIdx.x %% %d == 0) ", team)
	}
	if parts == 1 {
		g.printf("\t%sbuf[%d][%s] = (R)acc;\n", lead, s.Out, outPlace(s, kept))
	} else {
		g.printf("\t%spartial[job] = acc;\n", lead)
	}
	g.text.WriteString("\t}\n}\n\n")
	if parts == 1 {
		return []Launch{k}
	}
	g.partials = max(g.partials, results*parts)
	last := Launch{Kernel: g.name("join"), Grid: gridOf(results, 1, mostGrid), Block: block, Work: joinWork(results, parts, 1, g.precision/8)}
	g.over(last, results*parts)
	g.printf("\tfor (place_t result = blockIdx.x * (place_t)%d + threadIdx.x; result < %s; result += (place_t)gridDim.x * %d) {\n", block, number(results), block)
	g.text.WriteString(kept.split("result"))
	g.printf("\tdouble acc = %s;\n\tfor (int part = 0; part < %d; part++) acc = %s(acc, partial[part * (place_t)%s + result]);\n", identity(s), parts, combine(s), number(results))
	g.printf("\tbuf[%d][%s] = (R)acc;\n\t}\n}\n\n", s.Out, outPlace(s, kept))
	return []Launch{k, last}
}

// axis is a merged axis of a loop and its length.
type axis struct{ d, n int }

type axes []axis

func (a axes) size() int {
	n := 1
	for _, x := range a {
		n *= x.n
	}
	return n
}

// split declares the indices x0, x1, ... of the axes from a flat one.
func (a axes) split(flat string) string {
	var b strings.Builder
	rest, unit := flat, ""
	if a.size() < 1<<31 { // divisions of 64 bits are slow
		rest, unit = "(unsigned)("+flat+")", "u"
	}
	for i := len(a) - 1; i >= 0; i-- {
		if i == 0 {
			fmt.Fprintf(&b, "\tplace_t x%d = %s;\n", a[i].d, rest)
			break
		}
		n := number(max(a[i].n, 1)) + unit
		fmt.Fprintf(&b, "\tplace_t x%d = %s %% %s;\n", a[i].d, rest, n)
		rest = "(" + rest + ") / " + n
	}
	return b.String()
}

// outPlace returns the position of a result.
func outPlace(s *compiler.Reduce, kept axes) string {
	var terms []string
	for _, a := range kept {
		terms = append(terms, fmt.Sprintf("x%d * %s", a.d, number(s.Strides[a.d])))
	}
	if len(terms) == 0 {
		return "0"
	}
	return strings.Join(terms, " + ")
}
