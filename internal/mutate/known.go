// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// known is a fault that has no observable effect, with the reason.
type known struct {
	path, before, after, why string
}

// readKnown reads entries of four lines, separated by empty lines:
//
//	path
//	- the line
//	+ the line with the fault
//	the reason
func readKnown(r io.Reader) ([]known, error) {
	var all []known
	var entry []string
	end := func() error {
		if len(entry) == 0 {
			return nil
		}
		if len(entry) < 4 || entry[1][0] != '-' || entry[2][0] != '+' {
			return fmt.Errorf("mutate: %q: want a path, a line after -, one after + and a reason", entry)
		}
		all = append(all, known{entry[0], strings.TrimSpace(entry[1][1:]), strings.TrimSpace(entry[2][1:]), strings.Join(entry[3:], " ")})
		entry = nil
		return nil
	}
	s := bufio.NewScanner(r)
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			entry = append(entry, line)
		default:
			if err := end(); err != nil {
				return nil, err
			}
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return all, s.Err()
}

func (k known) is(f fault) bool {
	return k.path == f.path && k.before == f.before && k.after == f.after
}

// without removes the faults that are known to be harmless.
func without(all []fault, harmless []known) []fault {
	return slices.DeleteFunc(all, func(f fault) bool {
		return slices.ContainsFunc(harmless, func(k known) bool { return k.is(f) })
	})
}
