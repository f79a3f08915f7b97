// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/runs"
)

// Bounds of a shelf: the files that are looked at, the depth of folders below those that were opened, and how often it looks again.
const (
	mostSeen  = 50_000
	deepest   = 6
	freshness = 2 * time.Second
	patience  = 10 // times as long as a look took are between two, but at most slowest
	slowest   = 20 * time.Second
)

// item is a file or folder on the shelf.
type item struct {
	ID    string `json:"id"` // its path as it was opened, by which requests name it
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Stamp string `json:"-"`     // changes when the file does
	State string `json:"stamp"` // changes when the file does, and when a run in the folder begins or ends
	Busy  bool   `json:"busy"`  // whether a run goes on in the folder
	Many  bool   `json:"many"`  // whether several of the kind can be looked at together

	folder bool
	look   *frame.Look
}

// shelf is the list of what the opened files and folders hold.
type shelf struct {
	fields []frame.Field
	opened []string

	mu    sync.Mutex
	items []item
	known map[string]item // by path, to look only at files that changed
	note  string
	rev   int // counts the changes
	at    time.Time
	took  time.Duration // of the last look
}

// explored begins the ID of what is no file.
const explored = "explore:"

// newShelf makes the list of files and folders, each of which must be there.
func newShelf(fields []frame.Field, opened []string) (*shelf, error) {
	for _, name := range opened {
		info, err := os.Stat(name)
		if err != nil {
			return nil, exit.Input(err)
		}
		if !info.IsDir() && frame.LookOf(fields, name, false) == nil {
			return nil, &exit.Error{Code: exit.Data, Err: fmt.Errorf("%s is no file that view shows: it knows results of correlators, frames of detectors, q maps, spectra, libraries of templates, morphologies, scripts of assemblies, tables and problem files", name), Hint: "its folder, or a run folder"}
		}
	}
	s := &shelf{fields: fields, opened: opened, known: map[string]item{}}
	s.list()
	return s, nil
}

// list returns what is there, at most a moment old, or a little more where looking takes long. The number changes when the list does.
func (s *shelf) list() (items []item, note string, rev int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > max(freshness, min(patience*s.took, slowest), s.took) {
		begin := time.Now()
		before := s.items
		s.refresh()
		s.at = time.Now()
		s.took = s.at.Sub(begin)
		if !slices.EqualFunc(before, s.items, func(a, b item) bool { return a.ID == b.ID && a.State == b.State }) {
			s.rev++
		}
	}
	return s.items, s.note, s.rev
}

// find returns the item of an ID.
func (s *shelf) find(id string) (item, bool) {
	items, _, _ := s.list()
	at := slices.IndexFunc(items, func(i item) bool { return i.ID == id })
	if at < 0 {
		return item{}, false
	}
	return items[at], true
}

// refresh looks for files again.
func (s *shelf) refresh() {
	var found []item
	seen, odd, now := 0, 0, map[string]item{}
	s.note = ""
	for _, root := range s.opened {
		depth := strings.Count(filepath.Clean(root), string(filepath.Separator))
		start := root
		if info, err := os.Stat(root); err == nil && info.IsDir() {
			start += string(filepath.Separator) // so that a link to a folder is followed
		}
		filepath.WalkDir(start, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // a folder that cannot be read holds nothing to look at
			}
			if name == start {
				name = root
			}
			if seen++; seen > mostSeen {
				s.note = fmt.Sprintf("There are more than %d files here: only the first are listed. Open a folder below.", mostSeen)
				return filepath.SkipAll
			}
			if name != root && strings.HasPrefix(d.Name(), ".") || strings.Count(name, string(filepath.Separator))-depth > deepest {
				return skip(d)
			}
			if !utf8.ValidString(name) || strings.Contains(name, "\n") {
				odd++ // requests name one item a line, in UTF-8
				return skip(d)
			}
			shown := noFlag(name)
			i, ok := s.see(shown, d)
			now[shown] = i
			if ok {
				found = append(found, i)
			}
			if d.IsDir() && frame.Ends(name, ".zarr") {
				return fs.SkipDir
			}
			return nil
		})
	}
	if odd > 0 {
		s.note = strings.TrimSpace(fmt.Sprintf("%s Names with a line break, or that are not UTF-8, are left out, here %d: rename them to see what they hold.", s.note, odd))
	}
	slices.SortStableFunc(found, func(a, b item) int { return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name)) })
	for _, f := range s.fields {
		if f.Explore == nil {
			continue
		}
		if l := f.Explore(); l != nil {
			found = append(found, item{ID: explored + l.Title, Name: l.Title, Kind: l.Kind, Stamp: "-", State: "-", look: l})
		}
	}
	s.items, s.known = found, now
}

