// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
)

// openSimFolder prepares the folder and returns the energies still to be computed. It
// replaces results of another morphology or other settings only on request.
func openSimFolder(a *frame.App, s *simulation) (todo []bool, err error) {
	if err := mayFill(a, s.Dir); err != nil {
		return nil, err
	}
	if foreign.Exists(s.Dir) {
		if err := a.Lock(s.Dir); err != nil {
			return nil, err
		}
	}
	now, err := s.Record(s.file)
	if err != nil {
		return nil, exit.Input(err)
	}
	now.Command, now.Version, now.Device = "sim rsoxs", frame.Version(), s.Device()
	old, err := filepath.Glob(filepath.Join(s.Dir, "Energy_*.h5"))
	if err != nil {
		return nil, exit.With(exit.WrongUsage, err)
	}
	before, err := morph.ReadSimulationRecord(s.Dir)
	if err != nil && !a.Overwrite {
		return nil, exit.Input(err)
	}
	if err := mayWrite(a, s, now, before, len(old)); err != nil {
		return nil, err
	}
	if a.Overwrite && a.Resume == "" {
		if err := patternsOnly(a, s.Dir, before, old); err != nil {
			return nil, err
		}
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				return nil, exit.With(exit.CannotWrite, err)
			}
		}
		old = nil
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return nil, exit.With(exit.CannotWrite, err)
	}
	if err := a.Lock(s.Dir); err != nil {
		return nil, err
	}
	if err := frame.WriteJSON(filepath.Join(s.Dir, morph.SimulationRecordFile), now); err != nil {
		return nil, err
	}
	s.strangers(a, old)
	return s.todo(a.Resume != ""), nil
}

// mayFill returns why results cannot go to a folder, as far as that is known before anything is read: a file has its name, it cannot be made
// or written to, or it has what must stay.
func mayFill(a *frame.App, dir string) error {
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s is a file, not a folder", dir), Hint: "choose another folder"}
	}
	if err := frame.MayFill(dir); err != nil {
		return err
	}
	recorded := foreign.Exists(filepath.Join(dir, morph.SimulationRecordFile))
	old, err := filepath.Glob(filepath.Join(dir, "Energy_*.h5"))
	switch {
	case err != nil:
		return exit.With(exit.WrongUsage, err)
	case a.Resume != "" && !recorded:
		return noRun(dir)
	case a.Resume == "" && !a.Overwrite && !recorded && len(old) > 0:
		return ofOthers(dir)
	}
	return nil
}

func noRun(dir string) error {
	return &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("%s has no %s, so there is no run to continue", dir, morph.SimulationRecordFile), Hint: "run the same command without --resume"}
}

func ofOthers(dir string) error {
	return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s has patterns but no %s: they are of another program, or of a demonstration", dir, morph.SimulationRecordFile), Hint: "--overwrite, or another folder"}
}

// mayWrite refuses folders that hold other results.
func mayWrite(a *frame.App, s *simulation, now, before *morph.SimulationRecord, images int) error {
	switch {
	case a.Resume != "" && before == nil:
		return noRun(s.Dir)
	case a.Resume != "":
		if d := now.Differences(before); d != nil {
			return &exit.Error{Code: exit.Config, Err: fmt.Errorf("the run in %s was made with other %s", s.Dir, strings.Join(d, ", ")), Hint: "use the flags and files of that run, or --overwrite instead of --resume"}
		}
	case images == 0 || a.Overwrite:
	case before == nil:
		return ofOthers(s.Dir)
	case before.SHA256 != now.SHA256:
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s has results of another morphology, %s", s.Dir, before.Morphology), Hint: "--overwrite, or another folder"}
	default:
		if d := now.Differences(before); d != nil {
			return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s has results that were made with other %s", s.Dir, strings.ReplaceAll(strings.Join(d, ", "), "_", " ")), Hint: "--overwrite, or another folder"}
		}
	}
	return nil
}

// patternsOnly returns an error if a folder that no run of this command made has a file of an image's name that is no
// image, so that --overwrite deletes only results of this command and of CyRSoXS.
func patternsOnly(a *frame.App, dir string, before *morph.SimulationRecord, images []string) error {
	if before != nil {
		return nil
	}
	for _, name := range images {
		f, err := hdf5.Open(name)
		if err != nil {
			return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s was not made by euryale, and %s is no scattering pattern: nothing is overwritten", dir, filepath.Base(name)), Hint: "another folder"}
		}
		f.Close()
	}
	return nil
}

// strangers warns about images that do not belong to this run.
func (s *simulation) strangers(a *frame.App, old []string) {
	ours := map[string]bool{}
	for _, n := range s.Files {
		ours[n] = true
	}
	for _, f := range old {
		if !ours[filepath.Base(f)] {
			w := f + " is of an earlier run and stays"
			s.doc.Warnings = append(s.doc.Warnings, w)
			a.Note("warning: %s", w)
		}
	}
}

// todo marks the energies to compute: all of them or, when resuming, those without a
// complete file.
func (s *simulation) todo(resume bool) []bool {
	list := make([]bool, len(s.Files))
	s.doc.Energies = make([]simEnergyDoc, len(s.Files))
	for e, n := range s.Files {
		list[e] = true
		if !resume {
			continue
		}
		if v := s.Kept(e); v != nil {
			list[e] = false
			s.doc.Energies[e] = energyDoc(s.Config.Energies[e], filepath.Join(s.Dir, n), "kept", v)
		}
	}
	return list
}
