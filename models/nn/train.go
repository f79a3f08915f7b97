// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// Training configures Train. Rule and LR are needed; the other fields have defaults.
type Training struct {
	Epochs   int // number of passes over all examples. Default 10
	Rule     optim.Rule
	LR       float64
	Schedule optim.Schedule // schedule of the learning rate, by steps. Default: constant

	ClipNorm float64 // largest length of the gradient. Default: no limit
	// Frozen names parameters that stay as they are, and Spared those to which the rule's weight
	// decay does not apply. A name is that of a parameter (conv1.weight), of a layer (conv1), or
	// the last part of names (bias). Running statistics of frozen layers are still updated.
	Frozen, Spared []string
	// LossScale multiplies the loss before the gradient is computed, for networks whose arrays are
	// stored in 16 bits. It is at least 1; it is halved after a step that overflows, which is left
	// out, and doubled after ScaleEvery (2000) steps that do not. Default: none.
	LossScale  float64
	ScaleEvery int

	// Validation holds examples on which the network is judged after each epoch. With Patience,
	// training ends after that many epochs without a lower loss on them, and the network then has
	// the parameters of the best epoch, or the last ones if no loss is a number; a Patience of
	// Epochs keeps the best without ending early. Without Patience it has those of the last epoch.
	Validation Source
	Patience   int

	Progress func(Progress) // function that is called after every step
	// Save receives the state every SaveEvery (1000) steps, after each epoch, and when the context
	// ends.
	Save      func(*State) error
	SaveEvery int
	// Resume continues from a state, exactly as the run that saved it would have.
	Resume *State
}

// Progress describes how far a training has come.
type Progress struct {
	Epoch, Epochs int                // number of the epoch, from 1
	Step, Steps   int                // number of the step, counted over all epochs
	Loss          float64            // loss of this step, or its mean at the end of an epoch
	Values        map[string]float64 // values of this step, or their means at the end of an epoch
	Rate          float64            // learning rate of this step
	Ended         *Epoch             // epoch that has just ended, with its means; nil within an epoch
	Elapsed       time.Duration
}

// Remaining estimates how long the rest takes if training does not end before the last epoch.
func (p Progress) Remaining() time.Duration {
	return time.Duration(float64(p.Elapsed) * float64(p.Steps-p.Step) / float64(max(1, p.Step)))
}

// Epoch holds the means of an epoch.
type Epoch struct {
	Loss             float64 // loss of training
	Values           map[string]float64
	Validation       float64 // loss of the validation examples; NaN without any
	ValidationValues map[string]float64
	Skipped          int     // number of steps left out because the gradient overflowed
	Rate             float64 // learning rate of the last step
}

// History describes what a training did.
type History struct {
	Epochs  []Epoch
	Best    int    // number of the epoch with the lowest loss of the validation, or of training without one, from 0
	Stopped string // reason why the training ended
}

// State holds everything that training has to remember. Its fields can be saved by WriteState, and
// by any encoder that keeps numbers exactly.
type State struct {
	Step       int // number of steps done
	Parameters []float64
	Statistics []float64
	Memory     [][]float64 // memory of the rule, such as moments of the gradient
	Scale      [2]float64
	History    History
	Sums       []float64 // sums of the loss and the values in this epoch
	Skipped    int
	BestLoss   float64
	BestParams []float64
	BestStats  []float64
	Setup      string // description of the run, which must be the same to continue
}

const largestFloat32 = math.MaxFloat32

// finite reports whether v is a number.
func finite(v float64) bool { return v-v == 0 }

