// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/arrow"
	"github.com/euryale-dev/euryale/data/idata"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// kindsOut lists the formats that convert writes, as named by --to.
var kindsOut = []string{"zarr", "netcdf", "json", "csv", "arrow"}

// Extensions maps file extensions to formats when --to is not given.
var Extensions = map[string]string{".zarr": "zarr", ".nc": "netcdf", ".nc4": "netcdf", ".netcdf": "netcdf", ".json": "json", ".arrow": "arrow", ".feather": "arrow", "": "csv"}

// Writers maps each format to the function that writes a tree under a name.
var Writers = map[string]func(string, *tensor.DataTree, frame.Conversion) error{
	"zarr": func(name string, t *tensor.DataTree, c frame.Conversion) error {
		return zarr.Write(name, t, zarr.Settings{Format: c.Zarr, Zlib: c.Compress, Overwrite: c.Overwrite})
	},
	"netcdf": func(name string, t *tensor.DataTree, c frame.Conversion) error {
		return netcdf.Write(name, t, netcdf.Settings{Gzip: c.Compress, Overwrite: c.Overwrite})
	},
	"json": func(name string, t *tensor.DataTree, c frame.Conversion) error {
		return idata.Write(name, t, idata.Settings{Overwrite: c.Overwrite})
	},
	"csv": func(name string, t *tensor.DataTree, c frame.Conversion) error {
		chains, err := stancsv.Chains(t)
		if err != nil {
			return exit.With(exit.Data, err)
		}
		return stancsv.WriteFolder(name, chains, c.Overwrite)
	},
	"arrow": func(name string, t *tensor.DataTree, c frame.Conversion) error {
		if post, err := t.Group("posterior"); err != nil {
			return exit.With(exit.Data, err)
		} else if names, _ := post.Draws(); len(names) == 0 {
			return exit.With(exit.Data, fmt.Errorf("the group posterior has no draws: want numbers with the axes chain and draw"))
		}
		return arrow.Write(name, t, arrow.Settings{Overwrite: c.Overwrite})
	},
}

func convertCommand(a *frame.App) *cobra.Command {
	var to string
	var c frame.Conversion
	cmd := &cobra.Command{
		Use:   "convert RUN|FILE... OUT",
		Short: "Convert draws or correlations to another format: Zarr, netCDF, CSV, ...",
		Long: `Read posterior draws from a run folder, CmdStan CSV files (one per chain), a
Zarr folder (version 2 or 3), a netCDF file or JSON, and write them to OUT. The
extension of OUT selects the format:

  .zarr   a folder that arviz.from_zarr and xarray.open_zarr open
  .nc     a netCDF 4 file that arviz.from_netcdf and xarray open
  .json   groups of nested lists for arviz.from_dict, without labels
  .arrow  an Arrow IPC (Feather) table for pandas, polars and R, a row per draw
  (no extension)  a folder of CmdStan CSV files: chain-1.csv and so on

A result file of correlations can be written as .csv, a table of tau, g2,
g2_err, bin and the covariance that euryale fit g2 reads; or with q and
intensities as .npz, .zarr, .nc or .json, to which --twotime adds C2.

Fits, which are run folders with fit.json, folders of such folders, and saved
--json documents, can be written as a table: .csv, .xlsx or .parquet.

A problem of sample expr can be written as a Stan program, OUT.stan, with its
data beside it.

  euryale convert run4 run4.nc
  euryale convert output_1.csv output_2.csv draws.zarr --compress 5
  euryale convert draws.nc chains --to csv
  euryale convert A003_results.hdf g2.csv
  euryale convert A003_results.hdf all.npz --twotime
  euryale convert fits tau.xlsx
  euryale convert schools.json schools.stan
`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out := args[len(args)-1]; to != "zarr" && !strings.EqualFold(filepath.Ext(out), ".zarr") {
				if err := frame.Ignored(cmd, "an OUT.zarr", "zarr-format"); err != nil {
					return err
				}
			}
			if c.Zarr != 2 && c.Zarr != 3 {
				return exit.Usage("--zarr-format %d: want 2 or 3", c.Zarr)
			}
			c.Overwrite = a.Overwrite
			return runConvert(a, args[:len(args)-1], args[len(args)-1], to, c)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "output format: zarr, netcdf, json, csv or arrow, or npz for correlations (default: from the extension of OUT)")
	cmd.Flags().BoolVar(&c.Plain, "no-covariance", false, "leave the covariance, which takes many columns, out of the CSV file of a result")
	cmd.Flags().BoolVar(&c.Twotime, "twotime", false, "include the two-time correlation of a result file")
	cmd.Flags().IntVar(&c.Compress, "compress", 0, "compression level for zarr and netcdf, from 0 (none, the default) to 9 (smallest file)")
	cmd.Flags().IntVar(&c.Zarr, "zarr-format", 2, "version of the Zarr format: 2, which all programs read, or 3, which zarr-python 2 does not")
	return cmd
}

// convertDoc is the JSON document of convert.
type convertDoc struct {
	In     []string              `json:"in"`
	Out    string                `json:"out"`
	Kind   string                `json:"kind"`
	Groups map[string]groupsizes `json:"groups"`
}

