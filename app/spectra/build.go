// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra/build"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
	"github.com/euryale-dev/euryale/viz/term"
)

// catalogueFlags are the flags of build catalogue.
type catalogueFlags struct {
	pattern string
	params  []string
	more    []string
	mask    string
	update  bool
	skip    bool
}

func buildCatalogue(a *frame.App) *cobra.Command {
	var f catalogueFlags
	c := &cobra.Command{
		Use:   "catalogue DIR OUT.csv",
		Short: "List the spectra of a model grid and their parameters",
		Long: `Read the parameters of template spectra from the headers of all FITS files in a
folder and its subfolders, and list them in a CSV table. rvspecfit's
rvs_read_grid makes a database of them instead. The keywords are those of
PHOENIX unless --param names others.

  euryale build catalogue PHOENIX files.csv
  euryale build catalogue PHOENIX files.csv --update --mask bad.csv
  euryale build catalogue grid files.csv --param teff:TEFF --param logg:LOGG
`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return runBuildCatalogue(c.Context(), a, args[0], args[1], f)
		},
	}
	c.Flags().SetNormalizeFunc(underscores)
	s := c.Flags()
	s.StringVar(&f.pattern, "pattern", "", "pattern of the file names, such as 'lte*.fits' (default *.fits and *.fits.gz except WAVE_*)")
	s.StringArrayVar(&f.params, "param", nil, "parameter and its header keyword, as `name:KEY`; repeatable (default the keywords of PHOENIX)")
	s.StringArrayVar(&f.more, "extra-params", nil, "additional parameter and its header keyword, as `name:KEY`; repeatable")
	s.StringVar(&f.mask, "mask", "", "CSV table of spectra to leave out, with columns filename, NAME_min and NAME_max")
	s.BoolVar(&f.update, "update", false, "add new files to an existing table OUT.csv")
	s.BoolVar(&f.skip, "skip-bad", false, "skip files whose headers lack a parameter")
	return c
}

// paramsOf reads name:KEY.
func paramsOf(flag string, list []string) (out []build.Param, err error) {
	for _, v := range list {
		name, key, ok := strings.Cut(v, ":")
		if !ok || name == "" || key == "" {
			return nil, exit.Usage("--%s %q: want name:KEY, such as teff:PHXTEFF", flag, v)
		}
		out = append(out, build.Param{Name: name, Key: key})
	}
	return out, nil
}

// catalogueDoc is the JSON document of build catalogue.
type catalogueDoc struct {
	File    string       `json:"file"`
	Spectra int          `json:"spectra"`
	Bad     int          `json:"bad"`
	Added   int          `json:"added"`
	Params  []paramRange `json:"parameters"`
}

type paramRange struct {
	Name   string       `json:"name"`
	Min    frame.Number `json:"min"`
	Max    frame.Number `json:"max"`
	Values int          `json:"values"`
}

