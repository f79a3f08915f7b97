// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// Random graphs of all operations: values as Gorgonia's, gradients as differences.
// Where EURYALE_GRAPH_SEED is set, as many more from that seed on.
func TestRandomGraphs(t *testing.T) {
	examineGraphs(t, 1, 60)
	if from := seedOr(0); from > 0 {
		examineGraphs(t, from, 60)
	}
}

// seedOr is the number EURYALE_GRAPH_SEED, or other where that is not set.
func seedOr(other uint64) uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("EURYALE_GRAPH_SEED"), 10, 64); err == nil {
		return seed
	}
	return other
}

// examineGraphs examines n random graphs and logs what they covered.
func examineGraphs(t *testing.T, from uint64, n int) {
	sum := tally{used: map[string]int{}, refused: map[string]int{}, said: map[string]int{}}
	table := operations()
	for seed := from; seed < from+uint64(n); seed++ {
		r, f, err := examineGraph(seed, table)
		if err != nil {
			t.Errorf("EURYALE_GRAPH_SEED=%d: %v\nThe graph (%s):\n%s", seed, err, r, describe(append(r.outs, r.cost)...))
			continue
		}
		sum.add(r, f)
	}
	t.Log(&sum)
}

func examineGraph(seed uint64, table []operation) (r *randomGraph, f finding, err error) {
	defer caught(&err)
	r = &randomGraph{}
	r.draw(seed, table)
	f, err = r.examine(r.outs, r.cost)
	return r, f, err
}

// randomGraph is a sketch of many operations, some of whose nodes are outputs.
type randomGraph struct {
	*sketch
	outs    []*G.Node
	cost    *G.Node
	used    []use
	refused []string // what Gorgonia refused to build
	removed int      // nodes taken out of the graph
}

// use is an operation and what it made.
type use struct {
	name string
	made []*G.Node
}

func (r *randomGraph) String() string {
	names := make([]string, len(r.used))
	for i, u := range r.used {
		names[i] = u.name
	}
	return fmt.Sprintf("%v, eval %v, unnamed %v, %d nodes removed, %s", r.typ, r.eval, r.unnamed, r.removed, strings.Join(names, " "))
}

// draw draws the graph of a seed.
func (r *randomGraph) draw(seed uint64, table []operation) {
	typ := []gt.Dtype{gt.Float64, gt.Float64, gt.Float64, gt.Float32}[seed%4]
	r.sketch = newSketch(seed, typ)
	r.most, r.eval, r.unnamed = 24, r.chance(0.25), r.chance(0.5)
	var made []*G.Node
	for range 4 + r.IntN(16) {
		op := table[r.IntN(len(table))]
		if op.typ.Type != nil && op.typ != typ {
			continue
		}
		ys, err := r.use(op)
		if err != nil {
			r.refused = append(r.refused, op.name)
			continue
		}
		r.used = append(r.used, use{op.name, ys})
		made = append(made, r.keep(op, ys)...)
		if r.chance(0.05) {
			r.remove()
		}
	}
	if len(made) == 0 {
		made = []*G.Node{r.any()}
	}
	r.choose(made)
}

// keep makes nodes arguments of what comes, or outputs where they cannot be.
func (r *randomGraph) keep(op operation, ys []*G.Node) []*G.Node {
	if op.none {
		r.outs = append(r.outs, ys...)
		return nil
	}
	for _, y := range ys {
		if y.Dtype() == r.typ && y.Shape().TotalSize() <= 3*r.most {
			r.pool = append(r.pool, y)
		}
	}
	return ys
}

// remove takes a node out of the graph: one that others stand on, or none.
func (r *randomGraph) remove() {
	if n := r.any(); r.chance(0.4) && n.Op() != nil {
		r.g.RemoveNode(n)
		r.removed++
		return
	}
	r.g.RemoveNode(must(G.Sin(must(G.Neg(r.any())))))
	r.removed++
}

// choose takes most of the nodes that nothing stands on as outputs, and an inner
// one, and a cost of them.
func (r *randomGraph) choose(made []*G.Node) {
	under := map[*G.Node]bool{}
	for _, n := range made {
		below(n, under)
		delete(under, n)
	}
	chosen := []*G.Node{made[r.IntN(len(made))]}
	for _, n := range made {
		if !under[n] && r.chance(0.7) && !slices.Contains(chosen, n) {
			chosen = append(chosen, n)
		}
	}
	r.outs = append(r.outs, chosen...)
	if r.cost = r.sketch.cost(chosen); r.cost != nil {
		r.outs = append(r.outs, r.cost)
	}
}

// below marks n and what it stands on.
func below(n *G.Node, marked map[*G.Node]bool) {
	if marked[n] {
		return
	}
	marked[n] = true
	for _, k := range bridge.Arguments(n) {
		below(k, marked)
	}
}

// tally sums up what graphs covered and what was said of Gorgonia.
type tally struct {
	graphs, removed, unnamed int
	used, refused, said      map[string]int
	worst, slope             [2]float64 // of float64 and float32
}

func (a *tally) add(r *randomGraph, f finding) {
	a.graphs++
	a.removed += min(r.removed, 1)
	for _, n := range r.inputs {
		if strings.Contains(n.Name(), "nil") {
			a.unnamed++
			break
		}
	}
	computed := map[*G.Node]bool{}
	for _, n := range r.outs {
		below(n, computed)
	}
	for _, u := range r.used {
		if slices.ContainsFunc(u.made, func(n *G.Node) bool { return computed[n] }) {
			a.used[u.name]++
		}
	}
	for _, name := range r.refused {
		a.refused[name]++
	}
	a.said["value: "+kind(f.value)]++
	a.said["gradient: "+kind(f.gradient)]++
	k := 0
	if r.typ == gt.Float32 {
		k = 1
	}
	a.worst[k], a.slope[k] = max(a.worst[k], f.worst), max(a.slope[k], f.slope)
}

func (a *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d graphs, %d with removed nodes, %d with unnamed inputs; by Gorgonia: %v\n", a.graphs, a.removed, a.unnamed, a.said)
	fmt.Fprintf(&b, "largest deviation of values %.2g (float32 %.2g), of gradients %.2g (float32 %.2g)\n", a.worst[0], a.worst[1], a.slope[0], a.slope[1])
	for _, name := range slices.Sorted(maps.Keys(a.used)) {
		fmt.Fprintf(&b, "%s %d ", name, a.used[name])
	}
	fmt.Fprintf(&b, "\nrefused by Gorgonia: %v", a.refused)
	return b.String()
}
