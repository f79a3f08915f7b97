// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// mostSources bounds the number of source files that a File keeps open.
const mostSources = 32

// sourcePool keeps source files of virtual datasets open between reads. A file that was opened as a
// source uses the pool of the file that was not.
type sourcePool struct {
	owner *File
	mu    sync.Mutex
	open  map[string]*sourceFile
	clock int
}

type sourceFile struct {
	*File
	used int // time of the last use, by the pool's clock
	refs int // number of reads in progress
}

// sourceDir returns the folder tree in which f may open sources, or "" for anywhere.
func (f *File) sourceDir() string {
	if f.AnyFolder {
		return ""
	}
	return f.tree
}

// sourcePath returns the path of a source file. The name is taken relative to the folder of f; if it
// is absolute, its last element is also tried there.
func (f *File) sourcePath(name string) (string, error) {
	if f.dir == "" {
		return "", f.sourceError(name, "but this file has no folder", "use Open with a name on disk", ErrNotFound)
	}
	local := filepath.FromSlash(name)
	p := filepath.Join(f.dir, local)
	if filepath.IsAbs(local) {
		p = filepath.Clean(local)
		near := filepath.Join(f.dir, filepath.Base(local))
		if _, err := os.Stat(near); err == nil && (!inside(f.sourceDir(), p) || !exists(p)) {
			p = near
		}
	}
	if !inside(f.sourceDir(), p) {
		return "", f.sourceError(name, "which is not in the folder of the file or below", "copy that file there", fs.ErrPermission)
	}
	return p, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// inside reports whether a name, as text, lies in the folder tree dir. Symbolic links are the
// responsibility of whoever made them.
func inside(dir, name string) bool {
	if dir == "" {
		return true
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

func (f *File) sourceError(name, what, try string, err error) error {
	return &FormatError{Format: "hdf5", File: f.name, What: "it is a virtual dataset with the source " + name + ", " + what, Try: try, Err: err}
}

// pool returns the pool of f.
func (f *File) pool() *sourcePool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sources == nil {
		f.sources = &sourcePool{owner: f, open: map[string]*sourceFile{}}
	}
	return f.sources
}

// source opens a source file, and returns nil if it does not exist. The caller releases it.
func (f *File) source(name string) (*File, func(), error) {
	p, err := f.sourcePath(name)
	if err != nil {
		return nil, nil, err
	}
	pool := f.pool()
	pool.mu.Lock()
	defer pool.mu.Unlock()
	if pool.open == nil {
		return nil, nil, f.sourceError(name, "but the file is closed", "read before Close", fs.ErrClosed)
	}
	s := pool.open[p]
	if s == nil {
		g, err := Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, f.sourceError(name, "which cannot be read", "", err)
		}
		g.tree, g.AnyFolder, g.sources, g.anySum = f.tree, f.AnyFolder, pool, f.anySum
		s = &sourceFile{File: g}
		pool.trim()
		pool.open[p] = s
	}
	pool.clock++
	s.used = pool.clock
	s.refs++
	return s.File, func() {
		pool.mu.Lock()
		defer pool.mu.Unlock()
		if s.refs--; pool.open == nil && s.refs == 0 {
			s.Close()
		}
	}, nil
}

// trim makes room for one more file by closing the one that has been unused longest.
func (p *sourcePool) trim() {
	if len(p.open) < mostSources {
		return
	}
	oldest := ""
	for name, s := range p.open {
		if s.refs == 0 && (oldest == "" || s.used < p.open[oldest].used) {
			oldest = name
		}
	}
	if oldest != "" {
		p.open[oldest].Close()
		delete(p.open, oldest)
	}
}

// close closes the files that are not being read; the others are closed when they are released.
func (p *sourcePool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.open {
		if s.refs == 0 {
			s.Close()
		}
	}
	p.open = nil
}