func runBuildCatalogue(ctx context.Context, a *frame.App, dir, out string, f catalogueFlags) error {
	s := build.ScanSettings{Pattern: f.pattern, Skip: f.skip, Report: func(p build.Progress) {
		if p.Err != nil {
			a.Note("left out: %v", p.Err)
		}
	}}
	if st, err := os.Stat(out); err == nil && st.IsDir() && strings.EqualFold(filepath.Ext(dir), ".csv") {
		return exit.Usage("%s is a folder, and %s is named as a table: the folder comes first, as in euryale build catalogue %s %s", out, dir, foreign.Typed(out), foreign.Typed(dir))
	}
	if err := a.MayWrite(out, "file", true); err != nil {
		return err
	}
	if foreign.Exists(out) && !f.update && !a.Overwrite {
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", out), Hint: "--update to add new files to it, or --overwrite to replace it"}
	}
	var err error
	if s.Params, err = paramsOf("param", f.params); err != nil {
		return err
	}
	if s.More, err = paramsOf("extra-params", f.more); err != nil {
		return err
	}
	if f.mask != "" {
		if s.Masks, err = build.ReadMasks(f.mask); err != nil {
			return exit.Input(err)
		}
	}
	var c *rvspecfit.Catalog
	added := 0
	if f.update && foreign.Exists(out) {
		if c, err = rvspecfit.ReadCatalog(out); err == nil {
			added, err = build.Update(ctx, c, dir, s)
		}
	} else if c, err = build.Scan(ctx, dir, s); err == nil {
		added = len(c.Entries)
	}
	if err != nil {
		return exit.Input(err)
	}
	if err := exit.With(exit.CannotWrite, c.WriteCSV(out)); err != nil {
		return err
	}
	doc := catalogueDoc{File: out, Spectra: len(c.Entries), Added: added}
	for k, name := range c.ParNames {
		r := paramRange{Name: name, Min: frame.Number(math.Inf(1)), Max: frame.Number(math.Inf(-1))}
		seen := map[float64]bool{}
		for _, e := range c.Entries {
			r.Min, r.Max, seen[e.Params[k]] = min(r.Min, frame.Number(e.Params[k])), max(r.Max, frame.Number(e.Params[k])), true
		}
		r.Values = len(seen)
		doc.Params = append(doc.Params, r)
	}
	for _, e := range c.Entries {
		if e.Bad {
			doc.Bad++
		}
	}
	if a.JSON {
		return a.Document(doc)
	}
	t := foreign.Table(a.Stdout, 0)
	fmt.Fprintf(t, "%s: %d spectra, %d of them new, %d not to be used\n", out, doc.Spectra, doc.Added, doc.Bad)
	fmt.Fprintln(t, "parameter\tfrom\tto\tvalues")
	for _, r := range doc.Params {
		fmt.Fprintf(t, "%s\t%g\t%g\t%d\n", foreign.Line(r.Name), float64(r.Min), float64(r.Max), r.Values)
	}
	return exit.With(exit.CannotWrite, t.Flush())
}

// libraryFlags are the flags of build library.
type libraryFlags struct {
	setups        []string
	one           build.Settings
	matrices      bool
	dir, wave     string
	normalise     string
	bits          int
	interpolation string
	fill, skip    bool
	every         int
	vsinis        []float64
	ccfStep       float64
	noCCF         bool
	skipExisting  bool
	revision      string
}

