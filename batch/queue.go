// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// queueName is the folder of a store for results of items that a queue deals out.
const queueName = "queue"

// Queue is the part of a store to which any number of processes add results, for whichever items they
// were given. The folder is a log: no file is ever replaced by another. The name of each file is made from its items and
// contents, so that equal results of items that are processed twice end up in one file, which several processes may write at once,
// and different ones stay beside each other: a worker that was away, and comes back to fail, takes away no result.
type Queue struct {
	m      *Manifest
	path   string
	places []place
}

// Queue returns the queue of a store and creates its folder.
func (s Store) Queue(m *Manifest) (*Queue, error) {
	q := &Queue{m: m, path: filepath.Join(string(s), queueName)}
	var err error
	if q.places, err = m.places(); err == nil {
		err = os.MkdirAll(q.path, 0o755)
	}
	return q, err
}

// Folder returns the folder that holds the files of the queue.
func (q *Queue) Folder() string { return q.path }

// Do processes the items of spans and returns their results in any order. An item that fails is tried
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

// DoApart processes items on behalf of another process, in case they crash the process that handles
// them. It writes their results to w, where InChild reads them.
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

// InChild runs a process that handles items with DoApart, and returns their results. If there are none,
// the error says how the process ended.
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
				return nil, fmt.Errorf("the separate process for these items returned no result for item %d: was the program replaced during the run?", i)
			}
			k++
		}
	}
	if k != len(p.records) {
		return nil, fmt.Errorf("the separate process for these items returned %d results: want %d", len(p.records), k)
	}
	return p.records, nil
}

func byItem(a, b Record) int { return cmp.Compare(a.Item, b.Item) }

// Write adds a file of results and returns its name and its items. It sorts the records and, if an item
// has two of them, keeps the first. The name depends only on the items and their results.
func (q *Queue) Write(columns []Column, records []Record) (name string, items []Span, err error) {
	if len(records) == 0 {
		return "", nil, fmt.Errorf("batch: there are no results to write: pass at least one record")
	}
	slices.SortStableFunc(records, byItem)
	records = slices.CompactFunc(records, func(a, b Record) bool { return a.Item == b.Item })
	items = spansOf(records)
	if err := q.m.check(items); err != nil {
		return "", nil, err
	}
	name, err = q.put(columns, records)
	return name, items, err
}

// put writes a file of results and returns its name.
func (q *Queue) put(columns []Column, records []Record) (name string, err error) {
	var b bytes.Buffer
	if err := (&part{hash: q.m.Hash, columns: columns, records: records}).encode(&b); err != nil {
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	name = fmt.Sprintf("%s-%x", fileOf(spansOf(records)), sum[:contentBytes])
	return name, atomicfile.WriteBytes(filepath.Join(q.path, name), b.Bytes())
}

// contentBytes is the number of bytes of the hash of a file's contents in its name.
const contentBytes = 12

// holds reports whether a name is that of a file of these items.
func holds(file string, items []Span) bool {
	content, ok := strings.CutPrefix(file, fileOf(items)+"-")
	b, err := hex.DecodeString(content)
	return ok && err == nil && len(b) == contentBytes
}

// fileOf begins the name of a file with its first item, the number of its items, and the hash of their list.
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

// Ledger is a leader's record of which items have results in a store.
type Ledger struct {
	q     *Queue
	done  set
	count int64
	files map[string]bool // of the queue, whose items are in done
}

// Ledger finds out which items have results.
func (s Store) Ledger(q *Queue) (*Ledger, error) {
	l := &Ledger{q: q, done: newSet(q.m.Items), files: map[string]bool{}}
	list, err := s.folders()
	for _, f := range list {
		if err == nil && !f.queue {
			var names []string
			if names, err = f.names(); err == nil {
				_, err = l.read(names)
			}
		}
	}
	if err == nil {
		err = l.Look()
	}
	return l, err
}

// read notes the items of files. It reports whether none is damaged.
func (l *Ledger) read(names []string) (whole bool, err error) {
	whole = true
	for _, name := range names {
		p, marks, err := l.q.m.read(name, false)
		if err != nil {
			return false, err
		}
		whole = whole && !p.damaged
		for _, k := range marks {
			if !l.done.has(k.item) {
				l.done.add(k.item)
				l.count++
			}
		}
	}
	return whole, nil
}

// Done returns the number of items with a result.
func (l *Ledger) Done() int64 { return l.count }

// Look records the queue's new files.
func (l *Ledger) Look() error {
	names, err := folder{path: l.q.path}.parts()
	if err != nil {
		return err
	}
	for _, name := range names {
		if base := filepath.Base(name); !l.files[base] {
			whole, err := l.read([]string{name})
			if err != nil {
				return err
			}
			if whole { // the same results may take the place of a damaged file
				l.files[base] = true
			}
		}
	}
	return nil
}

// Note records which items a file of the queue holds, as reported by another process. It reports
// whether the file is there; if it is not, nothing is recorded.
func (l *Ledger) Note(file string, items []Span) (bool, error) {
	if len(items) == 0 || l.q.m.check(items) != nil || !holds(file, items) {
		return false, fmt.Errorf("file %q does not match the items that its writer announced: run the same version of the program on all machines", file)
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

// Missing returns the items without a result in order, leaving out those in the given spans.
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
