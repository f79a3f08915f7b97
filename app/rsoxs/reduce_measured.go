// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/tensor"
)

// measuredReduceDoc is the JSON document of reduce rsoxs of measured patterns.
type measuredReduceDoc struct {
	Engine string             `json:"engine"`
	Read   []string           `json:"read"` // what was understood of the files
	Layout string             `json:"layout"`
	Wedge  float64            `json:"wedge_deg"`
	QUnit  string             `json:"q_unit"`
	Chi    []frame.Number     `json:"chi_deg,omitempty"`
	Curves []measuredCurveDoc `json:"curves"`
}

type measuredCurveDoc struct {
	Energy       frame.Number              `json:"energy"`       // photon energy in eV
	Polarization frame.Number              `json:"polarization"` // angle of the electric field in degrees
	Exposure     frame.Number              `json:"exposure"`     // in s
	Q            []frame.Number            `json:"q"`
	Means        map[string][]frame.Number `json:"curves"` // means and their standard deviations, by [chi and] q
}

// measuredFiles returns the measured patterns that arguments name as a problem that has data, and the folder of its paths; nil for patterns
// that a simulation wrote.
func measuredFiles(args []string) (p *morph.Problem, folder string, err error) {
	if strings.EqualFold(filepath.Ext(args[0]), ".json") {
		if len(args) > 1 {
			return nil, "", exit.Usage("%s and %s: give one problem file, or files of patterns", args[0], args[1])
		}
		if p, err = morph.OpenProblem(args[0]); err != nil {
			return nil, "", exit.With(exit.Data, err)
		}
		if len(p.Data) == 0 || !p.Measured() {
			return nil, "", exit.With(exit.Data, fmt.Errorf("%s names no measured patterns: give a problem whose data are files of a detector, or the files themselves", args[0]))
		}
		return p, filepath.Dir(args[0]), nil
	}
	p = &morph.Problem{}
	for _, name := range args {
		if simulated(name) {
			continue
		}
		switch _, err := os.Stat(name); {
		case err != nil && len(p.Data) > 0:
			return nil, "", &exit.Error{Code: exit.NoInput, Err: fmt.Errorf("there is no file or folder %s", name), Hint: "curves are written to names that end in .csv, .xlsx, .parquet, .nc or .zarr"}
		case err != nil || !scatter.Recognised(name) && !scatter.Tabulated(name):
			return nil, "", nil // the reader of simulated patterns says what it lacks
		}
		p.Data = append(p.Data, morph.DataFile{File: name})
	}
	if n := len(p.Data); n > 0 && n < len(args) {
		return nil, "", exit.Usage("%s is a measured pattern, and others are simulated: reduce them apart", p.Data[0].File)
	}
	if len(p.Data) == 0 {
		return nil, "", nil
	}
	return p, "", nil
}

// simulated reports whether an argument names images that a simulation wrote.
func simulated(name string) bool {
	files, err := morph.PatternFiles([]string{name})
	if err != nil {
		return false
	}
	_, err = cyrsoxs.ReadPattern(files[0])
	return err == nil
}

// arrayFile takes a file of arrays that is named last from the arguments: one that is not there yet, or that this command wrote.
func arrayFile(a *frame.App, args []string) (out string, rest []string, err error) {
	last := args[len(args)-1]
	if len(args) == 1 || !frame.Ends(last, ".nc", ".zarr") {
		return "", args, nil
	}
	if _, err := os.Stat(last); err == nil {
		set, err := scatter.Open(last, scatter.Settings{})
		if err == nil && set.Kind == scatter.Images {
			return "", args, nil
		}
	}
	kind := "file"
	if frame.Ends(last, ".zarr") {
		kind = "zarr"
	}
	return last, args[:len(args)-1], a.MayWrite(last, kind, a.Overwrite)
}

