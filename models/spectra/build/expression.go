package build

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strconv"
	"strings"
)

// functions are those of expressions.
var functions = map[string]func(float64) float64{"sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log, "log10": math.Log10}

// parse returns the function that an expression of x stands for: numbers, x, + - * / and powers by **, brackets,
// sqrt, exp, log and log10.
func parse(text string) (func(x float64) float64, error) {
	e, err := parser.ParseExpr(text)
	if err != nil || strings.Contains(text, "//") || strings.Contains(text, "/*") {
		return nil, fmt.Errorf("%q is no expression of x: want a number or something like x/1.55", text)
	}
	f, err := function(e)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return f, nil
}

func function(e ast.Expr) (func(x float64) float64, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return function(e.X)
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(e.Value, 64)
		return func(float64) float64 { return v }, err
	case *ast.Ident:
		if e.Name == "x" {
			return func(x float64) float64 { return x }, nil
		}
		return nil, fmt.Errorf("%s is not known: the wavelength is x", e.Name)
	case *ast.UnaryExpr:
		f, err := function(e.X)
		if err == nil && e.Op == token.SUB {
			return func(x float64) float64 { return -f(x) }, nil
		}
		return f, err
	case *ast.CallExpr:
		name, ok := e.Fun.(*ast.Ident)
		if !ok || functions[name.Name] == nil || len(e.Args) != 1 {
			return nil, fmt.Errorf("a function that is not known: there are sqrt, exp, log and log10 of one number")
		}
		f, err := function(e.Args[0])
		g := functions[name.Name]
		return func(x float64) float64 { return g(f(x)) }, err
	case *ast.BinaryExpr:
		return binary(e)
	}
	return nil, fmt.Errorf("want numbers, x, + - * / and brackets")
}

func binary(e *ast.BinaryExpr) (func(x float64) float64, error) {
	a, err := function(e.X)
	if err != nil {
		return nil, err
	}
	// x**2 reads as x * (*2).
	right, power := e.Y, false
	if star, ok := right.(*ast.StarExpr); ok && e.Op == token.MUL {
		right, power = star.X, true
	}
	b, err := function(right)
	if err != nil {
		return nil, err
	}
	switch {
	case power:
		return func(x float64) float64 { return math.Pow(a(x), b(x)) }, nil
	case e.Op == token.ADD:
		return func(x float64) float64 { return a(x) + b(x) }, nil
	case e.Op == token.SUB:
		return func(x float64) float64 { return a(x) - b(x) }, nil
	case e.Op == token.MUL:
		return func(x float64) float64 { return a(x) * b(x) }, nil
	case e.Op == token.QUO:
		return func(x float64) float64 { return a(x) / b(x) }, nil
	}
	return nil, fmt.Errorf("%s is not known: want + - * / and **", e.Op)
}
