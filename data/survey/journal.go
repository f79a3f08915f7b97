// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// Journal keeps the rows of an unfinished table in a file beside it.
type Journal struct {
	// Other is whether rows of another key were there, which are gone: of other spectra, another library or other settings.
	Other bool

	file *os.File
}

const journalKind, journalVersion = "SPECTRA-JOURNAL", 2

func journalOf(table string) string { return table + ".journal" }

// OpenJournal opens the journal of a table. The key stands for everything that the rows depend on. If
// the journal has the same key, OpenJournal restores the rows in it and marks them as done; otherwise
// it starts an empty one. Anything after the last complete row, such as a row that was being written
// when a process was killed, is removed.
func OpenJournal(table, key string, rows []Row, done []bool) (*Journal, error) {
	f, err := os.OpenFile(journalOf(table), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	end, other, err := readJournal(f, key, rows, done)
	if err == nil && end == 0 {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = checkpoint.Write(f, journalKind, journalVersion, func(e *checkpoint.Encoder) { e.String(key) })
		}
		if err == nil {
			end, err = f.Seek(0, io.SeekCurrent)
		}
	}
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Journal{other, f}, nil
}

// readJournal returns where the last complete row ends, which is 0 if there is none, and whether the journal is of another key.
func readJournal(f *os.File, key string, rows []Row, done []bool) (end int64, other bool, err error) {
	same := false
	if err := checkpoint.Read(f, journalKind, journalVersion, func(d *checkpoint.Decoder) { same = d.String() == key }); err != nil || !same {
		return 0, err == nil, nil
	}
	for {
		if end, err = f.Seek(0, io.SeekCurrent); err != nil {
			return 0, false, err
		}
		at, row := -1, Row{}
		if err := checkpoint.Read(f, journalKind, journalVersion, func(d *checkpoint.Decoder) {
			at = d.Int()
			d.Value(&row)
		}); err != nil || at < 0 || at >= len(rows) {
			return end, false, nil
		}
		rows[at], done[at] = row, true
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
	if _, err := j.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("the finished rows cannot be added to %s: %w: if the disk is full, free some space and run the command again", j.file.Name(), err)
	}
	return j.file.Sync()
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// RemoveJournal removes the journal of a table, if there is one.
func RemoveJournal(table string) error {
	if err := os.Remove(journalOf(table)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
