// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// parts are the kinds of parts that a list must name, in their package or, for exported ones, elsewhere: every function of the signature
// below the folder.
var parts = []struct {
	what, folder, signature string
	alone                   []string // functions of this signature that are no such part
}{
	{"format of frames", "data/frames", "func(*File, *os.File, int64, Settings) error", nil},
	{"kind of picture", "viz", "func(Draws, ...string) (*Figure, error)", []string{"ESSLocal"}},
	{"kernel of an operation", "autodiff/internal/cuda", "func(*Step) bool", nil},
	{"test of residuals", "infer/check", "func(*residuals, *round, []test) []test", nil},
	{"method of least squares", "optim", "func(*iterate, context.Context) Status", nil},
	{"scheduler", "app/lists", "func(*cobra.Command) (any, func(j *job) error)", nil},
	{"command", "app", "func(*frame.App) *cobra.Command", nil},
}

// A part that no list names compiles, passes its own tests and is never used: a format that cannot be read, a picture that cannot be
// asked for, a test that judges nothing.
func TestPartsAreListed(t *testing.T) {
	for _, p := range parts {
		declared, named := map[string]string{}, map[string]bool{} // by folder and name
		for _, src := range sources(t) {
			ast.Inspect(src.ast, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && ast.IsExported(sel.Sel.Name) {
					if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == path.Base(p.folder) {
						named[p.folder+" "+sel.Sel.Name] = true
					}
				}
				return true
			})
			if !under(src.path, []string{p.folder + "/"}) {
				continue
			}
			for _, d := range src.ast.Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && signature(f) == p.signature && !slices.Contains(p.alone, f.Name.Name) {
					declared[path.Dir(src.path)+" "+f.Name.Name] = src.path
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && (f == nil || id.Name != f.Name.Name) {
						named[path.Dir(src.path)+" "+id.Name] = true
					}
					return true
				})
			}
		}
		for key, file := range declared {
			if _, name, _ := strings.Cut(key, " "); !named[key] {
				t.Errorf("%s: no list of its package names the %s %s", file, p.what, name)
			}
		}
		if len(declared) < 2 {
			t.Errorf("%d functions of %s are a %s: this test does not see what it looks for", len(declared), p.folder, p.what)
		}
	}
}

// signature returns the type of a function without the names of its parameters; a receiver is the first of them.
func signature(f *ast.FuncDecl) string {
	bare := func(l *ast.FieldList) (all []*ast.Field) {
		if l == nil {
			return nil
		}
		for _, field := range l.List {
			for range max(1, len(field.Names)) {
				all = append(all, &ast.Field{Type: field.Type})
			}
		}
		return all
	}
	t := &ast.FuncType{Params: &ast.FieldList{List: append(bare(f.Recv), bare(f.Type.Params)...)}}
	if f.Type.Results != nil {
		t.Results = &ast.FieldList{List: bare(f.Type.Results)}
	}
	return types.ExprString(t)
}
