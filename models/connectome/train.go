// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// TrainSettings are the settings of training; only Losses has no default.
type TrainSettings struct {
	Losses []Loss // terms of the objective, at least one
	Cap    KCap   // relaxation of the cap; its Temperature is not used
	// Warm and Cold are the first and the last temperature, between which it falls
	// geometrically. Default 2 and 0.1, suited to weights near 1; 8 and 0.5 for
	// CappedSimplex.
	Warm, Cold float64
	Steps      int     // total number of updates. Default 300
	Batch      int     // number of examples per update, drawn with replacement. Default 32
	LR         float64 // learning rate of Adam. Default 0.05
	// Precision is "64", "32" or "bf16". With bf16 the parameters are rounded to bfloat16 in the
	// forward pass, and updates act on a float32 copy. Default "64".
	Precision string
	Seed      uint64 // seed of the batches
	Threads   int    // number of threads. Default GOMAXPROCS
	// Backend runs the losses and their gradients, such as ad.CUDA{}; hard assemblies are evaluated
	// on the CPU. Default: the CPU, with Threads.
	Backend ad.Backend

	Readout *Readout // readout for accuracy and overlap of hard assemblies. Default: none, only losses
	Test    Examples // examples on which metrics are computed. Default: the training examples

	Every    int                 // number of updates between two calls of Progress. Default 10
	Progress func(TrainProgress) // function that receives the progress; may be nil
	// number of updates between two evaluations of metrics. Default: only at the end
	Judge int
	Save  func(s TrainState) error // function that stores the state, every SaveEvery updates and at the end; may be nil
	// SaveEvery is the number of updates between two calls of Save. Default 100.
	SaveEvery int
	Resume    *TrainState // state to continue from, bit for bit as if training had never stopped
}

// TrainProgress describes one update.
type TrainProgress struct {
	Step, Steps int
	Loss        float64
	Terms       []float64 // values of Losses, each times its weight
	Temperature float64
	Metrics     *Metrics // metrics after the update; nil if none are due
	Device      string   // device on which losses and gradients are computed: "cpu", or a GPU such as "cuda:0"
}

// TrainState holds everything that training has to remember. Its fields are numbers and slices of
// numbers, which any encoder that keeps float64 exactly, such as encoding/json, can save.
type TrainState struct {
	Step   int
	Params []float64 // trained parameters, see Circuit.Start
	Adam   optim.DescentState
	Loss   []float64 // loss of each update
}

// Training is the result of training.
type Training struct {
	TrainState
	Metrics Metrics // metrics of hard assemblies at the end
	Device  string  // device on which losses and gradients were computed: "cpu", or a GPU such as "cuda:0"
}

// Train fits the parameters of a circuit to examples with Adam. When ctx ends, it returns the
// result so far with ctx.Err(): pass its state to Resume to continue.
func Train(ctx context.Context, c *Circuit, e Examples, s TrainSettings) (*Training, error) {
	if err := given.Args("connectome.Train", "ctx", ctx, "c", c); err != nil {
		return nil, err
	}
	s = s.defaults()
	if err := errors.Join(c.check(), s.check(c)); err != nil {
		return nil, err
	}
	t, err := newTrainer(c, e, s)
	if err != nil {
		return nil, err
	}
	return t.run(ctx)
}

func (s TrainSettings) defaults() TrainSettings {
	set := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	count := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if s.Cap.Kind == CappedSimplex {
		set(&s.Warm, 8)
		set(&s.Cold, 0.5)
	}
	set(&s.Warm, 2)
	set(&s.Cold, 0.1)
	set(&s.LR, 0.05)
	count(&s.Steps, 300)
	count(&s.Batch, 32)
	count(&s.Every, 10)
	count(&s.SaveEvery, 100)
	if s.Precision == "" {
		s.Precision = "64"
	}
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: s.Threads}
	}
	return s
}

func (s TrainSettings) check(c *Circuit) error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("connectome: "+format, v...)) }
	if len(s.Losses) == 0 {
		say("there are no losses: training needs at least one, such as Readout.Classification(5)")
	}
	if !(s.Warm > 0 && s.Cold > 0 && s.LR > 0) || math.IsInf(s.Warm+s.Cold+s.LR, 1) {
		say("the temperatures go from %g to %g, and the learning rate is %g: want finite numbers above 0", s.Warm, s.Cold, s.LR)
	}
	if s.Steps > math.MaxUint32 {
		say("there are %d updates: want at most %d, the number of random streams for batches", s.Steps, uint32(math.MaxUint32))
	}
	if s.Steps < 0 || s.Batch < 0 || s.Every < 0 || s.SaveEvery < 0 || s.Judge < 0 {
		say("there are %d updates of %s, with Every %d, Judge %d and SaveEvery %d: want none below 0", s.Steps, errtext.Count(s.Batch, "example"), s.Every, s.Judge, s.SaveEvery)
	}
	if known := []string{"64", "32", "bf16"}; !slices.Contains(known, s.Precision) {
		say("the precision is %q: want one of %v", s.Precision, known)
	}
	if n := len(c.Start()); n == 0 {
		say("there is nothing to train, as every fibre has FixWeights: clear it on at least one")
	} else if s.Resume != nil {
		if err := s.Resume.check(s.Steps, n); err != nil {
			say("%w", err)
		}
	}
	return errors.Join(bad...)
}

// temperature returns the temperature of update t.
func (s TrainSettings) temperature(t int) float64 {
	return s.Warm * math.Pow(s.Cold/s.Warm, float64(t)/float64(max(s.Steps-1, 1)))
}

