// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/foreign"
)

func init() {
	schedulers = append(schedulers, scheduler{
		use:   "sbatch FOLDER|CONFIG.yaml",
		short: "Print a Slurm job script for a batch",
		long: `Print a Slurm job array that works on a batch. The batch must be on a file
system that all nodes share. A task that reaches its time limit requeues itself
and continues where it stopped. Submitting the job again computes what is
missing.

  euryale batch sbatch fits --shards 64 --time 2h | sbatch
  euryale batch sbatch fits --shards 500 --limit 50 --partition short > fits.sh
`,
		add:  addSlurm,
		file: slurmJob,
	})
}

// slurmName is a name, or several with commas, as clusters have them. One that begins with a dash would be taken for a flag.
var slurmName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9%+,./:=@_-]*$`)

// slurmOwn is what only Slurm's job scripts say.
type slurmOwn struct {
	Partition, Account string
	Time               string // time limit as Slurm writes it
}

func addSlurm(c *cobra.Command) (any, func(j *job) error) {
	var own slurmOwn
	c.Flags().StringVar(&own.Partition, "partition", "", "partition of the cluster to submit to")
	c.Flags().StringVar(&own.Account, "account", "", "account to charge")
	return &own, func(j *job) error {
		for _, v := range []struct{ flag, name, of string }{{"partition", own.Partition, "a partition"}, {"account", own.Account, "an account"}} {
			if v.name != "" && !slurmName.MatchString(v.name) {
				return exit.Usage("--%s %q: want the name of %s, which begins with a letter, a digit or _ and goes on with these and %%+,-./:=@", v.flag, foreign.Short(v.name, 80), v.of)
			}
		}
		own.Time = fmt.Sprintf("%d-%02d:%02d:%02d", j.Seconds/86400, j.Seconds/3600%24, j.Seconds/60%60, j.Seconds%60)
		return nil
	}
}

var slurmJob = jobTemplate("sbatch", `#!/bin/bash
# {{.Items}} items of {{line .Work}}, manifest {{.Hash}}, in {{.Shards}} shards.
#SBATCH --job-name={{.Name}}
#SBATCH --array=0-{{.Last}}{{if lt .Limit .Shards}}%{{.Limit}}{{end}}
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{.Memory}}
#SBATCH --time={{.Own.Time}}
{{- if .GPUs}}
#SBATCH --gres=gpu:{{.GPUs}}
{{- end}}
{{- if .Own.Partition}}
#SBATCH --partition={{.Own.Partition}}
{{- end}}
{{- if .Own.Account}}
#SBATCH --account={{.Own.Account}}
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
`)
