package hdf5

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// mostSources bounds the source files that a File keeps open.
const mostSources = 32

// sourcePool keeps source files of virtual datasets open between reads. Files
// that were opened as sources use the pool of the one that was not.
type sourcePool struct {
	owner *File
	mu    sync.Mutex
	open  map[string]*sourceFile
	clock int
}

type sourceFile struct {
	*File
	used int // when, by the clock
	refs int // reads in progress
}

// sourceDir is the folder tree in which f may open sources, "" for anywhere.
func (f *File) sourceDir() string {
	if f.AnyFolder {
		return ""
	}
	return f.tree
}

// sourcePath is where a source file of that name is. It is looked for from the
// folder of f, and if its name is absolute, also by its last element there.
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
		return "", f.sourceError(name, "which is not in the folder of the file or below", "put it there, or set File.AnyFolder if you trust the file", fs.ErrPermission)
	}
	return p, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// inside reports whether a name is in the folder tree dir or below, as text:
// links of the file system are the business of who made them.
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
	return &FormatError{File: f.name, Offset: -1, What: "is a virtual dataset with the source " + name + ", " + what, Try: try, Err: err}
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

// source opens a source file, nil if there is none. The caller releases it.
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

// trim makes room for one more file by closing the one that was not used for
// longest.
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

// close closes the files that are not being read; those that are close when
// they are released.
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