type trainer struct {
	TrainSettings
	examples Examples
	machine  *machine
	judge    *judge
	descent  *optim.Descent
	state    TrainState
	grad     []float64
}

func newTrainer(c *Circuit, e Examples, s TrainSettings) (*trainer, error) {
	t := &trainer{TrainSettings: s, examples: e}
	classes := e.classes()
	if s.Readout != nil {
		classes = len(s.Readout.Assemblies)
	}
	if err := e.check(c, classes); err != nil {
		return nil, err
	}
	if s.Test.Len() == 0 {
		s.Test = e
	}
	var err error
	if t.judge, err = c.judge(s.Test, s.Readout, s.Losses, s.Threads); err != nil {
		return nil, err
	}
	if t.machine, err = c.compile(s.Batch, classes, e.perStep(c), s.Cap, s.Precision, s.Backend, t.outputs); err != nil {
		return nil, fmt.Errorf("connectome: %w", err)
	}
	t.state = TrainState{Params: c.Start()}
	if r := s.Resume; r != nil {
		t.state = r.clone()
	}
	t.descent = &optim.Descent{Rule: optim.Adam{}, LR: s.LR, State: t.state.Adam}
	t.grad = make([]float64, len(t.state.Params))
	return t, nil
}

// outputs returns the weighted losses one by one and the gradients of their sum.
func (t *trainer) outputs(p *Pass, params []*ad.Node) []*ad.Node {
	out := terms(p, t.Losses)
	return append(out, ad.Grad(ad.AddN(out...), params...)...)
}

func (t *trainer) run(ctx context.Context) (*Training, error) {
	for t.state.Step < t.Steps {
		if err := ctx.Err(); err != nil {
			return t.result(), err
		}
		p, err := t.update()
		if err != nil {
			return t.result(), err
		}
		if err := t.report(ctx, p); err != nil {
			return t.result(), err
		}
	}
	out := t.result()
	var err error
	out.Metrics, err = t.judge.metrics(ctx, t.state.Params)
	return out, err
}

// result returns what training has reached, without metrics.
func (t *trainer) result() *Training {
	return &Training{TrainState: t.snapshot(), Device: t.machine.state.Program().Device()}
}

// purposeBatch is the random stream of batches; the stream's number is the update.
const purposeBatch uint32 = 511

// update makes one step of Adam.
func (t *trainer) update() (TrainProgress, error) {
	step := t.state.Step
	src := tensor.NewStream(t.Seed, purposeBatch, uint32(step))
	which := make([]int, t.Batch)
	for i := range which {
		which[i] = src.IntN(t.examples.Len())
	}
	p := TrainProgress{Step: step + 1, Steps: t.Steps, Temperature: t.temperature(step), Device: t.machine.state.Program().Device()}
	if err := t.machine.load(t.examples, which); err != nil {
		return p, err
	}
	if err := t.machine.run(t.state.Params, p.Temperature); err != nil {
		return p, fmt.Errorf("connectome: update %d: %w", step, err)
	}
	for i := range t.Losses {
		v := t.machine.state.OutputFloat64(i)[0]
		p.Terms = append(p.Terms, v)
		p.Loss += v
	}
	if err := t.machine.state.Err(); err != nil {
		return p, fmt.Errorf("connectome: update %d: %w", step, err)
	}
	if math.IsNaN(p.Loss) || math.IsInf(p.Loss, 0) {
		return p, fmt.Errorf("connectome: the loss is %g at update %d with temperature %g: lower the learning rate (%g) or raise Cold", p.Loss, step, p.Temperature, t.LR)
	}
	at := 0
	for i, n := range t.machine.params {
		copy(t.grad[at:], t.machine.state.OutputFloat64(len(t.Losses)+i))
		at += n.Size()
	}
	if err := t.machine.state.Err(); err != nil {
		return p, fmt.Errorf("connectome: update %d: %w", step, err)
	}
	t.descent.Step(t.state.Params, t.grad)
	if t.Precision != "64" {
		rounded(t.state.Params, t.state.Params, "32")
	}
	t.state.Step++
	t.state.Loss = append(t.state.Loss, p.Loss)
	return p, nil
}

// report calls Progress and Save when they are due.
func (t *trainer) report(ctx context.Context, p TrainProgress) error {
	last := p.Step == t.Steps
	due := func(every int) bool { return every > 0 && p.Step%every == 0 }
	if due(t.Judge) && !last {
		m, err := t.judge.metrics(ctx, t.state.Params)
		if err != nil {
			return err
		}
		p.Metrics = &m
	}
	if t.Progress != nil && (due(t.Every) || last || p.Metrics != nil) {
		t.Progress(p)
	}
	if t.Save != nil && (due(t.SaveEvery) || last) {
		return t.Save(t.snapshot())
	}
	return nil
}

func (t *trainer) snapshot() TrainState {
	t.state.Adam = t.descent.State
	return t.state.clone()
}

// clone returns a deep copy, which further training does not change.
func (s TrainState) clone() TrainState {
	s.Params, s.Loss = slices.Clone(s.Params), slices.Clone(s.Loss)
	s.Adam.Scalars = slices.Clone(s.Adam.Scalars)
	buffers := make([][]float64, len(s.Adam.Buffers))
	for i, b := range s.Adam.Buffers {
		buffers[i] = slices.Clone(b)
	}
	s.Adam.Buffers = buffers
	return s
}
