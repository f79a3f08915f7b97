// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sort"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Span is a run of consecutive items, given by their numbers.
type Span struct {
	First int64 `json:"first"`
	Count int64 `json:"count"`
}

// spansOf returns the runs of items of records in their order.
func spansOf(records []Record) []Span {
	var list []Span
	for _, r := range records {
		if n := len(list); n > 0 && list[n-1].First+list[n-1].Count == r.Item {
			list[n-1].Count++
		} else {
			list = append(list, Span{r.Item, 1})
		}
	}
	return list
}

// Count returns the number of items in spans.
func Count(spans []Span) (n int64) {
	for _, s := range spans {
		n += s.Count
	}
	return n
}

// check compares spans with the manifest.
func (m *Manifest) check(spans []Span) error {
	for _, s := range spans {
		if s.First < 0 || s.Count <= 0 || s.First > m.Items-s.Count {
			return fmt.Errorf("there are no %d items from item %d on: the manifest has %d items", s.Count, s.First, m.Items)
		}
	}
	return nil
}

// stride is the number of segments from one place of an index to the next.
const stride = 256

// place is where in the file of a manifest a segment is, and its first item.
type place struct{ at, item int64 }

// places returns every so many of the places of segments.
func (m *Manifest) places() ([]place, error) {
	var list []place
	var at, item, segments int64
	_, err := m.each(nil, func(n int, line []byte) error {
		if n > 1 && line[0] == '"' {
			s, err := segment(line)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if segments%stride == 0 {
				list = append(list, place{at, item})
			}
			segments++
			item += s.Count
		}
		at += int64(len(line)) + 1
		return nil
	})
	if err == nil && item != m.Items {
		err = fmt.Errorf("it lists %d items, but says that it has %d: make a new one", item, m.Items)
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", m.path, err)
	}
	return list, nil
}

// ranges returns the items of spans as a task takes them: of one source and one block each, as Run
// gives them to it.
func (m *Manifest) ranges(places []place, spans []Span) ([]Range, error) {
	if err := m.check(spans); err != nil || len(spans) == 0 {
		return nil, err
	}
	in, err := foreign.Open(m.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var list []Range
	var lines *bufio.Reader
	var seg Segment
	for _, s := range spans {
		k := sort.Search(len(places), func(k int) bool { return places[k].item > s.First }) - 1
		if lines == nil || s.First < seg.Item || places[k].item > seg.Item {
			lines = bufio.NewReader(io.NewSectionReader(in, places[k].at, 1<<62))
			seg = Segment{Item: places[k].item}
		}
		for i := s.First; i < s.First+s.Count; {
			if i >= seg.Item+seg.Count {
				line, err := lines.ReadBytes('\n')
				next := Segment{}
				if err == nil {
					next, err = segment(bytes.TrimSuffix(line, []byte("\n")))
				}
				if err != nil {
					return nil, fmt.Errorf("manifest %s: cannot read item %d: %w: was the file changed?", m.path, i, err)
				}
				next.Item = seg.Item + seg.Count
				seg = next
				continue
			}
			end := min(s.First+s.Count, seg.Item+seg.Count, (i/m.Block+1)*m.Block)
			list = append(list, Range{Source: seg.Source, Row: seg.Row + i - seg.Item, Item: i, Count: end - i})
			i = end
		}
	}
	return list, nil
}