func buildLibrary(a *frame.App) *cobra.Command {
	var f libraryFlags
	c := &cobra.Command{
		Use:   "library CATALOGUE OUT",
		Short: "Prepare a library of template spectra for an instrument",
		Long: `Resample the spectra of a catalogue to the pixels and the resolution of an
instrument's arms, prepare their interpolation and make templates for
cross-correlation. This replaces rvspecfit's rvs_make_interpol, rvs_make_nd and
rvs_make_ccf. OUT is a folder for rvspecfit, or a file OUT.h5 in the open
format; fit spectra --library reads both.

The DESI arms desi_b, desi_r and desi_z are known. For any other arm, give the
wavelengths, the pixel width and the resolving power, which may be a number or a
formula of the wavelength x.

  euryale build library files.csv templates --dir PHOENIX --wave-file WAVE.fits
  euryale build library files.csv lib.h5 --setup red \
      --lambda0 6000 --lambda1 6800 --step 0.2 --resolution x/0.9
`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return runBuildLibrary(c.Context(), a, args[0], args[1], f)
		},
	}
	c.Flags().SetNormalizeFunc(underscores)
	s := c.Flags()
	s.StringSliceVar(&f.setups, "setup", []string{"desi_b", "desi_r", "desi_z"}, "arms of the instrument")
	s.Float64Var(&f.one.Lam0, "lambda0", 0, "first wavelength of an arm that is not DESI's, in Angstrom")
	s.Float64Var(&f.one.Lam1, "lambda1", 0, "last wavelength of an arm that is not DESI's, in Angstrom")
	s.Float64Var(&f.one.Step, "step", 0, "pixel width of an arm that is not DESI's, in Angstrom")
	s.StringVar(&f.one.Resolution, "resolution", "", "resolving power of an arm that is not DESI's: a number, or a formula of the wavelength x such as x/1.55")
	s.BoolVar(&f.one.Linear, "linear", false, "use pixels of equal width (default: equal steps in the logarithm, which rotation needs)")
	s.BoolVar(&f.one.FixedFWHM, "fixed-fwhm", false, "use the FWHM that --resolution gives in the middle of the arm for the whole arm")
	s.BoolVar(&f.one.Air, "air", false, "give the templates wavelengths in air")
	s.Float64Var(&f.one.Native, "resolution0", 0, "resolving power of the input spectra (default 100000)")
	s.BoolVar(&f.matrices, "matrices", false, "prepare DESI's arms for spectra that come with resolution matrices")
	s.StringVar(&f.dir, "dir", "", "folder that holds the spectra (default the working directory)")
	s.StringVar(&f.wave, "wave-file", "", "file with the wavelengths of all spectra, in the folder of --dir or elsewhere (default: wavelengths are in the headers)")
	s.StringVar(&f.normalise, "normalise", "linear_continuum", "normalisation of the spectra: linear_continuum, median or none")
	s.IntVar(&f.bits, "float-bits", 32, "floating-point precision of the library in bits, 32 or 64")
	s.StringVar(&f.interpolation, "interpolation", "grid", "method of interpolation: grid, triangulation, or templates for none")
	s.BoolVar(&f.fill, "fill", false, "compute missing nodes of a grid from their neighbours")
	s.BoolVar(&f.skip, "skip-bad", false, "skip spectra that cannot be used")
	s.IntVar(&f.every, "ccf-every", 30, "make a cross-correlation template from every n-th spectrum")
	s.Float64SliceVar(&f.vsinis, "ccf-vsinis", []float64{0, 300}, "rotational `velocities` of the cross-correlation templates, in km/s (default 0,300)")
	s.Lookup("ccf-vsinis").DefValue = ""
	s.Float64Var(&f.ccfStep, "ccf-step", 0, "pixel width of the cross-correlation templates, in Angstrom (default that of the library)")
	s.BoolVar(&f.noCCF, "no-ccf", false, "make no cross-correlation templates")
	s.BoolVar(&f.skipExisting, "skipexisting", false, "skip arms whose files are already in the folder OUT")
	s.StringVar(&f.revision, "revision", "", "revision to record in the library")
	return c
}

// arms resolves the setups.
func (f *libraryFlags) arms() ([]build.Settings, error) {
	known := build.DESI()
	if f.matrices {
		known = build.DESIMatrices()
	}
	var list []build.Settings
	var names []string
	for _, k := range known {
		names = append(names, k.Setup)
	}
	for _, name := range f.setups {
		k := slices.Index(names, name)
		own := f.one.Lam0 != 0 || f.one.Lam1 != 0 || f.one.Step != 0 || f.one.Resolution != ""
		switch {
		case own && len(f.setups) != 1:
			return nil, exit.Usage("--setup names several arms, but --lambda0, --lambda1, --step and --resolution describe one: name that one")
		case own:
			if f.one.Lam0 == 0 || f.one.Lam1 == 0 || f.one.Step == 0 || f.one.Resolution == "" {
				return nil, exit.Usage("--setup %s: give all of --lambda0, --lambda1, --step and --resolution", name)
			}
			s := f.one
			s.Setup = name
			list = append(list, s)
		case k < 0:
			return nil, exit.Usage("--setup %s: the known arms are %s; for any other, give --lambda0, --lambda1, --step and --resolution", name, strings.Join(names, ", "))
		default:
			s := known[k]
			s.Linear, s.FixedFWHM, s.Air, s.Native = f.one.Linear, f.one.FixedFWHM, f.one.Air, f.one.Native
			list = append(list, s)
		}
	}
	return list, nil
}

// builtLibraryDoc is the JSON document of build library.
type builtLibraryDoc struct {
	Library string   `json:"library"`
	Arms    []armDoc `json:"arms"`
}

type armDoc struct {
	Setup     string `json:"setup"`
	Templates int    `json:"templates"`
	Pixels    int    `json:"pixels"`
	CCF       int    `json:"ccf_templates"`
	Status    string `json:"status"` // made or existing
}

