// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
)

// The code of a list with bad items is that of bad data, unless a disk or a device failed, or all items did; an only item and an interrupt end the command.
func TestLost(t *testing.T) {
	a := frame.New(nil, "euryale", io.Discard, io.Discard)
	bad, missing, full := exit.With(exit.Data, errors.New("a.csv is bad")), exit.With(exit.NoInput, errors.New("no b.csv")), exit.With(exit.CannotWrite, errors.New("the disk is full"))
	for _, c := range []struct {
		all  int
		errs []error
		code int
		text string
	}{
		{3, nil, exit.OK, ""},
		{3, []error{bad}, exit.Data, "1 of 3 files failed, and the others were fitted: "},
		{3, []error{missing, bad}, exit.Data, "2 of 3 files failed"},
		{3, []error{bad, full}, exit.CannotWrite, "2 of 3 files failed"},
		{2, []error{missing, bad}, exit.NoInput, "all of 2 files failed"},
	} {
		l := frame.LostOf("file", c.all)
		for _, err := range c.errs {
			if !l.Add(a, "item", err) {
				t.Errorf("%v ends the command", err)
			}
		}
		err := l.Err("fitted")
		if exit.CodeOf(err) != c.code || err != nil && !strings.HasPrefix(err.Error(), c.text) {
			t.Errorf("%v: %d %v", c.errs, exit.CodeOf(err), err)
		}
		for _, e := range c.errs {
			if !strings.Contains(err.Error(), "item: "+e.Error()) {
				t.Errorf("%v does not name %v", err, e)
			}
		}
	}
	if frame.LostOf("file", 1).Keep("a", bad) || frame.LostOf("file", 2).Keep("a", context.Canceled) {
		t.Error("an only item, or an interrupt, does not end the command")
	}
}
