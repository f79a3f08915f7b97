// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

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

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/internal/tune"
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

func trainConnectome(a *frame.App) *cobra.Command {
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
			case a.Resume != "":
				return resumeTraining(a, c, args)
			case len(args) == 0:
				return exit.Usage("train connectome needs PROBLEM.json, or --resume RUN")
			}
			return startTraining(c.Context(), a, args[0], c.Flags().Changed("seed"))
		},
	}
}

func startTraining(ctx context.Context, a *frame.App, file string, seeded bool) error {
	b, err := frame.ReadInput(file)
	if err != nil {
		return err
	}
	cfg := trainConfig{Command: trainCommand, Version: frame.Version(), File: frame.Absolute(file), Base: filepath.Dir(frame.Absolute(file)), Threads: a.Threads}
	if cfg.Problem, err = connectome.ParseProblem(b); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", file, err))
	}
	if seeded {
		cfg.Problem.Seed = a.Seed
	}
	t, err := openTrainee(a, &cfg, file)
	if err != nil {
		return err
	}
	out := a.Out
	if out == "" {
		out = "run-" + strings.TrimSuffix(filepath.Base(file), ".json")
	}
	dir, err := a.MakeRundir(out)
	if err != nil {
		return err
	}
	if err := a.Begin(dir, trainCommand, cfg); err != nil {
		return err
	}
	return trainInto(ctx, a, dir, &cfg, t, nil)
}

func resumeTraining(a *frame.App, c *cobra.Command, args []string) error {
	ctx := c.Context()
	var cfg trainConfig
	dir, err := a.Reopen(c, trainCommand, args, &cfg)
	if err != nil {
		return err
	}
	if cfg.Problem == nil {
		return exit.With(exit.Config, fmt.Errorf("%s records no problem", dir.Path("config.json")))
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	t, err := openTrainee(a, &cfg, dir.Path("config.json"))
	if err != nil {
		return err
	}
	f, err := foreign.Open(dir.Path("checkpoint"))
	if errors.Is(err, fs.ErrNotExist) {
		a.Note("%s has no checkpoint yet: starting over", dir)
		return trainInto(ctx, a, dir, &cfg, t, nil)
	}
	if err != nil {
		return exit.Input(err)
	}
	defer f.Close()
	state, err := t.LoadState(f)
	if err != nil {
		return a.Unreadable(dir, fmt.Errorf("%s: %w", dir.Path("checkpoint"), err))
	}
	return trainInto(ctx, a, dir, &cfg, t, state)
}

// openTrainee reads the examples of a problem, if they are in files, and builds it.
// Errors name the file they come from.
func openTrainee(a *frame.App, cfg *trainConfig, from string) (*connectome.Trainee, error) {
	train, test, err := cfg.Problem.OpenExamples(cfg.Base)
	if err != nil {
		return nil, exit.Input(err)
	}
	t, err := cfg.Problem.Build(train, test)
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", from, err))
	}
	t.Settings.Threads, t.Settings.Backend = cfg.Threads, a.Backend(cfg.Threads)
	return t, nil
}

// trainDoc is the JSON document of train connectome.
type trainDoc struct {
	Engine    string       `json:"engine"`
	Status    string       `json:"status"`
	Updates   int          `json:"updates"`
	Loss      frame.Number `json:"loss"` // mean loss over the last tenth of the updates
	Test      metricDoc    `json:"test"` // performance of hard assemblies on the test examples
	Train     metricDoc    `json:"train"`
	Untrained metricDoc    `json:"untrained"`
	Hebbian   metricDoc    `json:"hebbian"`
	Fibres    []struct {
		Fibre    string       `json:"fibre"`
		Synapses int          `json:"synapses"`
		Gain     frame.Number `json:"gain"`
		Beta     frame.Number `json:"beta"`
	} `json:"fibres"`
	Device string `json:"device"` // where losses and gradients were computed
	Run    string `json:"run"`
}

type metricDoc struct {
	Accuracy frame.Number `json:"accuracy"`
	Overlap  frame.Number `json:"overlap"`
}

func metric(m connectome.Metrics) metricDoc {
	return metricDoc{frame.Number(m.Accuracy), frame.Number(m.Overlap)}
}

