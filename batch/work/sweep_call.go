// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/runlock"
)

const (
	// mostPrinted bounds the document that a command prints.
	mostPrinted = 64 << 20
	// mostSaid is how much of the end of what a command says is kept.
	mostSaid = 64 << 10
)

// document keeps what a command prints, up to a length at which the command is cut off.
type document struct {
	text    bytes.Buffer
	tooLong bool
}

// Write appends to the document and fails once it is too long.
func (d *document) Write(b []byte) (int, error) {
	if d.text.Len()+len(b) > mostPrinted {
		d.tooLong = true
		return 0, fmt.Errorf("the command printed more than %d bytes on standard output, the most that is kept: make it print only its document", mostPrinted)
	}
	return d.text.Write(b)
}

// tail keeps the end of what a command says.
type tail struct{ b []byte }

// Write appends to the text and drops all but its end.
func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b[max(0, len(b)-mostSaid):]...)
	if len(t.b) > 2*mostSaid {
		t.b = append(t.b[:0], t.b[len(t.b)-mostSaid:]...)
	}
	return len(b), nil
}

// words returns the last error that was said, or else the end.
func (t *tail) words() string {
	said := strings.TrimSpace(string(t.b))
	if at := strings.LastIndex(said, "Error: "); at >= 0 {
		said = said[at:]
	}
	return said[max(0, len(said)-2000):]
}

// The folder of an item has an ending while a command writes it, which names the process: workers may
// do the same item at the same time.
const (
	leftEnding = ".partial"
	oldEnding  = ".old"
)

func ofThisProcess() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s-%d-%s", leftEnding, os.Getpid(), host)
}

// removeLeft removes the unfinished folders that ended processes of this machine left behind. One that such a process had taken away,
// and put nothing in its place, gets its name back.
func removeLeft(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	here, _ := os.Hostname()
	for _, e := range entries {
		item, left, _ := strings.Cut(strings.TrimSuffix(e.Name(), oldEnding), leftEnding+"-")
		id, host, _ := strings.Cut(left, "-")
		if pid, no := strconv.Atoi(id); err == nil && no == nil && host == here && pid != os.Getpid() && !runlock.Alive(pid) {
			if name := filepath.Join(folder, item); strings.HasSuffix(e.Name(), oldEnding) {
				if _, gone := os.Lstat(name); errors.Is(gone, fs.ErrNotExist) {
					err = os.Rename(filepath.Join(folder, e.Name()), name)
					continue
				}
			}
			err = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
	return err
}

// replace gives a folder its name, in place of one that another process made for the same item.
func replace(out, final string) error {
	old := out + oldEnding
	if err := os.Rename(final, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Rename(out, final)
	if _, e := os.Stat(final); e == nil {
		err = nil // another process was faster
		os.RemoveAll(out)
	}
	return errors.Join(err, os.RemoveAll(old))
}
