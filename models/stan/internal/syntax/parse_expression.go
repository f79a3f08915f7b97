// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

const tupleKind = typing.Tuple

// The levels of the operators, the loosest first.
const (
	or = iota
	and
	equality
	comparison
	addition
	product
	leftDivision
	levels
)

var operators = [levels][]string{{"||"}, {"&&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%", ".*", "./", "%/%"}, {"\\"}}

func (p *parser) expression() Expr {
	defer p.enter()()
	x := p.binary(or)
	if !p.skip("?") {
		return x
	}
	c := &Choice{Cond: x, X: p.expression()}
	p.want(":", "Ill-formed expression. Expected \":\" and a value after \"?\" and a value.")
	c.Y = p.expression()
	c.span = x.At().to(c.Y.At())
	return c
}

// mostInRow bounds the operators of one level that follow each other: each of them is a call of what walks through expressions.
const mostInRow = 10_000

// binary reads operators of a level and of those that bind more tightly.
func (p *parser) binary(level int) Expr {
	if level == levels {
		return p.unary()
	}
	x := p.binary(level + 1)
	for n := 0; ; n++ {
		if n > mostInRow {
			p.fail(p.peek().Span, "Ill-formed expression. More than %d operators follow each other: compute the value in a loop, or take the sum of an array.", mostInRow)
		}
		op := ""
		for _, o := range operators[level] {
			if p.is(o) {
				op = o
			}
		}
		if op == "" && level == comparison && p.is("<-") && p.minus() {
			op = "<"
		}
		if op == "" {
			return x
		}
		p.take()
		b := &Binary{Op: op, X: x, Y: p.binary(level + 1)}
		b.span = x.At().to(b.Y.At())
		x = b
	}
}

// minus splits the word <- into < and -, where the assignment of old programs cannot stand.
func (p *parser) minus() bool {
	if p.depth < 2 || !p.inside() {
		return false
	}
	t := p.peek()
	p.list[p.at] = token{symbol, "<", Span{t.From, t.From + 1}}
	rest := append([]token{{symbol, "-", Span{t.From + 1, t.To}}}, p.list[p.at+1:]...)
	p.list = append(p.list[:p.at+1:p.at+1], rest...)
	return true
}

// inside says whether the words before this one, up to the start of the statement, have an open bracket or an assignment.
func (p *parser) inside() bool {
	open := 0
	for i := p.at - 1; i >= 0; i-- {
		t := p.list[i]
		if t.kind != symbol {
			continue
		}
		switch t.text {
		case ")", "]":
			open++
		case "(", "[":
			open--
			if open < 0 {
				return true
			}
		case "=", "+=", "-=", "*=", "/=":
			if open == 0 {
				return true
			}
		case ";", "{", "}":
			return false
		}
	}
	return false
}

func (p *parser) unary() Expr {
	defer p.enter()()
	t := p.peek()
	if t.kind == symbol && (t.text == "-" || t.text == "+" || t.text == "!") {
		p.take()
		u := &Unary{Op: t.text, X: p.unary()}
		u.span = t.Span.to(u.X.At())
		return u
	}
	return p.power()
}

func (p *parser) power() Expr {
	x := p.postfix()
	if t := p.peek(); t.kind == symbol && (t.text == "^" || t.text == ".^") {
		p.take()
		b := &Binary{Op: t.text, X: x, Y: p.unary()}
		b.span = x.At().to(b.Y.At())
		return b
	}
	return x
}

// postfix reads what stands behind a value: transposes, indices, places in tuples.
func (p *parser) postfix() Expr {
	x := p.primary()
	for {
		t := p.peek()
		switch {
		case p.is("'"):
			p.take()
			u := &Unary{Op: "'", X: x}
			u.span = x.At().to(t.Span)
			x = u
		case p.is("["):
			i := &Index{X: x, List: p.places()}
			i.span = x.At().to(p.last())
			x = i
		case t.kind == dotted && t.From == p.last().To:
			p.take()
			n, err := strconv.Atoi(t.text[1:])
			if err != nil {
				p.fail(t.Span, "Ill-formed expression. Expected the place in a tuple, from 1.")
			}
			f := &Field{X: x, N: n}
			f.span = x.At().to(t.Span)
			x = f
		default:
			return x
		}
	}
}