func runBuildLibrary(ctx context.Context, a *frame.App, catalogue, out string, f libraryFlags) error {
	arms, err := f.arms()
	if err != nil {
		return err
	}
	norm, err := build.ParseNormalisation(f.normalise)
	if err != nil {
		return exit.Usage("--normalise: %w", err)
	}
	switch {
	case f.bits != 32 && f.bits != 64:
		return exit.Usage("--float-bits %d: want 32 or 64", f.bits)
	case !slices.Contains([]string{"grid", "triangulation", "templates"}, f.interpolation):
		return exit.Usage("--interpolation %q: want grid, triangulation or templates", f.interpolation)
	case f.fill && f.interpolation != "grid":
		return exit.Usage("--fill: only grids have missing nodes: leave it out or use --interpolation grid")
	case !f.noCCF && f.every < 1:
		return exit.Usage("--ccf-every %d: want at least 1", f.every)
	}
	open := strings.HasSuffix(strings.ToLower(out), ".h5")
	if err := mayWriteLibrary(a, out, open, a.Overwrite); err != nil {
		return err
	}
	c, err := rvspecfit.ReadCatalog(catalogue)
	if err != nil {
		return exit.Input(err)
	}
	if f.wave != "" && !foreign.Exists(filepath.Join(f.dir, f.wave)) && foreign.Exists(f.wave) {
		whole, err := filepath.Abs(f.wave)
		if err != nil {
			return err
		}
		f.wave = whole
	}
	doc := builtLibraryDoc{Library: out}
	var libs []*rvspecfit.Library
	var ccfs []*rvspecfit.CCF
	for _, s := range arms {
		made := filepath.Join(out, "interp_"+s.Setup+".h5")
		if !open && foreign.Exists(made) {
			if f.skipExisting {
				doc.Arms = append(doc.Arms, armDoc{Setup: s.Setup, Status: "existing"})
				continue
			}
			if !a.Overwrite {
				return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", made), Hint: "--skipexisting, --overwrite, or another folder"}
			}
		}
		s.Normalisation, s.Float64, s.Dir, s.WaveFile, s.Skip, s.Threads, s.Revision, s.Command = norm, f.bits == 64, f.dir, f.wave, f.skip, a.Threads, f.revision, a.Command
		lib, templates, err := buildArm(ctx, a, c, s, &f)
		if err != nil {
			if ctx.Err() != nil {
				return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted while making arm %s", s.Setup), Hint: "the same command with --skipexisting, which keeps the arms that are finished"}
			}
			return exit.Input(err)
		}
		arm := armDoc{Setup: s.Setup, Templates: len(lib.FileIDs), Pixels: len(lib.Lam), Status: "made"}
		if templates != nil {
			arm.CCF = templates.Params.Shape()[0]
			ccfs = append(ccfs, templates)
		}
		doc.Arms = append(doc.Arms, arm)
		libs = append(libs, lib)
		if !open {
			if err := saveArm(out, lib, templates); err != nil {
				return exit.With(exit.CannotWrite, err)
			}
		}
		a.Note("%s: %s of %d pixels, %d for cross-correlation", s.Setup, errtext.Count(arm.Templates, "template"), arm.Pixels, arm.CCF)
	}
	if open {
		if err := exit.With(exit.CannotWrite, rvspecfit.WriteOpen(out, libs, ccfs)); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Document(doc)
	}
	a.Note("next: euryale fit spectra --library %s FILE uses the library, and euryale train spectrum %[1]s OUT trains networks on it", foreign.Typed(out))
	return nil
}

// saveArm writes the files of an arm into a folder, the interpolator last: where it is, all is.
func saveArm(dir string, lib *rvspecfit.Library, templates *rvspecfit.CCF) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if templates != nil {
		if err := templates.Save(dir); err != nil {
			return err
		}
	}
	return lib.Save(dir)
}

