// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"errors"
	"fmt"
	"html"
	"math"
	"strings"

	G "gorgonia.org/gorgonia"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
	"github.com/euryale-dev/euryale/viz"
)

// NetworkSettings control the training of a network.
type NetworkSettings struct {
	Solver G.Solver // solver that updates the weights; default: Adam with a learning rate of 0.01
	Steps  int      // number of training steps; default 300
	// Before is called before each step, counted from 0, for example to bind the next batch to the
	// inputs with gorgonia.Let.
	Before func(step int) error
}

// TrainNetwork trains the weights of a Gorgonia graph to minimise its cost. The graph runs compiled, in
// place of Gorgonia's own machine, and gorgonia.Grad is not needed. The nodes of the weights hold the
// trained values. An interrupt keeps what has been trained. Training resumes exactly only with the same
// Solver, which has its own memory, and Before counts from 0 again. Training ends early if the cost is
// not a finite number.
func TrainNetwork(cost *G.Node, s NetworkSettings, weights ...*G.Node) *Network {
	const step = "TrainNetwork"
	if cost == nil || len(weights) == 0 {
		must(step, errors.New("the network has no cost or no weights: pass the node of the cost and at least one weight"))
	}
	if s.Steps < 0 {
		must(step, fmt.Errorf("Steps is %d: want 1 or more, or 0 for 300", s.Steps))
	}
	if s.Steps == 0 {
		s.Steps = 300
	}
	if s.Solver == nil {
		s.Solver = G.NewAdamSolver(G.WithLearnRate(0.01))
	}
	n := &Network{Cost: cost, Weights: weights}
	n.Machine = value(step, func() (*bridge.Machine, error) { return bridge.NewTrainer(cost, weights...) })
	ctx, end := interruptible()
	defer end()
	show, done := steps("steps", s.Steps)
	defer done()
	for i := range s.Steps {
		if ctx.Err() != nil {
			n.Interrupted = true
			break
		}
		if s.Before != nil {
			building(step+", before a step", func() { must(fmt.Sprintf("%s, before step %d", step, i), s.Before(i)) })
		}
		must(step, n.Machine.RunAll())
		loss, err := number(cost.Value())
		must(step, err)
		n.Loss = append(n.Loss, loss)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			n.Bad = true // the weights are those that gave it
			break
		}
		must(step, s.Solver.Step(G.NodesToValueGrads(n.Machine.Learnables())))
		show(i+1, fmt.Sprintf("cost %.4g", loss))
	}
	return n
}

// number returns a value with one element.
func number(v G.Value) (float64, error) {
	switch x := v.Data().(type) {
	case float64:
		return x, nil
	case float32:
		return float64(x), nil
	case []float64:
		return x[0], nil
	case []float32:
		return float64(x[0]), nil
	}
	return 0, fmt.Errorf("the cost is of type %T: want float64 or float32", v.Data())
}

// Network is a trained Gorgonia graph. It displays itself as the cost of each step.
type Network struct {
	Cost    *G.Node
	Weights G.Nodes
	Machine *bridge.Machine
	Loss    []float64 // cost before each training step
	// Interrupted reports whether training was stopped early.
	Interrupted bool
	// Bad reports whether training ended because the last cost is not a finite number.
	Bad bool
}

// Picture draws the cost of each step.
func (n *Network) Picture() *viz.Figure {
	loss := n.Loss
	if n.Bad {
		loss = loss[:len(loss)-1]
	}
	return lossFigure("Training", loss)
}

// String says how the cost has fallen.
func (n *Network) String() string {
	if len(n.Loss) == 0 {
		return "interrupted before the first step\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d steps, cost %.4g at first and %.4g at last\n", len(n.Loss), n.Loss[0], n.Loss[len(n.Loss)-1])
	if n.Bad {
		fmt.Fprintf(&b, "stopped at step %d, where the cost is not a finite number: lower the learning rate, and start from new weights\n", len(n.Loss))
	}
	if n.Interrupted {
		b.WriteString("interrupted; training again goes on from here\n")
	}
	for _, w := range n.Machine.Warnings() {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	return b.String()
}

// HTML says how the cost has fallen, and draws it.
func (n *Network) HTML() string {
	text := "<p>" + strings.ReplaceAll(html.EscapeString(strings.TrimSpace(n.String())), "\n", "<br>") + "</p>"
	if len(n.Loss) > 2 {
		text += n.Picture().HTML()
	}
	return text
}

// SimpleRender returns text and HTML for the kernel.
func (n *Network) SimpleRender() map[string]interface{} { return rendered(n) }
