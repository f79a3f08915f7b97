// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"errors"
	"fmt"
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
	Slurm              string // time limit as Slurm writes it
	Seconds            int
	Last               int // number of the last shard
	Version            string
	Program            string // name of this program

	// of one of them alone
	Partition, Account string
	Image, Claim, Path string
}

var (
	memoryText = regexp.MustCompile(`^[1-9][0-9]*[MGT]$`)
	jobName    = regexp.MustCompile(`[^a-z0-9-]+`)
	// slurmName is a name, or several with commas, as clusters have them. One that begins with a dash would be taken for a flag.
	slurmName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9%+,./:=@_-]*$`)
	// imageName is the name of a container image: a registry with its port, a path, a tag and a digest.
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$`)
	// kubernetesName is what Kubernetes calls a DNS subdomain.
	kubernetesName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
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
	return &job{jobFlags: f, Folder: abs, Hash: m.Hash[:12], Work: m.Command, Items: m.Items, Seconds: seconds, Last: f.Shards - 1, Version: frame.Version(), Program: program,
		Slurm: fmt.Sprintf("%d-%02d:%02d:%02d", seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)}, nil
}

// quoting are the functions by which all texts get into job files: as a line of a comment, a word of a shell, a scalar of YAML, and
// one in which Kubernetes replaces nothing.
var quoting = template.FuncMap{"line": foreign.Line, "shell": foreign.Shell, "yaml": foreign.YAML,
	"argument": func(s string) (string, error) { return foreign.YAML(strings.ReplaceAll(s, "$", "$$")) }}

var slurmJob = template.Must(template.New("sbatch").Funcs(quoting).Parse(`#!/bin/bash
# {{.Items}} items of {{line .Work}}, manifest {{.Hash}}, in {{.Shards}} shards.
#SBATCH --job-name={{.Name}}
#SBATCH --array=0-{{.Last}}{{if lt .Limit .Shards}}%{{.Limit}}{{end}}
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{.Memory}}
#SBATCH --time={{.Slurm}}
{{- if .GPUs}}
#SBATCH --gres=gpu:{{.GPUs}}
{{- end}}
{{- if .Partition}}
#SBATCH --partition={{.Partition}}
{{- end}}
{{- if .Account}}
#SBATCH --account={{.Account}}
{{- end}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{.Name}}-%A_%a.log
# SIGTERM a minute before the time is up: the task keeps what is done.
#SBATCH --signal=B:TERM@60

folder={{shell .Folder}}
{{.Program}} batch run "$folder" --threads "$SLURM_CPUS_PER_TASK" &
pid=$!
trap 'kill -TERM "$pid"' TERM
wait "$pid"; code=$?
[ "$code" -gt 128 ] && { wait "$pid"; code=$?; }  # the trap ends the first wait
[ "$code" -ne 0 ] && exit "$code"
# What ran out of time goes on later where it stopped.
{{.Program}} batch status "$folder" --this-shard --quiet 2>/dev/null ||
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
`))

var kubernetesJob = template.Must(template.New("k8s").Funcs(quoting).Parse(`# {{.Items}} items of {{line .Work}}, manifest {{.Hash}}, in {{.Shards}} shards.
# The volume claim {{line .Claim}} holds the folder of the batch and its files, at {{line .Path}} in the container.
apiVersion: batch/v1
kind: Job
metadata:
  name: {{yaml .Name}}
spec:
  completionMode: Indexed
  completions: {{.Shards}}
  parallelism: {{.Limit}}
  backoffLimitPerIndex: 10
  maxFailedIndexes: {{.Shards}}
  podFailurePolicy:
    rules:
      - action: Ignore  # a pod that was moved has not failed
        onPodConditions:
          - type: DisruptionTarget
      - action: FailIndex  # a mistake in the list or the settings stays one
        onExitCodes:
          containerName: euryale
          operator: In
          values: [64, 65, 78]
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      containers:
        - name: euryale
          image: {{yaml .Image}}
          args: ["batch", "run", {{argument .Folder}}, "--threads", "{{.CPUs}}"]
          env:
            - name: EURYALE_SHARDS
              value: "{{.Shards}}"
          resources:
            requests: {cpu: "{{.CPUs}}", memory: {{printf "%si" .Memory | yaml}}}
            limits: {cpu: "{{.CPUs}}", memory: {{printf "%si" .Memory | yaml}}{{if .GPUs}}, nvidia.com/gpu: {{.GPUs}}{{end}}}
          volumeMounts:
            - {name: work, mountPath: {{yaml .Path}}}
      volumes:
        - name: work
          persistentVolumeClaim: {claimName: {{yaml .Claim}}}
`))

