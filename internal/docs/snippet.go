// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Checker type-checks snippets against the export data of every package.
type Checker struct {
	Code    *Code
	imports types.Importer
	fset    *token.FileSet
	paths   map[string]string // import paths of the packages that snippets may use, by package name
	known   map[string]bool   // import paths
	module  string
}

// short maps the names that documents use for packages to their folders.
var short = map[string]string{"ad": "autodiff", "bridge": "autodiff/gorgonia", "spectra": "models/spectra"}

var qualified = regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`)

// NewChecker obtains the export data of everything below root from the go command.
func NewChecker(root, module string, code *Code) (*Checker, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Standard", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	k := &Checker{Code: code, fset: code.Fset, paths: map[string]string{}, known: map[string]bool{}, module: module}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Name, Export string
			Standard                 bool
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath], k.known[p.ImportPath] = p.Export, true
		ours := strings.HasPrefix(p.ImportPath, module+"/") && !strings.HasSuffix(p.ImportPath, "/gorgonia")
		if old := k.paths[p.Name]; ours || old == "" && (p.Standard && !strings.Contains(p.ImportPath, "internal") || p.ImportPath == "gorgonia.org/gorgonia") {
			if !strings.HasPrefix(old, module) || len(p.ImportPath) < len(old) {
				k.paths[p.Name] = p.ImportPath
			}
		}
	}
	for name, p := range short {
		k.paths[name] = module + "/" + p
	}
	k.paths["gt"] = "gorgonia.org/tensor"
	k.imports = importer.ForCompiler(k.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return k, nil
}

// IsOurs reports whether name is a package of this module.
func (k *Checker) IsOurs(name string) bool { return strings.HasPrefix(k.paths[name], k.module) }

// File checks a whole file: a program, or another file of the package that it names.
func (k *Checker) File(s Snippet) []error {
	f, err := parser.ParseFile(k.fset, s.Where, s.Text, 0)
	if err != nil {
		return []error{err}
	}
	files := []*ast.File{f}
	if name := f.Name.Name; name != "main" {
		dir := strings.TrimPrefix(k.paths[name], k.module+"/")
		for _, other := range k.Code.Files {
			if other.Dir() == dir && !other.Test() && forThisMachine(other) {
				files = append(files, other.Ast)
			}
		}
		if len(files) == 1 {
			return []error{fmt.Errorf("%s: no package %s", s.Where, name)}
		}
		return k.check(f.Name.Name, files, false)
	}
	return k.check("main", files, false)
}

// Fragments checks statements and declarations, each in the scope of those before it: the next one
// may use, or declare again, what one declares. Packages are imported by their names. If free is
// true, undeclared names in lower case stand for the reader's own.
func (k *Checker) Fragments(all []Snippet, free bool) []error {
	var body strings.Builder
	var where []string
	for _, s := range all {
		body.WriteString("{\n")
		where = append(where, s.Where)
		text := strings.ReplaceAll(s.Text, "{ ... }", "{ panic(0) }")
		if top, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0); err == nil && len(top.Decls) > 0 {
			if errs := k.wrapped(s.Where, "", text, free); len(errs) > 0 {
				return errs
			}
			continue
		}
		body.WriteString(text + "\n")
	}
	return k.wrapped(strings.Join(where, ", "), body.String()+strings.Repeat("}\n", len(all)), "", free)
}

func (k *Checker) wrapped(where, body, decls string, free bool) []error {
	var src strings.Builder
	src.WriteString("package snippet\n")
	var seen []string
	for _, m := range qualified.FindAllStringSubmatch(body+decls, -1) {
		p := k.paths[m[1]]
		if own := path.Dir(strings.TrimPrefix(where, "snippet of ")); path.Base(own) == m[1] && m[1] != "gorgonia" && k.known[k.module+"/"+own] {
			p = k.module + "/" + own // a comment means its own package
		}
		if p != "" && !slices.Contains(seen, m[1]) {
			seen = append(seen, m[1])
			fmt.Fprintf(&src, "import %s %q\n", m[1], p)
		}
	}
	fmt.Fprintf(&src, "%s\nfunc _() error {\n%sreturn nil\n}\n", decls, body)
	f, err := parser.ParseFile(k.fset, where, src.String(), 0)
	if err != nil {
		return []error{err}
	}
	return k.check("snippet", []*ast.File{f}, free)
}

var (
	unused   = regexp.MustCompile(`declared and not used|imported and not used|imported as .* and not used`)
	freeName = regexp.MustCompile(`^undefined: [a-z]\w*$`)
)

func (k *Checker) check(name string, files []*ast.File, free bool) (errs []error) {
	conf := types.Config{Importer: k.imports, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && (unused.MatchString(e.Msg) || free && freeName.MatchString(e.Msg)) {
			return
		}
		errs = append(errs, err)
	}}
	// The errors are those of Error.
	conf.Check(path.Base(name), k.fset, files, nil)
	return errs
}

// forThisMachine reports whether a file is built here: it is false for other processors and for
// files with build tags.
func forThisMachine(f File) bool {
	for _, c := range f.Ast.Comments {
		if c.Pos() > f.Ast.Package {
			break
		}
		for _, l := range c.List {
			if strings.HasPrefix(l.Text, "//go:build") {
				return false
			}
		}
	}
	return true
}
