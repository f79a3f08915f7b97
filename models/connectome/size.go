// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"
	"slices"
)

// most is the largest estimated memory that a problem or a simulator may need, in bytes.
const most = 16 << 30

// mostUpdates bounds the number of losses that a training keeps and saves.
const mostUpdates = 10_000_000

// need is an estimate of memory, and how to reduce it.
type need struct {
	what  string
	bytes float64
	less  string
}

// fits returns an error if the needs sum to more than most; it names the largest of them.
func fits(needs ...need) error {
	sum := 0.0
	for _, n := range needs {
		sum += n.bytes
	}
	if sum <= most {
		return nil
	}
	worst := slices.MaxFunc(needs, func(a, b need) int { return int(math.Copysign(1, a.bytes-b.bytes)) })
	return fmt.Errorf("connectome: this needs about %.3g GiB of memory, %.3g of them for %s, but the limit is %d: want less; %s", sum/(1<<30), worst.bytes/(1<<30), worst.what, most>>30, worst.less)
}

// needs estimates the memory of training; neurons, steps and batch are positive. Matrices stand for
// the weights, their gradients and intermediate results; evaluation runs batches of its own.
func (p *Problem) needs(classes, examples int) []need {
	size := map[string]float64{}
	inputs, neurons := 0.0, 0.0
	for _, s := range p.Stimuli {
		size[s.Name] = float64(s.N)
		inputs += float64(s.N)
	}
	for _, a := range p.Areas {
		size[a.Name] = float64(a.N)
		neurons += float64(a.N)
	}
	batch, steps := float64(max(p.batch(), evaluationBatch)), float64(p.Steps)
	shown := 1.0
	if p.Task == nil {
		shown = steps
	}
	var dense, plastic, synapses, pairs float64
	for _, f := range p.Fibres {
		n := size[f.From] * size[f.To]
		dense += 8 * n * 6
		synapses += n * f.P * 200
		if p.Plastic && f.Beta > 0 {
			plastic += 8 * n * batch * steps * 3
		}
	}
	for _, l := range p.Losses {
		if l.Name == "association" || l.Name == "separation" {
			pairs += 8 * batch * batch * 8
		}
	}
	return []need{
		{"the matrices of the fibres", dense, "make n of areas or stimuli smaller"},
		{"the matrices of each example and step", plastic, "make n, batch or steps smaller, or leave out plastic"},
		{"synapses", synapses, "make p or n smaller"},
		{"activities", 8 * batch * (neurons*steps*5 + inputs*shown*4), "make n, batch or steps smaller"},
		{"pairs of examples", pairs, "make batch smaller, or leave out association and separation"},
		{"the graph of the steps", steps * float64(len(p.Areas)+len(p.Fibres)) * 12_000, "make steps smaller"},
		{"the examples", float64(examples) * (8*inputs*shown + 100), "make train, test or n of stimuli smaller"},
		{"labels", 8 * float64(classes) * (batch*10 + neurons*4), "make classes or batch smaller"},
	}
}

// fits returns an error for graphs that do not fit into memory. Each neuron that ever fires has a
// row of synapses in each graph: k neurons a step with hard dynamics, about twice as many with soft
// ones.
func (s Simulator) fits(graphs int, hard bool) error {
	n, steps, g := float64(s.N), float64(s.Steps), float64(graphs)
	firing := float64(s.K) * steps
	if !hard {
		firing *= 2
	}
	rows := min(n, firing) + float64(s.Stimulus)
	return fits(need{"the synapses of the graphs", g * (rows*n*20 + 200*(n+float64(s.Stimulus))), "make N, K, Stimulus or graphs smaller"},
		need{"activities", g * (steps*n*8*6 + 20_000), "make N, Steps or graphs smaller"},
		need{"the surface", steps * 5000, "make Steps smaller"})
}