func batchSlurm(a *frame.App) *cobra.Command {
	var f jobFlags
	var partition, account string
	c := &cobra.Command{
		Use:   "sbatch FOLDER|CONFIG.yaml",
		Short: "Print a Slurm job script for a batch",
		Long: `Print a Slurm job array that works on a batch. The batch must be on a file
system that all nodes share. A task that reaches its time limit requeues itself
and continues where it stopped. Submitting the job again computes what is
missing.

  euryale batch sbatch fits --shards 64 --time 2h | sbatch
  euryale batch sbatch fits --shards 500 --limit 50 --partition short > fits.sh
`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return printJob(a, args[0], f, slurmJob, func(j *job) error {
				j.Partition, j.Account = partition, account
				for _, v := range []struct{ flag, name, of string }{{"partition", partition, "a partition"}, {"account", account, "an account"}} {
					if v.name != "" && !slurmName.MatchString(v.name) {
						return exit.Usage("--%s %q: want the name of %s, which begins with a letter, a digit or _ and goes on with these and %%+,-./:=@", v.flag, foreign.Short(v.name, 80), v.of)
					}
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&partition, "partition", "", "partition of the cluster to submit to")
	c.Flags().StringVar(&account, "account", "", "account to charge")
	return c
}

func batchKubernetes(a *frame.App) *cobra.Command {
	var f jobFlags
	var image, claim, path string
	c := &cobra.Command{
		Use:   "k8s FOLDER|CONFIG.yaml",
		Short: "Print a Kubernetes job for a batch",
		Long: `Print a Kubernetes Indexed Job (Kubernetes 1.31 or newer) that works on a batch.
The folder of the batch and its files must be on a volume that all pods mount at
--path, and the same path must hold them on this machine. The image can be built
from examples/cluster/Containerfile.

  euryale batch k8s fits --image registry.example/euryale:1 --claim data \
      --path /data | kubectl apply -f -
`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return printJob(a, args[0], f, kubernetesJob, func(j *job) error {
				j.Image, j.Claim, j.Path = image, claim, path
				if path == "" || filepath.Clean(path) == "/" { // a volume at / would hide the image
					return exit.Usage("--path %q: name the folder at which pods mount the volume, such as --path %s: the folder of the batch lies below it, here and in the pods", path, filepath.Dir(j.Folder))
				}
				if rel, err := filepath.Rel(path, j.Folder); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
					return exit.Usage("--path %s: the folder of the batch, %s, is not below it: name the folder at which pods mount the volume, which must be the same here", path, j.Folder)
				}
				if strings.Contains(path, ":") {
					return exit.Usage("--path %s: Kubernetes mounts no volume at a path with a colon: use another one", path)
				}
				if !imageName.MatchString(image) {
					return exit.Usage("--image %q: want the name of a container image, such as registry.example/euryale:1, which begins with a letter or a digit and goes on with these and ._/:@+-", foreign.Short(image, 80))
				}
				if !kubernetesName.MatchString(claim) || len(claim) > 253 {
					return exit.Usage("--claim %q: want the name of a PersistentVolumeClaim, of lower-case letters, digits, - and .", claim)
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&image, "image", "euryale:latest", "container image")
	c.Flags().StringVar(&claim, "claim", "work", "name of the PersistentVolumeClaim")
	c.Flags().StringVar(&path, "path", "", "folder where the volume is mounted; required, and not /")
	return c
}

// printJob prints a job file.
func printJob(a *frame.App, name string, f jobFlags, t *template.Template, complete func(j *job) error) error {
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
	if err := complete(j); err != nil {
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
