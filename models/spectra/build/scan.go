// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Param is a parameter of the templates, with its place in their files.
type Param struct {
	Name string // name in the library, such as teff
	Key  string // keyword of the primary header, such as PHXTEFF
}

// DefaultParams returns the parameters of the PHOENIX library: teff (K), logg, feh and alpha (dex).
func DefaultParams() []Param {
	return []Param{{"teff", "PHXTEFF"}, {"logg", "PHXLOGG"}, {"feh", "PHXM_H"}, {"alpha", "PHXALPHA"}}
}

// ScanSettings say which files are templates and where their parameters are.
type ScanSettings struct {
	// Pattern is the pattern that the names of files, without folders, must match, as in
	// path.Match. Default: names that end in .fits or .fits.gz, and do not begin with WAVE_.
	Pattern string
	// Params lists the parameters. Default DefaultParams; More are added to them.
	Params, More []Param
	// Masks mark templates that are not to be used.
	Masks []Mask
	// Skip leaves out files whose headers lack a parameter. By default the first of them ends the
	// scan.
	Skip bool
	// Report is called with every file, and with what is wrong with it, from one goroutine, unless
	// it is nil.
	Report func(p Progress)
}

// Progress describes one file.
type Progress struct {
	File        string
	Done, Total int
	Err         error // fault of the file, which is left out; nil if there is none
}

func (s *ScanSettings) params() []Param {
	all := s.Params
	if len(all) == 0 {
		all = DefaultParams()
	}
	return append(slices.Clone(all), s.More...)
}

// Scan lists the templates in a folder and those below it, sorted by name. The catalogue has names relative
// to the folder.
func Scan(ctx context.Context, dir string, s ScanSettings) (*rvspecfit.Catalog, error) {
	c := &rvspecfit.Catalog{}
	for _, p := range s.params() {
		if slices.Contains(c.ParNames, p.Name) || p.Name == "" || p.Key == "" {
			return nil, fmt.Errorf("build: the parameter %q with keyword %q is incomplete or appears twice: give each parameter a name and a keyword, once", p.Name, p.Key)
		}
		c.ParNames = append(c.ParNames, p.Name)
	}
	added, err := Update(ctx, c, dir, s)
	if err == nil && added == 0 {
		err = fmt.Errorf("build: there is no template in %s: file names must match %q, and headers must have %s", dir, s.pattern(), s.keys())
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Update adds to a catalogue the files that it lacks, with numbers that follow the largest, and
// returns how many there were. Masks apply to all rows, and remove no mark. After an error the
// catalogue is unchanged.
func Update(ctx context.Context, c *rvspecfit.Catalog, dir string, s ScanSettings) (added int, err error) {
	if err := s.match(c.ParNames); err != nil {
		return 0, err
	}
	known, next := map[string]bool{}, 0
	for _, e := range c.Entries {
		known[e.File], next = true, max(next, e.ID+1)
	}
	names, err := s.files(dir)
	if err != nil {
		return 0, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return known[name] })
	entries := slices.Clone(c.Entries)
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		params, err := readParams(filepath.Join(dir, filepath.FromSlash(name)), s.params())
		if s.Report != nil {
			s.Report(Progress{File: name, Done: i + 1, Total: len(names), Err: err})
		}
		switch {
		case err == nil:
			entries = append(entries, rvspecfit.Entry{File: name, Params: params, ID: next})
			next++
		case !s.Skip:
			return 0, fmt.Errorf("build: %w; leave the file out by a pattern, or skip such files", err)
		}
	}
	added = len(entries) - len(c.Entries)
	marked := &rvspecfit.Catalog{ParNames: c.ParNames, Entries: entries}
	if err := Apply(marked, s.Masks); err != nil {
		return 0, err
	}
	c.Entries = marked.Entries
	return added, nil
}

// match compares the parameters of the settings with those of a catalogue.
func (s *ScanSettings) match(names []string) error {
	var ours []string
	for _, p := range s.params() {
		ours = append(ours, p.Name)
	}
	if !slices.Equal(ours, names) {
		return fmt.Errorf("build: the catalogue has the parameters %s, but the settings have %s: give the same ones in the same order", strings.Join(names, ", "), strings.Join(ours, ", "))
	}
	return nil
}

func (s *ScanSettings) pattern() string {
	if s.Pattern == "" {
		return "*.fits"
	}
	return s.Pattern
}

func (s *ScanSettings) keys() string {
	var all []string
	for _, p := range s.params() {
		all = append(all, p.Key)
	}
	return strings.Join(all, ", ")
}

// files returns the names of files below a folder that match, with slashes, in order.
func (s *ScanSettings) files(dir string) (names []string, err error) {
	if _, err := filepath.Match(s.pattern(), ""); err != nil {
		return nil, fmt.Errorf("build: the pattern %q: %w", s.Pattern, err)
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base := d.Name()
		ok, _ := filepath.Match(s.pattern(), base)
		if s.Pattern == "" {
			ok = (strings.HasSuffix(base, ".fits") || strings.HasSuffix(base, ".fits.gz")) && !strings.HasPrefix(base, "WAVE_")
		}
		if !ok {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

// readParams reads the parameters of a template from its primary header.
func readParams(name string, params []Param) ([]float64, error) {
	f, err := fits.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := f.HDUs()[0].Header
	out := make([]float64, len(params))
	for i, p := range params {
		v, ok := h.Float(p.Key)
		if !ok {
			return nil, fmt.Errorf("%w: name the keyword that has it, as --param %s:KEY does", &data.MissingError{Format: "fits", File: name, Place: "primary header", Kind: "keyword with a number", Name: p.Key, Near: h.Near(p.Key)}, p.Name)
		}
		out[i] = v
	}
	return out, nil
}

// Nodes returns a catalogue of all combinations of values along axes, the last one fastest, for
// templates that are computed and not read; see Settings.Read. The names of the files contain the
// values.
func Nodes(names []string, axes [][]float64) (*rvspecfit.Catalog, error) {
	size := 1
	for _, a := range axes {
		size *= len(a)
	}
	if len(names) == 0 || len(names) != len(axes) || size == 0 {
		return nil, fmt.Errorf("build: there are %d parameters on %d axes with %s: want an axis with values for each parameter", len(names), len(axes), errtext.Count(size, "node"))
	}
	c := &rvspecfit.Catalog{ParNames: slices.Clone(names)}
	for id := range size {
		e := rvspecfit.Entry{ID: id, Params: make([]float64, len(axes))}
		var parts []string
		for k, rest := len(axes)-1, id; k >= 0; k-- {
			e.Params[k] = axes[k][rest%len(axes[k])]
			rest /= len(axes[k])
		}
		for k, v := range e.Params {
			parts = append(parts, fmt.Sprintf("%s=%g", names[k], v))
		}
		e.File = strings.Join(parts, ",")
		c.Entries = append(c.Entries, e)
	}
	return c, nil
}