func (t *Training) defaults(n *Network, examples int) error {
	if t.Epochs == 0 {
		t.Epochs = 10
	}
	if t.SaveEvery == 0 {
		t.SaveEvery = 1000
	}
	if t.ScaleEvery == 0 {
		t.ScaleEvery = 2000
	}
	switch {
	case t.Rule == nil || !(t.LR > 0) || !finite(t.LR):
		return fmt.Errorf("nn: the training has %s and the learning rate %g: give a Rule and a finite LR above 0", map[bool]string{true: "no rule of descent", false: "a rule of descent"}[t.Rule == nil], t.LR)
	case examples < n.settings.Batch:
		return fmt.Errorf("nn: there are %d examples, fewer than the batch of %d: give more examples, or take a smaller batch", examples, n.settings.Batch)
	case t.LossScale != 0 && !(t.LossScale >= 1 && t.LossScale <= largestFloat32):
		return fmt.Errorf("nn: the loss scale is %g: want 0 for none, or 1 to %g", t.LossScale, float64(largestFloat32))
	case t.Patience > 0 && t.Validation == nil:
		return errors.New("nn: a patience needs the loss of validation examples: give some")
	}
	for _, one := range []struct {
		name  string
		value float64
	}{{"Epochs", float64(t.Epochs)}, {"Patience", float64(t.Patience)}, {"SaveEvery", float64(t.SaveEvery)}, {"ScaleEvery", float64(t.ScaleEvery)}, {"ClipNorm", t.ClipNorm}} {
		if !(one.value >= 0) {
			return fmt.Errorf("nn: Training.%s is %g: want 0 for the default, or more", one.name, one.value)
		}
	}
	return nil
}

// cycles reports whether the schedule sets the momentum in one of so many steps; it looks at the first million.
func (t *Training) cycles(steps int) bool {
	if t.Schedule == nil {
		return false
	}
	for k := range min(steps, 1_000_000) {
		if _, momentum := t.Schedule(t.LR, k); !math.IsNaN(momentum) {
			return true
		}
	}
	return false
}

// setup describes a run.
func (n *Network) setup(t *Training, examples int) string {
	return fmt.Sprintf("%d parameters, %d statistics, %d examples in batches of %d, float%d, seed %d, %T%+v, learning rate %g, loss scale %g, clip %g, frozen %q, spared %q",
		n.params.total, n.states.total, examples, n.settings.Batch, n.settings.Precision, n.settings.Seed, t.Rule, t.Rule, t.LR, t.LossScale, t.ClipNorm, t.Frozen, t.Spared)
}

// Train minimises the loss. Each epoch takes the examples in another order, and leaves out those
// beyond the last whole batch. When ctx ends, it saves its state and returns what was done with
// ctx.Err(); the network then has the parameters of the last step.
func (n *Network) Train(ctx context.Context, data Source, t Training) (*History, error) {
	if err := given.Args("nn.Train", "ctx", ctx, "data", data); err != nil {
		return nil, err
	}
	examples := data.Len()
	if err := t.defaults(n, examples); err != nil {
		return nil, err
	}
	each := examples / n.settings.Batch
	tr, err := n.trainer(&t, t.cycles(min(t.Epochs, 1_000_000)*min(each, 1_000_000)))
	if err != nil {
		return nil, err
	}
	r := &training{n: n, t: &t, tr: tr, data: data, examples: examples, start: time.Now(), each: each, rows: n.rows(n.settings.Batch)}
	if err := r.begin(); err != nil {
		return nil, err
	}
	err = r.run(ctx)
	if fault := r.take(); fault != nil {
		return &r.s.History, errors.Join(err, fault)
	}
	if err != nil && ctx.Err() == nil {
		return &r.s.History, err
	}
	if t.Save != nil {
		err = errors.Join(err, t.Save(r.state()))
	}
	if err == nil && t.Patience > 0 && r.s.BestParams != nil { // none is best if all losses are NaN
		n.values, n.running = slices.Clone(r.s.BestParams), slices.Clone(r.s.BestStats)
	}
	return &r.s.History, err
}

// training is a run of Train.
type training struct {
	n        *Network
	t        *Training
	tr       *trainer
	data     Source
	examples int // when training began
	s        State
	each     int // steps of an epoch
	order    []int
	rows     []rowsOf
	start    time.Time
	rate     float64 // learning rate of the last step
}

