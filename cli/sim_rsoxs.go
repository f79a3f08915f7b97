// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/viz/term"
)

// simFlags are the flags of sim rsoxs that affect the computed intensities.
type simFlags struct{ morph.SimulationSettings }

func (a *app) simRSoXS() *cobra.Command {
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
			if f.Precision = a.precision; !c.Flags().Changed("precision") {
				f.Precision = 32
			}
			return a.runSimRSoXS(c.Context(), args, f)
		},
	}
	c.Flags().StringVar(&f.Grid, "grid", "cyrsoxs", "q of pixels and planes: cyrsoxs, or exact (the q of the Fourier transform)")
	c.Flags().BoolVar(&f.Parity, "parity", false, "reproduce the known errors of CyRSoXS")
	c.Flags().BoolVar(&f.CollapseZ, "collapse-z", false, "average the morphology along z and scatter from that one slice")
	complete(c, "grid", []string{"cyrsoxs", "exact"})
	return c
}

func (f simFlags) check() error {
	switch {
	case f.Grid != "cyrsoxs" && f.Grid != "exact":
		return usage("--grid %s: want cyrsoxs or exact", f.Grid)
	case f.Grid == "exact" && f.Parity:
		return usage("--parity uses the grid of CyRSoXS: leave out --grid exact")
	}
	return nil
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
	doc   simDoc
}

// simDoc is the JSON document of sim rsoxs.
type simDoc struct {
	Engine     string         `json:"engine"`
	Morphology string         `json:"morphology"`
	Shape      [3]int         `json:"shape_zyx"`
	PhysSize   float64        `json:"phys_size_nm"`
	Settings   simFlags       `json:"settings"`
	Folder     string         `json:"folder"`
	Log        string         `json:"log"`
	Device     string         `json:"device"` // where it is computed: cpu, or GPUs such as cuda:0
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
	Energy float64 `json:"energy"` // photon energy in eV
	File   string  `json:"file"`
	Status string  `json:"status"` // "written", or "kept" if an earlier run wrote the file
	Max    number  `json:"max"`    // largest intensity
	Valid  int     `json:"valid"`  // number of valid pixels
}

const logName = "CyRSoXS.log"

func (a *app) runSimRSoXS(ctx context.Context, args []string, f simFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	begin := time.Now()
	s := &simulation{flags: f, file: args[0]}
	x, err := morph.OpenExperiment(".", s.file, morph.ExperimentSettings{Parity: f.Parity, Double: f.Precision == 64})
	if err != nil {
		return experimentError(err)
	}
	dir, err := a.simFolder(args, x.Settings.HDF5Dir)
	if err != nil {
		return err
	}
	if a.resume != "" {
		before, err := morph.ReadSimulationRecord(dir)
		if err == nil && before != nil { // others are told below
			if err := a.goOnWhere(before.Device); err != nil {
				return err
			}
		}
	}
	set := f.SimulationSettings
	set.Backend = a.backend(a.threads)
	if s.Simulation, err = morph.NewSimulation(x, dir, set, a.threads); err != nil {
		return simulationError(err)
	}
	if err := s.announce(a); err != nil {
		return err
	}
	todo, err := a.openSimFolder(s)
	if err != nil {
		return err
	}
	if err := s.tell(); err != nil {
		return as(exitCannotWrite, err)
	}
	s.doc.Timing.Read = time.Since(begin).Seconds()
	if err := a.simulate(ctx, s, todo); err != nil {
		return err
	}
	s.doc.Timing.Total = time.Since(begin).Seconds()
	if a.json {
		return a.document(s.doc)
	}
	a.note("%s in %s, %.3g s", errtext.Count(len(s.Files), "pattern"), s.Dir, s.doc.Timing.Total)
	return nil
}

// experimentError assigns different exit codes to mistakes in config.txt and in other
// files.
func experimentError(err error) error {
	var e *cyrsoxs.FormatError
	if errors.As(err, &e) && (filepath.Base(e.File) == "config.txt" || e.Key == "MorphologyType") {
		return as(exitConfig, err)
	}
	return input(err)
}

// simFolder returns the folder for the results.
func (a *app) simFolder(args []string, fallback string) (string, error) {
	var named []string
	for _, d := range append(args[1:], a.out, a.resume) {
		if d != "" {
			named = append(named, filepath.Clean(d))
		}
	}
	for _, d := range named {
		if d != named[0] {
			return "", usage("the results cannot go to both %s and %s: name one folder", named[0], d)
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
		return as(exitConfig, err)
	}
	return as(exitData, err)
}

// announce starts the document and prints warnings and failed checks.
func (s *simulation) announce(a *app) error {
	s.doc = simDoc{Engine: "rsoxs", Morphology: s.file, Shape: s.Volume.Shape, PhysSize: s.Volume.PhysSize, Settings: s.flags, Folder: s.Dir, Log: logName, Device: s.Device(),
		Checks: lines(s.Checks), Warnings: append([]string{}, s.Warnings...)}
	for _, w := range s.Warnings {
		a.note("warning: %s", w)
	}
	if a.strict && s.Checks != nil {
		return as(exitFailed, fmt.Errorf("%s: %w", s.file, s.Checks))
	}
	for _, c := range s.doc.Checks {
		a.note("warning: %s: %s", s.file, c)
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
	l := &cyrsoxs.Log{Version: "euryale " + version(), Created: time.Now().Format(time.RFC3339), File: s.file, Shape: s.Volume.Shape, PhysSize: s.Volume.PhysSize,
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
func (a *app) simulate(ctx context.Context, s *simulation, todo []bool) error {
	left := 0
	for _, t := range todo {
		if t {
			left++
		}
	}
	set := term.BarSettings{Name: "energies", Total: left}
	if a.quiet {
		set.Mode = term.Quiet
	}
	bar := term.NewBar(a.screen, set)
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
		return writing(err, exitFailed)
	}
	s.doc.Timing.Images = time.Since(begin).Seconds()
	return nil
}

func energyDoc(energy float64, file, status string, v []float64) simEnergyDoc {
	d := simEnergyDoc{Energy: energy, File: file, Status: status, Max: number(math.NaN())}
	for _, x := range v {
		if !math.IsNaN(x) {
			d.Valid++
			if !(x <= float64(d.Max)) {
				d.Max = number(x)
			}
		}
	}
	return d
}

// stopped describes an interrupted run and how to resume it.
func (s *simulation) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return as(exitFailed, err)
	}
	done := 0
	for _, n := range s.Files {
		if _, err := os.Stat(filepath.Join(s.Dir, n)); err == nil {
			done++
		}
	}
	return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted: %s has %d of %d energies", s.Dir, done, len(s.Files)),
		hint: fmt.Sprintf("euryale sim rsoxs %s --resume %s %s", foreign.Typed(s.file), foreign.Typed(s.Dir), s.flags)}
}
