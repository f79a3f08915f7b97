// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

// maxNested bounds the depth of virtual datasets that are sources of one another.
const maxNested = 8

// Costs in bytes of the work besides copying when a virtual dataset is read, so that File.MaxBytes
// bounds that work too.
const (
	costSource  = 1024 // cost of opening a source
	costMapping = 16   // cost of examining a mapping
)

// Source is a dataset from which a virtual dataset takes elements.
type Source struct {
	File string // file as written in the mapping; "." for the file itself
	Path string // path of the dataset; here and in File, %b stands for 0, 1, 2 and so on
}

// trail records how deep one call has followed sources, and how much it may still read.
type trail struct {
	depth int
	left  int64        // bytes that may still be read
	more  func() int64 // returns further bytes once those are used up; may be nil
}

// spend reports whether n bytes may still be read, and deducts them.
func (t *trail) spend(n uint64) bool {
	t.left -= int64(min(n, 1<<62))
	if t.left < 0 && t.more != nil {
		t.left, t.more = t.left+t.more(), nil
	}
	return t.left >= 0
}

// virtual is storage whose elements belong to other datasets.
type virtual struct {
	*File
	d    *Dataset
	at   uint64 // address of the layout message
	maps []mapping

	once  sync.Once
	extra int64 // additional bytes, see more
}

// mapping says which elements of a source correspond to which of the virtual dataset.
type mapping struct {
	Source
	many     bool // whether Source contains %b
	from, to selection
}

// virtual reads the address of the list of mappings, and the list.
func (p layoutParser) virtual() (storage, error) {
	addr, index := p.c.addr(), p.c.u32()
	v := &virtual{File: p.File, d: p.d, at: p.at}
	if p.c.short || addr == undef || addr == 0 {
		return v, nil
	}
	b, err := p.globalObject(addr, index)
	if err != nil {
		return nil, err
	}
	if v.maps, err = p.mappings(b, addr); err != nil {
		return nil, err
	}
	for i := range v.maps {
		if err := v.check(&v.maps[i]); err != nil {
			return nil, err
		}
	}
	return v, v.grow(p.trail)
}

