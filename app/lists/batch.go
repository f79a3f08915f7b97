// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/viz/term"
)

// The files of the folder of a batch.
const (
	manifestName = "manifest.txt"
	resultsName  = "results"
)

func batchCommand(a *frame.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "batch CONFIG.yaml",
		Short: "Do the same work on many items, on one machine or a cluster",
		Long: `Create a batch: a list of items and the work to do on each of them. batch run
then does the work, on this machine or as one of many tasks on a cluster, and
batch merge collects the results. These commands take the folder of the batch or
its CONFIG.yaml.

CONFIG.yaml says what to do, for example fits.yaml:

  work: fit g2             # or fit spectra, sample g2, sim rsoxs, sbc, sweep
  files: results/*.hdf     # the work decides which other keys there are
  model: single
  seed: 1
  retries: 1               # how often to retry an item that fails

https://github.com/euryale-dev/euryale/blob/main/docs/guide/cluster.md lists the
keys.

  euryale batch fits.yaml                 create fits/manifest.txt
  euryale batch run fits                  do the work on this machine
  euryale batch sbatch fits --shards 16 | sbatch
  euryale batch status fits
  euryale batch merge fits                write tables and a report

An item gives the same result wherever it is computed. Finished items are kept,
so you can stop at any time and run the same command again.
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runBatch(a, args[0]) },
	}
	c.AddCommand((frame.TakesOut | frame.TakesDevice).Of(batchRun(a)), frame.TakesOut.Of(batchStatus(a)), frame.TakesOut.Of(batchMerge(a)), frame.TakesOut.Of(batchRetry(a)), batchItem(a))
	for _, s := range schedulers {
		c.AddCommand(frame.TakesOut.Of(s.command(a)))
	}
	return c
}

// batchDoc is the JSON document of batch.
type batchDoc struct {
	Folder   string `json:"folder"`
	Manifest string `json:"manifest"`
	SHA256   string `json:"sha256"`
	Work     string `json:"work"`
	Items    int64  `json:"items"`
}

func runBatch(a *frame.App, name string) error {
	dir, m, err := openBatch(a, name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Document(batchDoc{Folder: dir, Manifest: m.Path(), SHA256: m.Hash, Work: m.Command, Items: m.Items})
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s of %s\n", m.Path(), errtext.Count(int(m.Items), "item"), m.Command)
	a.Note("next: euryale batch run %s works on them here, and euryale batch sbatch %s prints a Slurm job", foreign.Typed(dir), foreign.Typed(dir))
	return exit.With(exit.CannotWrite, err)
}

// openBatch returns the folder of a batch and its manifest. Of a configuration the manifest is made, if it
// is not there; one that is there must be of the same list.
//
// Damaged files of results are told and left out, since their items can be done again.
func openBatch(a *frame.App, name string) (dir string, m *batch.Manifest, err error) {
	dir, m, err = findBatch(a, name)
	if m != nil {
		m.Damaged = func(_ string, err error) {
			a.Note("%v: the file is left out, and batch run does its items again; remove it", err)
		}
	}
	return dir, m, err
}

func findBatch(a *frame.App, name string) (dir string, m *batch.Manifest, err error) {
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return "", nil, exit.Input(err)
	case st.IsDir():
		if a.Out != "" {
			return "", nil, exit.Usage("%s is the folder of a batch: leave out --out %s", name, a.Out)
		}
		m, err = batch.Open(filepath.Join(name, manifestName))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil, &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s has no %s, so it is not the folder of a batch", name, manifestName), Hint: "the CONFIG.yaml of the batch"}
		}
		return name, m, exit.With(exit.Data, err)
	case filepath.Base(name) == manifestName:
		m, err = batch.Open(name)
		return filepath.Dir(name), m, exit.With(exit.Data, err)
	}
	list, err := work.Read(name)
	if err != nil {
		return "", nil, configOf(err)
	}
	if dir = a.Out; dir == "" {
		dir = strings.TrimSuffix(name, filepath.Ext(name))
		if dir == name {
			dir += "-batch"
		}
	}
	path := filepath.Join(dir, manifestName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		// Another task may have made it meanwhile.
		if m, err = list.Create(path); !errors.Is(err, fs.ErrExist) {
			return dir, m, configOf(err)
		}
	}
	now, err := list.Hash(path)
	if err != nil {
		return "", nil, configOf(err)
	}
	if m, err = batch.Open(path); err != nil && !a.Overwrite {
		return "", nil, &exit.Error{Code: exit.Data, Err: err, Hint: "--overwrite to make a new one"}
	}
	if err == nil && m.Hash == now && !(a.Overwrite && errors.As(inputsOf(a, m, dir, batch.Whole), new(*work.ChangedError))) {
		return dir, m, nil
	}
	if !a.Overwrite {
		return "", nil, &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s was made from another list than %s gives now: %s", path, name, list.Changed(path, m)),
			Hint: fmt.Sprintf("euryale batch run %s to continue with the old list; euryale batch %s --overwrite to replace it and delete its results; or --out FOLDER to keep both", foreign.Typed(dir), foreign.Typed(name))}
	}
	if err := removeBatch(dir, path); err != nil {
		return "", nil, exit.With(exit.CannotWrite, err)
	}
	m, err = list.Create(path)
	return dir, m, configOf(err)
}

// inputsOf is an error if input files of a shard have changed since results were made of them.
func inputsOf(a *frame.App, m *batch.Manifest, dir string, part batch.Shard) error {
	err := work.CheckInputs(m, batch.Store(filepath.Join(dir, resultsName)), part, func(text string) { a.Note("%s", text) })
	if errors.As(err, new(*work.ChangedError)) {
		return &exit.Error{Code: exit.Data, Err: err, Hint: "euryale batch CONFIG.yaml --overwrite, which makes a new list and deletes the results of the old one"}
	}
	return exit.With(exit.Data, err)
}

// removeBatch removes the list and the results of a batch, and nothing else that is in its folder, which
// the user may have given by --out.
func removeBatch(dir, manifest string) error {
	if err := batch.Store(filepath.Join(dir, resultsName)).Remove(); err != nil {
		return err
	}
	if err := work.RemoveChains(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, work.InputsFile)); err != nil {
		return err
	}
	return os.RemoveAll(manifest)
}

// configOf assigns the exit code of a mistake in a configuration.
func configOf(err error) error {
	if errors.As(err, new(*work.ConfigError)) {
		return exit.With(exit.Config, err)
	}
	return exit.Input(err)
}

func batchRun(a *frame.App) *cobra.Command {
	var shard string
	c := &cobra.Command{
		Use:   "run FOLDER|CONFIG.yaml",
		Short: "Work on the items of a batch",
		Long: `Work on the items of a batch. By default one process works on all of them. Under
a launcher (a Slurm array or srun, a Kubernetes Indexed Job with EURYALE_SHARDS,
or mpirun), and with --shard, it works on its shard.

The exit code is 65 if one process did all items and all failed.

Ctrl-C and SIGTERM keep the finished items; run the same command to continue. In
a Slurm job, SIGTERM announces the end of the time limit, and the exit code is
0.

  euryale batch run fits
  euryale batch run fits --shard 3/16
  srun -n 8 euryale batch run fits
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runBatchRun(c.Context(), a, args[0], shard) },
	}
	c.Flags().StringVar(&shard, "shard", "", "part of the items (shard) to work on: I/N, with I counted from 0 (default: the launcher's shard, or all items)")
	return c
}

