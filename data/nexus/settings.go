// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Setting is one value that a file gives about the measurement or its analysis.
type Setting struct {
	Path string // path in the file
	Text string // value as text; numbers have the fewest digits that read back the same value
	Unit string // unit of the value; "" if the file gives none
}

// String returns "path: text unit".
func (s Setting) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", s.Path, s.Text, s.Unit))
}

// settingGroups lists the groups that contain settings.
var settingGroups = []string{"/entry/instrument", "/entry/sample", "/entry/user", "/xpcs/multitau/config", "/xpcs/twotime/config"}

// Settings lists the single values in the groups of instrument, sample, user and configuration, in
// the order of their paths. If some cannot be read, it returns the others and an *hdf5.LostError.
func (r *Result) Settings() ([]Setting, error) {
	if r.file == nil {
		return nil, nil
	}
	var all []Setting
	var lost []error
	err := r.file.Walk(func(p string, group bool) error {
		if group || !isSetting(p) {
			return nil
		}
		d, err := r.file.Dataset(p)
		if err != nil {
			lost = append(lost, err)
			return nil
		}
		if d.Len() != 1 {
			return nil
		}
		if s, ok := setting(d); ok {
			all = append(all, s)
		}
		return nil
	})
	if damage := (*hdf5.LostError)(nil); errors.As(err, &damage) {
		damage.Lost = append(damage.Lost, lost...)
	} else if err == nil && len(lost) > 0 {
		err = &hdf5.LostError{File: r.file.Name(), Lost: lost}
	}
	return all, err
}

func isSetting(p string) bool {
	for _, g := range settingGroups {
		if strings.HasPrefix(p, g+"/") {
			return true
		}
	}
	return false
}

func setting(d *hdf5.Dataset) (Setting, bool) {
	s := Setting{Path: path.Clean(d.Path())}
	if text, err := d.Text(); err == nil {
		s.Text = text
	} else if v, err := d.Float64(); err == nil {
		s.Text = strconv.FormatFloat(v, 'g', -1, 64)
	} else {
		return s, false
	}
	attrs, _ := d.Attrs()
	for _, a := range attrs {
		if a.Name == "units" {
			s.Unit, _ = a.Text()
		}
	}
	return s, true
}
