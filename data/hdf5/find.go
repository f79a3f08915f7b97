// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// maxPath bounds the length of the paths that Walk visits.
const maxPath = 4096

// maxHops bounds the number of soft and external links followed on the way to an object.
const maxHops = 32

// hops counts the links followed on the way to an object.
type hops struct {
	n   int
	dir string // folder tree that external links must not leave; "" for none
}

// object is the object that a path leads to; after an external link, its file differs from the
// original one.
type object struct {
	*File
	path string
	head *header
}

// find follows a path from the root. Both "/a/b" and "a/b" start there.
func (f *File) find(key string) (object, error) {
	return f.findWithin(key, &hops{})
}

func (f *File) findWithin(key string, h *hops) (object, error) {
	o, err := f.walk(key, h)
	return o, within(key, err)
}

func (f *File) rootObject() (object, error) {
	h, err := f.header(f.root)
	return object{f, "/", h}, err
}

func (f *File) walk(key string, h *hops) (object, error) {
	o, err := f.rootObject()
	if err != nil {
		return o, err
	}
	parts := split(key)
	for i, name := range parts {
		l, err := o.link(name, key)
		if err != nil {
			return o, err
		}
		rest := path.Join(parts[i+1:]...)
		switch l.Kind {
		case HardLink:
			if o.head, err = o.header(l.addr); err != nil {
				return o, err
			}
			o.path = path.Join(o.path, name)
		case SoftLink, ExternalLink:
			return o.follow(l, rest, h)
		default:
			return o, o.unsupported(o.head.addr, "open its target by name", "%s is a user-defined link of type %d", path.Join(o.path, name), l.Kind)
		}
	}
	return o, nil
}

// split divides a path into names; "." and empty names are ignored, ".." is a name like any other.
func split(key string) []string {
	var parts []string
	for p := range strings.SplitSeq(key, "/") {
		if p != "" && p != "." {
			parts = append(parts, p)
		}
	}
	return parts
}

// link returns the link of a group with a name.
func (o object) link(name, key string) (Link, error) {
	if !o.head.isGroup() {
		return Link{}, &FormatError{Format: "hdf5", File: o.name, Place: o.path, What: "it is not a group, so there is no " + key, Try: "check the path", Err: ErrNotFound}
	}
	all, err := o.links(o.head)
	if err != nil {
		return Link{}, err
	}
	i := sort.Search(len(all), func(i int) bool { return all[i].Name >= name })
	if i < len(all) && all[i].Name == name {
		return all[i], nil
	}
	return Link{}, &MissingError{Format: "hdf5", File: o.name, Name: key, Near: o.near(name, path.Base(key), all)}
}

// follow continues a search through a soft or external link of o.
func (o object) follow(l Link, rest string, h *hops) (object, error) {
	h.n++
	from := path.Join(o.path, l.Name)
	if h.n > maxHops {
		return o, &FormatError{Format: "hdf5", File: o.name, Place: from, What: "more than 32 links lead to one another", Try: "look for links that point at themselves"}
	}
	f, target := o.File, l.Path
	if l.Kind == ExternalLink {
		g, err := o.open(l, from, h.dir)
		if err != nil {
			return o, err
		}
		f = g
	} else if !strings.HasPrefix(target, "/") {
		target = o.path + "/" + target
	}
	return f.walk(target+"/"+rest, h)
}

// open opens the file that an external link names: as a path relative to the directory of this file,
// or its last element there. Unless dir is "", the file must be in the folder tree dir.
func (o object) open(l Link, from, dir string) (*File, error) {
	fail := func(what, try string, err error) (*File, error) {
		return nil, &FormatError{Format: "hdf5", File: o.name, Place: from, What: "it is an external link to " + l.File + ":" + l.Path + ", " + what, Try: try, Err: err}
	}
	if o.dir == "" {
		return fail("but this file is not in a folder", "use Open with a name on disk", ErrNotFound)
	}
	candidates := []string{filepath.Join(o.dir, filepath.Base(l.File))}
	if filepath.IsAbs(l.File) {
		candidates = append([]string{l.File}, candidates...)
	} else {
		candidates = append([]string{filepath.Join(o.dir, l.File)}, candidates...)
	}
	refused := false
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range candidates {
		name = filepath.Clean(name)
		if !inside(dir, name) {
			refused = true
			continue
		}
		if g := o.external[name]; g != nil {
			return g, nil
		}
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		g, err := Open(name) // says if it is a pipe or a device
		if err != nil {
			return fail("which cannot be read", "", err)
		}
		g.AnyFolder = o.AnyFolder
		if o.external == nil {
			o.external = map[string]*File{}
		}
		o.external[name] = g
		return g, nil
	}
	if refused {
		return fail("which is neither in the folder of the virtual dataset that uses it nor below", "copy that file there", fs.ErrPermission)
	}
	return fail("and "+l.File+" is not in "+o.dir, "copy that file there", fs.ErrNotExist)
}