// reduceMeasured reduces measured patterns, and writes a table, or arrays if a file of arrays is named.
func (f *reduceFlags) reduceMeasured(a *frame.App, p *morph.Problem, folder, table, arrays string) error {
	if f.Radii != "stretched" || f.Axis != "perp" || f.PhysSize != 0 || f.Morphology != "" {
		return exit.Usage("--radii, --axis, --phys-size and --morphology are for simulated patterns: measured ones are reduced over |q|, by the geometry of the detector")
	}
	list, read, err := measured.Reduce(p, folder, measured.Reduction{Wedge: f.Wedge, Directions: f.Layout == "integrated"})
	if err != nil && folder == "" {
		return &exit.Error{Code: exit.Data, Err: err, Hint: "energies, geometry, masks and other settings that files lack are those of a problem file of invert rsoxs: reduce rsoxs PROBLEM.json"}
	}
	if err != nil {
		return exit.Input(err)
	}
	for _, line := range read {
		a.Note("%s", line)
	}
	if len(list) > 1 && arrays != "" {
		return exit.Usage("the files are of %d detectors, and %s takes one: reduce them apart", len(list), arrays)
	}
	doc := &measuredReduceDoc{Engine: "rsoxs", Read: read, Layout: f.Layout, Wedge: f.Wedge, QUnit: "1/nm"}
	columns := layouts[f.Layout]
	for _, d := range list {
		doc.add(d, columns)
	}
	if arrays == "" {
		return a.Tabled(table, doc.table(columns), doc)
	}
	if frame.Ends(arrays, ".nc") {
		err = netcdf.WriteDataset(arrays, list[0], netcdf.Settings{Gzip: 4, Overwrite: a.Overwrite})
	} else {
		err = zarr.WriteDataset(arrays, list[0], zarr.Settings{Zlib: 4, Overwrite: a.Overwrite})
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if a.JSON {
		return exit.With(exit.CannotWrite, a.Document(doc))
	}
	a.Note("wrote %s", arrays)
	return nil
}

// add appends the curves of a dataset.
func (doc *measuredReduceDoc) add(d *tensor.Dataset, columns []string) {
	numbers := func(v *tensor.Variable) []float64 {
		if v == nil {
			return nil
		}
		return v.Data.([]float64)
	}
	q := numbers(d.Coord("q"))
	if chi := numbers(d.Coord("chi")); chi != nil {
		doc.Chi = frame.Numbers(chi)
	}
	each := len(q) * max(1, len(doc.Chi))
	at := map[string][]float64{}
	energies, angles, exposures := numbers(d.Coord("energy")), numbers(d.Coord("polarization")), numbers(d.Coord("exposure"))
	if slices.Equal(d.Coord("energy").Dims, []string{"system"}) {
		at["energy"], at["polarization"], at["exposure"] = energies, angles, exposures
	} else {
		for _, e := range energies {
			for _, p := range angles {
				for _, s := range exposures {
					at["energy"], at["polarization"], at["exposure"] = append(at["energy"], e), append(at["polarization"], p), append(at["exposure"], s)
				}
			}
		}
	}
	for k := range at["energy"] {
		c := measuredCurveDoc{Energy: frame.Number(at["energy"][k]), Polarization: frame.Number(at["polarization"][k]), Exposure: frame.Number(at["exposure"][k]), Q: frame.Numbers(q), Means: map[string][]frame.Number{}}
		for _, name := range columns {
			for _, of := range []string{name, name + "_error"} {
				c.Means[of] = frame.Numbers(numbers(d.Var(of))[k*each : (k+1)*each])
			}
		}
		doc.Curves = append(doc.Curves, c)
	}
}

// table returns the document as CSV, with one line for each pattern, direction and q; lines of bins without pixels are left out.
func (doc *measuredReduceDoc) table(columns []string) []byte {
	var b bytes.Buffer
	b.WriteString("energy (eV),polarization (deg),exposure (s),")
	if doc.Chi != nil {
		b.WriteString("chi (deg),")
	}
	b.WriteString("q (1/nm)")
	for _, name := range columns {
		fmt.Fprintf(&b, ",%s,%[1]s_error", name)
	}
	b.WriteByte('\n')
	for _, c := range doc.Curves {
		for i := range max(1, len(doc.Chi)) * len(c.Q) {
			if c.Means[columns[0]][i] != c.Means[columns[0]][i] {
				continue
			}
			fmt.Fprintf(&b, "%s,%s,%s,", frame.NumberText(c.Energy), frame.NumberText(c.Polarization), frame.NumberText(c.Exposure))
			if doc.Chi != nil {
				b.WriteString(frame.NumberText(doc.Chi[i/len(c.Q)]) + ",")
			}
			b.WriteString(frame.NumberText(c.Q[i%len(c.Q)]))
			for _, name := range columns {
				fmt.Fprintf(&b, ",%s,%s", frame.NumberText(c.Means[name][i]), frame.NumberText(c.Means[name+"_error"][i]))
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