// noFlag is a path that no command takes for a flag.
func noFlag(name string) string {
	if strings.HasPrefix(name, "-") {
		return "." + string(filepath.Separator) + name
	}
	return name
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// see makes the item of a file or folder, or takes the one that it had when it was the same.
func (s *shelf) see(name string, d fs.DirEntry) (item, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return item{}, false
	}
	i := item{ID: name, Name: foreign.Text(s.short(name)), folder: info.IsDir(), Stamp: stampOf(info)}
	if i.folder {
		i.Stamp += newest(name)
	}
	if old, ok := s.known[name]; ok && old.Stamp == i.Stamp && old.folder == i.folder {
		return old.now(), old.look != nil
	}
	if i.look = frame.LookOf(s.fields, name, i.folder); i.look == nil {
		return i, false
	}
	i.Kind, i.Many = i.look.Kind, i.look.Together != nil
	return i.now(), true
}

// now is the item with what is known of a run in its folder at this moment: it may end without a change of its files.
func (i item) now() item {
	i.Busy = i.folder && runlock.Busy(i.ID)
	i.State = fmt.Sprint(i.Stamp, i.Busy)
	return i
}

// stampOf changes when a file does.
func stampOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d-%d", info.ModTime().UnixNano(), info.Size())
}

// newest returns a text that changes when one of the files in a folder does.
func newest(dir string) (text string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	last := int64(0)
	if so, err := os.ReadDir(filepath.Join(dir, runs.LiveFolder)); err == nil {
		list = append(list, so...)
	}
	for _, e := range list[:min(len(list), 200)] {
		if info, err := e.Info(); err == nil && e.Name() != runlock.Name {
			last = max(last, info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("-%d-%d", len(list), last)
}

// short is the name of an item below the folder that was opened, or alone if the file itself was.
func (s *shelf) short(name string) string {
	for _, root := range s.opened {
		if rel, err := filepath.Rel(root, name); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.Base(name)
}

// holds reports whether a path lies in what was opened, links followed.
func (s *shelf) holds(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
			return false
		}
		real = filepath.Join(real, filepath.Base(name))
	}
	if real, err = filepath.Abs(real); err != nil {
		return false
	}
	for _, root := range s.opened {
		if r, err := filepath.EvalSymlinks(root); err == nil {
			if r, err = filepath.Abs(r); err == nil {
				if rel, err := filepath.Rel(r, real); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
					return true
				}
			}
		}
	}
	return false
}

// places are the whole paths of what was opened.
func (s *shelf) places() (all []string) {
	for _, name := range s.opened {
		if whole, err := filepath.Abs(name); err == nil {
			name = whole
		}
		all = append(all, name)
	}
	return all
}

// folder returns a folder that was opened, in which results may be put: the first one, or that of the first file.
func (s *shelf) folder() string {
	for _, name := range s.opened {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return name
		}
	}
	return filepath.Dir(s.opened[0])
}

// explores reports whether a line is one of those that need no file.
func (s *shelf) explores(line []string) bool {
	items, _, _ := s.list()
	for _, i := range items {
		if strings.HasPrefix(i.ID, explored) && slices.ContainsFunc(i.look.Pictures, func(p frame.Sight) bool { return slices.Equal(p.Args, line) }) {
			return true
		}
	}
	return false
}