// mappings reads the global heap block of a virtual dataset, versions 0 and 1.
func (f *File) mappings(b []byte, at uint64) ([]mapping, error) {
	c := f.cursor(b)
	if err := f.verify(at, c); err != nil {
		return nil, err
	}
	version, n := c.u8(), c.len()
	if version > 1 {
		return nil, f.unsupported(at, "write it with an older library version", "the list of mappings has version %d, want 0 or 1", version)
	}
	if c.short || n > uint64(c.left())/16 { // two selections take 16 bytes at least
		return nil, f.bad(at, "%d mappings do not fit %d bytes", n, len(b))
	}
	all := make([]mapping, 0, min(n, 64))
	for range n {
		m, err := f.mapping(c, version, all, at)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// mapping reads one mapping, whose names may be those of an earlier one.
func (f *File) mapping(c *cursor, version int, before []mapping, at uint64) (mapping, error) {
	var m mapping
	flags := 0
	if version == 1 {
		flags = c.u8()
	}
	earlier := func() (mapping, error) {
		if i := c.len(); i < uint64(len(before)) {
			return before[i], nil
		}
		return m, f.bad(at, "mapping %d shares a name with one that does not come before it", len(before))
	}
	var err error
	var o mapping
	switch {
	case flags&4 != 0:
		m.File = "."
	case flags&1 != 0:
		o, err = earlier()
		m.File = o.File
	default:
		m.File = c.text()
	}
	if err != nil {
		return m, err
	}
	if flags&2 != 0 {
		o, err = earlier()
		m.Path = o.Path
	} else {
		m.Path = c.text()
	}
	if err != nil {
		return m, err
	}
	if len(m.File) > maxPath || len(m.Path) > maxPath {
		return m, f.bad(at, "the names have %d and %d bytes in mapping %d, want at most %d", len(m.File), len(m.Path), len(before), maxPath)
	}
	if m.from, err = f.selection(c, at); err != nil {
		return m, err
	}
	if m.to, err = f.selection(c, at); err != nil {
		return m, err
	}
	if c.short {
		return m, f.bad(at, "the list of mappings ends inside mapping %d", len(before))
	}
	return m, nil
}

// check verifies everything that does not depend on the source.
func (v *virtual) check(m *mapping) error {
	bad := func(format string, args ...any) error {
		return v.bad(v.at, "the mapping of %s:%s is invalid: %s", m.File, m.Path, fmt.Sprintf(format, args...))
	}
	for _, s := range []string{m.File, m.Path} {
		_, many, ok := blockName(s, 0)
		if !ok {
			return bad("%% is followed by neither b nor %%")
		}
		m.many = m.many || many
	}
	if r := m.to.rank(); r >= 0 && r != len(v.d.dims) {
		return bad("the selection has %d axes, but the dataset has %d", r, len(v.d.dims))
	}
	u := m.to.unlimited
	switch {
	case u < 0 && m.from.unlimited >= 0 || u >= 0 && !m.many && m.from.unlimited < 0:
		return bad("only one of its selections is unlimited")
	case m.many && (u < 0 || m.from.unlimited >= 0 || m.to.axes[u].block >= maxExtent):
		return bad("%%b needs unlimited blocks that are filled from limited ones")
	}
	return nil
}

// blockName replaces every %b in a name by a number. many reports whether there are any; ok is false
// if a % begins anything but %b and %%.
func blockName(name string, i uint64) (s string, many, ok bool) {
	if !strings.Contains(name, "%") {
		return name, false, true
	}
	parts := strings.Split(name, "%%")
	for k, p := range parts {
		with := strings.ReplaceAll(p, "%b", fmt.Sprint(i))
		if strings.Count(p, "%") != strings.Count(p, "%b") {
			return name, false, false
		}
		many = many || with != p
		parts[k] = with
	}
	return strings.Join(parts, "%"), many, true
}

// name returns the source of block i.
func (m *mapping) name(i uint64) Source {
	file, _, _ := blockName(m.File, i)
	path, _, _ := blockName(m.Path, i)
	return Source{file, path}
}

// grow sets the lengths of the axes along which mappings have no end: as far as there are elements
// in the sources, or numbered sources without a gap.
func (v *virtual) grow(t *trail) error {
	var least map[int]uint64
	for i := range v.maps {
		m := &v.maps[i]
		if m.to.unlimited < 0 {
			continue
		}
		n, err := v.reach(m, t)
		if err != nil {
			return err
		}
		if least == nil {
			least = map[int]uint64{}
		}
		least[m.to.unlimited] = max(least[m.to.unlimited], n)
	}
	if least == nil {
		return nil
	}
	dims := append([]uint64{}, v.d.dims...)
	for axis, n := range least {
		for i := range v.maps {
			if m := &v.maps[i]; m.to.unlimited < 0 && m.to.rank() > 0 {
				n = max(n, m.to.end(axis))
			}
		}
		dims[axis] = min(n, v.d.max[axis], maxExtent)
	}
	v.d.dims = dims
	return nil
}

// reach returns the length that a mapping without end gives its axis.
func (v *virtual) reach(m *mapping, t *trail) (uint64, error) {
	along := m.to.axes[m.to.unlimited]
	n := uint64(0)
	if m.many {
		for ; n < along.n/along.block && along.at(n*along.block) < v.d.max[m.to.unlimited]; n++ {
			d, done, err := v.open(m.name(n), t)
			if err != nil {
				return 0, err
			}
			done()
			if d == nil {
				break
			}
		}
		n *= along.block
	} else {
		d, done, err := v.open(m.name(0), t)
		if err != nil || d == nil {
			return 0, err
		}
		done()
		if err := v.fitsSource(m, d); err != nil {
			return 0, err
		}
		n = m.from.axes[m.from.unlimited].below(d.dims[m.from.unlimited])
	}
	along.n = min(n, along.n)
	return along.end(), nil
}

func (v *virtual) fitsSource(m *mapping, d *Dataset) error {
	if r := m.from.rank(); r >= 0 && r != len(d.dims) {
		return v.bad(v.at, "a selection of %d axes does not fit the source %s:%s of shape %v", r, d.file.name, d.path, d.dims)
	}
	return nil
}

// open opens a source, and returns nil if it does not exist. The caller calls done after use.
func (v *virtual) open(s Source, t *trail) (d *Dataset, done func(), err error) {
	done = func() {}
	if t.depth >= maxNested {
		return nil, done, v.sourceError(s.File+":"+s.Path, fmt.Sprintf("and more than %d virtual datasets refer to one another", maxNested), "look for one that is its own source", nil)
	}
	if !t.spend(costSource) {
		return nil, done, v.tooMuch()
	}
	f := v.File
	if s.File != "." {
		if f, done, err = v.source(s.File); err != nil || f == nil {
			return nil, func() {}, err
		}
	}
	t.depth++
	d, err = f.sourceDataset(s.Path, t, v.sourceDir())
	t.depth--
	if err != nil || d == nil {
		done()
		return nil, func() {}, err
	}
	return d, done, nil
}

func (v *virtual) tooMuch() error {
	return &FormatError{Format: "hdf5", File: v.name, What: fmt.Sprintf("its sources take more than the limit of %d bytes, which guards against files that declare more than they hold", v.MaxBytes), Try: inFull}
}

// mostMapped bounds the number of source datasets that a File keeps open.
const mostMapped = 16

// sourceDataset opens a dataset that a virtual one names, and returns nil if it does not exist.
// External links on the way must stay in the folder tree dir.
func (f *File) sourceDataset(key string, t *trail, dir string) (*Dataset, error) {
	f.mu.Lock()
	d := f.mapped[key]
	f.mu.Unlock()
	if d != nil {
		return d, nil
	}
	o, err := f.findWithin(key, &hops{dir: dir})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if d, err = o.datasetWithin(o.head, key, t); err != nil {
		return nil, within(key, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mapped == nil || len(f.mapped) >= mostMapped {
		f.mapped = map[string]*Dataset{}
	}
	f.mapped[key] = d
	return d, nil
}

// Sources returns the datasets from which a virtual dataset takes its elements, in the order of its
// mappings; nil if it is not virtual. It opens no files.
func (d *Dataset) Sources() []Source {
	v, ok := d.store.(*virtual)
	if !ok {
		return nil
	}
	var all []Source
	seen := map[Source]bool{}
	for _, m := range v.maps {
		if !seen[m.Source] {
			seen[m.Source] = true
			all = append(all, m.Source)
		}
	}
	return all
}

// Missing returns the sources of a virtual dataset that do not exist, whose elements have the fill
// value. It is nil if the dataset is not virtual. In an unlimited series of files, only those that
// exist count as sources.
func (d *Dataset) Missing() ([]Source, error) {
	v, ok := d.store.(*virtual)
	if !ok {
		return nil, nil
	}
	var missing []Source
	seen := map[Source]bool{}
	for i := range v.maps {
		m := &v.maps[i]
		if s := m.name(0); !m.many && !seen[s] {
			seen[s] = true
			of, done, err := v.open(s, &trail{left: v.MaxBytes})
			done()
			if err != nil {
				return nil, err
			}
			if of == nil {
				missing = append(missing, s)
			}
		}
	}
	return missing, nil
}

// more returns the number of bytes by which sources raise the limit of one call, unless MaxBytes was
// set by the caller: as much as their own files would allow.
func (v *virtual) more() int64 {
	if v.MaxBytes != v.openBytes {
		return 0
	}
	v.once.Do(func() { v.extra = v.sourceBytes(&trail{left: v.MaxBytes}, map[string]bool{}) })
	return v.extra
}

// probed bounds the number of sources that more opens to see whether they are virtual.
const probed = 128

// mostBlocks bounds the number of files of one name with %b that more considers.
const mostBlocks = 1 << 16

func (v *virtual) sourceBytes(t *trail, seen map[string]bool) int64 {
	total := int64(0)
	visit := func(s Source) bool {
		p := "."
		if s.File != "." {
			var err error
			if p, err = v.sourcePath(s.File); err != nil {
				return false
			}
			if !seen[p] {
				info, err := os.Stat(p)
				if err != nil {
					return false
				}
				total += 64<<20 + min(info.Size(), 1<<42)*maxRatio
			}
		}
		seen[p] = true
		if key := p + ":" + s.Path; !seen[key] && len(seen) < probed {
			seen[key] = true
			total += v.nestedBytes(s, t, seen)
		}
		return total < 1<<60
	}
	for i := range v.maps {
		m := &v.maps[i]
		for k := uint64(0); visit(m.name(k)) && m.many && k < mostBlocks; k++ {
		}
	}
	return min(total, 1<<60)
}

// nestedBytes returns sourceBytes of a source.
func (v *virtual) nestedBytes(s Source, t *trail, seen map[string]bool) int64 {
	d, done, err := v.open(s, t)
	if err != nil || d == nil {
		return 0
	}
	defer done()
	w, ok := d.store.(*virtual)
	if !ok {
		return 0
	}
	t.depth++
	defer func() { t.depth-- }()
	return w.sourceBytes(t, seen)
}
