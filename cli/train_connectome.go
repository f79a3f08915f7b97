// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
	"github.com/euryale-dev/euryale/viz/term"
)

const trainCommand = "train connectome"

// trainConfig is the content of config.json for train connectome.
type trainConfig struct {
	Command string              `json:"command"`
	Version string              `json:"version"`
	File    string              `json:"file"`
	Base    string              `json:"base"` // folder that the problem's relative paths refer to
	Threads int                 `json:"threads,omitempty"`
	Device  string              `json:"device,omitempty"` // where losses and gradients are computed: cpu, or a GPU such as cuda:0
	Problem *connectome.Problem `json:"problem"`
}

func (a *app) trainConnectome() *cobra.Command {
	return &cobra.Command{
		Use:   "connectome PROBLEM.json",
		Short: "Train the synapses of neural assemblies to classify stimuli",
		Long: `Train the weights of a circuit of stimuli and areas by gradient descent through
soft caps (smooth forms of the rule that the k neurons with the most input
fire), through time and, if asked, through plasticity. The reported figures
are those of hard assemblies, in which exactly k neurons fire, beside those of
the untrained circuit and of plain Hebbian plasticity.

  {"stimuli": [{"name": "S", "n": 200}],
   "areas": [{"name": "A", "n": 300, "k": 15}],
   "fibres": [{"from": "S", "to": "A", "p": 0.1},
              {"from": "A", "to": "A", "p": 0.1}],
   "steps": 3,
   "task": {"classes": 5, "active": 20, "on": 0.5, "off": 0.05,
            "train": 500, "test": 1000}}

The task has classes of stimuli. Each class has a core of active neurons that
fire with probability "on"; all others fire with probability "off". Instead of a
task, "data" and "test" can name NPZ files with x [examples, stimulus neurons]
and labels [examples].

Optional keys: "readout" {"area": "A", "assemblies": [[1, 5, ...], ...]};
"losses" [{"name": "classification", "weight": 1, "scale": 5}, ...], one or more
of classification, overlap, cross_entropy, association, separation (with
"margin"), stability, weights and columns; "cap" sigmoid, capped-simplex or
threshold; "straight_through"; the temperatures "warm" and "cold"; "updates",
"batch", "lr"; "precision" 64, 32 or bf16; "plastic", "max_weight", "normalize";
"hebb", the plasticity of the baseline. Fibres can have "gain", "beta" and
"learn" ["weights", "gain", "beta"].

The run folder holds the trained connectome.npz, training.csv, summary.json and
plots. Ctrl-C saves the state, and --resume continues with exactly the same
results.

  euryale train connectome classes.json --out classes
  euryale train connectome --resume classes
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.resume != "":
				return a.resumeTraining(c, args)
			case len(args) == 0:
				return usage("train connectome needs PROBLEM.json, or --resume RUN")
			}
			return a.startTraining(c.Context(), args[0], c.Flags().Changed("seed"))
		},
	}
}

func (a *app) startTraining(ctx context.Context, file string, seeded bool) error {
	b, err := readInput(file)
	if err != nil {
		return err
	}
	cfg := trainConfig{Command: trainCommand, Version: version(), File: absolute(file), Base: filepath.Dir(absolute(file)), Threads: a.threads}
	if cfg.Problem, err = connectome.ParseProblem(b); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", file, err))
	}
	if seeded {
		cfg.Problem.Seed = a.seed
	}
	t, err := a.openTrainee(&cfg, file)
	if err != nil {
		return err
	}
	out := a.out
	if out == "" {
		out = "run-" + strings.TrimSuffix(filepath.Base(file), ".json")
	}
	dir, err := a.makeRundir(out)
	if err != nil {
		return err
	}
	if err := a.begin(dir, trainCommand, cfg); err != nil {
		return err
	}
	return a.trainInto(ctx, dir, &cfg, t, nil)
}

func (a *app) resumeTraining(c *cobra.Command, args []string) error {
	ctx := c.Context()
	var cfg trainConfig
	dir, err := a.reopen(c, trainCommand, args, &cfg)
	if err != nil {
		return err
	}
	if cfg.Problem == nil {
		return as(exitConfig, fmt.Errorf("%s records no problem", dir.Path("config.json")))
	}
	if err := a.goOnWhere(cfg.Device); err != nil {
		return err
	}
	t, err := a.openTrainee(&cfg, dir.Path("config.json"))
	if err != nil {
		return err
	}
	f, err := foreign.Open(dir.Path("checkpoint"))
	if errors.Is(err, fs.ErrNotExist) {
		a.note("%s has no checkpoint yet: starting over", dir)
		return a.trainInto(ctx, dir, &cfg, t, nil)
	}
	if err != nil {
		return input(err)
	}
	defer f.Close()
	state, err := t.LoadState(f)
	if err != nil {
		return a.unreadable(dir, fmt.Errorf("%s: %w", dir.Path("checkpoint"), err))
	}
	return a.trainInto(ctx, dir, &cfg, t, state)
}

// openTrainee reads the examples of a problem, if they are in files, and builds it.
// Errors name the file they come from.
func (a *app) openTrainee(cfg *trainConfig, from string) (*connectome.Trainee, error) {
	train, test, err := cfg.Problem.OpenExamples(cfg.Base)
	if err != nil {
		return nil, input(err)
	}
	t, err := cfg.Problem.Build(train, test)
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", from, err))
	}
	t.Settings.Threads, t.Settings.Backend = cfg.Threads, a.backend(cfg.Threads)
	return t, nil
}

// trainDoc is the JSON document of train connectome.
type trainDoc struct {
	Engine    string    `json:"engine"`
	Status    string    `json:"status"`
	Updates   int       `json:"updates"`
	Loss      number    `json:"loss"` // mean loss over the last tenth of the updates
	Test      metricDoc `json:"test"` // performance of hard assemblies on the test examples
	Train     metricDoc `json:"train"`
	Untrained metricDoc `json:"untrained"`
	Hebbian   metricDoc `json:"hebbian"`
	Fibres    []struct {
		Fibre    string `json:"fibre"`
		Synapses int    `json:"synapses"`
		Gain     number `json:"gain"`
		Beta     number `json:"beta"`
	} `json:"fibres"`
	Device string `json:"device"` // where losses and gradients were computed
	Run    string `json:"run"`
}

type metricDoc struct {
	Accuracy number `json:"accuracy"`
	Overlap  number `json:"overlap"`
}

func metric(m connectome.Metrics) metricDoc {
	return metricDoc{number(m.Accuracy), number(m.Overlap)}
}

// trainInto trains and writes the results to the folder.
func (a *app) trainInto(ctx context.Context, dir runs.Folder, cfg *trainConfig, t *connectome.Trainee, state *connectome.TrainState) error {
	set := t.Settings
	total := cmp.Or(set.Steps, 300)
	bar := term.NewBar(a.screen, a.barSettings("updates", total))
	done := 0
	if state != nil {
		done = state.Step
		bar.Add(done, 0)
	}
	set.Resume, set.Every = state, 1
	set.Progress = func(p connectome.TrainProgress) {
		bar.Add(p.Step-done, 0)
		done = p.Step
		if cfg.Device != p.Device { // the folder says where to go on
			cfg.Device = p.Device
			if err := writeJSON(dir.Path(runs.ConfigFile), cfg); err != nil {
				a.notSaved(err)
			}
		}
	}
	save := func(s connectome.TrainState) error {
		return as(exitCannotWrite, atomicfile.Write(dir.Path("checkpoint"), true, func(w io.Writer) error { return t.SaveState(w, s) }))
	}
	set.SaveEvery = 20
	set.Save = func(s connectome.TrainState) error {
		if s.Step == total {
			return a.patiently(ctx, func() error { return save(s) })
		}
		if err := save(s); err != nil { // training continues and is saved later
			a.notSaved(err)
		}
		return nil
	}
	out, err := connectome.Train(ctx, t.Circuit, t.Train, set)
	bar.Close()
	if ctx.Err() != nil && out != nil {
		if err := save(out.TrainState); err != nil {
			return as(exitCannotWrite, fmt.Errorf("interrupted after %d updates of %d; the updates since the last checkpoint are lost: %w", out.Step, total, err))
		}
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted after %d updates of %d; they are kept in %s", out.Step, total, dir), hint: "euryale " + trainCommand + " --resume " + foreign.Typed(string(dir))}
	}
	if err != nil {
		return as(exitFailed, err)
	}
	return a.finishTraining(ctx, dir, cfg, t, out)
}

// finishTraining compares the result with the baselines, writes all files and prints the
// results.
func (a *app) finishTraining(ctx context.Context, dir runs.Folder, cfg *trainConfig, t *connectome.Trainee, out *connectome.Training) error {
	doc := trainDoc{Engine: "connectome", Status: "trained", Updates: out.Step, Test: metric(out.Metrics), Device: out.Device, Run: string(dir)}
	tail := out.Loss[len(out.Loss)-max(1, len(out.Loss)/10):]
	for _, l := range tail {
		doc.Loss += number(l / float64(len(tail)))
	}
	all, err := cfg.Problem.Compare(ctx, t, out.Params)
	if err != nil {
		return as(exitFailed, err)
	}
	doc.Train, doc.Untrained, doc.Hebbian = metric(all.Train), metric(all.Untrained), metric(all.Hebbian)
	if err := a.saveTraining(dir, t, out, &doc); err != nil {
		return err
	}
	if a.json {
		return a.document(doc)
	}
	_, err = fmt.Fprintf(a.stdout, "%-22s %8s %8s\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%d updates, loss %.4g; results in %s\n",
		"hard assemblies", "accuracy", "overlap", "trained, test", doc.Test.Accuracy, doc.Test.Overlap, "trained, training set", doc.Train.Accuracy, doc.Train.Overlap,
		"untrained, test", doc.Untrained.Accuracy, doc.Untrained.Overlap, "Hebbian, test", doc.Hebbian.Accuracy, doc.Hebbian.Overlap, doc.Updates, doc.Loss, dir)
	return as(exitCannotWrite, err)
}

// saveTraining writes the weights, the losses, the document and the picture.
func (a *app) saveTraining(dir runs.Folder, t *connectome.Trainee, out *connectome.Training, doc *trainDoc) error {
	trained, err := t.Circuit.Read(out.Params)
	if err != nil {
		return as(exitBug, err)
	}
	for _, f := range t.Circuit.Fibres {
		w := trained[f.Name()]
		doc.Fibres = append(doc.Fibres, struct {
			Fibre    string `json:"fibre"`
			Synapses int    `json:"synapses"`
			Gain     number `json:"gain"`
			Beta     number `json:"beta"`
		}{f.Name(), f.Edges.Len(), number(w.Gain), number(w.Beta)})
	}
	write := func(w io.Writer) error { return t.Circuit.WriteNPZ(w, out.Params) }
	if err := as(exitCannotWrite, atomicfile.Write(dir.Path("connectome.npz"), true, write)); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("update,loss\n")
	for i, l := range out.Loss {
		fmt.Fprintf(&table, "%d,%.17g\n", i+1, l)
	}
	if err := writeFile(dir.Path("training.csv"), []byte(table.String())); err != nil {
		return err
	}
	if err := writeJSON(dir.Path("summary.json"), doc); err != nil {
		return err
	}
	album := report.Album{DPI: pictureDPI, Note: func(text string) { a.note("%s", text) }}
	steps := make([]float64, len(out.Loss))
	for i := range steps {
		steps[i] = float64(i + 1)
	}
	f, err := viz.Plots("training", viz.Lines{XLabel: "update", YLabel: "loss", Curves: []viz.Line{{Name: "loss of the batch", X: steps, Y: out.Loss}}})
	album.Add("loss", f, err)
	return as(exitCannotWrite, album.Save(string(dir)))
}