// buildArm makes the library of one arm, and its templates for cross-correlation.
func buildArm(ctx context.Context, a *frame.App, c *rvspecfit.Catalog, s build.Settings, f *libraryFlags) (*rvspecfit.Library, *rvspecfit.CCF, error) {
	total := 0
	for _, e := range c.Entries {
		if !e.Bad {
			total++
		}
	}
	bar := term.NewBar(a.Screen, a.BarSettings(s.Setup+" templates", total))
	s.Report = func(p build.Progress) {
		if p.Err != nil {
			a.Note("left out: %v", p.Err)
			bar.Add(1, 1)
			return
		}
		bar.Add(1, 0)
	}
	lib, err := build.Rebin(ctx, c, s)
	bar.Close()
	if err != nil {
		return nil, nil, err
	}
	set := lib
	switch f.interpolation {
	case "grid":
		lib, err = build.Regular(set)
		if err == nil && f.fill {
			lib, err = build.Fill(ctx, lib, build.FillSettings{})
		}
	case "triangulation":
		lib, err = build.Triangulated(set)
	}
	if err != nil || f.noCCF {
		return lib, nil, err
	}
	source, err := ccf.FromTemplates(set)
	if err != nil {
		return nil, nil, err
	}
	vsinis := f.vsinis
	if s.Linear {
		vsinis = nil // only logarithmic pixels can rotate
	}
	templates, err := ccf.Build(source, ccf.BuildSettings{Step: f.ccfStep, Every: min(f.every, len(set.FileIDs)), Vsinis: vsinis, Revision: f.revision, Command: a.Command, Threads: a.Threads})
	return lib, templates, errors.Join(err, ctx.Err())
}

func buildConvert(a *frame.App) *cobra.Command {
	var setups []string
	c := &cobra.Command{
		Use:   "convert LIBRARY OUT",
		Short: "Convert a library to one file or to a folder for rvspecfit",
		Long: `Convert a library of template spectra: from a folder of rvspecfit to one file
OUT.h5 in the open format, or from such a file to a folder OUT that rvspecfit
reads, with the templates for cross-correlation. Triangulations must be exported
first, because rvspecfit stores them as pickled programs.

  euryale build convert templ_data library.h5
  euryale build convert library.h5 templ_data --setup desi_b
`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runBuildConvert(a, args[0], args[1], setups) },
	}
	c.Flags().StringSliceVar(&setups, "setup", nil, "arms (channels of the spectrograph, such as desi_b; setups in rvspecfit) to write (default all)")
	return c
}

// mayWriteLibrary returns an error if a library cannot be written: as one file, which is open to other programs, or as a folder.
func mayWriteLibrary(a *frame.App, out string, open, overwrite bool) error {
	if open {
		return a.MayWrite(out, "file", overwrite)
	}
	return frame.MayFill(out)
}

func runBuildConvert(a *frame.App, name, out string, setups []string) error {
	open := strings.HasSuffix(strings.ToLower(out), ".h5")
	if err := mayWriteLibrary(a, out, open, a.Overwrite); err != nil {
		return err
	}
	if foreign.Exists(out) && !a.Overwrite { // a folder, too
		return &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s exists", out), Hint: "--overwrite, or another name"}
	}
	arms, ccfs, err := libraryOf(name, setups, false)
	if err != nil {
		return exit.Input(err)
	}
	if open {
		err = rvspecfit.WriteOpen(out, arms, ccfs)
	} else {
		err = os.MkdirAll(out, 0o777)
		for _, c := range ccfs {
			if err == nil {
				err = c.Save(out)
			}
		}
		for _, l := range arms {
			if err == nil {
				err = l.Save(out)
			}
		}
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	doc := builtLibraryDoc{Library: out}
	for _, l := range arms {
		d := armDoc{Setup: l.Setup, Pixels: len(l.Lam), Status: "made"}
		if l.Network == nil {
			d.Templates = l.Points.Shape()[1]
		}
		for _, c := range ccfs {
			if c.Setup == l.Setup {
				d.CCF += c.Params.Shape()[0]
			}
		}
		doc.Arms = append(doc.Arms, d)
	}
	if a.JSON {
		return a.Document(doc)
	}
	for _, d := range doc.Arms {
		a.Note("%s: %s of %d pixels, %d for cross-correlation", d.Setup, errtext.Count(d.Templates, "template"), d.Pixels, d.CCF)
	}
	return nil
}