// batchRunDoc is the JSON document of batch run.
type batchRunDoc struct {
	batchDoc
	Shard   string       `json:"shard"`
	By      string       `json:"by,omitempty"` // what said which shard this is
	Total   int64        `json:"items_of_shard"`
	Done    int64        `json:"done"`
	Failed  int64        `json:"failed"`
	Now     int64        `json:"done_now"`
	Seconds float64      `json:"seconds"`
	Rate    frame.Number `json:"items_per_s"`
	Partial bool         `json:"partial"`
}

func runBatchRun(ctx context.Context, a *frame.App, name, shard string) error {
	part, err := shardOf(shard)
	if err != nil {
		return err
	}
	dir, m, err := openBatch(a, name)
	if err != nil {
		return err
	}
	if err := atLevel(a, m); err != nil {
		return err
	}
	if err := inputsOf(a, m, dir, part); err != nil {
		return err
	}
	env, workers, err := environment(a, m, dir)
	if err != nil {
		return err
	}
	task, err := work.Open(m, env)
	if err != nil {
		return exit.Input(err)
	}
	if part.By != "" {
		a.Note("This process works on shard %d of %s (counted from 0 to %d), as %s says.", part.Index, m.Path(), part.Count-1, part.By)
	}
	var bar *term.Bar
	var shown batch.Progress
	p, err := batch.Run(ctx, m, task, batch.Settings{Store: batch.Store(filepath.Join(dir, resultsName)), Shard: part, Workers: workers, Command: "euryale batch run",
		Alone: itemProcess(dir), Progress: func(p batch.Progress) {
			if p.Items == p.Done-p.Now {
				return // nothing is missing
			}
			if bar == nil {
				set := term.BarSettings{Name: "items", Total: int(p.Items - p.Done + p.Now)}
				if a.Quiet {
					set.Mode = term.Quiet
				}
				bar = term.NewBar(a.Screen, set)
			}
			bar.Add(int(p.Now-shown.Now), int(p.Failed-shown.Failed))
			shown = p
		}})
	if bar != nil {
		bar.Close()
	}
	doc := batchRunDoc{batchDoc: batchDoc{Folder: dir, Manifest: m.Path(), SHA256: m.Hash, Work: m.Command, Items: m.Items}, Shard: part.String(), By: part.By,
		Total: p.Items, Done: p.Done, Failed: p.Failed, Now: p.Now, Seconds: p.Elapsed.Seconds(), Rate: frame.Number(p.Rate()), Partial: err != nil}
	again := fmt.Sprintf("euryale batch run %s", foreign.Typed(dir))
	if part.By == "--shard" {
		again += fmt.Sprintf(" --shard %d/%d", part.Index, part.Count)
	}
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		if a.JSON {
			if err := a.Document(doc); err != nil {
				return err
			}
		}
		stopped := fmt.Errorf("interrupted: %d of %d items are finished and kept in %s", p.Done, p.Items, dir)
		if announced(ctx) && os.Getenv("SLURM_JOB_ID") != "" {
			a.Note("%v; continue with %s", stopped, again)
			return nil
		}
		return &exit.Error{Code: exit.Interrupted, Err: stopped, Hint: again}
	case err != nil:
		return batchError(a, err, again)
	case a.JSON:
		if err := a.Document(doc); err != nil {
			return err
		}
		return allFailed(m, dir, part, p)
	}
	a.Note("%d of %d items are finished; this run finished %d, of which %d failed", p.Done, p.Items, p.Now, p.Failed)
	if part.Count == 1 {
		a.Note("next: euryale batch merge %s merges the results", foreign.Typed(dir))
	}
	return allFailed(m, dir, part, p)
}

