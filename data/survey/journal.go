// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Journal keeps the rows of an unfinished table in files beside it. Every process that works on the table adds to a file of its own,
// which nobody else writes to: a process that was taken for dead and goes on damages no row of the one that took over.
type Journal struct {
	// Other is whether there are only rows of another key: of other spectra, another library or other settings. They are not used.
	Other bool

	file *os.File
}

const journalKind, journalVersion = "SPECTRA-JOURNAL", 2

// journals lists the files of the journal of a table.
func journals(table string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(table))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(table)+journalEnding) {
			names = append(names, filepath.Join(filepath.Dir(table), e.Name()))
		}
	}
	return names, err
}

// journalEnding follows the name of the table in that of a journal, and a random text follows it.
const journalEnding = ".journal"

// OpenJournal opens the journal of a table. The key stands for everything that the rows depend on. If the journal has rows of the same
// key, OpenJournal restores them and marks them as done. Anything after the last complete row of a file, such as a row that was being
// written when a process was killed, is left out. Of a row that several processes have made, one with a fit counts more.
func OpenJournal(table, key string, rows []Row, done []bool) (*Journal, error) {
	names, err := journals(table)
	if err != nil {
		return nil, err
	}
	j := &Journal{}
	ours := false
	for _, name := range names {
		f, err := foreign.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has just finished the table
		}
		if err != nil {
			return nil, err
		}
		same, other := readJournal(f, key, rows, done)
		f.Close()
		ours, j.Other = ours || same, j.Other || other
	}
	j.Other = j.Other && !ours
	if j.file, err = os.OpenFile(table+journalEnding+"-"+rand.Text()[:8], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, err
	}
	if err := checkpoint.Write(j.file, journalKind, journalVersion, func(e *checkpoint.Encoder) { e.String(key) }); err != nil {
		j.file.Close()
		return nil, j.named(err)
	}
	return j, nil
}

// readJournal restores the rows of a file. It reports whether there are any of this key, or of another one.
func readJournal(f io.Reader, key string, rows []Row, done []bool) (same, other bool) {
	mine := false
	if err := checkpoint.Read(f, journalKind, journalVersion, func(d *checkpoint.Decoder) { mine = d.String() == key }); err != nil {
		return false, false
	}
	for n := 0; ; n++ {
		at, row := -1, Row{}
		if err := checkpoint.Read(f, journalKind, journalVersion, func(d *checkpoint.Decoder) {
			at = d.Int()
			d.Value(&row)
		}); err != nil || mine && (at < 0 || at >= len(rows)) {
			return mine && n > 0, !mine && n > 0
		}
		if mine && (!done[at] || row.Fitted) {
			rows[at], done[at] = row, true
		}
	}
}

// Add appends rows to the journal.
func (j *Journal) Add(rows []Row, which []int) error {
	var b bytes.Buffer
	for _, i := range which {
		if err := checkpoint.Write(&b, journalKind, journalVersion, func(e *checkpoint.Encoder) {
			e.Int(i)
			e.Value(rows[i])
		}); err != nil {
			return err
		}
	}
	_, err := j.file.Write(b.Bytes())
	if err == nil {
		err = j.file.Sync()
	}
	return j.named(err)
}

// named says what could not be written.
func (j *Journal) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the finished rows cannot be added to %s: %w: if the disk is full, free some space and run the command again", j.file.Name(), err)
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// RemoveJournal removes the journal of a table, if there is one.
func RemoveJournal(table string) error {
	names, err := journals(table)
	for _, name := range names {
		if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
