// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// manifestFormat is the first thing in a manifest.
const manifestFormat = "euryale batch 1"

// mostListed is the number of items of the longest list, and of the largest block: a process that works on it
// has a bit of memory for each, twice.
const mostListed = 10_000_000_000

// longestLine is the length in bytes of the longest line of a manifest that is read.
const longestLine = 1 << 20

// Manifest is a list of items together with what is to be done with each of them. The items are
// numbered from 0, in the order of the segments.
type Manifest struct {
	Header
	// Items is the total number of items.
	Items int64
	// Hash is the SHA-256 of the file without its last line, in hexadecimal digits.
	Hash string
	// Damaged is called, once for each, with the files of results that are damaged. Their items count as missing, so that Run processes them
	// again. If it is nil, such a file is an error.
	Damaged func(file string, err error)

	path string
	told sync.Map // damaged files that were told
}

// Header describes the work that a manifest asks for.
type Header struct {
	Format string `json:"format"`
	// Command is the command that processes an item, such as "fit g2".
	Command string `json:"command"`
	// Settings are the settings of the command, in the form in which it reads them.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Seed is combined with the number of an item to seed the item's random numbers.
	Seed uint64 `json:"seed"`
	// SIMD is the instruction set of the kernels. Processors that have it give results with the same
	// bits.
	SIMD string `json:"simd,omitempty"`
	// Device is the kind of device that computes: cpu or cuda.
	Device string `json:"device,omitempty"`
	// Retries is the number of times that a failed item is tried again.
	Retries int `json:"retries"`
	// Block is the number of consecutive items that stay together when items are divided among shards.
	Block int64 `json:"block"`
}

// Segment is a run of consecutive items from one source.
type Segment struct {
	Source string // name of the source, such as a file
	Row    int64  // position of the first item within the source, from 0
	Item   int64  // number of the first item in the manifest
	Count  int64
}