// allFailed returns an error if all items of a list are done, by this run or by earlier ones, and none succeeded: then it is the settings or
// the program, not an item. Shards end without one whatever their items did: they may have one item each, and where tasks of Slurm wait for each
// other (afterok), or Kubernetes repeats pods that fail, an item that cannot succeed would hold up or repeat the others. status tells of them.
func allFailed(m *batch.Manifest, dir string, part batch.Shard, p batch.Progress) error {
	if part.Count > 1 || p.Items == 0 || p.Done < p.Items || p.Failed < p.Now {
		return nil
	}
	st, err := batch.Store(filepath.Join(dir, resultsName)).Status(m)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	if st.Failed < st.Items {
		return nil
	}
	return &exit.Error{Code: exit.Data, Err: fmt.Errorf("all of %s failed", errtext.Count(int(st.Items), "item")), Hint: "euryale batch status " + foreign.Typed(dir) + ", which lists why, or euryale batch retry " + foreign.Typed(dir) + " once the cause is mended"}
}

// announced reports whether ctx ended by SIGTERM.
func announced(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return cause != nil && strings.HasPrefix(cause.Error(), syscall.SIGTERM.String())
}

// batchError assigns the exit code of an error of a run.
func batchError(a *frame.App, err error, again string) error {
	var held *runlock.Held
	var path *fs.PathError
	switch {
	case errors.As(err, &held):
		return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: "wait until the other process has finished; it works on the same items"}
	case atomicfile.Room(err) != "":
		return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: atomicfile.Room(err) + ", then run " + again}
	case errors.As(err, new(*batch.OtherManifestError)), !errors.As(err, &path):
		return exit.With(exit.Data, err)
	}
	return &exit.Error{Code: exit.CannotWrite, Err: err, Hint: again}
}

