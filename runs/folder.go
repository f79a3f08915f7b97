package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Files of a run folder that others have to name.
const (
	ConfigFile     = "config.json"
	CheckpointFile = "checkpoint"
	DrawsFolder    = "draws.zarr"
	MarkerFile     = ".euryale" // in every folder that a Writer has made, or found empty
)

// Folder is the folder of one run, by its path.
type Folder string

// Path returns the path of a file in the folder.
func (f Folder) Path(elem ...string) string {
	return filepath.Join(append([]string{string(f)}, elem...)...)
}

// Begin writes the settings of the run, an object with the key "command". From then on the
// run can be resumed.
func (f Folder) Begin(config any) error { return WriteJSON(f.Path(ConfigFile), config) }

// Config reads the settings of the run. The error of a folder without any is that of the
// file.
func (f Folder) Config(config any) error {
	b, err := foreign.ReadFile(f.Path(ConfigFile))
	if err != nil {
		return fmt.Errorf("%s is not a run folder: %w", f, err)
	}
	if err := json.Unmarshal(b, config); err != nil {
		return fmt.Errorf("%s: %w", f.Path(ConfigFile), err)
	}
	return nil
}

// Command returns the command that made the folder; it is empty where the settings do not
// name it.
func (f Folder) Command() (string, error) {
	var ran struct {
		Command string `json:"command"`
	}
	err := f.Config(&ran)
	return ran.Command, err
}

// OtherRunError says that a folder is one of another command than that which would resume
// it.
type OtherRunError struct {
	Folder       Folder
	Command, Run string // which resumes, and which made the folder
}

// Error names both commands.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("%s is a run of %q: want %s", e.Folder, e.Run, e.Command)
}

// Resume reads the settings of the run that the command is to go on with. A run of another
// command is an *OtherRunError.
func (f Folder) Resume(command string, config any) error {
	ran, err := f.Command()
	switch {
	case err != nil:
		return err
	case ran == "":
		return fmt.Errorf("%s names no command: is the file whole?", f.Path(ConfigFile))
	case ran != command:
		return &OtherRunError{Folder: f, Command: command, Run: ran}
	}
	return f.Config(config)
}

// Checkpoint names the checkpoint of the run; it is empty where there is none.
func (f Folder) Checkpoint() string {
	if name := f.Path(CheckpointFile); exists(name) {
		return name
	}
	return ""
}

// Ours reports whether the folder is one of a run, whose files may be replaced when that is
// asked for.
func (f Folder) Ours() bool {
	if exists(f.Path(MarkerFile)) {
		return true
	}
	ran, err := f.Command()
	return err == nil && ran != ""
}

// WriteFile writes a file under a temporary name and renames it.
func WriteFile(path string, b []byte) error { return atomicfile.WriteBytes(path, b) }

// WriteJSON writes v as an indented document, under a temporary name that is changed at
// the end.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(path, append(b, '\n'))
}

// exists reports whether a file is there.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
