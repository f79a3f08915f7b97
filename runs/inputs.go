// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// InputsFile is the name of the list of files that a run reads again when it is resumed.
const InputsFile = "inputs.json"

// Input identifies a file that a run has read.
type Input = foreign.Identity

// ChangedError says that an input of a run is no longer what it was when the run began.
type ChangedError struct {
	Folder Folder
	Was    Input
	Is     *Input // nil: the file cannot be read
	Err    error  // failure to read it; nil if it could be read
}

// Error names the file, what it was and what it is, and what to do.
func (e *ChangedError) Error() string {
	was, is := Change(e.Was, e.Is, e.Err)
	return fmt.Sprintf("%s had %s when the run in %s began, and %s: restore it to go on, or begin a new run", e.Was.Name, was, e.Folder, is)
}

// Change says what a file was, as in "3 bytes of 2026-01-02 03:04:05", and what it is, as in "it is not there now". The identity is nil if
// the file cannot be read because of err.
func Change(was Input, is *Input, err error) (before, now string) {
	size := func(i Input) string {
		if i.Files != nil {
			return fmt.Sprintf("%s (%s)", errtext.Count(len(i.Files), "file"), foreign.Short(strings.Join(i.Files, ", "), 200))
		}
		return fmt.Sprintf("%s of %s", errtext.Count(int(i.Bytes), "byte"), i.Modified.Local().Format("2006-01-02 15:04:05"))
	}
	now = "it cannot be read now"
	switch {
	case is != nil && size(*is) == size(was):
		now = "it now has the same size and time, but other bytes"
	case is != nil:
		now = "it now has " + size(*is)
	case errors.Is(err, fs.ErrNotExist):
		now = "it is not there now"
	}
	return size(was), now
}

// Unwrap returns why the file cannot be read, or nil.
func (e *ChangedError) Unwrap() error { return e.Err }

// Record keeps the identity of the named files and of the files in the named folders: size, time and hash. Names that are empty
// are left out.
func (f Folder) Record(names ...string) error {
	list := []Input{}
	for _, name := range names {
		if name == "" {
			continue
		}
		name, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		in, err := foreign.Identify(name, true)
		if err != nil {
			return err
		}
		list = append(list, *in)
		for _, part := range in.Files {
			in, err := foreign.Identify(filepath.Join(name, part), true)
			if err != nil {
				return err
			}
			list = append(list, *in)
		}
	}
	return WriteInputs(f.Path(InputsFile), list)
}

// inputsDoc is the document of a list of inputs. Older versions wrote the list alone.
type inputsDoc struct {
	Inputs []Input `json:"inputs"`
}

// WriteInputs writes identities of files, with a checksum.
func WriteInputs(path string, list []Input) error { return WriteJSON(path, inputsDoc{list}) }

// ReadInputs reads identities that WriteInputs wrote.
func ReadInputs(path string) ([]Input, error) {
	var raw json.RawMessage
	if err := ReadJSON(path, &raw); err != nil {
		return nil, err
	}
	var doc inputsDoc
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		err = foreign.Decode(raw, &doc.Inputs, false)
	} else {
		err = foreign.Decode(raw, &doc, false)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case doc.Inputs == nil:
		return nil, fmt.Errorf("%s holds no list of inputs", path)
	}
	return doc.Inputs, nil
}

// Unchanged returns a *ChangedError if a recorded input has changed. A file that was copied back with another time is the same if its
// hash is. Folders of runs that recorded nothing have nothing to compare.
func (f Folder) Unchanged() error {
	list, err := ReadInputs(f.Path(InputsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: restore the file, or begin a new run", err)
	}
	for _, was := range list {
		if was.Name == "" {
			return fmt.Errorf("%s names no file: restore it, or begin a new run", f.Path(InputsFile))
		}
		is, err := foreign.Identify(was.Name, was.SHA256 != "")
		if err != nil || !is.Same(&was) {
			return &ChangedError{Folder: f, Was: was, Is: is, Err: err}
		}
	}
	return nil
}
