package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// simRecord is run.json beside the images: all that their numbers depend on.
type simRecord struct {
	Command    string       `json:"command"`
	Version    string       `json:"version"`
	Morphology string       `json:"morphology"`
	SHA256     string       `json:"morphology_sha256"`
	PhysSize   float64      `json:"phys_size_nm"`
	Shape      [3]int       `json:"shape_zyx"`
	Flags      simFlags     `json:"flags"`
	Energies   []float64    `json:"energies"`
	Settings   string       `json:"settings"` // as config.txt has them
	Optics     rsoxs.Optics `json:"optical_constants"`
}

const simRecordName = "run.json"

func (s *simulation) record() (*simRecord, error) {
	f, err := foreign.Open(s.file)
	if err != nil {
		return nil, input(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, input(err)
	}
	settings := *s.Settings
	settings.HDF5Dir, settings.NumThreads, settings.MaxStreams, settings.DumpMorphology = "", 0, 0, false
	return &simRecord{Command: "sim rsoxs", Version: version(), Morphology: absolute(s.file), SHA256: fmt.Sprintf("%x", h.Sum(nil)), PhysSize: s.Volume.PhysSize,
		Shape: s.Volume.Shape, Flags: s.simFlags, Energies: s.Config.Energies, Settings: settings.String(), Optics: s.Optics}, nil
}

// readSimRecord returns nil where a folder has none.
func readSimRecord(dir string) (*simRecord, error) {
	name := filepath.Join(dir, simRecordName)
	b, err := foreign.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, input(err)
	}
	r := &simRecord{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", name, err))
	}
	return r, nil
}

// differences names what two runs do not share.
func (r *simRecord) differences(o *simRecord) (names []string) {
	a, b := *r, *o
	a.Version, b.Version, a.Morphology, b.Morphology = "", "", "", ""
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, x.Type().Field(i).Tag.Get("json"))
		}
	}
	return names
}

// openSimFolder makes the folder ready and says which energies are to do. Results of
// another morphology are not replaced unless asked for.
func (a *app) openSimFolder(s *simulation) (todo []bool, err error) {
	if st, err := os.Stat(s.dir); err == nil && !st.IsDir() {
		return nil, &exitError{code: exitCannotWrite, err: fmt.Errorf("%s is a file", s.dir), hint: "another folder"}
	}
	if exists(s.dir) {
		if err := a.lock(s.dir); err != nil {
			return nil, err
		}
	}
	now, err := s.record()
	if err != nil {
		return nil, err
	}
	old, err := filepath.Glob(filepath.Join(s.dir, "Energy_*.h5"))
	if err != nil {
		return nil, as(exitUsage, err)
	}
	before, err := readSimRecord(s.dir)
	if err != nil && !a.overwrite {
		return nil, err
	}
	if err := a.mayWrite(s, now, before, len(old)); err != nil {
		return nil, err
	}
	if a.overwrite && a.resume == "" {
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				return nil, as(exitCannotWrite, err)
			}
		}
		old = nil
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, as(exitCannotWrite, err)
	}
	if err := a.lock(s.dir); err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(s.dir, simRecordName), now); err != nil {
		return nil, err
	}
	s.strangers(a, old)
	return s.todo(a.resume != ""), nil
}

// mayWrite refuses folders with other results.
func (a *app) mayWrite(s *simulation, now, before *simRecord, images int) error {
	switch {
	case a.resume != "" && before == nil:
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s has no %s: there is no run to continue", s.dir, simRecordName), hint: "the same without --resume"}
	case a.resume != "":
		if d := now.differences(before); d != nil {
			return &exitError{code: exitConfig, err: fmt.Errorf("the run in %s had other %s", s.dir, strings.Join(d, ", ")), hint: "the flags and files of that run, or --overwrite in place of --resume"}
		}
	case images == 0 || a.overwrite:
	case before == nil:
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s has results of another program", s.dir), hint: "--overwrite, or another folder"}
	case before.SHA256 != now.SHA256:
		return &exitError{code: exitCannotWrite, err: fmt.Errorf("%s has results of another morphology, %s", s.dir, before.Morphology), hint: "--overwrite, or another folder"}
	}
	return nil
}

// strangers warns of images that are not of this run.
func (s *simulation) strangers(a *app, old []string) {
	ours := map[string]bool{}
	for _, n := range s.names {
		ours[n] = true
	}
	for _, f := range old {
		if !ours[filepath.Base(f)] {
			w := f + " is of an earlier run and stays"
			s.doc.Warnings = append(s.doc.Warnings, w)
			a.note("warning: %s", w)
		}
	}
}

// todo says which energies have no complete file yet: all, unless the run goes on.
func (s *simulation) todo(resume bool) []bool {
	list := make([]bool, len(s.names))
	s.doc.Energies = make([]simEnergyDoc, len(s.names))
	for e, n := range s.names {
		list[e] = true
		if !resume {
			continue
		}
		name := filepath.Join(s.dir, n)
		if p, err := cyrsoxs.ReadPattern(name); err == nil && s.complete(p) {
			list[e] = false
			var v []float64
			for _, f := range p.Images {
				v = append(v, f.Float64s()...)
			}
			s.doc.Energies[e] = energyDoc(s.Config.Energies[e], name, "kept", v)
		}
	}
	return list
}

func (s *simulation) complete(p *cyrsoxs.Pattern) bool {
	if len(p.Images) != len(s.beams) || p.Shape != [2]int(s.Volume.Shape[1:]) {
		return false
	}
	for _, f := range p.Images {
		if (f.Float32 != nil) != (s.Precision == 32) {
			return false
		}
	}
	return true
}