// places reads the indices between brackets.
func (p *parser) places() (list []Place) {
	p.take()
	for {
		list = append(list, p.place())
		if !p.skip(",") {
			break
		}
	}
	p.want("]", "Ill-formed index. Expected \",\" or \"]\" after an index.")
	return list
}

func (p *parser) place() (i Place) {
	i.Span = p.peek().Span
	closes := func() bool { return p.is(",") || p.is("]") }
	switch {
	case closes(): // all
	case p.skip(":"):
		if !closes() {
			i.Hi = p.expression()
		}
	default:
		x := p.expression()
		if !p.skip(":") {
			i.Single = x
			break
		}
		i.Lo = x
		if !closes() {
			i.Hi = p.expression()
		}
	}
	if p.at > 0 && p.last().To > i.Span.From {
		i.Span = i.Span.to(p.last())
	}
	return i
}

// expressions reads expressions between commas.
func (p *parser) expressions() (list []Expr) {
	for {
		list = append(list, p.expression())
		if !p.skip(",") {
			return list
		}
	}
}

func (p *parser) primary() Expr {
	t := p.peek()
	switch t.kind {
	case integer, number, imaginary, dotted:
		p.take()
		return &Number{node: node{span: t.Span}, Text: strings.TrimSuffix(t.text, "i"), Integer: t.kind == integer, Imaginary: t.kind == imaginary}
	case text:
		p.take()
		return &Text{node: node{span: t.Span}, Value: t.text}
	case name:
		p.take()
		if p.is("(") {
			return p.call(t)
		}
		return &Name{node: node{span: t.Span}, Name: t.text}
	case keyword:
		switch {
		case t.text == "target" && p.ahead(1).text == "(":
			p.at += 2
			close := p.want(")", "Ill-formed expression. Expected \")\": target() has no arguments.")
			return &Target{node{span: t.Span.to(close.Span)}}
		case kinds[t.text] != 0 && p.ahead(1).text == "(":
			p.fail(t.Span, "Ill-formed expression. %q is a type, and not a function.", t.text)
		}
		p.fail(t.Span, "Ill-formed expression. Expected a value, and the reserved keyword %q stands here.", t.text)
	case symbol:
		switch t.text {
		case "(":
			return p.parentheses()
		case "{", "[":
			p.take()
			l := &List{Bracket: t.text[0]}
			close := map[string]string{"{": "}", "[": "]"}[t.text]
			if !p.is(close) {
				l.Items = p.expressions()
			}
			c := p.want(close, "Ill-formed expression. Expected \",\" or %q after an element.", close)
			l.span = t.Span.to(c.Span)
			return l
		}
	}
	p.fail(t.Span, "Ill-formed expression. Expected a value, and %s stands here."+p.habit(""), p.found())
	return nil
}

// parentheses reads (x), or a tuple (x, y).
func (p *parser) parentheses() Expr {
	open := p.take()
	x := p.expression()
	if p.is(",") {
		p.take()
		l := &List{Bracket: '(', Items: []Expr{x}}
		if !p.is(")") { // (x,) has one element
			l.Items = append(l.Items, p.expressions()...)
		}
		c := p.want(")", "Ill-formed expression. Expected \",\" or \")\" after an element of a tuple.")
		l.span = open.Span.to(c.Span)
		return l
	}
	c := p.want(")", "Ill-formed expression. Expected \")\" after the expression in parentheses.")
	x.base().span = open.Span.to(c.Span)
	return x
}

// call reads the arguments of a function.
func (p *parser) call(word token) Expr {
	p.take()
	c := &Call{Name: word.text, Word: word.Span}
	if !p.is(")") {
		c.Args = append(c.Args, p.expression())
		if p.skip("|") {
			c.Bar = true
			if !p.is(")") {
				c.Args = append(c.Args, p.expressions()...)
			}
		} else if p.skip(",") {
			c.Args = append(c.Args, p.expressions()...)
		}
	}
	close := p.want(")", "Ill-formed expression. Expected \",\" or \")\" after an argument of %s.", word.text)
	c.span = word.Span.to(close.Span)
	return c
}