// Has reports whether a path leads to an object.
func (f *File) Has(key string) bool {
	_, err := f.find(key)
	return err == nil
}

// Keys returns the names in a group, sorted.
func (f *File) Keys(group string) ([]string, error) {
	all, err := f.Links(group)
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = l.Name
	}
	return names, err
}

// Links returns the links of a group, sorted by name.
func (f *File) Links(group string) ([]Link, error) {
	o, err := f.find(group)
	if err != nil {
		return nil, err
	}
	if !o.head.isGroup() {
		return nil, &FormatError{Format: "hdf5", File: f.name, Place: group, What: "it is not a group", Try: "use Dataset", Err: ErrType}
	}
	all, err := o.links(o.head)
	return all, within(group, err)
}

// Walk calls visit with the path of every object below the root, groups before their members. An
// object with several names is visited once, under the first; soft and external links are not
// followed. If visit returns fs.SkipAll, the walk ends without an error. Damaged objects are
// skipped: Walk visits everything else and then returns a *LostError.
func (f *File) Walk(visit func(path string, isGroup bool) error) error {
	root, err := f.rootObject()
	if err != nil {
		return within("/", err)
	}
	err = f.walkObjects(root, func(o object) error { return visit(o.path, o.head.isGroup()) })
	if err == fs.SkipAll {
		return nil
	}
	return err
}

// walker visits every object once. Headers do not overlap, and each link takes bytes too, so the
// file's size bounds the number of both in a valid file.
type walker struct {
	*File
	seen  map[uint64]bool
	left  uint64 // bytes of headers, and number of links, that are still possible
	visit func(object) error
	lost  []error
}

func (f *File) walkObjects(root object, visit func(object) error) error {
	w := walker{File: f, seen: map[uint64]bool{f.root: true}, left: 2*uint64(f.size) + 64, visit: visit}
	if err := w.below(root); err != nil {
		return err
	}
	if len(w.lost) > 0 {
		return &LostError{File: f.name, Lost: w.lost}
	}
	return nil
}

// passed records an error of the file about an object that is skipped, and returns any other error.
func (w *walker) passed(o object, err error) error {
	if !errors.As(err, new(*FormatError)) {
		return err
	}
	w.lost = append(w.lost, within(o.path, err))
	return nil
}

func (w *walker) spend(o object, n uint64) error {
	if n > w.left {
		return within(o.path, w.bad(o.head.addr, "the objects and links take more than the %d bytes of the file", w.size))
	}
	w.left -= n
	return nil
}

func (w *walker) below(o object) error {
	all, err := w.links(o.head)
	if err != nil {
		return w.passed(o, err)
	}
	if err := w.spend(o, o.head.size+uint64(len(all))); err != nil {
		return err
	}
	for _, l := range all {
		if l.Kind != HardLink || w.seen[l.addr] {
			continue
		}
		w.seen[l.addr] = true
		if len(o.path)+len(l.Name) > maxPath {
			return within(o.path[:min(len(o.path), 80)], w.bad(o.head.addr, "the path has more than %d bytes", maxPath))
		}
		if err := w.child(object{File: w.File, path: path.Join(o.path, l.Name)}, l.addr); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) child(o object, addr uint64) error {
	var err error
	if o.head, err = w.header(addr); err != nil {
		return w.passed(o, err)
	}
	if err := w.visit(o); err != nil {
		return err
	}
	if o.head.isGroup() {
		return w.below(o)
	}
	return w.spend(o, o.head.size)
}
