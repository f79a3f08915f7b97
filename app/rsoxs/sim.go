// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/viz/term"
)

// simFlags are the flags of sim rsoxs that affect the computed intensities.
type simFlags struct{ morph.SimulationSettings }

func simRSoXS(a *frame.App) *cobra.Command {
	var f simFlags
	c := &cobra.Command{
		Use:   "rsoxs MORPH.h5 [OUTDIR]",
		Short: "Simulate the scattering patterns of a morphology, as CyRSoXS does",
		Long: `Simulate polarized resonant soft X-ray scattering. The command is a drop-in
replacement for CyRSoXS: settings and optical constants come from config.txt,
Material1.txt, Material2.txt, ... in the working directory, images go to
OUTDIR/Energy_E.EE.h5 (default HDF5DirName of config.txt), and CyRSoXS.log
records the run.

The results agree with CyRSoXS except where CyRSoXS is wrong: it ignores the
window with Algorithm = 1, and takes base angles of oblique beams in the wrong
unit. --parity reproduces these errors. Files and transforms have 32 bits, as in
CyRSoXS; with --precision 64 both are float64.

Ctrl-C finishes the energies being computed, and --resume OUTDIR computes the
missing ones. Results of another morphology are replaced only with --overwrite.
With --strict, volume fractions that do not sum to 1 are an error.

  euryale sim rsoxs film.h5
  euryale sim rsoxs film.h5 out --grid exact --precision 64
  euryale sim rsoxs film.h5 --resume out --grid exact --precision 64
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if f.Precision = a.Precision; !c.Flags().Changed("precision") {
				f.Precision = 32
			}
			return runSimRSoXS(c.Context(), a, args, f)
		},
	}
	frame.AddSettings(c, "sim rsoxs", &f.SimulationSettings)
	return c
}

// String returns the flags as they are typed.
func (f simFlags) String() string {
	s := fmt.Sprintf("--grid %s --precision %d", f.Grid, f.Precision)
	if f.Parity {
		s += " --parity"
	}
	if f.CollapseZ {
		s += " --collapse-z"
	}
	return s
}

// simulation is one run of sim rsoxs.
type simulation struct {
	*morph.Simulation
	flags simFlags
	file  string
	doc   SimDoc
}

// SimDoc is the JSON document of sim rsoxs.
type SimDoc struct {
	Engine     string         `json:"engine"`
	Morphology string         `json:"morphology"`
	Shape      [3]int         `json:"shape_zyx"`
	PhysSize   float64        `json:"phys_size_nm"`
	Settings   simFlags       `json:"settings"`
	Folder     string         `json:"folder"`
	Log        string         `json:"log"`
	Device     string         `json:"device"` // device that computes it: cpu, or GPUs such as cuda:0
	Energies   []simEnergyDoc `json:"energies"`
	Checks     []string       `json:"checks"`
	Warnings   []string       `json:"warnings"`
	Timing     struct {
		Read      float64 `json:"read_s"`
		Transform float64 `json:"transform_s"`
		Images    float64 `json:"images_s"`
		Total     float64 `json:"total_s"`
	} `json:"timing"`
}

type simEnergyDoc struct {
	Energy float64      `json:"energy"` // photon energy in eV
	File   string       `json:"file"`
	Status string       `json:"status"` // "written", or "kept" if an earlier run wrote the file
	Max    frame.Number `json:"max"`    // largest intensity
	Valid  int          `json:"valid"`  // number of valid pixels
}

const logName = "CyRSoXS.log"

func runSimRSoXS(ctx context.Context, a *frame.App, args []string, f simFlags) error {
	if err := f.Check(); err != nil {
		return frame.SettingError(err)
	}
	begin := time.Now()
	if named, err := simFolder(a, args, ""); err != nil || named != "" {
		if err == nil {
			err = mayFill(a, named)
		}
		if err != nil {
			return err
		}
	}
	s := &simulation{flags: f, file: args[0]}
	x, err := morph.OpenExperiment(".", s.file, morph.ExperimentSettings{Parity: f.Parity, Double: f.Precision == 64})
	if err != nil {
		return experimentError(err)
	}
	dir, err := simFolder(a, args, x.Settings.HDF5Dir)
	if err != nil {
		return err
	}
	if a.Resume != "" {
		before, err := morph.ReadSimulationRecord(dir)
		if err == nil && before != nil { // others are told below
			if err := a.GoOnWhere(before.Device); err != nil {
				return err
			}
		}
	}
	set := f.SimulationSettings
	set.Backend = a.Backend(a.Threads)
	if s.Simulation, err = morph.NewSimulation(x, dir, set, a.Threads); err != nil {
		return simulationError(err)
	}
	if err := s.announce(a); err != nil {
		return err
	}
	todo, err := openSimFolder(a, s)
	if err != nil {
		return err
	}
	if err := s.tell(); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	s.doc.Timing.Read = time.Since(begin).Seconds()
	if err := simulate(ctx, a, s, todo); err != nil {
		return err
	}
	s.doc.Timing.Total = time.Since(begin).Seconds()
	if a.JSON {
		return a.Document(s.doc)
	}
	a.Note("%s in %s, %.3g s", errtext.Count(len(s.Files), "pattern"), s.Dir, s.doc.Timing.Total)
	return nil
}

// experimentError assigns different exit codes to mistakes in config.txt and in other
// files.
func experimentError(err error) error {
	var e *data.FormatError
	if errors.As(err, &e) && e.Format == "cyrsoxs" && (filepath.Base(e.File) == "config.txt" || e.Place == "MorphologyType") {
		return exit.With(exit.Config, err)
	}
	return exit.Input(err)
}

// simFolder returns the folder for the results.
func simFolder(a *frame.App, args []string, fallback string) (string, error) {
	var named []string
	for _, d := range append(args[1:], a.Out, a.Resume) {
		if d != "" {
			named = append(named, filepath.Clean(d))
		}
	}
	for _, d := range named {
		if d != named[0] {
			return "", exit.Usage("the results cannot go to both %s and %s: name one folder", named[0], d)
		}
	}
	if len(named) > 0 {
		return named[0], nil
	}
	return fallback, nil
}

// simulationError assigns different exit codes to settings and to morphologies that
// cannot be simulated.
func simulationError(err error) error {
	if settings := (*morph.SettingsError)(nil); errors.As(err, &settings) {
		return exit.With(exit.Config, err)
	}
	return exit.With(exit.Data, err)
}

// announce starts the document and prints warnings and failed checks.
func (s *simulation) announce(a *frame.App) error {
	s.doc = SimDoc{Engine: "rsoxs", Morphology: s.file, Shape: s.Volume.Shape, PhysSize: s.Volume.PhysSize, Settings: s.flags, Folder: s.Dir, Log: logName, Device: s.Device(),
		Checks: lines(s.Checks), Warnings: append([]string{}, s.Warnings...)}
	for _, w := range s.Warnings {
		a.Note("warning: %s", w)
	}
	if a.Strict && s.Checks != nil {
		return exit.With(exit.Failed, fmt.Errorf("%s: %w", s.file, s.Checks))
	}
	for _, c := range s.doc.Checks {
		a.Note("warning: %s: %s", s.file, c)
	}
	return nil
}

// lines returns the texts of joined errors.
func lines(err error) []string {
	list := []string{}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = append(list, lines(e)...)
		}
	} else if err != nil {
		list = append(list, err.Error())
	}
	return list
}

// tell writes the other files that CyRSoXS leaves in the working directory.
func (s *simulation) tell() error {
	l := &cyrsoxs.Log{Version: "euryale " + frame.Version(), Created: time.Now().Format(time.RFC3339), File: s.file, Shape: s.Volume.Shape, PhysSize: s.Volume.PhysSize,
		Materials: len(s.Volume.Phases), Config: s.Settings, Warnings: append(s.doc.Warnings, s.doc.Checks...)}
	for _, b := range s.Beams {
		l.Rotations = append(l.Rotations, cyrsoxs.Rotation{KVector: b.K, Matrix: b.Rotation, BaseAngle: b.Base})
	}
	if err := cyrsoxs.WriteLog(logName, l); err != nil {
		return err
	}
	if s.Settings.DumpMorphology {
		return cyrsoxs.WriteDump("Morphology", s.Volume)
	}
	return nil
}

// simulate writes the images of the energies in todo.
func simulate(ctx context.Context, a *frame.App, s *simulation, todo []bool) error {
	left := 0
	for _, t := range todo {
		if t {
			left++
		}
	}
	set := term.BarSettings{Name: "energies", Total: left}
	if a.Quiet {
		set.Mode = term.Quiet
	}
	bar := term.NewBar(a.Screen, set)
	defer bar.Close()
	begin := time.Now()
	if left > 0 {
		if err := s.Transform(ctx); err != nil {
			return s.stopped(ctx, err)
		}
	}
	s.doc.Timing.Transform = time.Since(begin).Seconds()
	begin = time.Now()
	err := s.Write(ctx, todo, func(e int, v []float64) {
		s.doc.Energies[e] = energyDoc(s.Config.Energies[e], filepath.Join(s.Dir, s.Files[e]), "written", v)
		bar.Add(1, 0)
	})
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return s.stopped(ctx, err)
	case err != nil:
		return frame.Writing(err, exit.Failed)
	}
	s.doc.Timing.Images = time.Since(begin).Seconds()
	return nil
}

func energyDoc(energy float64, file, status string, v []float64) simEnergyDoc {
	d := simEnergyDoc{Energy: energy, File: file, Status: status, Max: frame.Number(math.NaN())}
	for _, x := range v {
		if !math.IsNaN(x) {
			d.Valid++
			if !(x <= float64(d.Max)) {
				d.Max = frame.Number(x)
			}
		}
	}
	return d
}

// stopped describes an interrupted run and how to resume it.
func (s *simulation) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return exit.With(exit.Failed, err)
	}
	done := 0
	for _, n := range s.Files {
		if _, err := os.Stat(filepath.Join(s.Dir, n)); err == nil {
			done++
		}
	}
	return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted: %s has %d of %d energies", s.Dir, done, len(s.Files)),
		Hint: fmt.Sprintf("euryale sim rsoxs %s --resume %s %s", foreign.Typed(s.file), foreign.Typed(s.Dir), s.flags)}
}
