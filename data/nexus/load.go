// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// KeyError says that a file lacks a quantity, or holds it in a wrong form.
type KeyError struct {
	File string
	Key  string // path in the file
	What string
	Err  error // underlying error; may be nil
}

// Error names the file, the key and what to do.
func (e *KeyError) Error() string {
	return errtext.Join("nexus", e.File, e.Key, e.What, strings.ReplaceAll(errtext.Cause(e.Err), e.File+": ", ""))
}

// Unwrap returns the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// loader reads keys and keeps the first error.
type loader struct {
	file *hdf5.File
	err  error
}

func (l *loader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = &KeyError{File: l.file.Name(), Key: "content", What: fmt.Sprintf(format, args...)}
	}
}

// find returns the path of a key that exists, or "" if none does. A missing key is an error if it is
// needed.
func (l *loader) find(k key, need bool) string {
	for _, path := range k {
		if l.file.Has(path) {
			return path
		}
	}
	if need {
		l.links(k)
	}
	if need && l.err == nil {
		_, err := l.file.Dataset(k[0])
		l.err = &KeyError{File: l.file.Name(), Key: k[0], What: "it is missing: check that the analysis was finished and that this is a result file, not a raw or q-map file", Err: err}
	}
	return ""
}

// links records an error for a dangling link on the way to a key, such as a link to a file that no
// longer exists: the key would otherwise be treated as absent.
func (l *loader) links(k key) {
	for _, p := range k {
		at := "/"
		for name := range strings.SplitSeq(p[1:], "/") {
			all, err := l.file.Links(at)
			i := slices.IndexFunc(all, func(link hdf5.Link) bool { return link.Name == name })
			if err != nil || i < 0 {
				break
			}
			if at = path.Join(at, name); !l.file.Has(at) {
				l.astray(at, all[i])
				return
			}
		}
	}
}

// astray records an error for a dangling link; the cause gives the details.
func (l *loader) astray(at string, link hdf5.Link) {
	_, err := l.file.Dataset(at)
	what := "it cannot be read"
	if link.Kind == hdf5.SoftLink {
		what = "is a soft link to " + link.Path + ", which leads nowhere"
	}
	if l.err == nil {
		l.err = &KeyError{File: l.file.Name(), Key: at, What: what, Err: err}
	}
}

func (l *loader) has(k key) bool { return l.find(k, false) != "" }

// dataset opens a key; nil if it is absent or an error was recorded.
func (l *loader) dataset(k key, need bool) *hdf5.Dataset {
	path := l.find(k, need)
	if path == "" || l.err != nil {
		return nil
	}
	d, err := l.file.Dataset(path)
	if l.keep(path, err) {
		return nil
	}
	return d
}

// keep records an error of reading path; a link to a missing file has its own message.
func (l *loader) keep(path string, err error) bool {
	if err == nil {
		return false
	}
	if l.err == nil {
		l.err = &KeyError{File: l.file.Name(), Key: path, What: "the dataset cannot be read", Err: err}
	}
	return true
}

func (l *loader) floats(k key, need bool) []float64 {
	d := l.dataset(k, need)
	if d == nil {
		return nil
	}
	v, err := d.Float64s()
	l.keep(d.Path(), err)
	return v
}

// number reads a scalar, which may be stored with shape (1, 1). It is NaN if absent.
func (l *loader) number(k key, need bool) float64 {
	d := l.dataset(k, need)
	if d == nil {
		return math.NaN()
	}
	v, err := d.Float64()
	l.keep(d.Path(), err)
	return v
}

func (l *loader) integer(k key, absent int) int {
	v := l.number(k, false)
	if math.IsNaN(v) {
		return absent
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<40 {
		l.fail("%s is %v: want a whole number", k[0], v)
		return absent
	}
	return int(v)
}

func (l *loader) ints(k key) []int {
	d := l.dataset(k, false)
	if d == nil {
		return nil
	}
	v, err := d.Int64s()
	l.keep(d.Path(), err)
	all := make([]int, len(v))
	for i, x := range v {
		all[i] = int(x)
	}
	return all
}

func (l *loader) texts(k key) []string {
	d := l.dataset(k, false)
	if d == nil {
		return nil
	}
	s, err := d.Strings()
	l.keep(d.Path(), err)
	return s
}

func (l *loader) text(k key) string {
	if s := l.texts(k); len(s) == 1 {
		return s[0]
	}
	return ""
}

// matrix reads an array of two axes; leading axes of length 1 are dropped.
func (l *loader) matrix(k key, need bool) *Matrix {
	d := l.dataset(k, need)
	if d == nil {
		return nil
	}
	shape := d.Shape()
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 {
		l.keep(d.Path(), fmt.Errorf("it has the shape %v: want two axes", d.Shape()))
		return nil
	}
	v, err := d.Float64s()
	if l.keep(d.Path(), err) {
		return nil
	}
	return &Matrix{shape[0], shape[1], v}
}

// curves reads an array of (delay, bin); one with a single axis is that of a single bin, as files of one region have it.
func (l *loader) curves(k key, need bool) *Matrix {
	d := l.dataset(k, need)
	if d == nil || len(d.Shape()) != 1 {
		return l.matrix(k, need)
	}
	v, err := d.Float64s()
	if l.keep(d.Path(), err) {
		return nil
	}
	return &Matrix{len(v), 1, v}
}

// cube reads an array of three axes as a list of matrices along the first.
func (l *loader) cube(k key) []*Matrix {
	d := l.dataset(k, false)
	if d == nil {
		return nil
	}
	shape := d.Shape()
	if len(shape) != 3 {
		l.keep(d.Path(), fmt.Errorf("it has the shape %v: want three axes", shape))
		return nil
	}
	v, err := d.Float64s()
	if l.keep(d.Path(), err) {
		return nil
	}
	all := make([]*Matrix, shape[0])
	n := shape[1] * shape[2]
	for i := range all {
		all[i] = &Matrix{shape[1], shape[2], v[i*n : (i+1)*n]}
	}
	return all
}

// ErrNoAnalysis is matched by errors.Is for a file with neither a multi-tau nor a two-time
// correlation.
var ErrNoAnalysis = errors.New("the file has no correlation: give a result file")
