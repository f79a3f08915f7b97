// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Alone does one item for another process and writes the result to w. It is what the process that
// [Settings].Alone starts has to call.
func Alone(ctx context.Context, m *Manifest, t Task, item int64, w io.Writer) error {
	for s, err := range m.Segments() {
		if err != nil {
			return err
		}
		if item < s.Item || item >= s.Item+s.Count {
			continue
		}
		records := attempt(ctx, t, single([]Range{s}, item))
		if len(records) != 1 {
			return context.Cause(ctx)
		}
		return (&part{hash: m.Hash, columns: t.Columns(), records: records}).encode(w)
	}
	return fmt.Errorf("item %d is not in the manifest, which has %d items: if the list was changed, start the run again", item, m.Items)
}

// inChild runs a process that does one item. Its end without a result is an error that says how it
// ended.
func inChild(cmd *exec.Cmd, m *Manifest, item int64) (Record, error) {
	p, err := child(cmd, m)
	if err != nil {
		return Record{}, err
	}
	if len(p.records) != 1 || p.records[0].Item != item {
		return Record{}, fmt.Errorf("the separate process for item %d returned the result of another item: if the program was replaced during the run, run again", item)
	}
	return p.records[0], nil
}

// child runs a process that does items and returns what it gave.
func child(cmd *exec.Cmd, m *Manifest) (*part, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil {
		p, _, err := decodePart(&out, true)
		if err == nil && p.hash != m.Hash {
			err = errors.New("its result belongs to another manifest: if the list was changed during the run, run again")
		}
		if err != nil {
			return nil, fmt.Errorf("the separate process for this item returned no valid result: %w", err)
		}
		return p, nil
	}
	var end *exec.ExitError
	if !errors.As(err, &end) {
		return nil, fmt.Errorf("cannot start a separate process for this item: %w", err)
	}
	text := "the separate process for this item ended: " + end.String()
	if s, ok := end.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
		text += " (perhaps for lack of memory)"
	}
	if words := strings.TrimSpace(said.String()); words != "" {
		text += ": " + foreign.Short(words, 2000)
	}
	return nil, errors.New(text)
}