// trainInto trains and writes the results to the folder.
func trainInto(ctx context.Context, a *frame.App, dir runs.Folder, cfg *trainConfig, t *connectome.Trainee, state *connectome.TrainState) error {
	set := t.Settings
	total := cmp.Or(set.Steps, 300)
	bar := term.NewBar(a.Screen, a.BarSettings("updates", total))
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
			if err := frame.WriteJSON(dir.Path(runs.ConfigFile), cfg); err != nil {
				a.NotSaved(err)
			}
		}
	}
	save := func(s connectome.TrainState) error {
		return exit.With(exit.CannotWrite, atomicfile.Write(dir.Path("checkpoint"), true, func(w io.Writer) error { return t.SaveState(w, s) }))
	}
	set.SaveEvery = 20
	set.Save = func(s connectome.TrainState) error {
		if s.Step == total {
			return a.Patiently(ctx, func() error { return save(s) })
		}
		if err := save(s); err != nil { // training continues and is saved later
			a.NotSaved(err)
		}
		return nil
	}
	out, err := connectome.Train(ctx, t.Circuit, t.Train, set)
	bar.Close()
	if ctx.Err() != nil && out != nil {
		if err := save(out.TrainState); err != nil {
			return exit.With(exit.CannotWrite, fmt.Errorf("interrupted after %d updates of %d; the updates since the last checkpoint are lost: %w", out.Step, total, err))
		}
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted after %d updates of %d; they are kept in %s", out.Step, total, dir), Hint: "euryale " + trainCommand + " --resume " + foreign.Typed(string(dir))}
	}
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	return finishTraining(ctx, a, dir, cfg, t, out)
}

// finishTraining compares the result with the baselines, writes all files and prints the
// results.
func finishTraining(ctx context.Context, a *frame.App, dir runs.Folder, cfg *trainConfig, t *connectome.Trainee, out *connectome.Training) error {
	doc := trainDoc{Engine: "connectome", Status: "trained", Updates: out.Step, Test: metric(out.Metrics), Device: out.Device, Run: string(dir)}
	tail := out.Loss[len(out.Loss)-max(1, len(out.Loss)/10):]
	for _, l := range tail {
		doc.Loss += frame.Number(l / float64(len(tail)))
	}
	all, err := cfg.Problem.Compare(ctx, t, out.Params)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	doc.Train, doc.Untrained, doc.Hebbian = metric(all.Train), metric(all.Untrained), metric(all.Hebbian)
	if err := saveTraining(a, dir, t, out, &doc); err != nil {
		return err
	}
	if a.JSON {
		return a.Document(doc)
	}
	_, err = fmt.Fprintf(a.Stdout, "%-22s %8s %8s\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%-22s %8.3f %8.3f\n%d updates, loss %.4g; results in %s\n",
		"hard assemblies", "accuracy", "overlap", "trained, test", doc.Test.Accuracy, doc.Test.Overlap, "trained, training set", doc.Train.Accuracy, doc.Train.Overlap,
		"untrained, test", doc.Untrained.Accuracy, doc.Untrained.Overlap, "Hebbian, test", doc.Hebbian.Accuracy, doc.Hebbian.Overlap, doc.Updates, doc.Loss, dir)
	return exit.With(exit.CannotWrite, err)
}

// saveTraining writes the weights, the losses, the document and the picture.
func saveTraining(a *frame.App, dir runs.Folder, t *connectome.Trainee, out *connectome.Training, doc *trainDoc) error {
	trained, err := t.Circuit.Read(out.Params)
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	for _, f := range t.Circuit.Fibres {
		w := trained[f.Name()]
		doc.Fibres = append(doc.Fibres, struct {
			Fibre    string       `json:"fibre"`
			Synapses int          `json:"synapses"`
			Gain     frame.Number `json:"gain"`
			Beta     frame.Number `json:"beta"`
		}{f.Name(), f.Edges.Len(), frame.Number(w.Gain), frame.Number(w.Beta)})
	}
	write := func(w io.Writer) error { return t.Circuit.WriteNPZ(w, out.Params) }
	if err := exit.With(exit.CannotWrite, atomicfile.Write(dir.Path("connectome.npz"), true, write)); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("update,loss\n")
	for i, l := range out.Loss {
		fmt.Fprintf(&table, "%d,%.17g\n", i+1, l)
	}
	if err := frame.WriteFile(dir.Path("training.csv"), []byte(table.String())); err != nil {
		return err
	}
	if err := frame.WriteJSON(dir.Path("summary.json"), doc); err != nil {
		return err
	}
	album := report.Album{DPI: tune.PictureDPI, Note: func(text string) { a.Note("%s", text) }}
	steps := make([]float64, len(out.Loss))
	for i := range steps {
		steps[i] = float64(i + 1)
	}
	f, err := viz.Plots("training", viz.Lines{XLabel: "update", YLabel: "loss", Curves: []viz.Line{{Name: "loss of the batch", X: steps, Y: out.Loss}}})
	album.Add("loss", f, err)
	return exit.With(exit.CannotWrite, album.Save(string(dir)))
}
