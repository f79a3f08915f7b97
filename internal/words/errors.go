// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// errorText is the text of one error as the code states it.
type errorText struct {
	folder string
	line   string // file and line
	text   string
	score  score
}

// score says which of four questions a text answers by itself. Errors inside a package are often
// wrapped by a caller, which knows the place, so that not every text answers all of them.
type score struct{ what, where, numbers, remedy bool }

func (s score) String() string {
	letters := []byte("----")
	for i, has := range []bool{s.what, s.where, s.numbers, s.remedy} {
		if has {
			letters[i] = "WPNR"[i]
		}
	}
	return string(letters)
}

// makers are functions and methods, besides fmt.Errorf and errors.New, that turn a text into an error.
var makers = regexp.MustCompile(`^([Uu]sage|fail|bad|mistake|refuse|refused|wrong|fails|invalid|damaged|broken|missing|unsupported|corrupt|errorf|fault|problem)f?$`)

// errors returns the texts of the errors that a file makes.
func (s source) errors() []errorText {
	var list []errorText
	joined := map[ast.Node]bool{} // calls inside literals, whose texts belong to those
	ast.Inspect(s.file, func(n ast.Node) bool {
		var text string
		var place, remedy bool
		switch n := n.(type) {
		case *ast.CallExpr:
			if isMaker(n.Fun) && !joined[n] {
				text = firstText(n.Args)
			}
		case *ast.CompositeLit:
			if name := lastName(n.Type); strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Mistake") {
				text, remedy = fieldTexts(n, joined)
				place = true
			}
		}
		if !wrapper.MatchString(text) && strings.ContainsFunc(text, unicode.IsLetter) {
			at := s.fset.Position(n.Pos())
			score := scoreOf(text, place)
			score.remedy = score.remedy || remedy
			list = append(list, errorText{s.folder(), s.path + ":" + strconv.Itoa(at.Line), text, score})
		}
		return true
	})
	return list
}

func isMaker(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return makers.MatchString(f.Name)
	case *ast.SelectorExpr:
		pkg, _ := f.X.(*ast.Ident)
		if pkg != nil && (pkg.Name == "fmt" && f.Sel.Name == "Errorf" || pkg.Name == "errors" && f.Sel.Name == "New") {
			return true
		}
		return makers.MatchString(f.Sel.Name)
	}
	return false
}

func lastName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.UnaryExpr:
		return lastName(t.X)
	}
	return ""
}

func firstText(args []ast.Expr) string {
	for _, a := range args {
		if s := textOf(a); len(strings.Fields(s)) > 1 {
			return s
		}
	}
	for _, a := range args {
		if s := textOf(a); s != "" {
			return s
		}
	}
	return ""
}

// fieldTexts joins the texts of a literal's fields, and reports whether one of them is a remedy. Calls
// whose texts it takes are added to joined.
func fieldTexts(lit *ast.CompositeLit, joined map[ast.Node]bool) (text string, remedy bool) {
	var parts []string
	for _, e := range lit.Elts {
		name := ""
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e, name = kv.Value, kv.Key.(*ast.Ident).Name
		}
		said := textOf(e)
		if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 && (isMaker(call.Fun) || lastName(call.Fun) == "Sprintf") {
			said, joined[call] = firstText(call.Args), true
		}
		if name == "Hint" || name == "hint" || name == "Try" {
			remedy = true
			if said == "" {
				said = "%s"
			}
		}
		if said != "" {
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, ": "), remedy
}

// textOf returns the constant text of an expression; what is not constant in a sum appears as %s.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return oneLine(s)
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x, y := textOf(e.X), textOf(e.Y)
			if x == "" && y == "" {
				return ""
			}
			if x == "" {
				x = "%s"
			}
			if y == "" {
				y = "%s"
			}
			return oneLine(x + " " + y)
		}
	case *ast.ParenExpr:
		return textOf(e.X)
	}
	return ""
}

var (
	wrapper = regexp.MustCompile(`^([^ :]+( [^ :]+){0,2}: )*%[wsv]$`)
	prefix  = regexp.MustCompile(`^(%w: )?[a-z][\w/.-]*: `)
	valued  = regexp.MustCompile(`%[-+# 0-9.*]*[dgvxfqsTctUeE]|[0-9]`)
	placed  = regexp.MustCompile(`%[-+# 0-9.*]*[qsvdw]`)
	advice  = regexp.MustCompile(`(?i)\b(want|wants|use|give|pass|set|choose|try|see|run|add|remove|write|read|call|check|must|needs?|should|expected|allowed|supported|install|rename|make|take|shorten|reduce|lower|raise|increase|split|leave|put|keep|name|list|open|close|copy|convert|repeat|wait|free|ask|start|stop|drop|correct|replace|update|undo|fit|select|move|fill|build|load|save|resume|delete|swap|sort|scale|normali[sz]e|sum|average|divide|multiply|shift|crop|mask|train|sample|simulate|fix|free|switch|turn|lock|unlock|stage|get|let|put|begin|end|allow|mark|correlate|time|look|do|change|declare|narrow|widen|mix|import|project|fetch|record|compute|discard|allocate|warm|accepts|measure|compare|define|did you mean|is the file|was the file|enter|type|download|compile|link|point|is required|are required|at least|at most|between|only)\b`)
	clauses = regexp.MustCompile(`[:;,.] |\(`)
)

func scoreOf(text string, place bool) score {
	body := prefix.ReplaceAllString(text, "")
	parts := clauses.Split(body, -1)
	s := score{
		what:    len(slices.DeleteFunc(strings.Fields(body), func(w string) bool { return strings.HasPrefix(w, "%") })) > 1,
		where:   place || prefix.MatchString(text) || placed.MatchString(text),
		numbers: valued.MatchString(text),
	}
	for i, p := range parts {
		if advice.MatchString(p) && (i > 0 || len(parts) == 1) {
			s.remedy = true
		}
	}
	return s
}
