// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Shard is one part of a list of items: every Count-th block, starting with block Index.
type Shard struct {
	Index int // number of the shard, from 0
	Count int // number of shards
	// By names the variable that determined the shard, such as SLURM_ARRAY_TASK_ID. It is empty for the
	// whole list.
	By string
}

// mostShards bounds the number of shards.
const mostShards = 99_999

// Whole is the single shard that contains the whole list.
var Whole = Shard{Count: 1}

// String returns the name of the shard as used in file names.
func (s Shard) String() string { return fmt.Sprintf("shard-%05d-of-%05d", s.Index, s.Count) }

// parseShard reads what String wrote.
func parseShard(name string) (s Shard, ok bool) {
	rest, ok := strings.CutPrefix(name, "shard-")
	i, n, cut := strings.Cut(rest, "-of-")
	var err1, err2 error
	s.Index, err1 = strconv.Atoi(i)
	s.Count, err2 = strconv.Atoi(n)
	return s, ok && cut && err1 == nil && err2 == nil && s.check() == nil && s.String() == name
}

func (s Shard) check() error {
	if s.Count < 1 || s.Count > mostShards || s.Index < 0 || s.Index >= s.Count {
		return fmt.Errorf("there is no shard %d of %d: want 1 to %d shards, numbered from 0", s.Index, s.Count, mostShards)
	}
	return nil
}

// next returns the first item from one on that belongs to the shard, where blocks of items are dealt in
// turn.
func (s Shard) next(item, block int64) int64 {
	n := int64(s.Count)
	if ahead := (int64(s.Index) - item/block%n + n) % n; ahead > 0 {
		return (item/block + ahead) * block
	}
	return item
}

// launcher says which environment variables tell the number of a task and how many there are. The number
// of the first task is 0 unless a variable says otherwise.
type launcher struct{ index, count, first string }

// Jobs start tasks that may be several processes each, which processes tell apart. Of processes the first is
// asked that says something: mpirun within an allocation of Slurm leaves the numbers of Slurm as they are.
var (
	jobs = []launcher{
		{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
		{"JOB_COMPLETION_INDEX", "EURYALE_SHARDS", ""}, // an Indexed Job of Kubernetes, which does not tell how many
	}
	processes = []launcher{
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
		{"PMI_RANK", "PMI_SIZE", ""},
		{"SLURM_PROCID", "SLURM_NTASKS", ""},
	}
)

// FromEnv returns the shard that the launcher of this process assigned to it, as a task of a Slurm
// array, a pod of a Kubernetes Indexed Job (whose file sets EURYALE_SHARDS), an MPI rank, or a process
// of srun. It returns the whole list if there is no launcher. Items are divided first among the tasks
// of an array or job, and then among the processes of each task.
func FromEnv() (Shard, error) {
	job, err := ask(jobs, true)
	if err != nil {
		return Whole, err
	}
	process, err := ask(processes, false)
	if err != nil {
		return Whole, err
	}
	switch {
	case job.Count == 0 && process.Count == 0:
		return Whole, nil
	case job.Count == 0:
		return process, nil
	case process.Count <= 1:
		return job, nil
	}
	s := Shard{job.Index*process.Count + process.Index, job.Count * process.Count, job.By + " and " + process.By}
	return s, s.check()
}

// ask asks launchers until one says something; where alone, a number without how many there are is an error.
func ask(list []launcher, alone bool) (s Shard, err error) {
	for _, l := range list {
		index, count, min := os.Getenv(l.index), os.Getenv(l.count), os.Getenv(l.first)
		if index != "" && count == "" && alone {
			return s, fmt.Errorf("%s is %s, but %s does not give the number of shards: set it, or choose the shard with --shard", l.index, index, l.count)
		}
		if index == "" || count == "" {
			continue
		}
		s = Shard{By: l.index}
		first := 0
		for _, v := range []struct {
			name, text string
			to         *int
		}{{l.index, index, &s.Index}, {l.count, count, &s.Count}, {l.first, min, &first}} {
			if v.text == "" {
				continue
			}
			if *v.to, err = strconv.Atoi(v.text); err != nil {
				return s, fmt.Errorf("%s is %q: want a whole number", v.name, v.text)
			}
		}
		said := fmt.Sprintf("%s=%s, %s=%s", l.index, index, l.count, count)
		if l.first != "" {
			said += fmt.Sprintf(", %s=%s", l.first, min)
		}
		s.Index -= first
		err = s.check()
		if err != nil && l.first != "" {
			err = fmt.Errorf("%w: number the tasks of the array without gaps", err)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", said, err)
		}
		return s, nil
	}
	return Shard{}, nil
}

// LocalRank returns the rank of this process, from 0, among those that a launcher started on the same
// machine, and the variable that says so. The variable is "" if there is no launcher.
func LocalRank() (rank int, by string) {
	for _, by := range []string{"SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"} {
		if rank, err := strconv.Atoi(os.Getenv(by)); err == nil && rank >= 0 {
			return rank, by
		}
	}
	return 0, ""
}
