// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// Store is a folder of results. Each shard has a subfolder named like shard-00003-of-00016, with the
// suffix .partial while items of the shard are missing. Each file in it holds the results of some
// items, in the order in which they were found. The subfolder named queue holds the results that the
// workers of a [Queue] write.
type Store string

const (
	partial  = ".partial"
	partName = "part-"
)

// IsResults reports whether a file of a store holds results, by its path. Such a file never changes: what is forgotten or tried again
// is in files of other names, so that copies of stores can be merged in any order.
func IsResults(name string) bool {
	return inFolder(name) && strings.HasPrefix(filepath.Base(name), partName)
}

// inFolder reports whether a path leads into the folder of a shard or of a queue.
func inFolder(name string) bool {
	dir := filepath.Base(filepath.Dir(name))
	_, ok := parseShard(strings.TrimSuffix(dir, partial))
	return ok || dir == queueName
}

// IsLocal reports whether a file of a store says what a process of this machine does, by its path. Elsewhere it would be taken for what
// a process there has left: its items would count as those that ended it.
func IsLocal(name string) bool {
	base := filepath.Base(name)
	return inFolder(name) && (base == flightName || base == deathsName || base == runlock.Name)
}

// folder is the folder of a shard, or of the queue.
type folder struct {
	Shard
	path     string
	complete bool
	queue    bool
}

// folders lists the folders of shards, and that of the queue.
func (s Store) folders() ([]folder, error) {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []folder
	for _, e := range entries {
		name, isPartial := strings.CutSuffix(e.Name(), partial)
		if shard, ok := parseShard(name); ok && e.IsDir() {
			list = append(list, folder{Shard: shard, path: filepath.Join(string(s), e.Name()), complete: !isPartial})
		}
		if e.Name() == queueName && e.IsDir() {
			list = append(list, folder{path: filepath.Join(string(s), queueName), queue: true})
		}
	}
	return list, nil
}

// parts lists the files of a folder.
func (f folder) parts() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partName) && e.Type().IsRegular() {
			list = append(list, filepath.Join(f.path, e.Name()))
		}
	}
	slices.Sort(list)
	return list, nil
}

// names lists the files of a folder, also if it was completed meanwhile and has another name.
func (f folder) names() ([]string, error) {
	list, err := f.parts()
	if errors.Is(err, fs.ErrNotExist) {
		f.path = strings.TrimSuffix(f.path, partial)
		list, err = f.parts()
	}
	return list, err
}

// OtherManifestError says that results belong to a different manifest.
type OtherManifestError struct {
	File       string
	Have, Want string // hashes of the manifest of the results and of the manifest in use
}

// Error names the file and both manifests.
func (e *OtherManifestError) Error() string {
	return fmt.Sprintf("%s holds results of another manifest (%.12s..., while this one is %.12s...): use a separate folder for the results of each manifest", e.File, e.Have, e.Want)
}

