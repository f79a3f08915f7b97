// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
)

const (
	tileEdge  = 32 // rows and columns of a tile, whose rows in shared memory have one element more, so that no two of a column share a bank
	tileLeast = 16 // shortest axes that are cut into tiles
	mostTiles = 4  // arrays of a loop that are read through tiles: 33 KiB of shared memory in float64
)

// tiled says how a loop reads arrays whose neighbours lie along another axis than the loop's last: a block loads a
// square of such an array along that axis, and reads it from shared memory along the last one, so that the
// threads of a warp have neighbours in memory both when they load and when they store.
type tiled struct {
	axis, last int // the axis along which these arrays run, and the last of the loop
	arrays     []tiledArray
}

// tiledArray is an array that is read through a tile.
type tiledArray struct {
	buf, off int
	strides  []int
}

// tilesOf returns how a loop is cut into tiles; nil if it has no array that would gain by it.
func tilesOf(l *compiler.Loop) *tiled {
	last := len(l.Dims) - 1
	t := &tiled{axis: -1, last: last}
	note := func(buf, off int, strides []int) {
		if last < 1 || strides[last] == 0 || strides[last] == 1 || len(t.arrays) == mostTiles {
			return
		}
		for d := range last {
			if strides[d] == 1 && l.Dims[d] >= tileLeast && (t.axis < 0 || t.axis == d) {
				t.axis = d
				if t.array(buf, off, strides) < 0 {
					t.arrays = append(t.arrays, tiledArray{buf, off, strides})
				}
				return
			}
		}
	}
	for _, x := range l.Loads {
		note(x.Buf, x.Off, x.Strides)
	}
	for _, r := range l.Rows {
		note(r.Buf, r.Off, whole(r))
	}
	if t.axis < 0 || l.Dims[last] < tileLeast {
		return nil
	}
	return t
}

// whole returns the strides of a view along all axes of its loop.
func whole(r compiler.RowView) []int { return append(append([]int(nil), r.Strides...), r.Step) }

// array returns the number of the tile of an array; -1 if it has none.
func (t *tiled) array(buf, off int, strides []int) int {
	if t == nil {
		return -1
	}
	for k, a := range t.arrays {
		if a.buf == buf && a.off == off && fmt.Sprint(a.strides) == fmt.Sprint(strides) {
			return k
		}
	}
	return -1
}

// cut returns the axes of the tiles of a loop, the last fastest: those that are not cut, and the numbers of tiles along the two that are,
// which come after the loop's own axes.
func (t *tiled) cut(l *compiler.Loop) (a axes) {
	for d, n := range l.Dims {
		if d != t.axis && d != t.last {
			a = append(a, axis{d, n})
		}
	}
	along := func(d int) int { return (l.Dims[d] + tileEdge - 1) / tileEdge }
	return append(a, axis{len(l.Dims), along(t.axis)}, axis{len(l.Dims) + 1, along(t.last)})
}

// tiledElements makes the kernel of a loop without sums in which a block takes a tile of 32 x 32 elements after another.
func (g *generator) tiledElements(l *compiler.Loop, t *tiled) []Launch {
	cut := t.cut(l)
	k := Launch{Kernel: g.name("tiled"), Grid: min(cut.size(), mostGrid), Block: block, Shared: len(t.arrays) * tileEdge * (tileEdge + 1) * g.precision / 8}
	k.Work = g.tiledWork(l, t, k)
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs), tiles: t}
	b.write(needs(l, nil), true)
	var load strings.Builder
	for n, a := range t.arrays {
		g.shared(fmt.Sprint("tile", n), fmt.Sprintf("__shared__ R eu_tile%d[%d][%d];\n", n, tileEdge, tileEdge+1))
		fmt.Fprintf(&load, " eu_tile%d[y][x] = R(buf[%d][%s]);", n, a.buf, placeAt(l, a.off, a.strides))
	}
	g.over(k, max(l.N, cut.size()*tileEdge*tileEdge))
	axis, last, tiles := t.axis, t.last, len(l.Dims)
	g.printf("\tconst int x = threadIdx.x %% %[1]d, first = threadIdx.x / %[1]d;\n", tileEdge)
	g.printf("\tfor (place_t tile = blockIdx.x; tile < %s; tile += gridDim.x) {\n%s", number(cut.size()), cut.split("tile"))
	g.printf("\t{ const place_t x%d = x%d * %d + x;\n", axis, tiles, tileEdge)
	g.printf("#pragma unroll\n\tfor (int y = first; y < %[1]d; y += %[2]d) {\n\t\tconst place_t x%[3]d = x%[4]d * %[1]d + y;\n", tileEdge, block/tileEdge, last, tiles+1)
	g.printf("\t\tif (x%d < %s && x%d < %s) {%s }\n\t} }\n\t__syncthreads();\n", axis, number(l.Dims[axis]), last, number(l.Dims[last]), load.String())
	g.printf("\t{ const place_t x%d = x%d * %d + x;\n", last, tiles+1, tileEdge)
	if len(l.Ops) <= unrolled { // the text of a long loop is not repeated
		g.printf("#pragma unroll\n")
	}
	g.printf("\tfor (int y = first; y < %[1]d; y += %[2]d) {\n\t\tconst place_t x%[3]d = x%[4]d * %[1]d + y;\n", tileEdge, block/tileEdge, axis, tiles)
	g.printf("\t\tif (x%d < %s && x%d < %s) {\n\t\tplace_t i = %s;\n%s\t\t}\n\t} }\n", axis, number(l.Dims[axis]), last, number(l.Dims[last]), b.position(), b.lines.String())
	g.printf("\t__syncthreads();\n\t}\n}\n\n")
	return []Launch{k}
}

// placeAt returns the place of an element in an array that is seen along strides.
func placeAt(l *compiler.Loop, off int, strides []int) string {
	var at []string
	if off != 0 {
		at = append(at, number(off))
	}
	for d, s := range strides {
		if s != 0 && l.Dims[d] > 1 {
			at = append(at, fmt.Sprintf("x%d * %s", d, number(s)))
		}
	}
	if len(at) == 0 {
		return "0"
	}
	return strings.Join(at, " + ")
}

// tiledWork counts the kernel of tiledElements: an array in tiles is loaded along its own axis, and goes through shared memory. A block waits for its
// tiles, and then for what is not in them.
func (g *generator) tiledWork(l *compiler.Loop, t *tiled, k Launch) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	w = g.tiledLoopWork(l, t)
	all, each := float64(l.N), float64(block/tileEdge)
	w.Integers += all / each * (g.stepping(l.N) + dividing*float64(len(l.Dims)+1)) // for each tile, and then in its rows
	w.Integers += 6 * all
	rounds := float64((t.cut(l).size() + k.Grid - 1) / k.Grid)
	w.Trips = 2 * rounds
	w.Serial = rounds * (2*barrier + 2*sharedLoad)
	return w
}

// along returns the walk over the elements of a loop in which each warp has 32 neighbours along an axis, or what is left of them, and the number of
// threads of these warps.
func along(l *compiler.Loop, axis int) (in walk, threads int) {
	inner := 1
	for _, n := range l.Dims[axis+1:] {
		inner *= n
	}
	n := l.Dims[axis]
	pieces := (n + warp - 1) / warp
	return func(k int) int {
		x, rest := min(k/warp%pieces*warp+k%warp, n-1), k/warp/pieces
		return rest/inner*inner*n + x*inner + rest%inner
	}, l.N / n * pieces * warp
}
