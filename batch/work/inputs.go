// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// InputsFile is the name of the file beside a manifest that tells the files from which its items are computed from others that may take
// their places.
const InputsFile = "inputs.json"

// mostHashed is the number of bytes of files of a list of which hashes are taken: about a minute's reading. Files beyond are told apart
// by size and time.
const mostHashed = 8 << 30

// reading is a job that reads further files for all of its items. Names are as in the manifest.
type reading interface {
	inputs(folder string) ([]string, error)
}

// ChangedError says that files of a list are no longer what they were when results were made of them.
type ChangedError struct {
	Manifest string
	Files    []*runs.ChangedError // the first few
	Count    int                  // number of files that have changed
}

// Error names the files, what they were and what they are, and what to do.
func (e *ChangedError) Error() string {
	var list []string
	for _, f := range e.Files {
		was, is := runs.Change(f.Was, f.Is, nil)
		list = append(list, fmt.Sprintf("%s had %s, and %s", f.Was.Name, was, is))
	}
	if more := e.Count - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more have changed", more))
	}
	return fmt.Sprintf("since the list %s was made, %s changed, so that its results would not belong together: %s: restore them to go on, or make a new list", e.Manifest, errtext.Count(e.Count, "input file"), strings.Join(list, "; "))
}

// mostTold is the number of changed files that an error names.
const mostTold = 3

// inputsOf lists the files that items of a shard are computed from, each once. Sources that are no files, such as a grid, are left out.
func inputsOf(m *batch.Manifest, shard batch.Shard) ([]string, error) {
	j, err := settingsOf(m)
	if err != nil {
		return nil, err
	}
	var names []string
	if r, ok := j.(reading); ok {
		if names, err = r.inputs(m.Folder()); err != nil {
			return nil, err
		}
	}
	for name, err := range m.Sources(shard) {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// recordInputs keeps the identities of the files of a list beside its manifest.
func recordInputs(m *batch.Manifest) error {
	names, err := inputsOf(m, batch.Whole)
	if err != nil {
		return err
	}
	list, hashed := []foreign.Identity{}, int64(0)
	for _, name := range names {
		st, err := os.Stat(path(m, name))
		if err != nil || !st.Mode().IsRegular() {
			continue // its items say what is wrong, if it is a file at all
		}
		id, err := foreign.Identify(path(m, name), hashed+foreign.Hashed(st.Size()) <= mostHashed)
		if err != nil {
			return err
		}
		if id.SHA256 != "" {
			hashed += foreign.Hashed(id.Bytes)
		}
		id.Name = name
		list = append(list, *id)
	}
	return runs.WriteInputs(filepath.Join(m.Folder(), InputsFile), list)
}

// CheckInputs returns a *ChangedError if files of which a shard has items are not what they were when the list was made, and results
// were made of what they were. Where there are none, such as after a file was mended on which the work had failed, it passes a sentence to
// note and keeps what the file is now. A file of the same size and time is taken for the same without being read, since lists are long
// and every task of a job asks; one with another time, as copies have, is the same if its hash is. Lists that recorded nothing have
// nothing to compare.
func CheckInputs(m *batch.Manifest, store batch.Store, shard batch.Shard, note func(text string)) error {
	return checkInputs(m, store, shard, note, false)
}

// AcceptInputs lets a list go on with what its files are now if items of theirs are missing, and passes a sentence about each file that
// has changed to note. It is for files that were mended because some of their items had failed, once these are forgotten.
func AcceptInputs(m *batch.Manifest, store batch.Store, note func(text string)) error {
	err := checkInputs(m, store, batch.Whole, note, true)
	if errors.As(err, new(*ChangedError)) {
		return nil // it is told when the list goes on
	}
	return err
}

func checkInputs(m *batch.Manifest, store batch.Store, shard batch.Shard, note func(text string), mended bool) error {
	name := filepath.Join(m.Folder(), InputsFile)
	list, err := runs.ReadInputs(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: restore the file, or make a new list", err)
	}
	names, err := inputsOf(m, shard)
	if err != nil {
		return err
	}
	other := map[string]*runs.ChangedError{}
	for _, was := range list {
		if _, ours := slices.BinarySearch(names, was.Name); !ours {
			continue
		}
		is, same, err := compare(path(m, was.Name), was)
		if err == nil && !same { // of a file that cannot be read the items tell
			other[was.Name] = &runs.ChangedError{Was: was, Is: is}
		}
	}
	if len(other) == 0 {
		return nil
	}
	used, err := usedInputs(m, store, other)
	if err != nil {
		return err
	}
	changed := &ChangedError{Manifest: m.Path()}
	for i, was := range list {
		c := other[was.Name]
		if c == nil {
			continue
		}
		u := used[was.Name]
		if u.done > 0 && !(mended && u.done < u.items) {
			if changed.Count++; changed.Count <= mostTold {
				changed.Files = append(changed.Files, c)
			}
			continue
		}
		before, now := runs.Change(c.Was, c.Is, nil)
		rest := "nothing was computed from what it was, so the list goes on with what it is"
		if u.done > 0 {
			rest = fmt.Sprintf("%s of it have results, which stay those of what it was; a new list computes them anew", errtext.Count(int(u.done), "item"))
		}
		note(fmt.Sprintf("%s had %s when the list was made, and %s; %s", was.Name, before, now, rest))
		list[i] = *c.Is
		list[i].Name = was.Name
	}
	if err := runs.WriteInputs(name, list); err != nil {
		return err
	}
	if changed.Count > 0 {
		return changed
	}
	return nil
}

// compare reports whether a file is what it was, and what it is.
func compare(name string, was foreign.Identity) (is *foreign.Identity, same bool, err error) {
	is, err = foreign.Identify(name, false)
	if err == nil && is.Bytes == was.Bytes && is.Modified.Equal(was.Modified) {
		return is, true, nil
	}
	if err == nil && was.SHA256 != "" {
		is, err = foreign.Identify(name, true)
	}
	return is, err == nil && is.Whole() && is.SHA256 == was.SHA256, err
}

// use is how many items are computed from a file, and how many of them have results.
type use struct{ items, done int64 }

// usedInputs counts the items of files: for a file that is no source, all items of the list.
func usedInputs[T any](m *batch.Manifest, store batch.Store, files map[string]T) (map[string]use, error) {
	has, err := store.Results(m)
	if err != nil {
		return nil, err
	}
	used, all := map[string]use{}, use{}
	for s, err := range m.Segments() {
		if err != nil {
			return nil, err
		}
		u := use{items: s.Count}
		for i := s.Item; i < s.Item+s.Count; i++ {
			if has(i) {
				u.done++
			}
		}
		all.items, all.done = all.items+u.items, all.done+u.done
		if _, ok := files[s.Source]; ok {
			u.items, u.done = u.items+used[s.Source].items, u.done+used[s.Source].done
			used[s.Source] = u
		}
	}
	for name := range files {
		if _, ok := used[name]; !ok {
			used[name] = all
		}
	}
	return used, nil
}
