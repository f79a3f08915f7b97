// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// reduceFlags are the flags of reduce rsoxs.
type reduceFlags struct {
	voxelFlags
	Radii  string  `default:"stretched" choices:"stretched,pixel,true" about:"radii of the circles: stretched, pixel or true, as reduce rsoxs --help explains"`
	Axis   string  `default:"perp" choices:"perp,abs,common" about:"abscissa of the curves: perp, abs or common, as reduce rsoxs --help explains"`
	Wedge  float64 `default:"90" above:"0" high:"180" about:"width of the wedges in degrees, greater than 0 and at most 180"`
	Layout string  `only:"reduce rsoxs" default:"all" choices:"all,i_only,i_para_i_perp,i_a,integrated" about:"columns to write: all, i_only, i_para_i_perp, i_a or integrated"`
}

// layouts maps each layout to its columns; integrated is the map before any averaging.
var layouts = map[string][]string{"all": {"I", "I_para", "I_perp", "A"}, "i_only": {"I"}, "i_para_i_perp": {"I_para", "I_perp"}, "i_a": {"I", "A"}, "integrated": {"I"}}

func reduceRSoXS(a *frame.App) *cobra.Command {
	var f reduceFlags
	c := &cobra.Command{
		Use:   "rsoxs DIR|FILE... [OUT.csv|.xlsx|.parquet|.nc|.zarr]",
		Short: "Reduce scattering patterns to I(q) and anisotropy",
		Long: `Reduce scattering patterns to curves over q (1/nm): I, the mean over all
directions; I_para and I_perp, the means over wedges along and across the
electric field (+q_x); and A = (I_para - I_perp)/(I_para + I_perp).

--radii selects the circles: stretched as in NRSS, which end slightly inside the
radius of their label; pixel as in the older integrator of PyHyperScattering; or
true, exactly at their label, without pixels that lie outside the image or that
no direction of the field reaches. --axis selects the abscissa: perp, the
component of q in the plane of the detector; abs, |q| on the Ewald sphere,
separately for each energy; or common, |q| on one axis for all energies.
--layout integrated writes the map over the directions chi and q.
` + voxelHelp + `

Measured patterns (netCDF, Zarr, NeXus, TIFF and FITS folders, NPY, or a problem
file of invert rsoxs, whose masks and geometry hold) are reduced over |q| by the
geometry of the detector, per solid angle, with standard deviations, about the
field's own angle; .nc and .zarr are arrays that xarray opens.

The table is written to the file that is named last, in the format of its
extension, or else to standard output.

  euryale reduce rsoxs HDF5 curves.csv
  euryale reduce rsoxs HDF5/Energy_285.20.h5 --radii true --wedge 20
  euryale reduce rsoxs HDF5 --phys-size 2.5 --axis common --layout i_a --json
  euryale reduce rsoxs scan.nxs curves.nc
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runReduceRSoXS(a, args, f) },
	}
	frame.AddSettings(c, "reduce rsoxs", &f)
	return c
}

// reduction returns the settings, or an error that lists all invalid flags.
func (f *reduceFlags) reduction() (rsoxs.Reduction, error) {
	if err := frame.CheckSettings(f); err != nil {
		return rsoxs.Reduction{}, err
	}
	place := func(name, value string) int { return slices.Index(setting.Find(f, name).Choices, value) }
	return rsoxs.Reduction{Wedge: f.Wedge, Radii: rsoxs.Radii(place("radii", f.Radii)), Axis: rsoxs.QAxis(place("axis", f.Axis))}, nil
}

// reduceDoc is the JSON document of reduce rsoxs.
type reduceDoc struct {
	Engine string         `json:"engine"`
	Radii  string         `json:"radii"`
	Axis   string         `json:"axis"`
	Layout string         `json:"layout"`
	Wedge  float64        `json:"wedge_deg"`
	QUnit  string         `json:"q_unit"`
	Chi    []frame.Number `json:"chi_deg,omitempty"`
	Curves []curveDoc     `json:"curves"`
}

type curveDoc struct {
	Energy frame.Number              `json:"energy"` // photon energy in eV
	Beam   int                       `json:"beam"`
	Q      []frame.Number            `json:"q"`
	Means  map[string][]frame.Number `json:"curves,omitempty"`
	Map    [][]frame.Number          `json:"integrated,omitempty"` // intensity by [chi][q]
}

func runReduceRSoXS(a *frame.App, args []string, f reduceFlags) error {
	r, err := f.reduction()
	if err != nil {
		return err
	}
	arrays, args, err := arrayFile(a, args)
	if err != nil {
		return err
	}
	out, args, err := a.TableFile("reduce rsoxs", args)
	if err != nil {
		return err
	}
	p, folder, err := measuredFiles(args)
	switch {
	case err != nil:
		return err
	case p != nil:
		return f.reduceMeasured(a, p, folder, out, arrays)
	case arrays != "":
		return exit.Usage("%s: curves of simulated patterns are written as .csv, .xlsx or .parquet; .nc and .zarr are for measured ones", arrays)
	}
	lost := frame.LostOf("file", len(args))
	doc, err := f.reduceFiles(a, r, args, lost)
	if err != nil {
		return err
	}
	return errors.Join(a.Tabled(out, doc.table(layouts[f.Layout]), doc), lost.Err("reduced"))
}

// reduceFiles builds the document one file at a time, or from all files at once if the
// energies share a q axis. Files that cannot be reduced are lost.
func (f *reduceFlags) reduceFiles(a *frame.App, r rsoxs.Reduction, args []string, lost *frame.Lost) (*reduceDoc, error) {
	files, err := readableFiles(a, args, lost)
	if err != nil {
		return nil, err
	}
	if f.PhysSize, err = f.find(a, files[0]); err != nil {
		return nil, err
	}
	doc := &reduceDoc{Engine: "rsoxs", Radii: f.Radii, Axis: f.Axis, Layout: f.Layout, Wedge: f.Wedge, QUnit: "1/nm"}
	groups := [][]string{files}
	if r.Axis != rsoxs.Common {
		groups = groups[:0]
		for i := range files {
			groups = append(groups, files[i:i+1])
		}
	}
	for _, g := range groups {
		p, beams, err := morph.OpenPatterns(g, f.PhysSize)
		if err != nil {
			return nil, imagesError(err)
		}
		if r.Axis != rsoxs.Perpendicular && oblique(beams) {
			return nil, exit.Usage("--axis %s is for beams along +z: want perp", f.Axis)
		}
		if err := f.reduce(doc, r, p); err != nil && (len(groups) == 1 || !lost.Add(a, g[0], err)) {
			return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", g[0], err))
		}
	}
	if lost.None() {
		return nil, lost.Err("")
	}
	slices.SortStableFunc(doc.Curves, func(x, y curveDoc) int { return cmp.Compare(x.Energy, y.Energy) })
	for i, c := range doc.Curves[1:] {
		if b := doc.Curves[i]; b.Energy == c.Energy && b.Beam >= c.Beam {
			return nil, exit.With(exit.Data, fmt.Errorf("the energy %g eV appears twice: name each file once", c.Energy))
		}
	}
	return doc, nil
}

// reduce adds the curves of a pattern to the document.
func (f *reduceFlags) reduce(doc *reduceDoc, r rsoxs.Reduction, p *rsoxs.Pattern) error {
	d, err := r.NewReducer(p)
	if err != nil {
		return err
	}
	beams := p.Intensity.Shape()[1]
	if f.Layout == "integrated" {
		polar, chi, err := d.Polar(p)
		if err != nil {
			return err
		}
		doc.Chi = frame.Numbers(chi)
		doc.add(d, p, beams, func(c *curveDoc, i int) {
			for j := range chi {
				c.Map = append(c.Map, row(polar, i*len(chi)+j, len(c.Q)))
			}
		})
		return nil
	}
	curves, err := d.Reduce(p)
	if err != nil {
		return err
	}
	all := map[string]*tensor.Tensor{"I": curves.I, "I_para": curves.Para, "I_perp": curves.Perp, "A": curves.A}
	doc.add(d, p, beams, func(c *curveDoc, i int) {
		c.Means = map[string][]frame.Number{}
		for _, name := range layouts[f.Layout] {
			c.Means[name] = row(all[name], i, len(c.Q))
		}
	})
	return nil
}

// row returns row i of t, whose rows have n numbers each.
func row(t *tensor.Tensor, i, n int) []frame.Number {
	return frame.Numbers(t.Data().([]float64)[i*n : (i+1)*n])
}

// add appends a curve for every energy and beam; fill completes the curve at index i.
func (doc *reduceDoc) add(d *rsoxs.Reducer, p *rsoxs.Pattern, beams int, fill func(c *curveDoc, i int)) {
	for e, energy := range p.Energies {
		for b := range beams {
			c := curveDoc{Energy: frame.Number(energy), Beam: b, Q: frame.Numbers(d.Q(e))}
			fill(&c, e*beams+b)
			doc.Curves = append(doc.Curves, c)
		}
	}
}

// table returns the document as CSV, with one line per energy, beam, direction and q.
func (doc *reduceDoc) table(columns []string) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	chi := ""
	if doc.Chi != nil {
		chi = "chi (deg),"
	}
	fmt.Fprintf(w, "energy (eV),beam,%sq (1/nm),%s\n", chi, strings.Join(columns, ","))
	for _, c := range doc.Curves {
		head := fmt.Sprintf("%s,%d,", frame.NumberText(c.Energy), c.Beam)
		for j, line := range c.Map {
			for i, v := range line {
				fmt.Fprintf(w, "%s%s,%s,%s\n", head, frame.NumberText(doc.Chi[j]), frame.NumberText(c.Q[i]), frame.NumberText(v))
			}
		}
		for i, q := range c.Q {
			if c.Means == nil {
				break
			}
			w.WriteString(head + frame.NumberText(q))
			for _, name := range columns {
				w.WriteString("," + frame.NumberText(c.Means[name][i]))
			}
			w.WriteByte('\n')
		}
	}
	w.Flush()
	return b.Bytes()
}