func (r *training) begin() error {
	n, total := r.n, r.n.params.total
	r.s = State{Scale: [2]float64{max(1, r.t.LossScale), 0}, BestLoss: math.Inf(1), Setup: n.setup(r.t, r.examples), Sums: make([]float64, 1+len(r.tr.names))}
	r.s.Parameters, r.s.Statistics = n.values, n.running
	for range r.tr.memory {
		r.s.Memory = append(r.s.Memory, make([]float64, total))
	}
	if from := r.t.Resume; from != nil {
		switch {
		case from.Setup != r.s.Setup:
			return fmt.Errorf("nn: the saved run (%s) is not this one (%s): resume with the settings and the network of the saved run", from.Setup, r.s.Setup)
		case !r.fits(from):
			return errors.New("nn: the saved state does not fit this network: it is damaged or was changed, so take an older one")
		}
		r.s = *from
		r.s = *r.state()
		if r.t.Patience > 0 && r.s.BestParams == nil { // it was saved without patience: the best epoch is one of those to come
			r.s.BestLoss = math.Inf(1)
		}
	}
	st := r.tr.state
	at := r.tr.params
	for _, v := range append(append([][]float64{r.s.Parameters}, r.s.Memory...), r.s.Statistics, r.s.Scale[:]) {
		if err := st.SetInput(at, v); err != nil {
			return err
		}
		at++
	}
	return nil
}

// fits reports whether a saved state can be one of this run.
func (r *training) fits(s *State) bool {
	total, statistics := r.n.params.total, r.n.states.total
	best := len(s.BestParams) == total && len(s.BestStats) == statistics || s.BestParams == nil && s.BestStats == nil
	return len(s.Parameters) == total && len(s.Statistics) == statistics && len(s.Memory) == r.tr.memory && len(s.Sums) == len(r.s.Sums) && best &&
		!slices.ContainsFunc(s.Memory, func(m []float64) bool { return len(m) != total }) &&
		s.Step >= 0 && len(s.History.Epochs) == s.Step/r.each && s.History.Best >= 0 && s.History.Best <= len(s.History.Epochs) &&
		s.Skipped >= 0 && s.Skipped <= s.Step%r.each && s.Scale[0] >= 1 && finite(s.Scale[0])
}

// take copies the parameters from the program.
func (r *training) take() error {
	st, k := r.tr.state, r.tr.params
	parameters, statistics, scale := st.InputFloat64(k), st.InputFloat64(k+1+r.tr.memory), st.InputFloat64(k+2+r.tr.memory)
	memory := make([][]float64, r.tr.memory) // a state that was saved keeps its own
	for i := range memory {
		memory[i] = st.InputFloat64(k + 1 + i)
	}
	if err := st.Err(); err != nil {
		return fmt.Errorf("nn: the parameters of step %d cannot be fetched: %w", r.s.Step, err)
	}
	r.s.Parameters, r.s.Memory, r.s.Statistics = parameters, memory, statistics
	copy(r.s.Scale[:], scale)
	r.n.values, r.n.running = slices.Clone(r.s.Parameters), slices.Clone(r.s.Statistics)
	return nil
}

func (r *training) state() *State {
	s := r.s
	s.Sums, s.History.Epochs, s.Memory = slices.Clone(s.Sums), slices.Clone(s.History.Epochs), slices.Clone(s.Memory)
	return &s
}

func (r *training) run(ctx context.Context) error {
	for r.s.Step/r.each < r.t.Epochs {
		if r.ended() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.step(); err != nil {
			return err
		}
		last := r.s.Step%r.each == 0
		if last {
			if err := r.endEpoch(ctx); err != nil {
				return err
			}
		}
		if r.t.Save != nil && (last || r.t.SaveEvery > 0 && r.s.Step%r.t.SaveEvery == 0) {
			if err := r.take(); err != nil {
				return err
			}
			if err := r.t.Save(r.state()); err != nil {
				return err
			}
		}
	}
	r.s.History.Stopped = fmt.Sprintf("all %d epochs were done", r.t.Epochs)
	return nil
}

// ended reports whether training has ended before the last epoch.
func (r *training) ended() bool {
	h := &r.s.History
	if r.t.Patience == 0 || len(h.Epochs)-1-h.Best < r.t.Patience {
		return false
	}
	h.Stopped = fmt.Sprintf("the loss of the validation was not lower in %d epochs", r.t.Patience)
	return true
}

