// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package exportdata reads the types of compiled packages, which the go command leaves in its
// build cache.
//
//	packages, err := exportdata.Load(".", nil, "fmt", "github.com/euryale-dev/euryale/...")
//	if err != nil { ... }
//	p, err := packages.Import("fmt") // *types.Package
package exportdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

var _ types.Importer = (*Packages)(nil)

// Packages is a set of compiled packages and of all that they import. One goroutine at a time may
// use it, and the types that it gives.
type Packages struct {
	Matched []Package // packages that were asked for
	types.Importer
}

// Package is what the go command says of a package.
type Package struct {
	ImportPath, Name, Export string
	DepOnly                  bool
}

// Load compiles the packages that match patterns, seen from a folder, where the build cache does not
// have them. Settings of the environment are added to that of the process.
func Load(dir string, env []string, patterns ...string) (*Packages, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Export,DepOnly"}, patterns...)...)
	var problems bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &problems, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(patterns, " "), err, problems.Bytes())
	}
	set, exports := &Packages{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p Package
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			set.Matched = append(set.Matched, p)
		}
	}
	set.Importer = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("there are no export data for the package %s: check its import path", path)
		}
		return os.Open(exports[path])
	})
	return set, nil
}
