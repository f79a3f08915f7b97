// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"go/ast"
	"regexp"
	"strconv"
	"strings"
)

// Default is a default value that the comment of a field states.
type Default struct {
	Where string // position as path:line
	Field string // field as folder.Type.Field
	Value float64
	Unit  float64 // unit of Value, in which the code may count, such as nanoseconds or bytes
}

var (
	stated = regexp.MustCompile(`\b[Dd]efaults?:? (-?[0-9][0-9.e+-]*)( (?:[KMG]i?B|min|ms|s)\b)?((?:(?:, | and )-?[0-9][0-9.e+-]*)*)`)
	units  = map[string]float64{"": 1, " KiB": 1 << 10, " MiB": 1 << 20, " GiB": 1 << 30, " GB": 1e9, " MB": 1e6, " min": 60e9, " s": 1e9, " ms": 1e6}
)

// Defaults returns the defaults that comments of fields state, and checks them: an error for every
// number that the code does not use for the field; see takings.
func (k *Checker) Defaults() (all []Default, errs []error) {
	dirs := map[string][]*ast.File{}
	for _, f := range k.Code.Files {
		if f.Test() || !forThisMachine(f) {
			continue
		}
		dirs[f.Dir()] = append(dirs[f.Dir()], f.Ast)
		ast.Inspect(f.Ast, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				if s, ok := t.Type.(*ast.StructType); ok {
					all = append(all, k.statedBy(f.Dir(), t.Name.Name, s)...)
				}
			}
			return true
		})
	}
	t := newTakings(k.module)
	for dir, files := range dirs {
		t.read(k, dir, files)
	}
	for _, d := range all {
		if taken := t.of(d.Field); d.Value != 0 && !taken[d.Value] && !taken[d.Value*d.Unit] {
			errs = append(errs, fmt.Errorf("%s: the comment says that %s is %g by default, the code takes none of that", d.Where, d.Field, d.Value))
		}
	}
	return all, errs
}

func (k *Checker) statedBy(dir, name string, s *ast.StructType) (all []Default) {
	for _, f := range s.Fields.List {
		m := stated.FindStringSubmatch(strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " "))
		if m == nil {
			continue
		}
		values := []string{m[1]}
		for _, v := range strings.FieldsFunc(m[3], func(r rune) bool { return strings.ContainsRune(", and", r) }) {
			values = append(values, v)
		}
		for i, id := range f.Names {
			v, err := strconv.ParseFloat(strings.TrimRight(values[min(i, len(values)-1)], ".-"), 64)
			if err == nil {
				all = append(all, Default{k.Code.Fset.Position(id.Pos()).String(), dir + "." + name + "." + id.Name, v, units[m[2]]})
			}
		}
	}
	return all
}