// Create writes a manifest to a file, which must not exist yet, and opens it. The function list passes
// the segments to add one at a time, so that only one of them is in memory.
func Create(path string, h Header, list func(add func(source string, row, count int64) error) error) (*Manifest, error) {
	err := atomicfile.Write(path, false, func(w io.Writer) error {
		_, err := write(w, h, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	return Open(path)
}

// HashOf returns the hash that a manifest with these contents would have.
func HashOf(h Header, list func(add func(source string, row, count int64) error) error) (string, error) {
	return write(io.Discard, h, list)
}

// write writes a manifest and returns its hash.
func write(w io.Writer, h Header, list func(add func(source string, row, count int64) error) error) (hash string, err error) {
	h.Format = manifestFormat
	if h.Block <= 0 {
		h.Block = 64
	}
	sum := sha256.New()
	var items int64
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	first, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	if len(first) >= longestLine {
		return "", fmt.Errorf("the settings take %d bytes, but a line of a manifest holds less than %d: shorten them", len(first), longestLine)
	}
	out.Write(append(first, '\n'))
	err = list(func(source string, row, count int64) error {
		if row < 0 || count < 0 {
			return fmt.Errorf("%s: cannot list %d items from row %d: neither number may be negative", source, count, row)
		}
		if count > mostListed-items {
			return fmt.Errorf("%s: its %d items would make the list longer than %d: split it into several lists", source, count, int64(mostListed))
		}
		if count == 0 {
			return nil
		}
		items += count
		line := strconv.AppendInt(append(strconv.AppendInt(append(quoted(source), ' '), row, 10), ' '), count, 10)
		if len(line) >= longestLine {
			return fmt.Errorf("the name of a source has %d bytes: want less than %d, so shorten the path", len(source), longestLine)
		}
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		fmt.Fprintf(out, "%d items\n", items)
		err = out.Flush()
	}
	hash = hex.EncodeToString(sum.Sum(nil))
	if err == nil {
		_, err = fmt.Fprintf(w, "sha256 %s\n", hash)
	}
	return hash, err
}

// Path returns the name of the file.
func (m *Manifest) Path() string { return m.path }

// Folder returns the folder of the file. Relative names of sources are relative to it.
func (m *Manifest) Folder() string { return filepath.Dir(m.path) }

// quoted writes a name on one line.
func quoted(name string) []byte { return strconv.AppendQuote(nil, name) }

// Open reads the header of a manifest, and reads the whole file once to check its hash.
func Open(path string) (*Manifest, error) {
	m := &Manifest{path: path}
	sum := sha256.New()
	var items string
	var listed int64
	last, err := m.each(sum, func(n int, line []byte) error {
		if n > 1 {
			items = ""
			if line[0] != '"' {
				items = string(line)
				return nil
			}
			s, err := segment(line)
			if err == nil && s.Count > mostListed-listed {
				err = fmt.Errorf("the list has more than %d items: split it into several lists", int64(mostListed))
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			listed += s.Count
			return nil
		}
		if err := foreign.Decode(line, &m.Header, false); err != nil {
			return fmt.Errorf("line 1 is not the header of a manifest: %w", err)
		}
		if m.Format != manifestFormat {
			return fmt.Errorf("line 1 has the format %q: want %q: make the manifest again with this version of the program", foreign.Short(m.Format, 40), manifestFormat)
		}
		if m.Block <= 0 || m.Block > mostListed || m.Retries < 0 {
			return fmt.Errorf("line 1 asks for blocks of %d items and %d retries: want blocks of 1 to %d items, and 0 retries or more", m.Block, m.Retries, int64(mostListed))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	if _, err := fmt.Sscanf(items, "%d items", &m.Items); err != nil || m.Items < 0 || m.Items > mostListed || items != fmt.Sprint(m.Items, " items") {
		return nil, fmt.Errorf("manifest %s: the line before the last does not give the number of items: the file is incomplete, copy it again", path)
	}
	if m.Hash = hex.EncodeToString(sum.Sum(nil)); last != "sha256 "+m.Hash+"\n" {
		return nil, fmt.Errorf("manifest %s: its contents have the hash %.12s..., but its last line is %q: it was changed or truncated; make a new one", path, m.Hash, foreign.Short(last, 80))
	}
	if listed != m.Items {
		return nil, fmt.Errorf("manifest %s: its sources have %d items, but its last lines say %d: make a new one", path, listed, m.Items)
	}
	return m, nil
}

// each calls f with every line but the last, which it returns; sum, unless nil, takes the bytes of the
// others.
func (m *Manifest) each(sum hash.Hash, f func(n int, line []byte) error) (last string, err error) {
	in, err := foreign.Open(m.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, longestLine)
	var before []byte
	for n := 0; ; n++ {
		line, err := r.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			return string(before), nil
		}
		if err == bufio.ErrBufferFull {
			return "", fmt.Errorf("line %d has more than %d bytes: is the file a manifest?", n+1, longestLine)
		}
		if err != nil && err != io.EOF {
			return "", err
		}
		if n > 0 {
			if len(before) < 2 {
				return "", fmt.Errorf("line %d is empty: is the file a manifest?", n)
			}
			if sum != nil {
				sum.Write(before)
			}
			if err := f(n, bytes.TrimSuffix(before, []byte("\n"))); err != nil {
				return "", err
			}
		}
		before = append(before[:0], line...)
	}
}

// Segments returns the segments one after another, and an error if the file cannot be read. It holds
// one line in memory at a time.
func (m *Manifest) Segments() iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		item, stopped := int64(0), fmt.Errorf("stopped")
		_, err := m.each(nil, func(n int, line []byte) error {
			if n == 1 || line[0] != '"' {
				return nil
			}
			s, err := segment(line)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			foreign.Name(s.Source)
			s.Item = item
			item += s.Count
			if !yield(s, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && err != stopped {
			yield(Segment{}, fmt.Errorf("manifest %s: %w", m.path, err))
		}
	}
}

// Sources returns the names of the sources of a shard's items one after another, and an error if the file cannot be read. Several
// segments of one source give its name once if they follow each other.
func (m *Manifest) Sources(shard Shard) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		last := ""
		for s, err := range m.Segments() {
			if err == nil && (shard.next(s.Item, m.Block) >= s.Item+s.Count || s.Source == last) {
				continue
			}
			if last = s.Source; !yield(s.Source, err) || err != nil {
				return
			}
		}
	}
}

// segment reads a line.
func segment(line []byte) (s Segment, err error) {
	name, err := strconv.QuotedPrefix(string(line))
	if err != nil {
		return s, fmt.Errorf("the line %q does not begin with the name of a source in quotes", foreign.Short(string(line), 60))
	}
	if s.Source, err = strconv.Unquote(name); err != nil {
		return s, err
	}
	rest := bytes.Fields(line[len(name):])
	if len(rest) != 2 {
		return s, fmt.Errorf("the line has %d fields after the name: want 2, the first row and the number of items", len(rest))
	}
	if s.Row, err = strconv.ParseInt(string(rest[0]), 10, 64); err == nil {
		s.Count, err = strconv.ParseInt(string(rest[1]), 10, 64)
	}
	if err == nil && (s.Row < 0 || s.Count <= 0) {
		err = fmt.Errorf("the line lists %d items from row %d: want at least one item, from row 0 or later", s.Count, s.Row)
	}
	return s, err
}

// Seed returns the seed for an item's random numbers. Different items, and different seeds, give
// unrelated random numbers.
func Seed(seed uint64, item int64) uint64 {
	mix := func(z uint64) uint64 { // the finaliser of SplitMix64
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return mix(mix(seed+0x9e3779b97f4a7c15) + uint64(item)*0x9e3779b97f4a7c15)
}
