// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// Problem is a circuit together with its training, as a JSON document, for people who do not write
// Go:
//
//	{"stimuli": [{"name": "S", "n": 200}], "areas": [{"name": "A", "n": 300, "k": 15}],
//	 "fibres": [{"from": "S", "to": "A", "p": 0.1}, {"from": "A", "to": "A", "p": 0.1}],
//	 "steps": 3, "task": {"classes": 5, "active": 20, "on": 0.5, "off": 0.05, "train": 500, "test": 1000}}
//
// Without a task, the examples come from files; the caller reads them and passes them to Build.
type Problem struct {
	Stimuli   []Stimulus     `json:"stimuli"`
	Areas     []Area         `json:"areas"`
	Fibres    []ProblemFibre `json:"fibres"`
	Steps     int            `json:"steps"`
	Plastic   bool           `json:"plastic,omitempty"`
	MaxWeight float64        `json:"max_weight,omitempty"`
	Normalize bool           `json:"normalize,omitempty"`
	Seed      uint64         `json:"seed,omitempty"` // seed of connections, task, assemblies and batches

	Task *NoisyClasses `json:"task,omitempty"`
	// NPZ file of training examples, with x [examples, stimulus neurons] and labels [examples]
	Data    string         `json:"data,omitempty"`
	Test    string         `json:"test,omitempty"`   // NPZ file of test examples; default the training examples
	Readout ProblemReadout `json:"readout,omitzero"` // area that is read, and assemblies of the labels; default: disjoint assemblies of the last area
	Losses  []ProblemLoss  `json:"losses,omitempty"` // terms of the loss; default classification
	// kind of cap: sigmoid (default), capped-simplex or threshold
	Cap string `json:"cap,omitempty"`
	// Hard makes caps hard in the forward pass, with the gradient of the soft cap.
	Hard    bool    `json:"straight_through,omitempty"`
	Warm    float64 `json:"warm,omitempty"` // first temperature, see TrainSettings
	Cold    float64 `json:"cold,omitempty"`
	Updates int     `json:"updates,omitempty"`   // number of updates; default 300
	Batch   int     `json:"batch,omitempty"`     // number of examples per update; default 32
	LR      float64 `json:"lr,omitempty"`        // learning rate; default 0.05
	Bits    string  `json:"precision,omitempty"` // precision: 64 (default), 32 or bf16
	Hebb    float64 `json:"hebb,omitempty"`      // plasticity of the baseline; default 0.02
}

// ProblemFibre is a fibre whose connections are drawn, each with probability P.
type ProblemFibre struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	P     float64  `json:"p"`
	Gain  float64  `json:"gain,omitempty"`
	Beta  float64  `json:"beta,omitempty"`
	Learn []string `json:"learn,omitempty"` // trained quantities: weights (default), gain, beta or none
}

// ProblemReadout names the area that is read and gives the assemblies of the labels.
type ProblemReadout struct {
	Area       string  `json:"area,omitempty"`
	Assemblies [][]int `json:"assemblies,omitempty"`
}

// ProblemLoss is one term of the loss.
type ProblemLoss struct {
	Name   string  `json:"name"` // name of the loss: classification, overlap, cross_entropy, association, separation, stability, weights or columns
	Weight float64 `json:"weight,omitempty"`
	Scale  float64 `json:"scale,omitempty"`  // scale of classification; default 5
	Margin float64 `json:"margin,omitempty"` // margin of separation
}

var (
	lossNames = []string{"classification", "overlap", "cross_entropy", "association", "separation", "stability", "weights", "columns"}
	capNames  = []string{"sigmoid", "capped-simplex", "threshold"}
	learnable = []string{"weights", "gain", "beta", "none"}
)

