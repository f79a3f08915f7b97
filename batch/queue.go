// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// queueName is the folder of a store for results of items that a queue deals out.
const queueName = "queue"

// Queue is the part of a store to which any number of processes add results, of whichever items they
// were given. A file of it has a name that is made of its items, so that items which are done twice
// have one file, and may be written by several processes at once.
type Queue struct {
	m      *Manifest
	path   string
	places []place
}

// Queue returns the queue of a store, whose folder it makes.
func (s Store) Queue(m *Manifest) (*Queue, error) {
	q := &Queue{m: m, path: filepath.Join(string(s), queueName)}
	var err error
	if q.places, err = m.places(); err == nil {
		err = os.MkdirAll(q.path, 0o755)
	}
	return q, err
}

// Folder returns the folder of the files.
func (q *Queue) Folder() string { return q.path }

// Do works on the items of spans and returns their results in any order. An item that fails is tried
// again as often as the manifest says. When ctx ends, items without a result are left out.
func (q *Queue) Do(ctx context.Context, t Task, spans []Span) ([]Record, error) {
	list, err := q.m.ranges(q.places, spans)
	if err != nil {
		return nil, err
	}
	records := make([]Record, 0, Count(spans))
	for _, items := range list {
		for _, r := range attempt(ctx, t, items) {
			for r.Attempts = 1; r.Err != "" && r.Attempts <= q.m.Retries; {
				again := attempt(ctx, t, single([]Range{items}, r.Item))
				if len(again) == 0 {
					break
				}
				again[0].Attempts = r.Attempts + 1
				r = again[0]
			}
			if r.Err == "" || ctx.Err() == nil {
				records = append(records, r)
			}
		}
	}
	return records, nil
}

// DoApart is the work of a process that does items for another one, which may die of them: it writes
// their results to w, for InChild.
func (q *Queue) DoApart(ctx context.Context, t Task, spans []Span, w io.Writer) error {
	records, err := q.Do(ctx, t, spans)
	if err != nil {
		return err
	}
	if n := Count(spans); int64(len(records)) != n {
		return context.Cause(ctx)
	}
	return (&part{hash: q.m.Hash, columns: t.Columns(), records: records}).encode(w)
}

// InChild runs a process that does items by DoApart, and returns their results. An error says how the
// process ended without them.
func (q *Queue) InChild(cmd *exec.Cmd, spans []Span) ([]Record, error) {
	p, err := child(cmd, q.m)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(p.records, byItem)
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	k := 0
	for _, s := range sorted {
		for i := s.First; i < s.First+s.Count; i++ {
			if k >= len(p.records) || p.records[k].Item != i {
				return nil, fmt.Errorf("the process that worked on these items alone gave no result of item %d", i)
			}
			k++
		}
	}
	if k != len(p.records) {
		return nil, fmt.Errorf("the process that worked on these items alone gave %d results, want %d", len(p.records), k)
	}
	return p.records, nil
}

func byItem(a, b Record) int { return cmp.Compare(a.Item, b.Item) }

// Write adds a file with results and returns its name and its items. It sorts the records; of two of
// one item it keeps the first. The name depends on the items alone.
func (q *Queue) Write(columns []Column, records []Record) (name string, items []Span, err error) {
	if len(records) == 0 {
		return "", nil, fmt.Errorf("batch: a file without results")
	}
	slices.SortStableFunc(records, byItem)
	records = slices.CompactFunc(records, func(a, b Record) bool { return a.Item == b.Item })
	items = spansOf(records)
	if err := q.m.check(items); err != nil {
		return "", nil, err
	}
	name = fileOf(items)
	p := &part{hash: q.m.Hash, columns: columns, records: records}
	return name, items, p.write(filepath.Join(q.path, name))
}

// fileOf names a file by its first item, the number of its items, and the hash of their list.
func fileOf(items []Span) string {
	sum := sha256.New()
	var b [16]byte
	for _, s := range items {
		binary.LittleEndian.PutUint64(b[:], uint64(s.First))
		binary.LittleEndian.PutUint64(b[8:], uint64(s.Count))
		sum.Write(b[:])
	}
	return fmt.Sprintf("%s%012d-%d-%.8x", partName, items[0].First, Count(items), sum.Sum(nil))
}

// Ledger is what a leader knows about which items have results in a store.
type Ledger struct {
	q     *Queue
	done  set
	count int64
	files map[string]bool // of the queue, whose items are in done
}

// Ledger reads which items have results.
func (s Store) Ledger(q *Queue) (*Ledger, error) {
	l := &Ledger{q: q, done: newSet(q.m.Items), files: map[string]bool{}}
	list, err := s.folders()
	for _, f := range list {
		if err == nil && !f.queue {
			var names []string
			if names, err = f.names(); err == nil {
				err = l.read(names)
			}
		}
	}
	if err == nil {
		err = l.Look()
	}
	return l, err
}

// read notes the items of files.
func (l *Ledger) read(names []string) error {
	for _, name := range names {
		_, marks, err := l.q.m.read(name, false)
		if err != nil {
			return err
		}
		for _, k := range marks {
			if !l.done.has(k.item) {
				l.done.add(k.item)
				l.count++
			}
		}
	}
	return nil
}

// Done returns the number of items with a result.
func (l *Ledger) Done() int64 { return l.count }

// Look notes the files of the queue that are new.
func (l *Ledger) Look() error {
	names, err := folder{path: l.q.path}.parts()
	if err != nil {
		return err
	}
	for _, name := range names {
		if base := filepath.Base(name); !l.files[base] {
			if err := l.read([]string{name}); err != nil {
				return err
			}
			l.files[base] = true
		}
	}
	return nil
}

// Note takes another process's word for which items a file of the queue holds. It reports whether the
// file is there; if not, nothing is noted.
func (l *Ledger) Note(file string, items []Span) (bool, error) {
	if len(items) == 0 || l.q.m.check(items) != nil || file != fileOf(items) {
		return false, fmt.Errorf("file %q does not hold the items that are said to be in it: were its writer and this process built from different versions?", file)
	}
	if l.files[file] {
		return true, nil
	}
	if _, err := os.Stat(filepath.Join(l.q.path, file)); err != nil {
		return false, nil
	}
	l.files[file] = true
	for _, s := range items {
		for i := s.First; i < s.First+s.Count; i++ {
			if !l.done.has(i) {
				l.done.add(i)
				l.count++
			}
		}
	}
	return true, nil
}

// Missing returns the items without a result, in their order, but for those of some spans.
func (l *Ledger) Missing(but []Span) []Span {
	out := slices.Clone(l.done)
	for _, s := range but {
		if l.q.m.check([]Span{s}) == nil {
			for i := s.First; i < s.First+s.Count; i++ {
				out.add(i)
			}
		}
	}
	var list []Span
	for i := int64(0); i < l.q.m.Items; i++ {
		if i%64 == 0 && out[i/64] == ^uint64(0) {
			i += 63
			continue
		}
		if out.has(i) {
			continue
		}
		if n := len(list); n > 0 && list[n-1].First+list[n-1].Count == i {
			list[n-1].Count++
		} else {
			list = append(list, Span{i, 1})
		}
	}
	return list
}
