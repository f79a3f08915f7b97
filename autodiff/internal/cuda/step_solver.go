// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"

	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// solverRows is the number of rows or columns above which cuSOLVER and cuBLAS factor and solve matrices, where they
// are found: more than a block does. Tests make it smaller.
var solverRows = mostMatrix

// scratch is the number that stands for the memory of partial results among those of arrays.
const scratch = -1

// solver makes the launches of a step whose matrices libraries factor or solve, in float64 as blocks do: kernels
// copy matrices to scratch memory, the libraries work there, and kernels store what they leave. What the text of
// kernels takes from it are first, the number of the first matrix of a group, and the places of its arrays.
type solver struct {
	*Step
	count int // matrices of a group
	first int // the group's first matrix
	used  int // float64 of scratch memory that are taken
	bad   int // where it is noted that a matrix has no result: float64
	info  int // what the library says about each matrix: int32
}

// bySolver lets libraries do a step of some matrices with edge rows or columns, in groups that fit into each
// numbers of scratch memory for a matrix, and reports whether they do.
func bySolver(s *Step, count, edge, each int, group func(x *solver)) bool {
	if edge <= solverRows || s.g.libraries == nil || !s.g.libraries.HasSolver() || !s.g.libraries.HasBLAS() {
		return false
	}
	size := max(1, min(count, mostScratch/each))
	for first := 0; first < count; first += size {
		x := &solver{Step: s, first: first, count: min(size, count-first)}
		x.bad, x.info = x.take(x.count), x.take((x.count+1)/2)
		x.Elements(x.count, fmt.Sprintf("\t\tpartial[%s + i] = 0.0;\n\t\t((int *)(partial + %s))[i] = 0;", number(x.bad), number(x.info)))
		group(x)
	}
	return true
}

// take reserves scratch memory for some float64 and returns where it begins, at a multiple of 256 bytes.
func (x *solver) take(n int) int {
	at := x.used
	x.used += roundUp(n, 32)
	x.g.partials = max(x.g.partials, x.used)
	return at
}

// elements makes a kernel that runs a text for element e of each matrix of size numbers; m is the number of the
// matrix in the group, matrix that in the step, and i counts all elements of the group.
func (x *solver) elements(size int, text string) {
	x.Elements(x.count*size, x.numbered(size)+text)
}

// lines is elements for threads that have much to do.
func (x *solver) lines(size int, text string) {
	x.Lines(x.count*size, x.numbered(size)+text)
}

func (x *solver) numbered(size int) string {
	return fmt.Sprintf("\t\tindex_t m = i / %[1]s, e = i %% %[1]s, matrix = m + %[2]s;\n\t\tdouble *bad = partial + %[3]s;\n\t\tconst int *info = (const int *)(partial + %[4]s);\n",
		number(size), number(x.first), number(x.bad), number(x.info))
}

// at returns the C expression of an array in scratch memory, of size numbers for each matrix.
func (x *solver) at(array, size int) string {
	return fmt.Sprintf("(partial + %s + m * %s)", number(array), number(size))
}

// call lets libraries do something for each matrix of the group. part finds that of an array in scratch memory, of
// which a matrix has size float64.
func (x *solver) call(name string, waits bool, f func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error) {
	count, info := x.count, x.info
	x.list = append(x.list, Launch{Kernel: name, Waits: waits, Library: func(l *device.Libraries, on *device.Stream, at func(buf int) device.Part) error {
		all := at(scratch)
		for m := range count {
			part := func(array, size int) device.Part {
				return device.Part{Buffer: all.Buffer, Offset: all.Offset + 8*(array+m*size)}
			}
			of := device.Part{Buffer: all.Buffer, Offset: all.Offset + 8*info + 4*m}
			if err := f(l, on, of, part); err != nil {
				return err
			}
		}
		return nil
	}})
}

// refuse is the text that notes that a matrix has no result and reports it, unless lanes fail alone.
func (x *solver) refuse(fault int, silent bool) string {
	if silent {
		return "bad[m] = 1.0;"
	}
	return fmt.Sprintf("{ bad[m] = 1.0; fail(%d); }", fault)
}

// load copies matrices of size numbers to scratch memory, element by element.
func (x *solver) load(size int, element string) (array int) {
	array = x.take(x.count * size)
	x.elements(size, fmt.Sprintf("\t\t%s[e] = %s;", x.at(array, size), element))
	return array
}

// loadFinite is load of matrices that have no result if an element is not finite; the library sees 0 in place of it.
func (x *solver) loadFinite(size int) (array int) {
	array = x.take(x.count * size)
	x.elements(size, fmt.Sprintf("\t\tdouble v = in0[matrix * %[1]s + e];\n\t\tif (!(v - v == 0.0)) %[2]s\n\t\t%[3]s[e] = v - v == 0.0 ? v : 0.0;",
		number(size), x.refuse(FaultNoConvergence, false), x.at(array, size)))
	return array
}

// text replaces names in C by numbers or places; a name is a word of capitals in angle brackets.
func (x *solver) text(text string, pairs ...any) string {
	list := make([]string, len(pairs))
	for i, v := range pairs {
		switch v := v.(type) {
		case int:
			list[i] = number(v)
		case string:
			if list[i] = v; i%2 == 0 {
				list[i] = "<" + v + ">"
			}
		}
	}
	return strings.NewReplacer(list...).Replace(text)
}
