// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Type is the element type of a column.
type Type int

// The types of columns.
const (
	Float64 Type = iota
	Int64
	Bool // truth values, stored as bits
	Text // UTF-8 text, only for tables made by CreateTable
)

// Column describes a column of the table.
type Column struct {
	Name string
	Type Type // element type. Default Float64
}

// Settings are the settings of a Writer; the zero value is the default.
type Settings struct {
	Rows int // number of rows in a batch, which is kept in memory. Default 4096
	// Overwrite replaces an existing file.
	Overwrite bool
	Attrs     map[string]string // attributes stored with the table, such as inference_library
}

// Writer writes one file. Its methods may be called from several goroutines. Rows are in the order
// of the calls.
type Writer struct {
	mu      sync.Mutex
	name    string
	file    *atomicfile.File // file being written; nil once closed
	out     *bufio.Writer
	columns []Column // columns, including chain and draw
	every   int
	attrs   map[string]string
	rows    int
	table   bool     // whether the columns chain and draw are absent
	data    [][]byte // elements of the unfinished batch, by column
	ends    [][]byte // ends of its texts in data, by column
	full    bool     // whether its texts are so long that it ends with this row
	at      int64    // number of bytes written
	batches []block
	err     error
}

// block is the position of a batch in the file.
type block struct {
	offset   int64
	metadata int32
	body     int64
}

const magic = "ARROW1"

// Create starts a file that will have the given name once Close succeeds. The columns chain and draw
// precede those given, whose names must differ from these and from each other.
func Create(name string, columns []Column, s Settings) (*Writer, error) {
	for _, c := range columns {
		if c.Type == Text {
			return nil, fmt.Errorf("arrow: column %q is of texts, but draws are numbers: use CreateTable", c.Name)
		}
	}
	return create(name, append([]Column{{"chain", Int64}, {"draw", Int64}}, columns...), s, false)
}

// CreateTable starts a file with a table of exactly the given columns, to which AppendRow adds rows.
func CreateTable(name string, columns []Column, s Settings) (*Writer, error) {
	return create(name, columns, s, true)
}

func create(name string, all []Column, s Settings, table bool) (*Writer, error) {
	seen := map[string]bool{}
	for _, c := range all {
		if c.Name == "" || seen[c.Name] || !utf8.ValidString(c.Name) || c.Type < Float64 || c.Type > Text {
			return nil, fmt.Errorf("arrow: column %q of type %d is not possible: use names that differ from one another and from chain and draw, and a type of this package", c.Name, c.Type)
		}
		seen[c.Name] = true
	}
	if s.Rows < 0 || s.Rows > 1<<24 {
		return nil, fmt.Errorf("arrow: Settings.Rows is %d: want 0 (4096) to %d", s.Rows, 1<<24)
	}
	if s.Rows == 0 {
		s.Rows = 4096
	}
	if _, err := os.Lstat(name); err == nil && !s.Overwrite {
		return nil, fmt.Errorf("arrow: %w: choose another name, or set Overwrite", &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist})
	}
	f, err := atomicfile.Create(name)
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	w := &Writer{name: name, file: f, out: bufio.NewWriterSize(f, 1<<16), columns: all, every: s.Rows, attrs: s.Attrs, table: table, data: make([][]byte, len(all)), ends: make([][]byte, len(all))}
	w.put([]byte(magic + "\x00\x00"))
	w.message(w.schemaMessage(), nil)
	if w.err != nil {
		defer w.Discard()
		return nil, w.err
	}
	return w, nil
}

// Append adds one draw, with one number for every column given to Create. Numbers are truncated for
// Int64 columns, and nonzero means true in Bool columns. After an error, every further call returns the
// same error.
func (w *Writer) Append(chain, draw int, values []float64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.file == nil:
		return fmt.Errorf("arrow: %s is already closed: write before Close", w.name)
	case w.table:
		w.err = fmt.Errorf("arrow: %s is a table, not draws: use AppendRow", w.name)
		return w.err
	case len(values) != len(w.columns)-2:
		w.err = fmt.Errorf("arrow: %s: the row has %d values, but there are %d columns: give one value for each", w.name, len(values), len(w.columns)-2)
		return w.err
	}
	w.data[0] = appendInt(w.data[0], int64(chain))
	w.data[1] = appendInt(w.data[1], int64(draw))
	for i, v := range values {
		w.add(i+2, v)
	}
	w.row()
	return w.err
}

