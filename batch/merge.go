// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// window is the number of items whose results are in memory at a time while results are merged.
const window = 1 << 20

// Status describes how much of a manifest a store holds.
type Status struct {
	Items  int64
	Done   int64 // items with a result, including failures
	Failed int64
	Shards []ShardStatus // shards that have a folder, sorted by name
	// Queue describes what the workers of a queue have done. It is nil if there was no queue.
	Queue   *QueueStatus
	Missing []Gap // first few runs of items without a result
	// Absent lists shards without a folder. Only shard counts of which at least one folder exists are
	// considered, and only if items are missing.
	Absent []Shard
	// Columns are the columns of the results. It is empty if there are no results.
	Columns []Column
}

// ShardStatus describes the contents of a shard's folder.
type ShardStatus struct {
	Shard
	Complete     bool
	Items        int64 // number of items in the shard
	Done, Failed int64
	Folder       string
}

// QueueStatus describes the contents of a queue's folder.
type QueueStatus struct {
	Done, Failed int64
	Files        int
	Folder       string
}

// Gap is a run of items without a result.
type Gap struct{ First, Last int64 }

// String formats the items as a range such as 3-7.
func (g Gap) String() string {
	if g.First == g.Last {
		return fmt.Sprint(g.First)
	}
	return fmt.Sprintf("%d-%d", g.First, g.Last)
}

// mostGaps is the number of gaps that a Status lists.
const mostGaps = 100

// file is a file of results, and which items it holds.
type file struct {
	name        string
	first, last int64
}

// Status finds out which items have results.
func (s Store) Status(m *Manifest) (*Status, error) {
	st, _, err := s.survey(m)
	return st, err
}

func (s Store) survey(m *Manifest) (*Status, []file, error) {
	st := &Status{Items: m.Items}
	list, err := s.folders()
	if err != nil {
		return nil, nil, err
	}
	var files []file
	done, good := newSet(m.Items), newSet(m.Items)
	here, goodHere := newSet(m.Items), newSet(m.Items) // of one folder, in which an item may be twice
	for _, f := range list {
		if f.queue {
			f.Shard = Whole
		}
		one := ShardStatus{Shard: f.Shard, Complete: f.complete, Folder: f.path}
		names, err := f.names()
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			p, marks, err := m.read(name, false)
			if err != nil {
				return nil, nil, err
			}
			if p.damaged {
				continue
			}
			if st.Columns == nil {
				st.Columns = p.columns
			} else if !slices.Equal(st.Columns, p.columns) {
				return nil, nil, fmt.Errorf("the columns of %s differ from those of %s: were they written by different versions of the program? Remove the results and run again", name, files[0].name)
			}
			held := file{name, math.MaxInt64, -1}
			for _, k := range marks {
				done.add(k.item)
				if !k.failed {
					good.add(k.item)
				}
				held.first, held.last = min(held.first, k.item), max(held.last, k.item)
				if f.next(k.item, m.Block) != k.item {
					continue // it was brought here from another folder
				}
				if here.add(k.item); !k.failed {
					goodHere.add(k.item)
				}
			}
			files = append(files, held)
		}
		one.Items, one.Done, one.Failed = m.tally(f.Shard, here, goodHere)
		if f.queue {
			st.Queue = &QueueStatus{one.Done, one.Failed, len(names), f.path}
		} else {
			st.Shards = append(st.Shards, one)
		}
	}
	st.Done = done.count()
	st.Failed = st.Done - good.count()
	st.gaps(done)
	st.absent(list)
	return st, files, nil
}

// Results returns a function that reports whether an item has a result; failures are none.
func (s Store) Results(m *Manifest) (func(item int64) bool, error) {
	list, err := s.folders()
	good := newSet(m.Items)
	for _, f := range list {
		var names []string
		if err == nil {
			names, err = f.names()
		}
		for _, name := range names {
			_, marks, e := m.read(name, false)
			if e != nil {
				return nil, e
			}
			for _, k := range marks {
				if !k.failed {
					good.add(k.item)
				}
			}
		}
	}
	return good.has, err
}

