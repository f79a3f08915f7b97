// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"fmt"
	"iter"

	"github.com/euryale-dev/euryale/batch"
)

// sourceReader finds the sources of items that are asked for in their order.
type sourceReader struct {
	segments func() iter.Seq2[batch.Segment, error]
	next     func() (batch.Segment, error, bool)
	stop     func()
	at       batch.Segment
}

// of returns the source and the row of an item that is not before the last one.
func (s *sourceReader) of(item int64) (source string, row int64, err error) {
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.segments())
	}
	for item >= s.at.Item+s.at.Count {
		seg, err, ok := s.next()
		if err != nil {
			return "", 0, err
		}
		if !ok {
			return "", 0, fmt.Errorf("item %d is not in the manifest: if the list was changed, start the run again", item)
		}
		s.at = seg
	}
	return s.at.Source, s.at.Row + item - s.at.Item, nil
}

func (s *sourceReader) close() {
	if s.stop != nil {
		s.stop()
	}
}
