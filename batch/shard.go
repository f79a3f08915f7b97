package batch

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Shard is a part of a list: every Count-th block of items from block Index on.
type Shard struct {
	Index int // from 0
	Count int // number of shards
	// By names what said so, such as SLURM_ARRAY_TASK_ID; empty for the whole list.
	By string
}

// mostShards bounds the number of shards.
const mostShards = 99_999

// Whole is the shard that is the whole list.
var Whole = Shard{Count: 1}

// String names the shard as files do.
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
		return fmt.Errorf("shard %d of %d: want 1 to %d shards, numbered from 0", s.Index, s.Count, mostShards)
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

// launchers say, in the order in which they are asked, which environment variables tell the number of a
// task and how many there are. The number of the first task is 0 unless a variable says otherwise.
var launchers = []struct{ index, count, first string }{
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
	{"SLURM_PROCID", "SLURM_NTASKS", ""},
	{"JOB_COMPLETION_INDEX", "EURYALE_SHARDS", ""}, // an Indexed Job of Kubernetes, which does not tell how many
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
	{"PMI_RANK", "PMI_SIZE", ""},
}

// FromEnv returns the shard that the launcher of this process gave it: a task of a Slurm array or of
// srun, a pod of a Kubernetes Indexed Job (whose file sets EURYALE_SHARDS), or a rank of MPI; the whole
// list if there is none. An array of Slurm that itself runs several tasks each is dealt to arrays and
// then to tasks.
func FromEnv() (Shard, error) {
	list, err := shards(os.Getenv)
	if err != nil || len(list) == 0 {
		return Whole, err
	}
	s := list[0]
	if len(list) > 1 && list[0].By == launchers[0].index && list[1].By == launchers[1].index {
		s = Shard{s.Index*list[1].Count + list[1].Index, s.Count * list[1].Count, s.By + " and " + list[1].By}
	}
	return s, nil
}

// shards asks every launcher.
func shards(env func(string) string) (list []Shard, err error) {
	for _, l := range launchers {
		index, count := env(l.index), env(l.count)
		if index == "" || count == "" {
			continue
		}
		s := Shard{By: l.index}
		first := 0
		for _, v := range []struct {
			name, text string
			to         *int
		}{{l.index, index, &s.Index}, {l.count, count, &s.Count}, {l.first, env(l.first), &first}} {
			if v.text == "" {
				continue
			}
			if *v.to, err = strconv.Atoi(v.text); err != nil {
				return nil, fmt.Errorf("%s is %q: want a whole number", v.name, v.text)
			}
		}
		s.Index -= first
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s=%s, %s=%s, %s=%s: %w: an array must be numbered without gaps", l.index, index, l.count, count, l.first, env(l.first), err)
		}
		list = append(list, s)
	}
	return list, nil
}
