// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package arch holds the rules of the house as tests.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root, module = "../..", "github.com/euryale-dev/euryale/"

// allowed is the plan of the house: what each top-level folder may import
// besides itself and internal. Nothing else may see cmd and examples.
var allowed = map[string][]string{
	"kernels":  {},
	"tensor":   {"kernels"},
	"autodiff": {"kernels", "tensor"},
	"optim":    {"kernels", "tensor", "autodiff"},
	"infer":    {"kernels", "tensor", "autodiff", "optim"},
	"sim":      {"kernels", "tensor", "autodiff"},
	"data":     {"tensor"},
	"models":   {"kernels", "tensor", "autodiff", "optim", "infer", "sim", "data"},
	"viz":      {"infer"},
	"runs":     {"tensor", "infer", "data"},
	"demo":     {"tensor", "autodiff", "sim", "data", "models"},
	"batch":    {"kernels", "autodiff", "infer", "data", "models", "runs"},
	"report":   {"tensor", "infer", "sim", "data", "models", "viz", "batch"},
	"notebook": {"autodiff", "optim", "infer", "sim", "data", "models", "viz", "demo", "report"},
	"app":      {"kernels", "tensor", "autodiff", "optim", "infer", "sim", "data", "models", "viz", "runs", "demo", "batch", "report"},
	"cli":      {"app"},
	"cmd":      {"cli"},
	"cluster":  {"batch"},
	"examples": {"kernels", "tensor", "autodiff", "optim", "infer", "sim", "data", "models", "viz", "demo", "cli"},
}

// siblings are folders whose sub-packages do not import each other; shared is
// what they may all use.
var (
	siblings = []string{"sim", "models", "data", "app"}
	shared   = []string{"app/exit", "app/frame", "app/draws", "app/internal/tune", "sim/rsoxs/farfield", "sim/xpcs/partition", "models/spectra/ccf", "data/columns", "data/hdf5", "data/libconfig", "data/fits", "data/torch", "data/netcdf", "data/zarr", "data/maskfile", "data/cyrsoxs"}
)

// rooms are packages that see less of the house than their folder does: themselves and
// these.
var rooms = map[string][]string{
	"kernels/cuda":                 {"kernels/cuda/drv", "kernels/cuda/dl", "kernels/cuda/lib", "kernels/cuda/rtc"},
	"kernels/cuda/basic":           {"kernels/cuda", "kernels/cuda/rtc"},
	"kernels/cuda/dl":              {},
	"tensor/device":                {"kernels/cuda", "kernels/cuda/basic", "tensor"},
	"kernels/cuda/drv":             {"kernels/cuda/dl"},
	"kernels/cuda/lib":             {"kernels/cuda/dl", "kernels/cuda/drv"},
	"kernels/cuda/rtc":             {"kernels/cuda/dl"},
	"internal/pretend":             {"kernels/cuda/dl"},
	"internal/linalg":              {},
	"internal/roofline":            {},
	"internal/cubin":               {},
	"internal/localweb":            {},
	"internal/browser":             {},
	"app/xpcs/maskpage":            {"data/maskfile", "data/nexus", "models/xpcs", "sim/xpcs", "sim/xpcs/mask", "tensor/stat"},
	"batch":                        {},
	"autodiff/internal/compiler":   {"tensor"},
	"autodiff/internal/cpu":        {"autodiff/internal/compiler", "autodiff/internal/native", "kernels", "tensor"},
	"autodiff/internal/native":     {"autodiff/internal/compiler", "kernels"},
	"autodiff/internal/cuda":       {"autodiff/internal/compiler", "autodiff/internal/cpu", "internal/parallel", "kernels/cuda", "kernels/cuda/drv", "kernels/cuda/rtc", "tensor"},
	"autodiff/internal/special":    {},
	"models/bridgestan":            {"infer", "kernels/cuda/dl"},
	"models/stan/internal/typing":  {},
	"models/stan/internal/syntax":  {"models/stan/internal/typing"},
	"models/stan/internal/check":   {"models/stan/internal/syntax", "models/stan/internal/typing"},
	"models/stan/internal/value":   {"models/stan/internal/typing", "autodiff"},
	"models/stan/internal/library": {"models/stan/internal/typing", "models/stan/internal/value", "autodiff", "infer/dist", "tensor"},
	"models/stan/internal/stage":   {"models/stan/internal/typing", "models/stan/internal/syntax", "models/stan/internal/check", "models/stan/internal/value", "models/stan/internal/library", "autodiff", "autodiff/ode", "infer/dist", "tensor"},
	"optim/internal/marquardt":     {},
	"optim/internal/batch":         {"optim/internal/marquardt", "autodiff", "kernels/cuda", "kernels/cuda/rtc"},
	"infer/internal/hamiltonian":   {"kernels", "tensor"},
	"infer/internal/elimination":   {},
	"infer/internal/warmup":        {"infer/internal/elimination", "infer/internal/hamiltonian", "tensor"},
	"infer/internal/lockstep":      {"infer/internal/hamiltonian", "infer/internal/warmup", "autodiff"},
}

