// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package runlock prevents two processes from writing into one folder.
//
//	lock, before, err := runlock.Acquire("run4", "euryale sample g2")
//	if err != nil { ... } // *runlock.Held says who writes there
//	defer lock.Release()
//
// The lock is the system's lock on the file .lock, so it ends with its process, however that ends.
// The file says who holds the lock.
package runlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Name is the name of the lock file in the folder.
const Name = ".lock"

// Owner describes the holder of a lock.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"` // time when the lock was taken, not when the process started
	Command string    `json:"command"`
}

// String names the process, where it runs, and since when it holds the lock.
func (o Owner) String() string {
	return fmt.Sprintf("process %d (%s) on %s since %s", o.PID, o.Command, o.Host, o.Started.Format("2006-01-02 15:04:05"))
}

// Held is the error that another process has locked the folder.
type Held struct {
	Dir   string // folder, or file, that is locked
	Owner *Owner // holder of the lock; nil if the file does not say
	// Elsewhere says that the owner is on another machine, whose locks may not be visible from here:
	// it may have ended long ago.
	Elsewhere bool
	path      string // of the lock file
}

// Error says who holds the folder, and what to do if that is no longer true.
func (h *Held) Error() string {
	switch {
	case h.Owner == nil:
		return fmt.Sprintf("%s is being written by another process", h.Dir)
	case h.Elsewhere:
		return fmt.Sprintf("%s is being written, or was left, by %v: if that process has ended, remove %s", h.Dir, *h.Owner, h.path)
	}
	return fmt.Sprintf("%s is being written by %v", h.Dir, *h.Owner)
}

// Lock is a lock on a folder, held by this process.
type Lock struct {
	file *flock.Flock
	path string
}

// attempts is the number of times that a lock file which vanished in the meantime is created again, and
// that a lock is tried whose owner has ended: a process that it was about to start has the owner's files
// for a moment.
const (
	attempts = 20
	wait     = 50 * time.Millisecond
)

// Acquire locks the folder, which must exist. before is the owner that ended without releasing the
// lock, if there was one. The error is a *Held, or that of the file.
func Acquire(dir, command string) (lock *Lock, before *Owner, err error) {
	return acquire(dir, filepath.Join(dir, Name), command)
}

// AcquireFile is Acquire for a single file, which need not exist: its lock file has the same name followed by Name.
func AcquireFile(name, command string) (lock *Lock, before *Owner, err error) {
	return acquire(name, name+Name, command)
}

func acquire(dir, path, command string) (lock *Lock, before *Owner, err error) {
	host, _ := os.Hostname()
	for try := range attempts {
		if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
			return nil, nil, fmt.Errorf("%s is a link, a folder or a pipe, not a lock file of this program: remove it", path)
		}
		f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
		ok, err := f.TryLock()
		before = owner(path)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			if before != nil && (before.Host != host || Alive(before.PID)) {
				return nil, nil, &Held{Dir: dir, Owner: before, Elsewhere: before.Host != host, path: path}
			}
		case err != nil:
			return nil, nil, err
		case !ok && before != nil && before.Host == host && !Alive(before.PID) && try < attempts-1:
			f.Close()
			time.Sleep(wait)
			continue
		case !ok:
			return nil, nil, &Held{Dir: dir, Owner: before, Elsewhere: before != nil && before.Host != host, path: path}
		case !current(f, path):
			f.Close() // its owner took the file away between our opening and locking it
			continue
		case before != nil && before.Host != host:
			f.Close()
			return nil, nil, &Held{Dir: dir, Owner: before, Elsewhere: true, path: path}
		}
		b, err := json.Marshal(Owner{PID: os.Getpid(), Host: host, Started: time.Now().Truncate(time.Second), Command: command})
		if err == nil {
			err = os.WriteFile(path, append(b, '\n'), 0o644)
		}
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		return &Lock{f, path}, before, nil
	}
	return nil, nil, fmt.Errorf("%s appeared and disappeared %d times during attempts to lock it: try again", path, attempts)
}

// Release unlocks the folder. It removes the file first, while nobody else can hold the lock. The file of another process, which took
// this one for dead and has the lock now, stays.
func (l *Lock) Release() error {
	if ours, err := l.file.Stat(); err == nil {
		if named, err := os.Stat(l.path); err == nil && !os.SameFile(ours, named) {
			return l.file.Close()
		}
	}
	err := os.Remove(l.path)
	if e := l.file.Close(); e != nil && !errors.Is(e, errors.ErrUnsupported) { // a page has no locks
		return e
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) { // some systems keep open files
		err = os.Remove(l.path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Busy reports whether a process writes to a folder: whether it has a lock whose owner runs, or is on another machine or does not say who it is, of which nobody here can tell.
func Busy(dir string) bool {
	path := filepath.Join(dir, Name)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	o := owner(path)
	host, _ := os.Hostname()
	return o == nil || o.Host != host || Alive(o.PID)
}

// owner reads who holds the lock; it returns nil if the file does not say.
func owner(path string) *Owner {
	b, err := foreign.ReadFile(path)
	var o Owner
	if err != nil || len(b) > 1<<16 || json.Unmarshal(b, &o) != nil || o.PID == 0 {
		return nil
	}
	return &o
}

// current reports whether the locked file is still the one at that path.
func current(f *flock.Flock, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(ours, named)
}

// Alive reports whether a process of this machine is running.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return running(p)
}
