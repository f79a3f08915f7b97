// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// Where an array is seen transposed, neighbouring elements of a loop lie far apart in it, so that a warp would ask for a sector for each of
// its threads. Such a loop goes tile by tile: a block reads the tile of each of these arrays along its own rows into shared memory, and takes it from
// there along the rows of the loop.

const (
	tileSide = 32
	tileRow  = tileSide + 1 // elements between rows of a tile, so that a column has an element in each bank
	leastRun = 8            // length from which on an axis is worth tiles
	mostTile = 36 << 10     // bytes of shared memory for the tiles of a block
)

// tiled says which arrays of a loop are taken from tiles, and along which axis of the loop they are contiguous.
type tiled struct {
	axis  int
	loads []compiler.Load
}

// tiled returns how a loop without sums goes tile by tile; nil if it does not.
func (g *generator) tiled(l *compiler.Loop) *tiled {
	last := len(l.Dims) - 1
	if g.choice("tiles") == 0 || len(l.Sums) > 0 || last < 1 || l.Dims[last] < leastRun || l.N < tileSide*tileSide {
		return nil
	}
	t := &tiled{axis: -1}
	for _, x := range l.Loads {
		axis := slices.Index(x.Strides[:last], 1)
		step := x.Strides[last]
		switch {
		case axis < 0 || l.Dims[axis] < leastRun || step == 0 || step == 1 || step == -1:
		case t.axis >= 0 && t.axis != axis, (len(t.loads)+1)*tileSide*tileRow*g.precision/8 > mostTile:
		default:
			t.axis, t.loads = axis, append(t.loads, x)
		}
	}
	if t.axis < 0 {
		return nil
	}
	return t
}

// taken returns the element of an array in its tile, or "".
func (t *tiled) taken(x compiler.Load) string {
	if t == nil {
		return ""
	}
	if k := slices.IndexFunc(t.loads, func(y compiler.Load) bool {
		return y.Reg == x.Reg && y.Buf == x.Buf && y.Off == x.Off && slices.Equal(y.Strides, x.Strides)
	}); k >= 0 {
		return fmt.Sprintf("tile%d[across * %d + down]", k, tileRow)
	}
	return ""
}

// tiles returns the number of tiles of a loop, and of those along its last axis and along that of the views.
func (t *tiled) tiles(l *compiler.Loop) (all, along, over int) {
	last := len(l.Dims) - 1
	along, over = (l.Dims[last]+tileSide-1)/tileSide, (l.Dims[t.axis]+tileSide-1)/tileSide
	return l.N / (l.Dims[last] * l.Dims[t.axis]) * along * over, along, over
}

// inTiles makes the kernel of a loop that goes tile by tile.
func (g *generator) inTiles(l *compiler.Loop, t *tiled) []Launch {
	last := len(l.Dims) - 1
	all, along, over := t.tiles(l)
	k := Launch{Kernel: g.name("tiles"), Grid: min(all, mostGrid), Block: block, Shared: len(t.loads) * tileSide * tileRow * g.precision / 8}
	k.Work = g.tilesWork(l, t, k)
	for i := range t.loads {
		g.shared(fmt.Sprint("tile", i), fmt.Sprintf("__shared__ R tile%d[%d];\n", i, tileSide*tileRow))
	}
	outside := &body{g: g, l: l}
	b := &body{g: g, l: l, local: map[int]string{}, regs: make([]bool, l.Regs), tiled: t}
	b.write(needs(l, nil), true)
	var others axes
	for d, n := range l.Dims {
		if d != last && d != t.axis {
			others = append(others, axis{d, n})
		}
	}
	index := g.index(l)
	walk := fmt.Sprintf("\tfor (int row = warp; row < %d; row += %d) {\n", tileSide, block/warp)
	inside := fmt.Sprintf("\t\tif (x%[1]d >= %[2]s || x%[3]d >= %[4]s) continue;\n", last, number(l.Dims[last]), t.axis, number(l.Dims[t.axis]))
	g.begin(k)
	g.printf("\tconst int lane = threadIdx.x %% %d, warp = threadIdx.x / %d;\n", warp, warp)
	g.printf("\tfor (%s number = blockIdx.x; number < %s; number += gridDim.x) {\n", index, number(all))
	g.printf("\tconst %s from%d = number %% %s * %d, from%d = number / %s %% %s * %d;\n", index, last, number(along), tileSide, t.axis, number(along), number(over), tileSide)
	if len(others) > 0 {
		g.text.WriteString(others.split(fmt.Sprintf("number / %s", number(along*over)), index))
	}
	g.printf("%s\t\tconst %s x%d = from%[3]d + row, x%[4]d = from%[4]d + lane;\n%s", walk, index, last, t.axis, inside)
	for i, x := range t.loads {
		g.printf("\t\ttile%d[row * %d + lane] = %s;\n", i, tileRow, outside.strided(x.Buf, x.Off, x.Strides))
	}
	g.printf("\t}\n\t__syncthreads();\n")
	g.printf("%s\t\tconst %s x%d = from%[3]d + row, x%[4]d = from%[4]d + lane;\n%s", walk, index, t.axis, last, inside)
	g.printf("\t\tconst int across = lane, down = row;\n\t\tconst %s i = %s;\n%s\t}\n\t__syncthreads();\n\t}\n}\n\n", index, b.position(), b.lines.String())
	return []Launch{k}
}

// tilesWork counts that kernel.
func (g *generator) tilesWork(l *compiler.Loop, t *tiled, k Launch) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	w = g.workIn(l, nil, straight, 1, t)
	all, _, _ := t.tiles(l)
	per := float64(tileSide * warp / block)
	turn := float64((all + k.Grid - 1) / k.Grid)
	w.Integers += float64(stepping*l.N) + 4*float64(len(t.loads)*l.N)
	w.Trips = turn
	w.Serial = turn * (2*barrier + per*sharedLoad)
	return w
}

// index is the type of the places of a loop.
func (g *generator) index(l *compiler.Loop) string { return g.place(l.N) }

// place is the type in which a thread counts up to n and computes places in arrays: 32 bits where they suffice, since numbers of 64 bits take two to five
// times as many instructions.
func (g *generator) place(n int) string {
	if g.large || n >= mostInt || g.choice("short_places") == 0 {
		return "index_t"
	}
	return "int"
}

// mostInt is the number of elements below which a place, and one beyond it by a stride of the grid or by a share, fits into 32 bits.
const mostInt = 1 << 30

// isLarge reports whether an array of a program has places of more than 32 bits.
func isLarge(p *compiler.Program) bool {
	for i := range p.Buffers {
		if p.Size(i) >= mostInt {
			return true
		}
	}
	return false
}

// stride is the text in which a thread walks over n elements in strides of the grid.
func stride(kind, name string, threads, n int) string {
	return strings.NewReplacer("TYPE", kind, "NAME", name, "THREADS", number(threads), "COUNT", number(n)).
		Replace("for (TYPE NAME = blockIdx.x * (TYPE)THREADS + threadIdx.x; NAME < COUNT; NAME += gridDim.x * (TYPE)THREADS)")
}
