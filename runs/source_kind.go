// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/idata"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// readers maps each kind of tree to the function that reads it.
var readers = map[string]func(string) (*tensor.DataTree, error){"zarr": zarr.Open, "netcdf": netcdf.Open, "json": idata.Open}

// openTree reads a tree and moves the axes chain and draw to the front.
func openTree(kind, name string) (*tensor.DataTree, error) {
	t, err := readers[kind](name)
	if err != nil {
		return nil, err
	}
	out := &tensor.DataTree{Attrs: t.Attrs}
	for _, d := range t.Groups() {
		if d.Name == "root" && !t.Has("posterior") && hasDraws(d) { // a single dataset, such as of netCDF's classic format
			d.Name = "posterior"
		}
		if d, err = d.Leading("chain", "draw"); err == nil {
			err = out.Add(d)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

// hasDraws reports whether a dataset has variables over chains and draws.
func hasDraws(d *tensor.Dataset) bool {
	return slices.ContainsFunc(d.Vars(), func(v tensor.Variable) bool {
		return slices.Contains(v.Dims, "chain") && slices.Contains(v.Dims, "draw")
	})
}

// noPosterior says what a tree holds instead of draws.
func noPosterior(name string, t *tensor.DataTree) error {
	var have []string
	for _, d := range t.Groups() {
		if d.Name != "root" {
			have = append(have, d.Name)
			continue
		}
		var vars []string
		for _, v := range d.Vars() {
			vars = append(vars, fmt.Sprintf("%s (%s)", v.Name, strings.Join(v.Dims, ", ")))
		}
		have = append(have, fmt.Sprintf("variables outside of groups: %s", strings.Join(vars[:min(len(vars), 8)], ", ")))
	}
	what := "it holds nothing"
	if len(have) > 0 {
		what = "it has " + strings.Join(have, "; ")
	}
	return fmt.Errorf("%s: there is no group posterior with draws: %s: want a group posterior, or variables with the axes chain and draw", name, what)
}

// kindNames describes the kinds in words.
var kindNames = map[string]string{"zarr": "a Zarr folder", "netcdf": "a netCDF file", "json": "a JSON file", "csv": "a CSV file", "run": "a folder of chains"}

// kindOf recognises the kind of a source of draws by its content.
func kindOf(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		return folderKind(path)
	}
	f, err := foreign.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	head = head[:n]
	switch text := bytes.TrimLeft(head, " \t\r\n\ufeff"); {
	case bytes.HasPrefix(head, []byte("\x89HDF\r\n\x1a\n")), bytes.HasPrefix(head, []byte("CDF")):
		return "netcdf", nil
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return "", &ArrowError{File: path}
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
		return "", err
	}
	if len(files) > 0 || zarr.Is(filepath.Join(path, DrawsFolder)) {
		return "run", nil
	}
	return "", &NoDrawsError{Folder(path)}
}
