// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/viz"
)

// Circuit is a set of areas and stimuli joined by fibres, whose synapses can be trained so that
// assemblies respond to stimuli. It displays itself as a table of the fibres.
type Circuit struct {
	Name    string
	Problem connectome.Problem
	Trainee *connectome.Trainee
}

// OpenCircuit reads a problem file (JSON), in the form that `euryale train connectome` takes, and the
// examples that it names.
func OpenCircuit(file string) *Circuit {
	step := "OpenCircuit " + file
	text := value(step, func() ([]byte, error) { return foreign.ReadFile(file) })
	p := value(step, func() (*connectome.Problem, error) { return connectome.ParseProblem(text) })
	return newCircuit(step, file, *p, filepath.Dir(file))
}

// NewCircuit makes a circuit and its examples from a problem. Relative paths of examples are relative
// to the current folder.
func NewCircuit(name string, p connectome.Problem) *Circuit {
	return newCircuit("NewCircuit "+name, name, p, "")
}

func newCircuit(step, name string, p connectome.Problem, base string) *Circuit {
	train, test, err := p.OpenExamples(base)
	must(step, err)
	t := value(step, func() (*connectome.Trainee, error) { return p.Build(train, test) })
	return &Circuit{name, p, t}
}

// Train trains the fibres that learn by gradients through soft assemblies, and compares the result,
// using hard assemblies, with the untrained circuit and with plain Hebbian plasticity. An interrupt
// keeps what has been trained, and Continue goes on from there.
func (c *Circuit) Train() *TrainedCircuit { return c.train("Train "+c.Name, nil) }

func (c *Circuit) train(step string, from *connectome.TrainState) *TrainedCircuit {
	ctx, end := interruptible()
	defer end()
	s := c.Trainee.Settings
	show, done := steps("updates", cmp.Or(s.Steps, 300))
	s.Every, s.Resume = 1, from
	s.Progress = func(p connectome.TrainProgress) { show(p.Step, fmt.Sprintf("loss %.3g", p.Loss)) }
	out, err := connectome.Train(ctx, c.Trainee.Circuit, c.Trainee.Train, s)
	done()
	if out == nil || ctx.Err() == nil {
		must(step, err)
	}
	t := &TrainedCircuit{Circuit: c, State: out.TrainState, Interrupted: ctx.Err() != nil, values: value(step, func() (map[string]connectome.Trained, error) { return c.Trainee.Circuit.Read(out.Params) })}
	if t.Interrupted {
		return t
	}
	t.Test = out.Metrics
	remark("comparing with the untrained circuit and with Hebb's rule")
	t.Baselines, err = c.Problem.Compare(ctx, c.Trainee, out.Params)
	if ctx.Err() == nil {
		must(step, err)
	}
	return t
}

// String returns the table of the fibres.
func (c *Circuit) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d training and %s\n%-12s %8s %8s %9s %8s  %s\n", c.Name, c.Trainee.Train.Len(), errtext.Count(c.Trainee.Test.Len(), "test example"), "fibre", "sources", "targets", "synapses", "p", "learns")
	c.fibres(func(name string, e *connectome.Edges, p float64, learns string) {
		fmt.Fprintf(&b, "%-12s %8d %8d %9d %8.4g  %s\n", name, e.Sources, e.Targets, e.Len(), p, learns)
	})
	return b.String()
}

// HTML returns the table of the fibres.
func (c *Circuit) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s: %d training and %s</p><table><tr><th>fibre</th><th>sources</th><th>targets</th><th>synapses</th><th>p</th><th>learns</th></tr>",
		html.EscapeString(c.Name), c.Trainee.Train.Len(), errtext.Count(c.Trainee.Test.Len(), "test example"))
	c.fibres(func(name string, e *connectome.Edges, p float64, learns string) {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%d</td><td>%d</td><td>%d</td><td>%.4g</td><td>%s</td></tr>", html.EscapeString(name), e.Sources, e.Targets, e.Len(), p, html.EscapeString(learns))
	})
	return b.String() + "</table>"
}

func (c *Circuit) fibres(row func(name string, e *connectome.Edges, p float64, learns string)) {
	for i, f := range c.Trainee.Circuit.Fibres {
		learns := "weights"
		if given := c.Problem.Fibres[i].Learn; len(given) > 0 {
			learns = strings.Join(given, ", ")
		}
		row(f.Name(), f.Edges, c.Problem.Fibres[i].P, learns)
	}
}

// SimpleRender returns text and HTML for the kernel.
func (c *Circuit) SimpleRender() map[string]interface{} { return rendered(c) }

// TrainedCircuit is a circuit after training. It displays itself as a table that compares it with
// the untrained circuit and with plain Hebbian plasticity, and the loss.
type TrainedCircuit struct {
	Circuit   *Circuit
	State     connectome.TrainState
	Test      connectome.Metrics     // result on the test examples, with hard assemblies
	Baselines *connectome.Comparison // results that training should improve on; nil after an interrupt
	// Interrupted reports whether training was stopped early.
	Interrupted bool

	values map[string]connectome.Trained
}

// Continue resumes training after an interrupt, as if there had been none.
func (t *TrainedCircuit) Continue() *TrainedCircuit {
	if !t.Interrupted {
		must("Continue", fmt.Errorf("%s has done all of its %d updates: set more Updates in the problem and train again", t.Circuit.Name, t.State.Step))
	}
	return t.Circuit.train("Continue "+t.Circuit.Name, &t.State)
}