// shardOf reads the value of --shard, or asks the environment.
func shardOf(text string) (batch.Shard, error) {
	if text == "" {
		s, err := batch.FromEnv()
		if err != nil {
			return s, &exit.Error{Code: exit.Config, Err: err, Hint: "--shard I/N"}
		}
		return s, nil
	}
	i, n, ok := strings.Cut(text, "/")
	index, err1 := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || count < 1 || index < 0 || index >= count || count > 99999 {
		return batch.Shard{}, exit.Usage("--shard %q: want I/N with I from 0 to N-1, such as 0/16", text)
	}
	return batch.Shard{Index: index, Count: count, By: "--shard"}, nil
}

// environment returns what this process provides to the work, and how many items it does at a time.
func environment(a *frame.App, m *batch.Manifest, dir string) (work.Env, int, error) {
	env := work.Env{Folder: dir, Note: func(text string) { a.Note("%s", text) }}
	switch {
	case m.Device == "cuda":
		if a.Chosen.CPU && a.Chosen.By != "" {
			return env, 0, exit.Usage("this batch runs on a GPU: leave out %s, or make a batch with device: cpu", a.Chosen.By)
		}
		d := frame.DeviceChoice{Demanded: true, Ordinal: a.Chosen.Ordinal, By: "device: cuda of the list"}
		if rank, by := batch.LocalRank(); a.Chosen.By == "" && by != "" {
			if all, err := cuda.Devices(); err == nil && len(all) > 0 { // one that cannot be listed is an error below
				d.Ordinal, d.By = rank%len(all), d.By+" and "+by
			}
		}
		a.Chosen = d
		if err := a.Demand(); err != nil {
			return env, 0, err
		}
		env.Backend = ad.CUDA{Device: a.Chosen.Ordinal}
	case a.Chosen.Demanded:
		return env, 0, exit.Usage("this batch runs on the CPU: leave out %s, or make a batch with device: cuda", a.Chosen.By)
	}
	if work.Wide(m) {
		env.Threads = a.Threads
		if env.Threads == 0 {
			env.Threads = -1
		}
		return env, 1, nil
	}
	return env, a.Threads, nil
}

// itemProcess returns the command that does one item in a process of its own.
func itemProcess(dir string) func(ctx context.Context, items batch.Range) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return func(ctx context.Context, items batch.Range) *exec.Cmd {
		return exec.CommandContext(ctx, program, "batch", "item", "--quiet", "--", dir, strconv.FormatInt(items.Item, 10))
	}
}

// batchItem is the command of itemProcess.
func batchItem(a *frame.App) *cobra.Command {
	return &cobra.Command{Use: "item FOLDER N", Hidden: true, Short: "Compute one item in a process of its own, as batch run does", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			dir, m, err := openBatch(a, args[0])
			if err != nil {
				return err
			}
			item, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return exit.Usage("item %q: want a number", args[1])
			}
			env, _, err := environment(a, m, dir)
			if err != nil {
				return err
			}
			task, err := work.Open(m, env)
			if err != nil {
				return exit.Input(err)
			}
			return exit.With(exit.Failed, batch.Alone(c.Context(), m, task, item, a.Bytes))
		}}
}