type source struct {
	path string // relative to the root, with slashes
	dir  string // first folder of path
	ast  *ast.File
}

func TestImportsFollowThePlan(t *testing.T) {
	for _, src := range sources(t) {
		for _, im := range src.ast.Imports {
			to, ours := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), module)
			toDir, _, _ := strings.Cut(to, "/")
			switch {
			case !ours || src.dir == "internal" || toDir == "internal":
			case src.dir != toDir:
				if !slices.Contains(allowed[src.dir], toDir) {
					t.Errorf("%s imports %s: %s may import only %v", src.path, to, src.dir, allowed[src.dir])
				}
			case strings.Contains(to, "/internal/"): // the rooms of one house, which the compiler keeps to it
			case slices.Contains(siblings, toDir) && !slices.Contains(shared, to) && path.Dir(src.path) != toDir && !strings.HasPrefix(to, path.Dir(src.path)+"/") && !strings.HasPrefix(src.path, to+"/"):
				t.Errorf("%s imports its sibling %s: move what both need down", src.path, to)
			}
		}
	}
}

func TestRoomsSeeLittle(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range sources(t) {
		room := path.Dir(src.path)
		may, ok := rooms[room]
		if seen[room] = true; !ok {
			continue
		}
		for _, im := range src.ast.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), module); ours && !slices.Contains(may, to) && !strings.HasPrefix(to, "internal/") {
				t.Errorf("%s imports %s: %s may import only %v", src.path, to, room, may)
			}
		}
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("there is no %s", room)
		}
	}
}

func TestExportedNamesHaveComments(t *testing.T) {
	for _, src := range sources(t) {
		for _, d := range src.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && d.Recv == nil {
					t.Errorf("%s: %s has no comment", src.path, d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						t.Errorf("%s: type %s has no comment", src.path, s.Name)
					}
				}
			}
		}
	}
}

// The interpreter under gophernotes cannot import generic functions or types.
func TestNotebooksCanImportEverything(t *testing.T) {
	for _, src := range sources(t) {
		if strings.Contains("/"+src.path, "/internal/") || src.dir == "cmd" || src.dir == "cli" || src.dir == "app" {
			continue
		}
		for _, d := range src.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Type.TypeParams != nil {
					t.Errorf("%s: func %s has type parameters", src.path, d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && s.TypeParams != nil {
						t.Errorf("%s: type %s has type parameters", src.path, s.Name)
					}
				}
			}
		}
	}
}

// sources returns the files of the repository, which are parsed once for all tests.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (p == filepath.Join(root, "bin") || p == filepath.Join(root, "run")) {
			return filepath.SkipDir // what is built and written
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		dir, _, _ := strings.Cut(rel, "/")
		all = append(all, source{rel, dir, file})
		return err
	})
	return all, err
})
