// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// machine is a compiled circuit on batches of one size.
type machine struct {
	circuit   *Circuit
	batch     int
	classes   int
	precision string
	state     *ad.State
	params    []*ad.Node
	steps     int // number of input nodes for the stimuli: 1, or one per step
	work      []float64
}

// compile makes the program of outputs of a pass. The inputs are the stimuli (once or
// step by step), labels, temperature and parameters, in this order.
func (c *Circuit) compile(batch, classes int, perStep bool, cap KCap, precision string, b ad.Backend, outputs func(p *Pass, params []*ad.Node) []*ad.Node) (*machine, error) {
	m := &machine{circuit: c, batch: batch, classes: classes, precision: precision, steps: 1}
	if perStep {
		m.steps = c.Steps
	}
	x := make([]*ad.Node, c.Steps)
	var inputs []*ad.Node
	for t := range x {
		if x[t] = x[0]; t < m.steps {
			x[t] = ad.Input("stimuli", batch, c.inputs())
			inputs = append(inputs, x[t])
		}
	}
	labels, heat := ad.Input("labels", batch, classes), ad.Input("temperature")
	by, flat := c.layout()
	cap.T = heat
	pass := c.forward(x, by, cap)
	pass.Labels = labels
	m.params = flat
	inputs = append(append(inputs, labels, heat), flat...)
	bits := 32
	if precision == "64" {
		bits = 64
	}
	prog, err := ad.Compile(outputs(pass, flat), ad.Settings{Inputs: inputs, Precision: bits, Backend: b})
	if err != nil {
		return nil, err
	}
	m.state = prog.NewState()
	return m, nil
}

// load copies examples into the batch.
func (m *machine) load(e Examples, which []int) error {
	n := m.circuit.inputs()
	x, labels := make([]float64, m.batch*n), make([]float64, m.batch*m.classes)
	for t := range m.steps {
		for b := range m.batch {
			copy(x[b*n:], e.row(m.circuit, which[b], t))
		}
		if err := m.state.SetInput(t, x); err != nil {
			return err
		}
	}
	for b := range m.batch {
		labels[b*m.classes+e.Labels[which[b]]] = 1
	}
	return m.state.SetInput(m.steps, labels)
}

// run computes the outputs at parameters x and a temperature. The parameters are rounded to the
// precision; gradients are evaluated at the rounded ones.
func (m *machine) run(x []float64, temperature float64) error {
	if err := m.state.SetInput(m.steps+1, []float64{temperature}); err != nil {
		return err
	}
	m.work = append(m.work[:0], x...)
	rounded(m.work, x, m.precision)
	at := 0
	for i, p := range m.params {
		if err := m.state.SetInput(m.steps+2+i, m.work[at:at+p.Size()]); err != nil {
			return err
		}
		at += p.Size()
	}
	return m.state.Run()
}
