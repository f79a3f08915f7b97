// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && slow

package queue

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A leader whose disk fills up while it works says so, and the next one finds everything.
func TestFullDiskOfTheLeader(t *testing.T) {
	disk := small(t, "4m")
	f, m := list(t, 3000, behaviour{Sleep: time.Millisecond})
	set := f.leading()
	set.Folder = filepath.Join(disk, "leader")
	l := lead(t, f, set)
	a := l.access(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		s := f.working()
		s.Lost = 40 * time.Second
		_, err := Work(ctx, a, s)
		ended <- err
	}()
	time.Sleep(300 * time.Millisecond)
	empty := fill(t, disk)
	told := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return strings.Contains(strings.Join(l.notes, "\n"), "the disk with its data is not full (the leader's own server keeps them in "+set.Folder)
	}
	for until := time.Now().Add(time.Minute); !told(); time.Sleep(50 * time.Millisecond) {
		select {
		case <-l.ended:
			t.Fatalf("the leader ended: %v", l.err)
		default:
		}
		if time.Now().After(until) {
			t.Fatalf("the leader says nothing of its full disk: %v", l.notes)
		}
	}
	empty()
	l.cancel()
	<-l.ended
	l = lead(t, f, set)
	l.access(t)
	if err := <-ended; err != nil {
		t.Log(err) // it ended because its server was away: another one comes
		if _, err := Work(t.Context(), l.access(t), f.working()); err != nil {
			t.Error(err)
		}
	}
	l.wait(t)
	got, _ := merged(t, f.store(), m)
	same(t, "after a full disk of the leader", got, local(t, m))
}
