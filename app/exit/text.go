// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Packages are the names with which packages begin the texts of their errors.
var Packages = strings.Fields(`arrow assembly autodiff basic batch bridgestan build ccf cells check columns connectome constants correlate csv cuda cyrsoxs delaunay demo device
	diag dist dl expr farfield fitfile fits formula frames g2 geometry gorgonia gp hdf5 homodyne idata infer interp kernels language
	lib libconfig lines localweb mask maskfile maskpage measured morph motion ndimage nemo netcdf nexus nn noise nrrd nvrtc optim
	particle partition peer phasing pretend queue reduce report roofline rsoxs runs rvspecfit safetensors scatter script smooth speckle spectra
	stan stancsv survey table take template tensor torch transport twotime viz work xpcs zarr`)

// Text returns the text of an error without the names of packages, which mean nothing to the user. The
// name of a package stands at the beginning of an error's text, and so within the text of the errors that wrap
// it. The name of a file or folder that the user gave is not removed.
func Text(err error, args []string) string {
	if path, ok := err.(*fs.PathError); ok {
		return ofPath(path)
	}
	text := err.Error()
	var inner []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	}
	for _, e := range inner {
		if e == nil || e.Error() == "" {
			continue
		}
		if at := strings.LastIndex(text, e.Error()); at >= 0 {
			text = text[:at] + Text(e, args) + text[at+len(e.Error()):]
		}
	}
	name, rest, found := strings.Cut(text, ": ")
	if !found || rest == "" || !slices.Contains(Packages, name) || slices.Contains(args, name) && foreign.Exists(name) {
		return text
	}
	return rest
}

// ofPath is an error of the system about a file in words; its own begin with the name of a call, such as stat.
func ofPath(e *fs.PathError) string {
	name := e.Path
	switch {
	case errors.Is(e.Err, fs.ErrNotExist) && atomicfile.Writing(e) && foreign.Exists(filepath.Dir(e.Path)):
		return fmt.Sprintf("nothing can be written to %s, as the system lets no files be made there", filepath.Dir(e.Path))
	case errors.Is(e.Err, fs.ErrNotExist) && atomicfile.Writing(e):
		return fmt.Sprintf("%s cannot be written: there is no folder %s", name, missing(filepath.Dir(e.Path)))
	case errors.Is(e.Err, fs.ErrNotExist):
		return "there is no file or folder " + name
	case errors.Is(e.Err, fs.ErrPermission) && atomicfile.Writing(e):
		return fmt.Sprintf("%s cannot be written: you lack the permission to write to %s", name, filepath.Dir(e.Path))
	case errors.Is(e.Err, fs.ErrPermission):
		return name + " cannot be read: you lack the permission"
	case foreign.IsOther(e):
		return name + " " + e.Err.Error()
	}
	return e.Error()
}

// missing is the outermost folder of a path that is not there.
func missing(dir string) string {
	for {
		above := filepath.Dir(dir)
		if above == dir || foreign.Exists(above) {
			return dir
		}
		dir = above
	}
}

// Lowered begins a sentence as the continuation of another.
func Lowered(sentence string) string {
	r := []rune(strings.TrimSuffix(sentence, "."))
	if len(r) > 1 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}