// step does one update.
func (r *training) step() error {
	epoch, within := r.s.Step/r.each, r.s.Step%r.each
	if within == 0 || r.order == nil {
		order := tensor.NewStream(r.n.settings.Seed, purposeOrder, uint32(epoch))
		r.order = order.Perm(r.examples)
	}
	st, batch := r.tr.state, r.n.settings.Batch
	if err := fill(st, r.data, r.order[within*batch:(within+1)*batch], r.rows); err != nil {
		return err
	}
	noise := tensor.NewStream(r.n.settings.Seed, purposeNoise, uint32(r.s.Step))
	for _, k := range r.tr.noise {
		if to := st.Input(k); to != nil {
			for i := range to {
				to[i] = noise.Float64()
			}
		}
		for i, to := 0, st.Input32(k); i < len(to); i++ {
			to[i] = noise.Float32()
		}
	}
	rate, momentum := r.t.LR, math.NaN()
	if r.t.Schedule != nil {
		rate, momentum = r.t.Schedule(rate, r.s.Step)
	}
	r.rate = rate
	k := r.tr.params
	if err := st.SetInput(k+3+r.tr.memory, []float64{rate, float64(r.s.Step + 1), momentum}); err != nil {
		return err
	}
	if err := st.Run(); err != nil {
		return fmt.Errorf("nn: step %d: %w", r.s.Step+1, err)
	}
	told := st.OutputFloat64(0)
	if err := st.Err(); err != nil {
		return fmt.Errorf("nn: step %d: %w", r.s.Step+1, err)
	}
	loss, fine := told[toldLoss], told[toldFine] != 0
	skipped := !fine && st.InputFloat64(k + 2 + r.tr.memory)[0] > 1
	switch {
	case skipped:
		r.s.Skipped++
	case !finite(loss) && r.s.Step == 0:
		return fmt.Errorf("nn: the loss is %g at the first step, before any update: look for examples and initial values that are not finite, and for logarithms and roots of 0", loss)
	case !finite(loss):
		return fmt.Errorf("nn: the loss is %g at step %d: lower the learning rate (%g) or clip the gradient; the network keeps the parameters before this step", loss, r.s.Step+1, rate)
	case !fine || told[toldInfinite] != 0:
		return fmt.Errorf("nn: the loss is %g at step %d, but its gradient or the update with a learning rate of %g is not finite: look for roots of 0, or clip the gradient; the network keeps the parameters before this step", loss, r.s.Step+1, rate)
	}
	for i := range 3 + r.tr.memory { // parameters, memory, statistics, scale
		if err := st.CarryNow(k+i, 1+i); err != nil {
			return err
		}
	}
	r.s.Step++
	values := map[string]float64{}
	for i, name := range r.tr.names {
		values[name] = told[toldValues+i]
	}
	if !skipped {
		r.s.Sums[0] += loss
		for i, name := range r.tr.names {
			r.s.Sums[1+i] += values[name]
		}
	}
	if r.t.Progress != nil && r.s.Step%r.each != 0 {
		r.t.Progress(r.progress(epoch, loss, values, nil))
	}
	return nil
}

func (r *training) progress(epoch int, loss float64, values map[string]float64, ended *Epoch) Progress {
	return Progress{Epoch: epoch + 1, Epochs: r.t.Epochs, Step: r.s.Step, Steps: r.t.Epochs * r.each, Loss: loss, Values: values, Rate: r.rate, Ended: ended, Elapsed: time.Since(r.start)}
}

// endEpoch takes the means of an epoch and judges the network.
func (r *training) endEpoch(ctx context.Context) error {
	done := float64(r.each - r.s.Skipped) // none: NaN
	e := Epoch{Loss: r.s.Sums[0] / done, Values: map[string]float64{}, Validation: math.NaN(), Skipped: r.s.Skipped, Rate: r.rate}
	for i, name := range r.tr.names {
		e.Values[name] = r.s.Sums[1+i] / done
	}
	clear(r.s.Sums)
	r.s.Skipped = 0
	judged := e.Loss
	if r.t.Validation != nil {
		if err := r.take(); err != nil {
			return err
		}
		v, err := r.n.Evaluate(ctx, r.t.Validation)
		if err != nil {
			return err
		}
		e.Validation, e.ValidationValues = v.Loss, v.Values
		judged = v.Loss
	}
	h := &r.s.History
	h.Epochs = append(h.Epochs, e)
	if judged < r.s.BestLoss {
		r.s.BestLoss, h.Best = judged, len(h.Epochs)-1
		if r.t.Patience > 0 {
			r.s.BestParams, r.s.BestStats = slices.Clone(r.n.values), slices.Clone(r.n.running)
		}
	}
	if r.t.Progress != nil {
		r.t.Progress(r.progress(len(h.Epochs)-1, e.Loss, e.Values, &e))
	}
	return nil
}