// ParseProblem reads a problem and lists all its mistakes at once.
func ParseProblem(b []byte) (*Problem, error) {
	b, err := foreign.Problem(b, foreign.CircuitProblem)
	if err != nil {
		return nil, fmt.Errorf("connectome: problem: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var read struct {
		Problem
		Fibers []ProblemFibre `json:"fibers"` // the other spelling of fibres
	}
	if err := d.Decode(&read); err != nil {
		return nil, fmt.Errorf("connectome: problem: %w", foreign.InWords(b, err))
	}
	p := read.Problem
	if p.Fibres != nil && read.Fibers != nil {
		return nil, fmt.Errorf("connectome: the problem has both fibres and fibers: write only one of them")
	}
	p.Fibres = append(p.Fibres, read.Fibers...)
	return &p, p.check(p.Data != "")
}

// check lists everything that is wrong; read says that the examples come from elsewhere.
func (p *Problem) check(read bool) error {
	var bad []error
	say := func(format string, v ...any) { bad = append(bad, fmt.Errorf("connectome: "+format, v...)) }
	known := func(what, name string, names []string) {
		if name != "" && !slices.Contains(names, name) {
			say("the %s is %q: want one of %s%s", what, name, strings.Join(names, ", "), meant(name, names))
		}
	}
	sound := func(what, name string, n int) {
		if !plainName.MatchString(name) {
			say("the %s cannot be called %q: want at most 100 letters, digits, _, - and dots, with no dot first", what, name)
		}
		if n < 1 || n > math.MaxInt32 {
			say("%s %s has %s: want 1 to %d", what, name, errtext.Count(n, "neuron"), math.MaxInt32)
		}
	}
	known("cap", p.Cap, capNames)
	for _, l := range p.Losses {
		known("loss", l.Name, lossNames)
		if !(l.Weight >= 0 && l.Scale >= 0 && l.Margin >= 0) {
			say("loss %s has weight %g, scale %g and margin %g: want none below 0", l.Name, l.Weight, l.Scale, l.Margin)
		}
		if l.Name == "stability" && p.Steps < 2 {
			say("the loss stability has %s: want two", errtext.Count(p.Steps, "step"))
		}
	}
	var all, areas []string
	for _, a := range p.Areas {
		areas = append(areas, a.Name)
		if sound("area", a.Name, a.N); a.K < 1 || a.K > a.N {
			say("area %s is to fire %d of its %d neurons: want at least 1 and at most all", a.Name, a.K, a.N)
		}
	}
	all = append(all, areas...)
	inputs := 0
	for _, s := range p.Stimuli {
		all = append(all, s.Name)
		sound("stimulus", s.Name, s.N)
		inputs += min(s.N, math.MaxInt32)
	}
	if len(p.Fibres) == 0 {
		say("there are no fibres: give at least one, such as from a stimulus to an area")
	}
	for _, f := range p.Fibres {
		known("source of a fibre", f.From, all)
		known("target of a fibre", f.To, areas)
		if !(f.P > 0 && f.P <= 1) {
			say("fibre %s>%s has synapses with probability %g: want more than 0 and at most 1", f.From, f.To, f.P)
		}
		for _, l := range f.Learn {
			known("entry learn of fibre "+f.From+">"+f.To, l, learnable)
		}
		if list := slices.Sorted(slices.Values(f.Learn)); len(slices.Compact(list)) < len(f.Learn) || len(f.Learn) > 1 && slices.Contains(f.Learn, "none") {
			say("fibre %s>%s learns %v: name each only once, and do not combine none with others", f.From, f.To, f.Learn)
		}
		if slices.Contains(f.Learn, "beta") && !p.Plastic {
			say("fibre %s>%s learns beta, which does nothing in a circuit that is not plastic: set plastic, or leave beta out", f.From, f.To)
		}
	}
	known("area of the readout", p.Readout.Area, areas)
	if p.Steps < 1 || p.Updates < 0 || p.Updates > mostUpdates || p.Batch < 0 {
		say("the problem has %s and %s in batches of %d: want at least 1 step, at most %d updates (0 for 300), and no batch below 0 (0 for 32)", errtext.Count(p.Steps, "step"), errtext.Count(p.Updates, "update"), p.Batch, mostUpdates)
	}
	if !(p.MaxWeight >= 0 && p.Hebb >= 0) || math.IsInf(p.MaxWeight+p.Hebb, 1) {
		say("max_weight is %g and hebb %g: want both above 0, or 0 for no bound and for 0.02", p.MaxWeight, p.Hebb)
	}
	switch {
	case len(p.Areas) == 0 || len(p.Stimuli) == 0:
		say("there are %d areas and %d stimuli: want at least one of each", len(p.Areas), len(p.Stimuli))
	case (p.Task == nil) == !read:
		say("examples come either from a task or from data: give only one of the two")
	case p.Task != nil:
		if err := p.Task.check(inputs); err != nil {
			say("%w", err)
		}
	}
	if len(bad) > 0 {
		return errors.Join(bad...)
	}
	classes, examples := len(p.Readout.Assemblies), 0
	if p.Task != nil {
		classes, examples = max(classes, p.Task.Classes), p.Task.Train+min(p.Task.Test, math.MaxInt-p.Task.Train)
	}
	return fits(p.needs(classes, examples)...)
}

// plainName matches names that can be part of file names for the trained weights.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)

func (p *Problem) batch() int { return cmp.Or(p.Batch, 32) }

func meant(name string, names []string) string {
	if near := spelling.Meant(name, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// Trainee is a problem made ready for training.
type Trainee struct {
	Circuit     *Circuit
	Train, Test Examples
	Readout     Readout
	Settings    TrainSettings // settings with losses, readout and test examples

	sum string // hash of the problem, for checkpoints
}

// Check reports everything that Train and Evaluate would refuse. Build has already checked the
// Trainee that it returns.
func (t *Trainee) Check() error {
	if err := errors.Join(t.Circuit.check(), t.Readout.check(t.Circuit)); err != nil {
		return err
	}
	bad := []error{t.Settings.defaults().check(t.Circuit)}
	for _, set := range []struct {
		name string
		e    Examples
	}{{"training", t.Train}, {"test", t.Test}} {
		if err := set.e.check(t.Circuit, len(t.Readout.Assemblies)); err != nil {
			bad = append(bad, fmt.Errorf("%s examples: %w", set.name, err))
		}
	}
	return errors.Join(bad...)
}

// Build makes the circuit and the settings of its training. The examples are those given, or those
// of the task. It returns an error if anything is wrong with them, so that Train accepts what Build
// returns.
func (p *Problem) Build(train, test Examples) (*Trainee, error) {
	if err := p.check(p.Data != "" || train.Len() > 0); err != nil {
		return nil, err
	}
	if err := fits(p.needs(max(train.classes(), test.classes()), train.Len()+test.Len())...); err != nil {
		return nil, err
	}
	t := &Trainee{Circuit: &Circuit{Stimuli: p.Stimuli, Areas: p.Areas, Steps: p.Steps, Plastic: p.Plastic, MaxWeight: p.MaxWeight, Normalize: p.Normalize}, Train: train, Test: test}
	for _, f := range p.Fibres {
		t.Circuit.Fibres = append(t.Circuit.Fibres, p.fibre(t.Circuit, f))
	}
	if p.Task != nil {
		t.Train, t.Test = p.Task.Draw(t.Circuit.inputs(), p.Seed)
	}
	if t.Test.Len() == 0 {
		t.Test = t.Train
	}
	if err := errors.Join(t.Circuit.check(), p.read(t)); err != nil {
		return nil, err
	}
	kind := Relaxation(max(slices.Index(capNames, p.Cap), 0))
	t.Settings = TrainSettings{Cap: KCap{Kind: kind, Straight: p.Hard}, Warm: p.Warm, Cold: p.Cold, Steps: p.Updates, Batch: p.Batch, LR: p.LR,
		Precision: p.Bits, Seed: p.Seed, Readout: &t.Readout, Test: t.Test}
	losses := p.Losses
	if len(losses) == 0 {
		losses = []ProblemLoss{{Name: "classification"}}
	}
	for _, l := range losses {
		t.Settings.Losses = append(t.Settings.Losses, l.loss(t.Readout))
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	var err error
	t.sum, err = p.sumOf(t)
	return t, err
}

// fibre draws the synapses of a fibre.
func (p *Problem) fibre(c *Circuit, f ProblemFibre) *Fibre {
	sources, _ := c.size(f.From)
	targets, _ := c.size(f.To)
	learn := func(what string) bool { return slices.Contains(f.Learn, what) }
	seed := p.Seed
	for _, r := range f.From + ">" + f.To {
		seed = seed*1099511628211 + uint64(r)
	}
	return &Fibre{From: f.From, To: f.To, Gain: f.Gain, Beta: f.Beta, FixWeights: len(f.Learn) > 0 && !learn("weights"), LearnGain: learn("gain"), LearnBeta: learn("beta"),
		Edges: Connect(assembly.Fibre{From: f.From, To: f.To, Seed: seed, P: f.P, N: targets}, sources, nil)}
}

// read sets the readout.
func (p *Problem) read(t *Trainee) (err error) {
	name := p.Readout.Area
	if name == "" {
		name = p.Areas[len(p.Areas)-1].Name
	}
	t.Readout = Readout{Area: name, Assemblies: p.Readout.Assemblies}
	if len(t.Readout.Assemblies) == 0 {
		t.Readout, err = RandomReadout(*t.Circuit.area(name), t.Train.classes(), p.Seed)
	}
	return err
}

func (l ProblemLoss) loss(r Readout) (out Loss) {
	scale := l.Scale
	if scale == 0 {
		scale = 5
	}
	switch l.Name {
	case "overlap":
		out = r.Overlap()
	case "cross_entropy":
		out = r.CrossEntropy()
	case "association":
		out = AssociationLoss(r.Area)
	case "separation":
		out = SeparationLoss(r.Area, l.Margin)
	case "stability":
		out = StabilityLoss(r.Area)
	case "weights":
		out = WeightLoss()
	case "columns":
		out = ColumnLoss()
	default:
		out = r.Classification(scale)
	}
	out.Weight = l.Weight
	return out
}
