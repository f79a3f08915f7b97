// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at spectra, at libraries of templates, at tables of fits, and at runs that sampled a star, which have a picture of the star beside those of draws.
func look(name string, folder bool) *frame.Look {
	switch low := strings.ToLower(name); {
	case folder:
		if arms, err := rvspecfit.Setups(name); err == nil && len(arms) > 0 {
			return lookAtLibrary(name)
		}
		return lookAtRun(name)
	case frame.Ends(low, ".h5", ".hdf5"):
		if !isLibrary(name) {
			return nil
		}
		return lookAtLibrary(name)
	case frame.Ends(strings.TrimSuffix(low, ".gz"), ".fits", ".fit", ".fts", ".fz"):
		return lookAtFITS(name)
	case frame.Ends(low, ".csv", ".tsv", ".txt", ".dat") && namesFlux(name):
		l := lookAtSpectrum(name)
		if l != nil {
			l.Table, l.Pictures = true, append(l.Pictures, frame.Plotted("Columns of the table", "table", name))
		}
		return l
	}
	return nil
}

// lookAtLibrary says how people look at a library of templates.
func lookAtLibrary(name string) *frame.Look {
	return &frame.Look{Kind: "Template libraries", Pictures: []frame.Sight{frame.Plotted("Spectrum of a star", "library", name), {Title: "Parameters of the templates", Args: []string{"plot", "library", name, "--coverage"}, Still: true}}}
}

func lookAtRun(name string) *frame.Look {
	dir := runs.Folder(name)
	if command, err := dir.Command(); err != nil || command != sampleCommand || !foreign.Exists(dir.Path("summary.json")) {
		return nil
	}
	return &frame.Look{Kind: "Runs", Pictures: append([]frame.Sight{frame.Plotted("Spectra, model and residuals", "spectrum", name)}, frame.DrawSights(name)...), Texts: frame.DrawTexts(name), Together: frame.DrawsTogether()}
}

// lookAtFITS tells spectra from tables.
func lookAtFITS(name string) *frame.Look {
	f, err := fits.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Has("B_MODEL") || f.Has("R_MODEL") || f.Has("Z_MODEL") {
		return nil // models of a fit are drawn with their spectra
	}
	if !f.Has("RVTAB") {
		if l := lookAtSpectrum(name); l != nil {
			return l
		}
	}
	if !frame.Ends(name, ".fits", ".fit") {
		return nil
	}
	for _, h := range f.HDUs() {
		if t, err := h.Table(); err == nil && t.Len() > 0 {
			return &frame.Look{Kind: "Tables", Table: true, Pictures: []frame.Sight{frame.Plotted("Columns of the table", "table", name)}}
		}
	}
	return nil
}

// mostSpectrum is the size of files up to which a spectrum is read to find out whether it is one.
const mostSpectrum = 32 << 20

// lookAtSpectrum says how people look at files of spectra, of which they choose one by its row. It returns nil for other files.
func lookAtSpectrum(name string) *frame.Look {
	kind, err := fitfile.KindOf(name)
	if err != nil {
		return nil
	}
	many := false
	switch info, err := os.Stat(name); {
	case kind == fitfile.DESI:
		d, err := survey.OpenDESI(name)
		if err != nil {
			return nil
		}
		defer d.Close()
		if many = len(d.TargetID) > 1; len(d.TargetID) == 0 {
			return nil
		}
	case kind == fitfile.Spectrum && (err != nil || info.Size() > mostSpectrum):
		return nil
	default:
		s, err := fitfile.Open(name, usualMaskBits, survey.Units{})
		if err != nil {
			return nil
		}
		defer s.Close()
		many = s.N > 1
	}
	args, title := []string{"plot", "spectrum", name}, "The spectrum"
	if many {
		args, title = append(args, "--row=1"), "A spectrum, by its row"
	}
	l := &frame.Look{Kind: "Spectra", Rows: starsBeside(name, kind), Works: []string{"fit spectra", "sample spectrum"}, Pictures: []frame.Sight{{Title: title, Args: append(args, "--measured")}}}
	if !many {
		l.Together = &frame.Look{Works: l.Works, Pictures: []frame.Sight{{Title: "The spectra of a star", Args: []string{"plot", "spectrum", "--measured"}}}}
	}
	if foreign.Exists(configFile) {
		l.Pictures = append(l.Pictures, fittedSights(title, args, nil)...)
	} else if l.Given = libraryBeside(name); l.Given != nil {
		l.Pictures = append(l.Pictures, fittedSights(title, args, l.Given)...)
	}
	return l
}

// configFile is the configuration that commands read where none is named.
const configFile = "config.yaml"

// fittedSights are pictures of a spectrum beside the templates of a library, which flags name.
func fittedSights(title string, args, given []string) []frame.Sight {
	line := append(slices.Clone(args), given...)
	return []frame.Sight{{Title: title + ", fitted on the spot", Args: line}, {Title: "Cross-correlation with the templates", Args: append(slices.Clone(line), "--correlation")}}
}

// libraryBeside returns the flag for a configuration, or for the only library of templates, in the folder of spectra; nil if there is none.
func libraryBeside(name string) []string {
	dir := filepath.Dir(name)
	if at := filepath.Join(dir, configFile); foreign.Exists(at) {
		return []string{"--config=" + at}
	}
	var found []string
	for _, pattern := range []string{"*.h5", "*.hdf5"} {
		some, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range some {
			if isLibrary(file) {
				found = append(found, "--library="+file)
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found
}

// isLibrary reports whether a file is a library of templates.
func isLibrary(name string) bool {
	f, err := hdf5.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Has("/arms") && f.Has("/format_version")
}

// starsBeside returns the table of a fit that stands beside a file of many stars; nil if there is none.
func starsBeside(name string, kind fitfile.Kind) *frame.Rows {
	table := filepath.Join(filepath.Dir(name), survey.TableName(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".fz")))
	if kind != fitfile.DESI || !foreign.Exists(table) {
		return nil
	}
	return &frame.Rows{File: table, Column: "TARGETID", Flag: "targetid", Clears: "row"}
}

// namesFlux reports whether the first lines of a text name a column of flux. Tables in folders of runs have pictures of their own.
func namesFlux(name string) bool {
	if runs.Folder(filepath.Dir(name)).Ours() {
		return false
	}
	f, err := foreign.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	return bytes.Contains(bytes.ToLower(head[:n]), []byte("flux"))
}