// read reads a file of results of this manifest, also if its folder has got or lost its ending since.
func (m *Manifest) read(name string, all bool) (*part, []mark, error) {
	p, marks, err := readPart(name, all)
	if errors.Is(err, fs.ErrNotExist) {
		dir, isPartial := strings.CutSuffix(filepath.Dir(name), partial)
		if !isPartial {
			dir += partial
		}
		if q, k, e := readPart(filepath.Join(dir, filepath.Base(name)), all); !errors.Is(e, fs.ErrNotExist) {
			p, marks, err = q, k, e
		}
	}
	if errors.As(err, new(*checkpoint.FormatError)) && m.Damaged != nil {
		if _, known := m.told.LoadOrStore(name, true); !known {
			m.Damaged(name, err)
		}
		return &part{hash: m.Hash, damaged: true}, nil, nil
	}
	if errors.As(err, new(*checkpoint.FormatError)) {
		return nil, nil, fmt.Errorf("%w: remove the file and run again, which recomputes its items", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if p.hash != m.Hash {
		return nil, nil, &OtherManifestError{name, p.hash, m.Hash}
	}
	for _, k := range marks {
		if k.item < 0 || k.item >= m.Items {
			return nil, nil, fmt.Errorf("%s has a result for item %d, but the manifest has only %d items: remove the file and run again", name, k.item, m.Items)
		}
	}
	return p, marks, nil
}

// set is a set of items.
type set []uint64

func newSet(items int64) set      { return make(set, (items+63)/64) }
func (s set) has(item int64) bool { return s[item/64]>>(item%64)&1 != 0 }
func (s set) add(item int64)      { s[item/64] |= 1 << (item % 64) }
func (s set) remove(item int64)   { s[item/64] &^= 1 << (item % 64) }

func (s set) count() (n int64) {
	for _, w := range s {
		n += int64(bits.OnesCount64(w))
	}
	return n
}

// results is the folder of one shard that this process writes.
type results struct {
	folder
	m     *Manifest
	store Store
	lock  *runlock.Lock
	stop  chan struct{} // ends the touching of the lock
	next  int           // number of the next file
	own   string        // ends the names of files, so that no other process writes files of the same names
}

// begin locks the folder of a shard and returns what is done of all shards. It returns nil results if
// the shard is complete; a complete one that left items to other folders which lost their results since
// is not. A lock of another machine is taken over if that has stopped touching it.
func (s Store) begin(ctx context.Context, m *Manifest, shard Shard, command string) (*results, set, error) {
	if err := os.MkdirAll(string(s), 0o755); err != nil {
		return nil, nil, err
	}
	r := &results{folder: folder{Shard: shard, path: filepath.Join(string(s), shard.String()+partial)}, m: m, store: s, own: rand.Text()[:8]}
	final := filepath.Join(string(s), shard.String())
	if _, err := os.Stat(final); err == nil {
		done, err := r.done()
		if err != nil {
			return nil, nil, err
		}
		if _, missing := m.count(shard, done); missing == 0 {
			return nil, done, nil
		}
		atomicfile.Step(final)
		os.Rename(final, r.path) // if it cannot be, results are in both
	}
	atomicfile.Step(r.path)
	if err := os.MkdirAll(r.path, 0o755); err != nil {
		return nil, nil, err
	}
	atomicfile.Step(r.path)
	var err error
	r.lock, _, err = runlock.Acquire(r.path, command)
	if held := (*runlock.Held)(nil); errors.As(err, &held) && held.Elsewhere {
		left, e := abandoned(ctx, filepath.Join(r.path, runlock.Name))
		if e != nil {
			return nil, nil, e
		}
		atomicfile.Step(r.path)
		if left {
			os.Remove(filepath.Join(r.path, runlock.Name))
			r.lock, _, err = runlock.Acquire(r.path, command)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	atomicfile.Step(r.path)
	r.stop = make(chan struct{})
	go touch(filepath.Join(r.path, runlock.Name), beat, r.stop)
	done, err := r.done()
	if err != nil {
		r.release()
		return nil, nil, err
	}
	return r, done, nil
}

// done reads which items have results that may be of this shard, in any folder, and looks for the number
// of the next file.
func (r *results) done() (set, error) {
	done := newSet(r.m.Items)
	list, err := r.store.folders()
	if err != nil {
		return nil, err
	}
	r.next = 1
	for _, f := range list {
		// Of another shard of as many this one has no items.
		if f.Count == r.Count && f.Index != r.Index {
			continue
		}
		names, err := f.names()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			_, marks, err := r.m.read(name, false)
			if err != nil {
				return nil, err
			}
			for _, k := range marks {
				done.add(k.item)
			}
			var number int
			if f.Shard == r.Shard && !f.queue {
				fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), partName), "%d", &number)
				r.next = max(r.next, number+1)
			}
		}
	}
	return done, nil
}