// tally returns how many items a shard has, and how many of them are done and failed in its folder. It empties the sets of the folder.
func (m *Manifest) tally(shard Shard, here, goodHere set) (items, done, failed int64) {
	for i := shard.next(0, m.Block); i < m.Items; i = shard.next(i+1, m.Block) {
		items++
		if !here.has(i) {
			continue
		}
		if done++; !goodHere.has(i) {
			failed++
		}
		here.remove(i)
		goodHere.remove(i)
	}
	return items, done, failed
}

// gaps lists what is missing.
func (st *Status) gaps(done set) {
	for i := int64(0); i < st.Items && len(st.Missing) < mostGaps; i++ {
		if done.has(i) {
			continue
		}
		g := Gap{First: i}
		for i+1 < st.Items && !done.has(i+1) {
			i++
		}
		g.Last = i
		st.Missing = append(st.Missing, g)
	}
}

// absent lists the shards that nobody has begun.
func (st *Status) absent(list []folder) {
	if st.Done == st.Items {
		return
	}
	there := map[Shard]bool{}
	counts := map[int]bool{}
	for _, f := range list {
		if !f.queue {
			there[f.Shard], counts[f.Count] = true, true
		}
	}
	for n := range counts {
		for i := range n {
			if s := (Shard{Index: i, Count: n}); !there[s] {
				st.Absent = append(st.Absent, s)
			}
		}
	}
	slices.SortFunc(st.Absent, func(a, b Shard) int { return strings.Compare(a.String(), b.String()) })
}

// IncompleteError says that some items have no result yet.
type IncompleteError struct{ *Status }

// Error says how many items are missing, which ones, and which shards they belong to.
func (e *IncompleteError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d items have no result", e.Items-e.Done, e.Items)
	sep := ": "
	for i, g := range e.Missing {
		if i == 5 {
			b.WriteString(", ...")
			break
		}
		b.WriteString(sep + g.String())
		sep = ", "
	}
	for _, s := range e.Shards {
		if !s.Complete {
			fmt.Fprintf(&b, "; %s has %d of %d", filepath.Base(s.Folder), s.Done, s.Items)
		}
	}
	if n := len(e.Absent); n > 0 {
		fmt.Fprintf(&b, "; no process has started %s", e.Absent[0])
		if n > 1 {
			fmt.Fprintf(&b, " and %d more", n-1)
		}
	}
	return b.String()
}

// DiffersError says that one item has two different results.
type DiffersError struct {
	Item        int64
	File, Other string
}

// Error names the item and the files.
func (e *DiffersError) Error() string {
	return fmt.Sprintf("item %d in %s differs from its result in %s: were they made by different versions, on processors with different instruction sets, or by a command whose results vary? Remove the file that should not count and run again, which recomputes its other items", e.Item, e.File, e.Other)
}

// Merge calls put with the results of all items in order, including failures. If items are missing, it
// returns an *IncompleteError before the first call. If an item was processed twice, a result takes
// precedence over a failure, which may have been the fault of a machine; two results must be equal.
func (s Store) Merge(m *Manifest, put func(Record) error) (*Status, error) {
	st, files, err := s.survey(m)
	if err != nil {
		return nil, err
	}
	if st.Done < st.Items {
		return st, &IncompleteError{st}
	}
	at, in := make([]Record, min(window, m.Items)), make([]int32, min(window, m.Items)) // in: number of the file, from 1
	for from := int64(0); from < m.Items; from += window {
		clear(at)
		clear(in)
		for number, f := range files {
			if f.last < from || f.first >= from+window {
				continue
			}
			p, _, err := m.read(f.name, true)
			if err != nil {
				return st, err
			}
			for i := range p.records {
				r := &p.records[i]
				k := r.Item - from
				if k < 0 || k >= window {
					continue
				}
				switch have := &at[k]; {
				case in[k] == 0 || have.Err != "" && (r.Err == "" || r.Err < have.Err):
					// Not its address, which would keep all records of the file.
					*have, in[k] = *r, int32(number)+1
				case have.Err == "" && r.Err == "" && !have.equal(r):
					return st, &DiffersError{r.Item, f.name, files[in[k]-1].name}
				}
			}
		}
		for k := int64(0); k < window && from+k < m.Items; k++ {
			if err := put(at[k]); err != nil {
				return st, err
			}
		}
	}
	return st, nil
}
