// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Names of files in a run folder that other packages refer to.
const (
	ConfigFile     = "config.json"
	CheckpointFile = "checkpoint"
	DrawsFolder    = "draws.zarr"
	MarkerFile     = ".euryale" // marker in every folder that a Writer created or found empty
	// LiveFolder is the folder of what a run that goes on shows: some of its draws so far, as chain-N.csv, and ProgressFile. A run that
	// has ended leaves none.
	LiveFolder   = "live"
	ProgressFile = "progress.json"
)

// Folder is the path of the folder of one run.
type Folder string

// Path returns the path of an element in the folder.
func (f Folder) Path(elem ...string) string {
	return filepath.Join(append([]string{string(f)}, elem...)...)
}

// Begin writes the settings of the run, an object with the key "command". From then on
// the run can be resumed.
func (f Folder) Begin(config any) error { return WriteJSON(f.Path(ConfigFile), config) }

// runs lists the folders of runs in a folder.
func (f Folder) runs() (inner []string) {
	found, _ := filepath.Glob(filepath.Join(string(f), "*", ConfigFile))
	for _, name := range found {
		inner = append(inner, filepath.Dir(name))
	}
	return inner
}

// Config reads the settings of the run. If the folder has none, the error is that of
// reading the file.
func (f Folder) Config(config any) error {
	err := ReadJSON(f.Path(ConfigFile), config)
	if errors.As(err, new(*fs.PathError)) {
		if inner := f.runs(); len(inner) > 0 {
			return fmt.Errorf("%s is not a run folder, but holds %s: %w: give one of them", f, errtext.Named(inner), err)
		}
		return fmt.Errorf("%s is not a run folder: %w: give the folder of a run", f, err)
	}
	return err
}

// Command returns the command that made the folder, or "" if the settings do not name it.
func (f Folder) Command() (string, error) {
	var ran struct {
		Command string `json:"command"`
	}
	err := f.Config(&ran)
	return ran.Command, err
}

// OtherRunError says that a folder belongs to a run of another command than the one
// resuming it.
type OtherRunError struct {
	Folder Folder
	// Command is the command that resumes, and Run the command that made the folder.
	Command, Run string
}

// Error names both commands.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s holds a run of %q, not of %q: give the folder of the other run, or use the command that made it", e.Folder, e.Run, e.Command)
}

// Resume reads the settings of the run that the given command is to resume. If another
// command made the run, the error is an *OtherRunError.
func (f Folder) Resume(command string, config any) error {
	ran, err := f.Command()
	switch {
	case err != nil:
		return err
	case ran == "":
		return fmt.Errorf("%s names no command: the file is incomplete or was edited; restore it, or begin a new run", f.Path(ConfigFile))
	case ran != command:
		return &OtherRunError{Folder: f, Command: command, Run: ran}
	}
	return f.Config(config)
}

// Checkpoint returns the path of the run's checkpoint, or "" if there is none.
func (f Folder) Checkpoint() string {
	if name := f.Path(CheckpointFile); foreign.Exists(name) {
		return name
	}
	return ""
}

// Ours reports whether the folder is a run folder, whose files may be replaced on
// request.
func (f Folder) Ours() bool {
	if foreign.Exists(f.Path(MarkerFile)) {
		return true
	}
	ran, err := f.Command()
	return err == nil && ran != ""
}

// WriteFile writes a file under a temporary name and then renames it.
func WriteFile(path string, b []byte) error { return atomicfile.WriteBytes(path, b) }

// WriteJSON writes v as an indented JSON document under a temporary name and then renames
// it. The document of an object ends with its checksum, the member "crc32c".
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, foreign.Seal(b))
}

// ReadJSON reads a document that WriteJSON wrote, verifies its checksum if it has one, and decodes it. Members that v does not have
// are left out. If the file cannot be read, the error is that of reading it.
func ReadJSON(path string, v any) error {
	b, err := foreign.ReadFile(path)
	if err != nil {
		return err
	}
	if err := foreign.Decode(b, v, false); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
