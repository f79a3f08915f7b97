// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// A claim says that a process works on something, to others that see the same folder, also on other
// machines. Its file is touched every beat; one that does not change for as long as deadAfter, by the
// clock of who watches it, was left by a process or a machine that has ended. Claims save work and are no
// locks: two processes may hold the same one for a moment, so both must do the same thing.
var (
	beat      = 5 * time.Second
	deadAfter = 60 * time.Second
)

// claimFile is the content of a claim.
type claimFile struct {
	runlock.Owner
	Token string `json:"token"`
}

// Claim is a path that this process has claimed.
type Claim struct {
	path  string
	token string
	stop  chan struct{}
	done  sync.WaitGroup
}

// Claims watches the claims of other processes.
type Claims struct {
	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is how a claim looked when it was last seen to change.
type sighting struct {
	text    string
	touched time.Time // by the file
	at      time.Time // by our clock
	changes int       // that were seen, the first sight among them
}

// Take claims a path on which, as far as is known, no other process holds a claim. It returns nil if
// another process holds one after all.
func (c *Claims) Take(path string) (*Claim, error) {
	text, err := foreign.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case c.alive(path, text):
		return nil, nil
	}
	atomicfile.Step(path)
	host, _ := os.Hostname()
	mine := claimFile{runlock.Owner{PID: os.Getpid(), Host: host, Started: time.Now().Truncate(time.Second)}, rand.Text()}
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	if err == nil && text == nil {
		// The first to make the file has it.
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); errors.Is(err, fs.ErrExist) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		_, err = f.Write(b)
		err = errors.Join(err, f.Close())
	} else {
		err = atomicfile.WriteBytes(path, b)
	}
	if err != nil {
		return nil, err
	}
	k := &Claim{path: path, token: mine.Token, stop: make(chan struct{})}
	every := beat
	k.done.Go(func() { touch(path, every, k.stop) })
	return k, nil
}

// alive reports whether the holder of a claim may still be at work.
func (c *Claims) alive(path string, text []byte) bool {
	var o claimFile
	host, _ := os.Hostname()
	if json.Unmarshal(text, &o) == nil && o.Host == host && o.PID != os.Getpid() && !runlock.Alive(o.PID) {
		return false
	}
	st, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]sighting{}
	}
	now, last := time.Now(), c.seen[path]
	if last.at.IsZero() || last.text != string(text) || !last.touched.Equal(st.ModTime()) {
		c.seen[path] = sighting{string(text), st.ModTime(), now, last.changes + 1}
		return true
	}
	return now.Sub(last.at) < deadAfter
}

// touch touches a file at every interval until stop is closed.
func touch(path string, every time.Duration, stop <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-t.C:
			atomicfile.Step(path)
			os.Chtimes(path, now, now) // best effort: at worst somebody does the same work
		}
	}
}

// abandoned watches a file of another machine for as long as it takes to tell that nobody touches it.
func abandoned(ctx context.Context, path string) (bool, error) {
	var c Claims
	for {
		text, err := foreign.ReadFile(path)
		if err != nil {
			return errors.Is(err, fs.ErrNotExist), nil
		}
		first := c.seen == nil
		if !c.alive(path, text) {
			return true, nil
		}
		if !first && c.changed(path) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(beat):
		}
	}
}

// changed reports whether a file has changed since it was first seen.
func (c *Claims) changed(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[path].changes > 1
}

// Release ends the claim, and removes its file if nobody has taken it over.
func (k *Claim) Release() error {
	close(k.stop)
	k.done.Wait()
	b, err := foreign.ReadFile(k.path)
	atomicfile.Step(k.path)
	var o claimFile
	if errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(b, &o) == nil && o.Token != k.token {
		return nil
	}
	if err == nil {
		err = os.Remove(k.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the claim %s: %w", k.path, err)
	}
	return nil
}

// Wait takes a claim as soon as no process holds it. It calls done before every attempt, and returns
// nil once done reports that the claim is no longer needed.
func (c *Claims) Wait(ctx context.Context, path string, done func() (bool, error)) (*Claim, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if ok, err := done(); ok || err != nil {
			return nil, err
		}
		if k, err := c.Take(path); k != nil || err != nil {
			return k, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
