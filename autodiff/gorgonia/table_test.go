// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// Every exported operation, used alone: values as Gorgonia's, gradients as
// differences, and Gorgonia's own gradient right or not as the table says.
func TestEveryOperation(t *testing.T) {
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			said := map[string]int{}
			for seed := range uint64(30) {
				f, err := examineAlone(op, seed)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				said["value: "+kind(f.value)]++
				said["gradient: "+kind(f.gradient)]++
			}
			t.Log(said)
			if said["value: tape"]+said["value: do"] == 0 && op.name != "DiagFlat" {
				t.Errorf("Gorgonia never has a value: %v", said)
			}
			if wrong := said["gradient: wrong"] > 0; wrong != op.wrong {
				t.Errorf("Gorgonia's gradient is wrong: %v, the table says %v", wrong, op.wrong)
			}
		})
	}
}

// kind is a finding without the details.
func kind(finding string) string {
	k, _, _ := strings.Cut(finding, ":")
	return k
}

// examineAlone examines one use of an operation.
func examineAlone(op operation, seed uint64) (f finding, err error) {
	typ := gt.Float64
	if op.typ.Type != nil {
		typ = op.typ
	} else if seed%5 == 4 {
		typ = gt.Float32
	}
	s := newSketch(seed, typ)
	s.eval, s.unnamed = seed%7 == 6, seed%3 == 2
	ys, err := s.use(op)
	if err != nil {
		return finding{value: "refused: " + err.Error()}, nil
	}
	var cost *G.Node
	if !op.none {
		cost = s.cost(ys)
	}
	if f, err = s.examine(ys, cost); err != nil {
		err = fmt.Errorf("%w\n%s", err, describe(ys...))
	}
	return f, err
}

// use draws a use of an operation; an error means that Gorgonia refuses.
func (s *sketch) use(op operation) (ys []*G.Node, err error) {
	defer caught(&err)
	return op.draw(s), nil
}

// cost makes a number of nodes: the sum of their weighted elements. It leaves
// truth values out, and is nil if there is nothing else.
func (s *sketch) cost(ys []*G.Node) *G.Node {
	if len(ys) == 1 && ys[0].IsScalar() && ys[0].Dtype() == s.typ {
		return ys[0]
	}
	var total *G.Node
	for _, y := range ys {
		if y.Dtype() != s.typ {
			continue
		}
		y = must(G.HadamardProd(y, s.constant(0.5, 1.5, y.Shape()...)))
		if !y.IsScalar() {
			y = must(G.Sum(y))
		}
		if total == nil {
			total = y
		} else {
			total = must(G.Add(total, y))
		}
	}
	return total
}
