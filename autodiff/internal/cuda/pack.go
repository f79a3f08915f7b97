// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// plain reports whether a loop reads and writes nothing but whole arrays of reals, element by element, and
// single numbers.
func (g *generator) plain(l *compiler.Loop) bool {
	if len(l.Loads) > 0 || len(l.Rows) > 0 {
		return false
	}
	narrow := func(o compiler.Operand) bool { return o.Kind == compiler.InStep && g.narrow[o.Buf] }
	for _, f := range l.Fills {
		if narrow(f.From) {
			return false
		}
	}
	for _, m := range l.Ops {
		if narrow(m.Dst) || slices.ContainsFunc(m.Arg[:m.Op.Arity], narrow) {
			return false
		}
	}
	return !slices.ContainsFunc(l.Sums, func(s compiler.Reduce) bool { return narrow(s.A) || s.Of >= compiler.Products && narrow(s.B) })
}

// packs writes a plain loop, whose sums all give one number, in packs of 16 bytes, which is what a thread loads
// at once; arrays that do not begin at such a place are loaded one by one, in the same order. Each place in a
// pack has partial sums of its own, so that additions need not wait for each other; they end in acc0, acc1, ....
func (g *generator) packs(l *compiler.Loop, sums []compiler.Reduce) {
	g.shared("pack", "struct __align__(16) eu_pack { R at[16 / sizeof(R)]; };\n")
	v := 16 / (g.precision / 8)
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs), packed: &packed{}}
	b.write(needs(l, nil), true)
	for i := range sums {
		b.summands = append(b.summands, b.summand(&sums[i]))
	}
	// The element as a function of what is loaded, of what is stored, and of the sums.
	var declared, one, several, places, load, loadOne, store, storeOne, single []string
	for _, a := range b.packed.read {
		at := fmt.Sprintf("buf[%d] + %s", a.Buf, number(a.Off))
		declared = append(declared, "R "+a.name())
		one = append(one, fmt.Sprintf("(%s)[i]", at))
		several = append(several, fmt.Sprintf("p%s.at[k]", a.name()))
		places = append(places, fmt.Sprintf("(size_t)(%s)", at))
		load = append(load, fmt.Sprintf("\t\teu_pack p%[1]s;\n\t\tif (wide) p%[1]s = ((const eu_pack *)(%[2]s))[pack];\n", a.name(), at))
		loadOne = append(loadOne, fmt.Sprintf("p%s.at[k] = (%s)[pack * %d + k]; ", a.name(), at, v))
	}
	for _, buf := range b.packed.written {
		declared = append(declared, fmt.Sprintf("R &y%d", buf))
		one, several = append(one, fmt.Sprintf("y%d", buf)), append(several, fmt.Sprintf("q%d.at[k]", buf))
		places = append(places, fmt.Sprintf("(size_t)buf[%d]", buf))
		load = append(load, fmt.Sprintf("\t\teu_pack q%d;\n", buf))
		store = append(store, fmt.Sprintf("((eu_pack *)buf[%[1]d])[pack] = q%[1]d; ", buf))
		storeOne = append(storeOne, fmt.Sprintf("buf[%[1]d][pack * %[2]d + k] = q%[1]d.at[k]; ", buf, v))
		single = append(single, fmt.Sprintf("R y%[1]d; ", buf))
	}
	for i := range sums {
		declared = append(declared, fmt.Sprintf("double &t%d", i))
		one, several = append(one, fmt.Sprintf("part%d[0]", i)), append(several, fmt.Sprintf("part%d[k]", i))
		fmt.Fprintf(&b.lines, "\t\tt%[1]d = %[2]s(t%[1]d, %[3]s);\n", i, combine(&sums[i]), b.summands[i])
		g.printf("\tdouble part%d[%d] = {%s};\n", i, v, strings.Join(slices.Repeat([]string{identity(&sums[i])}, v), ", "))
	}
	g.printf("\tauto element = [&](%s) {\n%s\t};\n", strings.Join(declared, ", "), b.lines.String())
	if len(places) == 0 {
		places = []string{"0"}
	}
	g.printf("\tconst bool wide = ((%s) & 15) == 0;\n", strings.Join(places, " | "))
	g.printf("\tfor (place_t pack = blockIdx.x * (place_t)%d + threadIdx.x; pack < %s; pack += (place_t)gridDim.x * %d) {\n%s", block, number(l.N/v), block, strings.Join(load, ""))
	if len(loadOne) > 0 {
		g.printf("\t\tif (!wide) for (int k = 0; k < %d; k++) { %s}\n", v, strings.Join(loadOne, ""))
	}
	g.printf("#pragma unroll\n\t\tfor (int k = 0; k < %d; k++) element(%s);\n", v, strings.Join(several, ", "))
	if len(store) > 0 {
		g.printf("\t\tif (wide) { %s} else for (int k = 0; k < %d; k++) { %s}\n", strings.Join(store, ""), v, strings.Join(storeOne, ""))
	}
	g.printf("\t}\n")
	if l.N%v != 0 {
		var last []string
		for _, buf := range b.packed.written {
			last = append(last, fmt.Sprintf("buf[%[1]d][i] = y%[1]d; ", buf))
		}
		g.printf("\tfor (place_t i = %s + blockIdx.x * (place_t)%d + threadIdx.x; i < %s; i += (place_t)gridDim.x * %d) { %selement(%s); %s}\n",
			number(l.N/v*v), block, number(l.N), block, strings.Join(single, ""), strings.Join(one, ", "), strings.Join(last, ""))
	}
	for i := range sums {
		acc := fmt.Sprintf("part%d[0]", i)
		for k := 1; k < v; k++ {
			acc = fmt.Sprintf("%s(%s, part%d[%d])", combine(&sums[i]), acc, i, k)
		}
		g.printf("\tdouble acc%d = %s;\n", i, acc)
	}
}

// packed lists what a loop reads and writes element by element.
type packed struct {
	read    []arrayAt
	written []int
}

// arrayAt is an array from an element on.
type arrayAt struct{ Buf, Off int }

// name is the variable that holds one of its elements.
func (a arrayAt) name() string { return fmt.Sprintf("a%d_%d", a.Buf, a.Off) }

// element returns the variable of an operand that runs along.
func (p *packed) element(buf, off int) string {
	a := arrayAt{buf, off}
	if !slices.Contains(p.read, a) {
		p.read = append(p.read, a)
	}
	return a.name()
}

// stored returns the variable of a result.
func (p *packed) stored(buf int) string {
	p.written = append(p.written, buf)
	return fmt.Sprintf("y%d", buf)
}