// AppendRow adds a row to a table: its numbers and its texts, each in the order of the columns. Numbers
// are converted as in Append, and bytes of texts that are not valid UTF-8 are replaced.
func (w *Writer) AppendRow(numbers []float64, texts []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	count := 0
	for _, c := range w.columns {
		if c.Type == Text {
			count++
		}
	}
	switch {
	case w.file == nil:
		return fmt.Errorf("arrow: %s is already closed: write before Close", w.name)
	case !w.table:
		w.err = fmt.Errorf("arrow: %s holds draws, not a table: use Append", w.name)
		return w.err
	case len(texts) != count || len(numbers) != len(w.columns)-count:
		w.err = fmt.Errorf("arrow: %s: the row has %d numbers and %d texts, but there are %d columns of numbers and %d of texts: give one value for each", w.name, len(numbers), len(texts), len(w.columns)-count, count)
		return w.err
	}
	for i, c := range w.columns {
		if c.Type != Text {
			w.add(i, numbers[0])
			numbers = numbers[1:]
			continue
		}
		w.data[i] = append(w.data[i], strings.ToValidUTF8(texts[0], "\uFFFD")...)
		w.ends[i] = binary.LittleEndian.AppendUint32(w.ends[i], uint32(len(w.data[i])))
		if texts = texts[1:]; len(w.data[i]) > mostText {
			w.full = true
		}
	}
	w.row()
	return w.err
}

// mostText is the number of bytes of one column after which a batch is written.
const mostText = 16 << 20

// row ends a row.
func (w *Writer) row() {
	if w.rows++; w.rows == w.every || w.full {
		w.full = false
		w.flush()
	}
}

// add appends a number to the unfinished batch of a column.
func (w *Writer) add(column int, v float64) {
	switch w.columns[column].Type {
	case Float64:
		w.data[column] = appendInt(w.data[column], int64(math.Float64bits(v)))
	case Int64:
		w.data[column] = appendInt(w.data[column], clip(v))
	case Bool:
		if w.rows%8 == 0 {
			w.data[column] = append(w.data[column], 0)
		}
		if v != 0 {
			w.data[column][w.rows/8] |= 1 << (w.rows % 8)
		}
	}
}

// clip converts a number that may be outside the range of int64; NaN becomes 0.
func clip(v float64) int64 {
	switch {
	case v >= 1<<63:
		return math.MaxInt64
	case v < -1<<63:
		return math.MinInt64
	case v != v:
		return 0
	}
	return int64(v)
}

// flush writes the rows in memory as a record batch.
func (w *Writer) flush() {
	if w.rows == 0 {
		return
	}
	at := w.at
	metadata := w.message(w.batchMessage())
	w.batches = append(w.batches, block{at, metadata, w.at - at - int64(metadata)})
	w.rows = 0
	for i := range w.data {
		w.data[i], w.ends[i] = w.data[i][:0], w.ends[i][:0]
	}
}

// Close writes what is in memory and renames the file to its final name. A second call does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil || w.err != nil {
		return w.err
	}
	w.flush()
	w.put([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}) // no more batches
	footer := w.footer()
	w.put(footer)
	w.put(append(appendInt(nil, int64(len(footer)))[:4], magic...))
	err := w.err
	if e := w.out.Flush(); err == nil {
		err = e
	}
	if err == nil {
		err = w.file.Commit()
	}
	w.file.Discard()
	w.file = nil
	if err != nil {
		w.err = fmt.Errorf("arrow: %w", err)
	}
	return w.err
}

// Discard removes what was written. After Close it does nothing.
func (w *Writer) Discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return
	}
	w.file.Discard()
	w.file = nil
}

func (w *Writer) put(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	if w.at += int64(n); err != nil {
		w.err = fmt.Errorf("arrow: %w", err)
	}
}
