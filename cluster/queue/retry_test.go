// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// Failures that were forgotten are dealt again, also where a file held nothing else, and are not forgotten
// while a leader counts them.
func TestForgottenFailuresAreDealtAgain(t *testing.T) {
	f, m := list(t, 60, behaviour{})
	q, err := f.store().Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	task := &sines{}
	for item := int64(5); item < 8; item++ {
		if _, _, err := q.Write(task.Columns(), []batch.Record{{Item: item, Err: "the disk was away", Attempts: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	s := f.leading()
	l := lead(t, f, s)
	a := l.access(t)
	var held *runlock.Held
	if _, err := f.store().Forget(m, "retry"); !errors.As(err, &held) {
		t.Fatal(err)
	}
	l.cancel()
	<-l.ended
	if n, err := f.store().Forget(m, "retry"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	s.Block = 1 // so that items come alone, as before
	l = lead(t, f, s)
	a = l.access(t)
	if did, err := Work(t.Context(), a, f.working()); err != nil || did.Items != 60 {
		t.Fatal(did, err)
	}
	l.wait(t)
	got, _ := merged(t, f.store(), m)
	same(t, "after failures were forgotten", got, local(t, m))
	if _, err := os.Stat(filepath.Join(q.Folder(), runlock.Name)); err == nil {
		t.Error("the lock of the leader is still there")
	}
}