type groupsizes struct {
	Dims      map[string]int `json:"dims"`
	Variables []string       `json:"variables"`
}

func runConvert(a *frame.App, in []string, out, to string, c frame.Conversion) error {
	if c.Compress < 0 || c.Compress > 9 {
		return exit.Usage("--compress %d: want 0 to 9", c.Compress)
	}
	if slices.ContainsFunc(in, func(name string) bool { return samePath(name, out) }) {
		return exit.Usage("convert: %s is also the input: name another OUT", out)
	}
	for _, f := range a.Fields {
		if len(in) == 1 && f.Converted != nil && f.Converted(in[0]) {
			return f.ConvertFile(a, in[0], out, to, c)
		}
	}
	if c.Plain {
		return exit.Usage("--no-covariance applies only to a single result file of correlations: leave it out")
	}
	if c.Twotime {
		return exit.Usage("--twotime applies only to a single result file of correlations: leave it out")
	}
	if files := fitFiles(in); to == "" && table.Known(out) && files != nil {
		return convertFits(a, in, files, out)
	}
	kind, err := outKind(out, to)
	if err != nil {
		return err
	}
	if err := a.MayWrite(out, kind, a.Overwrite); err != nil {
		return err
	}
	s, err := loadSource(a, in)
	if err != nil {
		return err
	}
	t, err := s.AsTree()
	if err != nil {
		return exit.With(exit.Data, err)
	}
	Stamp(t)
	if err := Writers[kind](out, t, c); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if t, err = held(t, kind); err != nil {
		return exit.With(exit.Bug, err)
	}
	if a.JSON {
		return a.Document(DescribeTree(t, in, out, kind))
	}
	a.Note("wrote %s (%s): %s", out, kind, SizesOf(t))
	return nil
}

// outKind determines the format of OUT.
func outKind(out, to string) (string, error) {
	if to != "" {
		if !slices.Contains(kindsOut, to) {
			return "", exit.Usage("--to %s: want one of %s", to, strings.Join(kindsOut, ", "))
		}
		return to, nil
	}
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(out, "/")))
	if kind := Extensions[ext]; kind != "" {
		return kind, nil
	}
	if ext == ".csv" {
		return "", exit.Usage("convert to %s: the input holds neither fits (fit.json) nor correlations, which become one table, and CmdStan has a file for each chain of draws, so OUT must be a folder: leave out .csv, or give --to csv; tables are drawn by plot table and read by fit curve as they are", out)
	}
	return "", exit.Usage("convert to %s: the extension %s does not select a format: use .zarr, .nc, .json, .arrow or none, or give --to", out, ext)
}

func samePath(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// Stamp records euryale as the creator of groups that name no creator.
func Stamp(t *tensor.DataTree) {
	for _, d := range t.Groups() {
		if d.Attrs == nil {
			d.Attrs = map[string]string{}
		}
		if d.Attrs["created_at"] == "" {
			d.Attrs["created_at"] = time.Now().UTC().Format(time.RFC3339)
			d.Attrs["creation_library"], d.Attrs["creation_library_version"], d.Attrs["creation_library_language"] = "euryale", frame.Version(), "Go"
		}
	}
}

// held returns the part of a tree that a format can hold. Only CmdStan files and tables
// hold less than the whole tree.
func held(t *tensor.DataTree, kind string) (*tensor.DataTree, error) {
	switch kind {
	case "csv":
		chains, err := stancsv.Chains(t)
		if err != nil {
			return nil, err
		}
		return stancsv.Tree(chains)
	case "arrow":
		return columns(t)
	}
	return t, nil
}

// columns returns the variables of the posterior and the sampler statistics that have one
// number per draw.
func columns(t *tensor.DataTree) (*tensor.DataTree, error) {
	out := tensor.NewDataTree()
	for _, name := range []string{"posterior", "sample_stats"} {
		d, err := t.Group(name)
		if err != nil {
			continue
		}
		part := tensor.NewDataset(name)
		for _, v := range d.Vars() {
			switch numeric := v.Floats() != nil && len(v.Dims) >= 2 && v.Dims[0] == "chain" && v.Dims[1] == "draw"; {
			case !numeric, name == "sample_stats" && d.Stat(v.Name) == nil:
				continue
			}
			if err := part.AddVariable(v); err != nil {
				return nil, err
			}
		}
		if err := out.Add(part); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// DescribeTree lists the groups of a tree and what they hold.
func DescribeTree(t *tensor.DataTree, in []string, out, kind string) convertDoc {
	doc := convertDoc{In: in, Out: out, Kind: kind, Groups: map[string]groupsizes{}}
	for _, d := range t.Groups() {
		g := groupsizes{Dims: map[string]int{}, Variables: []string{}}
		for _, dim := range d.Dims() {
			g.Dims[dim] = d.Len(dim)
		}
		for _, v := range d.Vars() {
			g.Variables = append(g.Variables, v.Name)
		}
		doc.Groups[d.Name] = g
	}
	return doc
}

// SizesOf lists the groups with the number of variables in each.
func SizesOf(t *tensor.DataTree) string {
	var parts []string
	for _, d := range t.Groups() {
		parts = append(parts, d.Name+" with "+errtext.Count(len(d.Vars()), "variable"))
	}
	return strings.Join(parts, ", ")
}
