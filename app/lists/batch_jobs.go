// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// jobFlags are the flags of the commands that print job files.
type jobFlags struct {
	Shards, CPUs, GPUs, Limit int
	Memory, Time, Name        string
	flags                     *pflag.FlagSet
}

func (f *jobFlags) add(c *cobra.Command) {
	s := c.Flags()
	f.flags = s
	s.IntVar(&f.Shards, "shards", 16, "number of tasks that share the items; at most as many as the batch has blocks")
	s.IntVar(&f.CPUs, "cpus", 4, "CPUs per task")
	s.IntVar(&f.GPUs, "gpus", 0, "GPUs per task (default 1 if the batch has device: cuda, otherwise none)")
	s.IntVar(&f.Limit, "limit", 0, "largest number of tasks that run at the same time (default all)")
	s.StringVar(&f.Memory, "memory", "4G", "memory per task")
	s.StringVar(&f.Time, "time", "4h", "time limit per task")
	s.StringVar(&f.Name, "name", "", "name of the job (default the name of the folder)")
}

// job is what the templates are filled with.
type job struct {
	jobFlags
	Folder, Hash, Work string
	Items              int64
	Seconds            int // time limit
	Last               int // number of the last shard
	Version            string
	Program            string // name of this program
	Own                any    // what the scheduler's own flags say
}

// scheduler is a system that runs the shards of a batch on many machines, from a job file. The file of the scheduler registers it. A
// process learns the number of its shard from the environment (see batch.FromEnv), or from --shard in the job file.
type scheduler struct {
	use, short, long string // of the command that prints the job file

	// add adds the scheduler's own flags to the command. It returns a pointer to their values, and what checks and completes them for
	// a job.
	add  func(c *cobra.Command) (own any, check func(j *job) error)
	file *template.Template // job file, filled with a job
}

// schedulers are the registered schedulers.
var schedulers []scheduler

// jobTemplate parses a job file. Every text gets into it by one of the functions of quoting.
func jobTemplate(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(quoting).Parse(text))
}

// command returns the command that prints the job file of a scheduler.
func (s scheduler) command(a *frame.App) *cobra.Command {
	var f jobFlags
	var own any
	var check func(j *job) error
	c := &cobra.Command{Use: s.use, Short: s.short, Long: s.long, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return printJob(a, args[0], f, s.file, own, check) }}
	f.add(c)
	own, check = s.add(c)
	return c
}

var (
	memoryText = regexp.MustCompile(`^[1-9][0-9]*[MGT]$`)
	jobName    = regexp.MustCompile(`[^a-z0-9-]+`)
)

// fill checks the flags and completes them for a batch.
func (f jobFlags) fill(program, dir string, m *batch.Manifest) (*job, error) {
	limit, err := time.ParseDuration(f.Time)
	switch {
	case err != nil || limit < time.Minute:
		return nil, exit.Usage("--time %q: want a time of at least a minute, such as 4h or 90m", f.Time)
	case !memoryText.MatchString(f.Memory):
		return nil, exit.Usage("--memory %q: want a number with M, G or T, such as 4G", f.Memory)
	}
	var bad []string
	bad = append(bad, frame.Whole("shards", f.Shards, 1, 99999)...)
	bad = append(bad, frame.Whole("cpus", f.CPUs, 1, 4096)...)
	bad = append(bad, frame.Whole("gpus", f.GPUs, 0, 64)...)
	bad = append(bad, frame.Whole("limit", f.Limit, 0, 99999)...)
	if len(bad) > 0 {
		return nil, exit.Usage("%s", strings.Join(bad, "; "))
	}
	blocks := (m.Items + m.Block - 1) / m.Block
	if !f.flags.Changed("shards") {
		f.Shards = int(min(int64(f.Shards), max(1, blocks)))
	}
	if int64(f.Shards) > max(1, blocks) {
		return nil, exit.Usage("--shards %d: the batch has %s in blocks of %d, so use at most %s", f.Shards, errtext.Count(int(m.Items), "item"), m.Block, errtext.Count(int(blocks), "shard"))
	}
	if f.GPUs == 0 && m.Device == "cuda" {
		f.GPUs = 1
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, exit.With(exit.Failed, err)
	}
	if f.Name == "" {
		f.Name = filepath.Base(abs)
	}
	// Pods are called after the job and their number, in at most 63 characters.
	f.Name = strings.Trim(jobName.ReplaceAllString(strings.ToLower(f.Name), "-"), "-")
	if f.Name = strings.TrimRight(f.Name[:min(len(f.Name), 50)], "-"); f.Name == "" {
		f.Name = "batch"
	}
	if f.Limit == 0 {
		f.Limit = f.Shards
	}
	seconds := int(limit.Seconds())
	return &job{jobFlags: f, Folder: abs, Hash: m.Hash[:12], Work: m.Command, Items: m.Items, Seconds: seconds, Last: f.Shards - 1, Version: frame.Version(), Program: program}, nil
}

// quoting are the functions by which all texts get into job files: as a line of a comment, a word of a shell, a scalar of YAML, and
// one in which Kubernetes replaces nothing.
var quoting = template.FuncMap{"line": foreign.Line, "shell": foreign.Shell, "yaml": foreign.YAML,
	"argument": func(s string) (string, error) { return foreign.YAML(strings.ReplaceAll(s, "$", "$$")) }}

// printJob prints a job file.
func printJob(a *frame.App, name string, f jobFlags, t *template.Template, own any, check func(j *job) error) error {
	dir, m, err := openBatch(a, name)
	if err != nil {
		return err
	}
	if _, err := work.Program(m); err != nil { // a list that no task could work on, whoever made it
		return exit.With(exit.Data, err)
	}
	j, err := f.fill(foreign.Typed(a.Program), dir, m)
	if err != nil {
		return err
	}
	j.Own = own
	if err := check(j); err != nil {
		return err
	}
	if work.Wide(m) && f.CPUs == 1 {
		a.Note("each item uses all processors of its task: give it more with --cpus")
	}
	var b strings.Builder
	if err := t.Execute(&b, j); err != nil {
		if cause := (template.ExecError{}); errors.As(err, &cause) {
			err = errors.Unwrap(cause.Err)
		}
		return exit.With(exit.Data, err)
	}
	if a.JSON {
		return a.Document(map[string]any{"job": b.String(), "name": j.Name, "shards": j.Shards, "items": j.Items, "folder": j.Folder})
	}
	_, err = io.WriteString(a.Stdout, b.String())
	return exit.With(exit.CannotWrite, err)
}