// write adds a file of results: those of all lists.
func (r *results) write(columns []Column, lists [][]Record) error {
	if !slices.ContainsFunc(lists, func(records []Record) bool { return len(records) > 0 }) {
		return nil
	}
	name := filepath.Join(r.path, fmt.Sprintf("%s%06d-%s", partName, r.next, r.own))
	err := atomicfile.Write(name, true, func(w io.Writer) error { return encode(w, r.m.Hash, columns, lists...) })
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of the results was removed or renamed during the run: another process may have taken over, as it does after a minute without a sign of life from this one (%w); run again", err)
	}
	if err != nil {
		return err
	}
	r.next++
	return nil
}

// complete gives the folder its name.
func (r *results) complete() error {
	final := filepath.Join(string(r.store), r.Shard.String())
	os.Remove(filepath.Join(r.path, flightName))
	os.Remove(filepath.Join(r.path, deathsName))
	if err := r.release(); err != nil {
		return err
	}
	atomicfile.Step(r.path)
	err := os.Rename(r.path, final)
	if _, e := os.Stat(final); e == nil {
		os.Remove(r.path) // if another process was faster, and nothing is in ours
		return nil
	}
	return err
}

// release gives the lock back. It may be called more than once.
func (r *results) release() error {
	if r.lock == nil {
		return nil
	}
	close(r.stop)
	err := r.lock.Release()
	r.lock = nil
	return err
}

// Remove removes the results of all shards and of the queue. Other files in the folder stay, since they
// may be the user's.
func (s Store) Remove() error {
	list, err := s.folders()
	if err != nil {
		return err
	}
	for _, f := range list {
		if err := os.RemoveAll(f.path); err != nil {
			return err
		}
	}
	os.Remove(string(s)) // if nothing is left in it
	return nil
}

// Forget removes the results of failed items, so that they are tried again, and returns their number.
// No other process may be using the shards.
func (s Store) Forget(m *Manifest, command string) (forgotten int64, err error) {
	list, err := s.folders()
	for _, f := range list {
		if err != nil {
			return forgotten, err
		}
		var n int64
		n, err = s.forget(m, f, command)
		forgotten += n
	}
	return forgotten, err
}

func (s Store) forget(m *Manifest, f folder, command string) (forgotten int64, err error) {
	names, err := s.withFailures(m, f)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	atomicfile.Step(f.path)
	locked := f.path
	if f.complete { // it is not, from now on
		locked += partial
		if err := os.Rename(f.path, locked); err == nil {
			f.path = locked
		} else if _, e := os.Stat(locked); e != nil { // results may be in both, where a process was taken for dead
			return 0, err
		}
	}
	lock, _, err := runlock.Acquire(locked, command)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	for _, name := range names {
		p, _, err := m.read(filepath.Join(f.path, name), true)
		if err != nil {
			return forgotten, err
		}
		before := len(p.records)
		p.records = slices.DeleteFunc(p.records, func(r Record) bool { return r.Err != "" })
		left := name
		switch {
		case len(p.records) == 0:
		case f.queue: // names of its files say what is in them
			left, err = (&Queue{m: m, path: f.path}).put(p.columns, p.records)
		default:
			left = renewed(name)
			err = p.write(filepath.Join(f.path, left))
		}
		if err != nil {
			return forgotten, err
		}
		if len(p.records) == 0 || left != name {
			if err := os.Remove(filepath.Join(f.path, name)); err != nil {
				return forgotten, err
			}
		}
		forgotten += int64(before - len(p.records))
	}
	// What ended processes may do so no longer.
	if err := os.Remove(filepath.Join(f.path, deathsName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return forgotten, err
	}
	return forgotten, nil
}

// renewed returns the name of a file that takes the place of another one with the same number.
func renewed(name string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, partName), "-")
	return partName + number + "-" + rand.Text()[:8]
}

// withFailures lists the files of a folder that hold failures.
func (s Store) withFailures(m *Manifest, f folder) (names []string, err error) {
	all, err := f.parts()
	for _, name := range all {
		_, marks, err := m.read(name, false)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(marks, func(k mark) bool { return k.failed }) {
			names = append(names, filepath.Base(name))
		}
	}
	return names, err
}
