package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/idata"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/tensor"
)

// source is draws as they were found: chains of CmdStan's form, or a tree.
type source struct {
	name   string
	chains []*stancsv.Chain
	tree   *tensor.DataTree
}

// loadSource reads a run folder (its draws.zarr, which knows most), CSV files of one chain each, a Zarr folder, a
// netCDF file or JSON. It looks at the content, not at the name.
func loadSource(args []string) (*source, error) {
	s := &source{name: args[0]}
	var tables []string
	for _, arg := range args {
		kind, err := kindOf(arg)
		if err != nil {
			return nil, err
		}
		switch {
		case kind == "csv":
			tables = append(tables, arg)
			continue
		case kind == "run" && len(args) == 1 && zarr.Is(filepath.Join(arg, "draws.zarr")):
			s.tree, err = openTree("zarr", filepath.Join(arg, "draws.zarr"))
			return s, err
		case kind == "run":
			files, err := stancsv.Files(arg)
			if err != nil {
				return nil, input(err)
			}
			tables = append(tables, files...)
			continue
		case len(args) > 1:
			return nil, usage("%s is %s and holds all chains: name it alone", arg, kindNames[kind])
		}
		s.tree, err = openTree(kind, arg)
		return s, err
	}
	return s, s.readTables(tables)
}

// readers read trees by kind.
var readers = map[string]func(string) (*tensor.DataTree, error){"zarr": zarr.Open, "netcdf": netcdf.Open, "json": idata.Open}

// openTree reads a tree, with the axes chain and draw first whatever their order there.
func openTree(kind, name string) (*tensor.DataTree, error) {
	t, err := readers[kind](name)
	if err != nil {
		return nil, input(err)
	}
	out := &tensor.DataTree{Attrs: t.Attrs}
	for _, d := range t.Groups() {
		if d, err = d.Leading("chain", "draw"); err == nil {
			err = out.Add(d)
		}
		if err != nil {
			return nil, as(exitData, fmt.Errorf("%s: %w", name, err))
		}
	}
	return out, nil
}

// kindNames are the kinds in words.
var kindNames = map[string]string{"zarr": "a Zarr folder", "netcdf": "a netCDF file", "json": "a JSON file", "csv": "a CSV file", "run": "a folder of chains"}

// kindOf tells what holds draws by its content.
func kindOf(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", input(err)
	}
	if st.IsDir() {
		return folderKind(path)
	}
	f, err := foreign.Open(path)
	if err != nil {
		return "", input(err)
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", input(err)
	}
	head = head[:n]
	switch text := bytes.TrimLeft(head, " \t\r\n\ufeff"); {
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n")), bytes.HasPrefix(head, []byte("CDF")):
		return "netcdf", nil
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return "", &exitError{code: exitData, err: fmt.Errorf("%s is an Arrow file, which is written but not read: its rows have lost the shapes", path), hint: "the file or folder that it was made from"}
	case bytes.HasPrefix(text, []byte("{")):
		return "json", nil
	}
	return "csv", nil
}

func folderKind(path string) (string, error) {
	for _, file := range []string{".zgroup", "zarr.json", ".zmetadata"} {
		if _, err := os.Stat(filepath.Join(path, file)); err == nil {
			return "zarr", nil
		}
	}
	files, err := stancsv.Files(path)
	if err != nil {
		return "", input(err)
	}
	if len(files) > 0 || zarr.Is(filepath.Join(path, "draws.zarr")) {
		return "run", nil
	}
	if err := drawless(runs.Folder(path)); err != nil {
		return "", err
	}
	return "", &exitError{code: exitNoInput, err: fmt.Errorf("%s has no chain-*.csv and no .zgroup: it is neither a run folder nor a Zarr folder", path), hint: "the folder given to --out, or a file of draws"}
}

// drawless says why a run folder has no draws: its run samples none, or has not ended. It
// is nil where the folder is none of a run.
func drawless(r runs.Folder) error {
	var ran struct {
		Command string `json:"command"`
	}
	if exists(r.Path(simRecordName)) {
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds no draws: it is a run of \"sim rsoxs\"", r), hint: "euryale plot pattern " + string(r)}
	}
	if err := r.Config(&ran); err != nil || ran.Command == "" {
		return nil
	}
	var inversion struct {
		Problem struct {
			Method string `json:"method"`
		} `json:"problem"`
	}
	what, result := fmt.Sprintf("%q", ran.Command), "summary.json"
	switch ran.Command {
	case simAssemblyCommand, trainCommand:
	case invertCommand:
		if err := r.Config(&inversion); err != nil || inversion.Problem.Method == "nuts" {
			return unfinished(r, ran.Command)
		}
		what, result = what+" that fits and does not sample", "fit.json"
	default:
		return unfinished(r, ran.Command)
	}
	hint := "its results in " + r.Path(result)
	switch {
	case !exists(r.Path(result)):
		hint = resumeLine(ran.Command, r)
	case ran.Command == simAssemblyCommand:
		hint += ", or euryale plot support " + string(r)
	}
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s holds no draws: it is a run of %s", r, what), hint: hint}
}

func unfinished(r runs.Folder, command string) error {
	return &exitError{code: exitNoInput, err: fmt.Errorf("%s has no chain-*.csv: the run was not finished", r), hint: resumeLine(command, r)}
}

func (s *source) readTables(files []string) error {
	for _, f := range files {
		c, err := stancsv.Open(f)
		if err != nil {
			return input(err)
		}
		if len(s.chains) > 0 && !slices.Equal(c.Columns, s.chains[0].Columns) {
			return as(exitData, fmt.Errorf("%s has %d columns (%s ...), %s has %d (%s ...): chains of one run have the same", f, len(c.Columns), c.Columns[0], files[0], len(s.chains[0].Columns), s.chains[0].Columns[0]))
		}
		s.chains = append(s.chains, c)
	}
	return nil
}

// asTree returns the draws as labelled arrays.
func (s *source) asTree() (*tensor.DataTree, error) {
	if s.tree != nil {
		return s.tree, nil
	}
	t, err := stancsv.Tree(s.chains)
	return t, as(exitData, err)
}