func batchStatus(a *frame.App) *cobra.Command {
	var shard bool
	c := &cobra.Command{
		Use:   "status FOLDER|CONFIG.yaml",
		Short: "Show the progress of a batch",
		Long: `Show how many items of a batch have results, how many failed, and which shards
are complete. With --strict the exit code is 1 while results are missing. With
--this-shard only the shard that the launcher assigned to this task counts, so
that a job can requeue itself.

  euryale batch status fits
  euryale batch status fits --strict --quiet && euryale batch merge fits
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runBatchStatus(a, args[0], shard) },
	}
	c.Flags().BoolVar(&shard, "this-shard", false, "report only on the shard that the launcher assigned to this task")
	return c
}

// batchStatusDoc is the JSON document of batch status.
type batchStatusDoc struct {
	batchDoc
	Done    int64      `json:"done"`
	Failed  int64      `json:"failed"`
	Missing []string   `json:"missing"` // runs of items, the first 100
	Shards  []shardDoc `json:"shards"`
	Absent  []string   `json:"not_begun"`
}

type shardDoc struct {
	Shard    string `json:"shard"`
	Complete bool   `json:"complete"`
	Items    int64  `json:"items"`
	Done     int64  `json:"done"`
	Failed   int64  `json:"failed"`
}

func runBatchStatus(a *frame.App, name string, thisShard bool) error {
	dir, m, err := openBatch(a, name)
	if err != nil {
		return err
	}
	store := batch.Store(filepath.Join(dir, resultsName))
	if thisShard {
		part, err := shardOf("")
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(string(store), part.String())); err != nil {
			return exit.With(exit.Failed, fmt.Errorf("%s of %s is not complete: run euryale batch run to finish it", part, dir))
		}
		a.Note("%s of %s is complete", part, dir)
		return nil
	}
	st, err := store.Status(m)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	doc := batchStatusDoc{batchDoc: batchDoc{Folder: dir, Manifest: m.Path(), SHA256: m.Hash, Work: m.Command, Items: m.Items}, Done: st.Done, Failed: st.Failed, Missing: []string{}, Shards: []shardDoc{}, Absent: []string{}}
	for _, g := range st.Missing {
		doc.Missing = append(doc.Missing, g.String())
	}
	for _, s := range st.Shards {
		doc.Shards = append(doc.Shards, shardDoc{s.Shard.String(), s.Complete, s.Items, s.Done, s.Failed})
	}
	if q := st.Queue; q != nil {
		doc.Shards = append(doc.Shards, shardDoc{"queue", true, q.Done, q.Done, q.Failed})
	}
	for _, s := range st.Absent {
		doc.Absent = append(doc.Absent, s.String())
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		err = printStatus(a, doc)
	}
	if err == nil && a.Strict && st.Done < st.Items {
		return exit.With(exit.Failed, &batch.IncompleteError{Status: st})
	}
	return err
}

func printStatus(a *frame.App, d batchStatusDoc) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d items have results, %d of them failed\n", d.Work, d.Done, d.Items, d.Failed)
	if len(d.Missing) > 0 {
		fmt.Fprintf(&b, "missing: %s\n", strings.Join(firstOf(d.Missing, 10), ", "))
	}
	for i, s := range d.Shards {
		if i == 40 {
			fmt.Fprintf(&b, "and %d more shards\n", len(d.Shards)-i)
			break
		}
		state := "complete"
		if !s.Complete {
			state = fmt.Sprintf("%d of %d", s.Done, s.Items)
		}
		fmt.Fprintf(&b, "%s  %s, %d failed\n", s.Shard, state, s.Failed)
	}
	if len(d.Absent) > 0 {
		fmt.Fprintf(&b, "not begun: %s\n", strings.Join(firstOf(d.Absent, 10), ", "))
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return exit.With(exit.CannotWrite, err)
}

// firstOf returns the first n texts, and how many more there are.
func firstOf(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("and %d more", len(list)-n))
}

func batchRetry(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "retry FOLDER|CONFIG.yaml",
		Short: "Clear the failures of a batch so that batch run tries them again",
		Long: `Clear the failures of a batch. The next batch run then tries those items again,
for example once a file that could not be read is back. If a file of failed
items was mended, its other results stay, and you are told.

  euryale batch retry fits
  euryale batch run fits
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, m, err := openBatch(a, args[0])
			if err != nil {
				return err
			}
			store := batch.Store(filepath.Join(dir, resultsName))
			n, err := store.Forget(m, "euryale batch retry")
			if err == nil {
				err = work.AcceptInputs(m, store, func(text string) { a.Note("%s", text) })
			}
			if err != nil {
				return batchError(a, err, "euryale batch retry "+dir)
			}
			if a.JSON {
				return a.Document(map[string]any{"folder": dir, "forgotten": n})
			}
			a.Note("cleared %s; euryale batch run %s tries again", errtext.Count(int(n), "failure"), foreign.Typed(dir))
			return nil
		},
	}
}
