// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// Removing a node, as BinaryXent does, leaves the graph with wrong neighbours of
// the nodes behind it.
func TestGraphWithRemovedNodes(t *testing.T) {
	for _, by := range []string{"BinaryXent", "the user"} {
		t.Run(by, func(t *testing.T) {
			g := G.NewGraph()
			p, target := vector(g, "p", 0.2, 0.5, 0.9), vector(g, "target", 1, 0, 0.5)
			x := must(G.Exp(p))
			if by == "BinaryXent" {
				must(G.BinaryXent(p, target))
			} else {
				g.RemoveNode(must(G.Sin(p)))
			}
			y := must(G.Sub(must(G.HadamardProd(x, target)), must(G.Cos(p))))
			y = must(G.HadamardDiv(must(G.Square(y)), must(G.Exp(must(G.Sub(x, y))))))
			xent := must(G.BinaryXent(must(G.Sigmoid(y)), target))
			cost := must(G.Sum(must(G.Add(xent, y))))
			f, at := trained(t, cost, p), slices.Clone(data(p.Value()))
			value, grad := f(at)
			near(t, "gradient", 1e-8, grad, differences(f, at))
			f(at)
			near(t, "value", 1e-14, []float64{value}, onTape(t, cost)[0])
		})
	}
}

// trained returns cost and its gradient with respect to x as a function.
func trained(t *testing.T, cost, x *G.Node) func(at []float64) (float64, []float64) {
	t.Helper()
	vm, err := bridge.NewTrainer(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	return func(at []float64) (float64, []float64) {
		if err := G.Let(x, gt.New(gt.WithShape(x.Shape()...), gt.WithBacking(slices.Clone(at)))); err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		d, err := x.Grad()
		if err != nil {
			t.Fatal(err)
		}
		return data(cost.Value())[0], slices.Clone(data(d))
	}
}

// A node that is removed and used again gets a new number, later than that of the
// nodes that stand on it.
func TestRemovedNodeUsedAgain(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2)
	y := must(G.Exp(x))
	before := must(G.Sin(y))
	x.Graph().RemoveNode(y)
	e2 := math.Exp(2)
	total := must(G.Add(before, must(G.Cos(y))))
	near(t, "value", 1e-14, here(t, total)[0], []float64{math.Sin(math.E) + math.Cos(math.E), math.Sin(e2) + math.Cos(e2)})
}

// Log returns the node 1+x to Gorgonia's pool even if another node stands on it.
// Once BinaryXent has put Gorgonia's own 1 into the graph, that hits a user's 1.
func TestReplacedArgument(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		g := G.NewGraph()
		x := vector(g, "x", 0.2, 0.5)
		must(G.BinaryXent(x, vector(g, "target", 1, 0)))
		sum := must(G.Add(x, num(1)))
		above := must(G.Exp(sum))
		must(G.Log(sum))
		if reuse {
			G.WithChildren(G.Nodes{must(G.Sin(x))})(above) // what the pool may give
		}
		_, err := bridge.Import(above)
		if err == nil || !strings.Contains(err.Error(), "pool") {
			t.Errorf("reused %v: error %v, want one that tells of the pool", reuse, err)
		}
	}
}

func TestImportRefusesDamagedGraphs(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2)
	loop, sum := must(G.Exp(x)), must(G.Add(x, x))
	G.WithChildren(G.Nodes{must(G.Sin(loop))})(loop)
	G.WithChildren(G.Nodes{x})(sum)
	nothing := must(G.Cos(x))
	G.WithChildren(G.Nodes{nil})(nothing)
	for want, n := range map[string]*G.Node{"depends on itself": loop, "has 1 argument,": sum, "was deleted": nothing, "is nil": nil} {
		if _, err := bridge.Import(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if _, err := bridge.NewMachine(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("machine: error %v, want one with %q", err, want)
		}
	}
}

func TestDeepGraph(t *testing.T) { importDeep(t, 100_000) }

// importDeep imports a chain of n nodes. Gorgonia takes time quadratic in n to
// build one, so copies of a node are chained behind its back.
func importDeep(t *testing.T, n int) {
	x := G.NewScalar(G.NewGraph(), G.Float64, G.WithName("x"))
	last, link := x, must(G.Sin(x))
	for range n {
		next := link.Clone().(*G.Node)
		G.In(x.Graph())(next)
		G.WithChildren(G.Nodes{last})(next)
		last = next
	}
	im, err := bridge.Import(last)
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	for y := im.Node(last); y != im.Node(x); y = y.In()[0] {
		depth++
	}
	if depth != n {
		t.Errorf("%d nodes deep, want %d", depth, n)
	}
}
