// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"

	"github.com/euryale-dev/euryale/internal/foreign"
)

const (
	flightName = "working"
	deathsName = "deaths.json"
)

// flight is a file that says, for every worker, which items it works on: where a process ended without
// a word, it tells which items may have ended it. It is not synchronised with the disk, as it has to
// outlive the process, not the machine.
type flight struct{ f *os.File }

func (r *results) newFlight(workers int) (*flight, error) {
	name := filepath.Join(r.path, flightName)
	os.Remove(name) // which may be anything, such as a pipe; a file that stays is written over
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &flight{f}, f.Truncate(int64(16 * workers))
}

// set notes that a worker is at some items; none when it has done them.
func (f *flight) set(worker int, first, count int64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(first))
	binary.LittleEndian.PutUint64(b[8:], uint64(count))
	f.f.WriteAt(b[:], int64(16*worker)) // best effort: without it an item that ends the process is tried for ever
}

// end closes the file, which then names no items.
func (f *flight) end() {
	f.f.Truncate(0)
	f.f.Close()
}

// suspects returns how often a process ended while it worked on an item, for the items of which that is
// true, and counts what the last process left: of the shard's items those without a result.
func (r *results) suspects(done set) (map[int64]int, error) {
	deaths := map[int64]int{}
	name := filepath.Join(r.path, deathsName)
	b, err := foreign.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &deaths)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be read (%w): remove the file", name, err)
	}
	left, err := foreign.ReadFile(filepath.Join(r.path, flightName))
	if err != nil || len(left) < 16 {
		return deaths, nil
	}
	changed := false
	for ; len(left) >= 16; left = left[16:] {
		first, count := int64(binary.LittleEndian.Uint64(left)), int64(binary.LittleEndian.Uint64(left[8:]))
		if first < 0 || count <= 0 || first > r.m.Items-count {
			continue
		}
		for i := r.Shard.next(first, r.m.Block); i < first+count; i = r.Shard.next(i+1, r.m.Block) {
			if !done.has(i) {
				deaths[i]++
				changed = true
			}
		}
	}
	if !changed {
		return deaths, nil
	}
	if b, err = json.Marshal(deaths); err != nil {
		return nil, err
	}
	return deaths, atomicfile.WriteBytes(name, b)
}
