package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/runlock"
)

// Store is a folder of results. Each shard has a folder in it, named like shard-00003-of-00016, and with
// the ending .partial while items of the shard are missing. The files of a folder hold results of some
// items each, in the order in which they were found. The folder named queue holds results that the
// workers of a [Queue] write.
type Store string

const (
	partial  = ".partial"
	partName = "part-"
)

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

// OtherManifestError says that results belong to another manifest.
type OtherManifestError struct {
	File       string
	Have, Want string // hashes
}

// Error names the file and both manifests.
func (e *OtherManifestError) Error() string {
	return fmt.Sprintf("%s holds results of another manifest (%.12s..., this one is %.12s...): keep the results of each in a folder of its own", e.File, e.Have, e.Want)
}

// read reads a file of results of this manifest.
func (m *Manifest) read(name string, all bool) (*part, []mark, error) {
	p, marks, err := readPart(name, all)
	if err != nil {
		return nil, nil, err
	}
	if p.hash != m.Hash {
		return nil, nil, &OtherManifestError{name, p.hash, m.Hash}
	}
	for _, k := range marks {
		if k.item < 0 || k.item >= m.Items {
			return nil, nil, fmt.Errorf("%s has item %d, the manifest has %d items", name, k.item, m.Items)
		}
	}
	return p, marks, nil
}

// set is a set of items.
type set []uint64

func newSet(items int64) set      { return make(set, (items+63)/64) }
func (s set) has(item int64) bool { return s[item/64]>>(item%64)&1 != 0 }
func (s set) add(item int64)      { s[item/64] |= 1 << (item % 64) }

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
	next  int // number of the next file
}

// begin locks the folder of a shard and returns what is done of all shards. It returns nil results if
// the shard is complete.
func (s Store) begin(m *Manifest, shard Shard, command string) (*results, set, error) {
	if err := os.MkdirAll(string(s), 0o755); err != nil {
		return nil, nil, err
	}
	r := &results{folder: folder{Shard: shard, path: filepath.Join(string(s), shard.String()+partial)}, m: m, store: s}
	done := newSet(m.Items)
	if _, err := os.Stat(filepath.Join(string(s), shard.String())); err == nil {
		return nil, done, nil
	}
	if err := os.MkdirAll(r.path, 0o755); err != nil {
		return nil, nil, err
	}
	var err error
	if r.lock, _, err = runlock.Acquire(r.path, command); err != nil {
		return nil, nil, err
	}
	list, err := s.folders()
	for _, f := range list {
		// Of another shard of as many this one has no items.
		if err != nil || f.Count == shard.Count && f.Index != shard.Index {
			continue
		}
		var names []string
		if names, err = f.parts(); errors.Is(err, fs.ErrNotExist) {
			err = nil // it was completed, and has another name
			continue
		}
		for _, name := range names {
			var marks []mark
			if err == nil {
				_, marks, err = m.read(name, false)
			}
			for _, k := range marks {
				done.add(k.item)
			}
			if f.path == r.path {
				fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), partName), "%d", &r.next)
			}
		}
	}
	if err != nil {
		r.lock.Release()
		return nil, nil, err
	}
	r.next++
	return r, done, nil
}

// write adds a file of results.
func (r *results) write(columns []Column, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	p := &part{hash: r.m.Hash, columns: columns, records: records}
	if err := p.write(filepath.Join(r.path, fmt.Sprintf("%s%06d", partName, r.next))); err != nil {
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
	if err := r.lock.Release(); err != nil {
		return err
	}
	r.lock = nil
	return os.Rename(r.path, final)
}

func (r *results) release() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Release()
}