// Fibre returns the weights, the gain and the plasticity of a fibre, such as "S>A".
func (t *TrainedCircuit) Fibre(name string) connectome.Trained {
	v, found := t.values[name]
	if !found {
		must("Fibre", fmt.Errorf("there is no fibre %q: the fibres are %s", name, strings.Join(t.Circuit.names(), ", ")))
	}
	return v
}

func (c *Circuit) names() (list []string) {
	c.fibres(func(name string, _ *connectome.Edges, _ float64, _ string) { list = append(list, name) })
	return list
}

// Synapses returns the number of synapses of a fibre on each of its target neurons, as measurements
// from which SampleAssembly infers the connection probability.
func (t *TrainedCircuit) Synapses(fibre string) connectome.Measured {
	i := slices.Index(t.Circuit.names(), fibre)
	if i < 0 {
		t.Fibre(fibre)
	}
	e := t.Circuit.Trainee.Circuit.Fibres[i].Edges
	m := connectome.Measured{Fit: "p", Count: make([]int, e.Targets), K: e.Sources}
	for _, to := range e.To {
		m.Count[to]++
	}
	return m
}

// Loss draws the loss of each update.
func (t *TrainedCircuit) Loss() *viz.Figure {
	return lossFigure("Training of "+t.Circuit.Name, t.State.Loss)
}

// lossFigure draws a loss against the number of updates; logarithmically where it is positive and
// falls by more than a factor of ten.
func lossFigure(title string, loss []float64) *viz.Figure {
	x := make([]float64, len(loss))
	least, most := math.Inf(1), math.Inf(-1)
	for i, l := range loss {
		x[i] = float64(i + 1)
		least, most = min(least, l), max(most, l)
	}
	return value("picture of the loss", func() (*viz.Figure, error) {
		return viz.Plots(title, viz.Lines{XLabel: "update", YLabel: "loss", LogY: least > 0 && most > 10*least, Curves: []viz.Line{{Name: "loss", X: x, Y: loss}}})
	})
}

// Save writes the synapses of all fibres with their weights as an NPZ file, in compressed sparse
// rows.
func (t *TrainedCircuit) Save(file string) {
	must("Save "+file, atomicfile.Write(file, true, func(w io.Writer) error { return t.Circuit.Trainee.Circuit.WriteNPZ(w, t.State.Params) }))
}

// comparison calls row for the trained circuit and each of its baselines.
func (t *TrainedCircuit) comparison(row func(name string, m connectome.Metrics)) {
	row("trained, test", t.Test)
	if t.Baselines == nil { // an interrupt left them out
		return
	}
	row("trained, training set", t.Baselines.Train)
	row("untrained, test", t.Baselines.Untrained)
	row("Hebbian, test", t.Baselines.Hebbian)
}

func (t *TrainedCircuit) stopped() string {
	return fmt.Sprintf("%s: interrupted after %d updates; Continue goes on.", t.Circuit.Name, t.State.Step)
}

// String returns the table of accuracies and overlaps.
func (t *TrainedCircuit) String() string {
	if t.Interrupted {
		return t.stopped() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n%-22s %8s %8s\n", t.Circuit.Name, errtext.Count(t.State.Step, "update"), "hard assemblies", "accuracy", "overlap")
	t.comparison(func(name string, m connectome.Metrics) {
		fmt.Fprintf(&b, "%-22s %8.3f %8.3f\n", name, m.Accuracy, m.Overlap)
	})
	return b.String()
}

// HTML returns the table of accuracies and overlaps, and the loss.
func (t *TrainedCircuit) HTML() string {
	picture := ""
	if len(t.State.Loss) > 1 {
		picture = t.Loss().HTML()
	}
	if t.Interrupted {
		return "<p><b>" + html.EscapeString(t.stopped()) + "</b></p>" + picture
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s, %s</p><table><tr><th>hard assemblies</th><th>accuracy</th><th>overlap</th></tr>", html.EscapeString(t.Circuit.Name), errtext.Count(t.State.Step, "update"))
	t.comparison(func(name string, m connectome.Metrics) {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%.3f</td><td>%.3f</td></tr>", name, m.Accuracy, m.Overlap)
	})
	return b.String() + "</table>" + picture
}

// SimpleRender returns text and HTML for the kernel.
func (t *TrainedCircuit) SimpleRender() map[string]interface{} { return rendered(t) }

// SampleAssembly draws from the posterior given measurements of assemblies: the connection probability
// from degrees ("p"), the plasticity from weights ("beta"), both from overlaps of successive steps
// while an assembly forms ("formation"), and curves of completion and association.
func SampleAssembly(m connectome.Measured, options ...Settings) *Posterior {
	name := "assembly, " + m.Fit
	step := "SampleAssembly"
	o := one(step, options)
	must(step, o.takes("a posterior of assemblies", "", &setting.Sampler{}))
	own := m.Settings(infer.Settings{})
	chains := value(step, func() (setting.Sampler, error) {
		return o.sampling(setting.Sampler{Draws: own.Draws, TargetAccept: own.TargetAccept})
	})
	ctx, end := interruptible()
	defer end()
	model, err := m.Model(ctx, remark)
	if ctx.Err() != nil {
		err = errors.New("the run was interrupted before the chains began: run the cell again")
	}
	must(step, err)
	post := value(step, model.Compile)
	p := &Posterior{Name: name, page: plainPage, judge: func(f *infer.Fit) (check.Verdict, error) { return f.CheckModel(infer.CheckSettings{}) }}
	return p.sample(ctx, post, chains, o.Seed, nil)
}
