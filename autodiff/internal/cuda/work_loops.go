// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// unrolled is the number of turns of a loop without stores whose loads the compiler begins together.
const unrolled = 4

// packOf is the number of elements that a thread loads at once.
func (g *generator) packOf(l *compiler.Loop) int {
	if g.plain(l) && (l.N > fewElements || len(l.Sums) > 0) {
		return 16 / (g.precision / 8)
	}
	return 1
}

// elementsWork counts the kernel of a loop without sums. A store may change what the next turn loads, as far as the compiler knows,
// so that each turn waits for its loads.
func (g *generator) elementsWork(l *compiler.Loop, k Launch) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	pack := g.packOf(l)
	w = g.loopWork(l, nil, straight, pack)
	w.Integers += g.stepping(l.N) * float64(l.N/pack)
	w.Trips = turns(l.N/pack, k)
	return w
}

// totalsWork counts the kernel of partial sums of blocks.
func (g *generator) totalsWork(l *compiler.Loop, k Launch) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	w = g.elementsWork(l, k)
	sums := float64(len(l.Sums))
	w.Serial = treeSerial * sums
	w.Float64 += 2 * sums * float64(k.Grid*k.Block)
	w.Accesses += 4 * sums * float64(k.Grid*k.Block)
	if k.Grid > 1 {
		w.Use(scratchArray, 8*sums*float64(k.Grid), true)
	}
	return w
}

// joinWork counts a kernel that adds up parts of results; team threads share a result.
func joinWork(results, parts, team, width int) (w roofline.Work) {
	n := float64(results * parts)
	w.Use(scratchArray, 8*n, false)
	w.Use(scratchArray-1, float64(results*width), true)
	w.Sectors = 8*n/32 + float64(results*width)/32
	w.Float64, w.Accesses, w.Integers = n, n, 4*n
	w.Trips = float64((parts + team*unrolled - 1) / (team * unrolled))
	return w
}

// rowsWork counts the kernel in which teams of threads sum rows.
func (g *generator) rowsWork(l *compiler.Loop, k Launch, team int) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	w = g.loopWork(l, nil, straight, 1)
	columns := l.Dims[len(l.Dims)-1]
	rows := l.N / columns
	w.Integers += g.stepping(l.N) * float64(l.N/unrolled)
	turn := turns(rows*team, k)
	w.Trips = turn * float64((columns+team*unrolled-1)/(team*unrolled))
	w.Add(g.teams(l, rows*team, team, turn))
	return w
}

// teams counts the ends of the sums of a loop in teams of threads, which threads do in so many turns one after another.
func (g *generator) teams(l *compiler.Loop, threads, team int, turn float64) (w roofline.Work) {
	steps := 0
	for half := min(team, warp) / 2; half > 0; half /= 2 {
		steps++
	}
	for i := range l.Sums {
		per := 1.0
		if l.Sums[i].Op.Code != compiler.Sum {
			per = 4
		}
		serial := float64(steps) * (shuffle + 8*per)
		combined := float64(steps)
		if team > warp {
			among := float64(team / warp)
			serial += 2*barrier + among*(sharedLoad/2+8*per)
			combined += among
		}
		w.Serial += turn * serial
		w.Float64 += per * combined * float64(threads)
		w.Accesses += 2 * combined * float64(threads)
		w.Integers += combined * float64(threads)
	}
	return w
}

// gatheredWork counts the kernel of one sum whose results lie anywhere.
func (g *generator) gatheredWork(l *compiler.Loop, s *compiler.Reduce, k Launch, kept, over axes, team, parts int) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	results, terms := max(1, kept.size()), max(1, over.size())
	w = g.loopWork(l, s, func(i int) int {
		if team > 1 {
			return compose(l, kept, over, i/terms, i%terms)
		}
		return compose(l, kept, over, i%results, i/results)
	}, 1)
	w.Integers += float64(l.N) * float64(4+dividing*(len(over)-1)+2*len(l.Dims))
	turn := turns(results*team*parts, k)
	w.Trips = turn * float64((terms+parts*team*unrolled-1)/(parts*team*unrolled))
	w.Add(g.teams(&compiler.Loop{Sums: []compiler.Reduce{*s}}, results*parts*team, team, turn))
	if parts > 1 {
		w.Use(scratchArray, float64(8*results*parts), true)
	} else {
		w.Use(s.Out, float64(results*g.width(s.Out)), true)
	}
	return w
}

// compose returns the flat index of a term of a result.
func compose(l *compiler.Loop, kept, over axes, result, term int) int {
	x := make([]int, len(l.Dims))
	for i := len(kept) - 1; i >= 0; i-- {
		x[kept[i].d] = result % kept[i].n
		result /= kept[i].n
	}
	for i := len(over) - 1; i >= 0; i-- {
		x[over[i].d] = term % over[i].n
		term /= over[i].n
	}
	at := 0
	for d, n := range l.Dims {
		at = at*n + x[d]
	}
	return at
}

// joinedWork counts the kernel of a list of loops over the same rows. What threads keep is read once, and written if anybody needs it.
func (g *generator) joinedWork(j *joined, k Launch, team, each int, kept bool, needed func(buf int) bool) (w roofline.Work) {
	if !g.options.Count {
		return w
	}
	turn := turns(j.rows*team, k)
	for _, l := range j.loops {
		pass := g.loopWork(l, nil, straight, 1)
		if l.N == j.rows {
			pass.Serial = 40 * turn
			w.Add(pass)
			continue
		}
		pass.Serial = float64(each) * 10 * turn
		pass.Add(g.teams(l, j.rows*team, team, turn))
		w.Add(pass)
	}
	if !kept {
		w.Trips = turn * float64(len(j.loops)) * float64((each+unrolled-1)/unrolled)
		return w
	}
	// The passes counted every array whenever a loop uses it.
	w.Sectors, w.Trips = 0, turn
	all := w.Arrays
	w.Arrays = nil
	for _, a := range all {
		u := j.use[a.ID]
		if a.Write && !needed(a.ID) || !a.Write && u.written {
			continue
		}
		w.Arrays = append(w.Arrays, a)
		w.Sectors += a.Bytes / 32
	}
	return w
}
