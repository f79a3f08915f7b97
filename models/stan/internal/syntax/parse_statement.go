// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// statements reads a statement, or a declaration of one or several names.
func (p *parser) statements() []Stmt {
	defer p.enter()()
	if p.declares() {
		return p.declarations()
	}
	if s := p.statement(); s != nil {
		return []Stmt{s}
	}
	return nil
}

// declares says whether a declaration starts here.
func (p *parser) declares() bool {
	t := p.peek()
	if t.kind != keyword {
		return false
	}
	if t.text == "array" {
		return p.ahead(1).text == "["
	}
	return t.text == "tuple" || kinds[t.text] != 0
}

// declarations reads a type and the names that have it.
func (p *parser) declarations() (list []Stmt) {
	from := p.peek().Span
	t := p.sized()
	for {
		word := p.name("a variable")
		d := &Declare{Word: word.Span, Name: word.text, Type: t}
		if p.is("[") {
			d.Type = p.oldArray(t, word.text)
		}
		d.Unsized = d.Type.Type()
		if p.skip("=") {
			d.Init = p.expression()
		} else if p.is("<-") {
			p.arrow()
			d.Init = p.expression()
		}
		list = append(list, d)
		if p.skip(",") {
			d.span = from.to(p.last())
			continue
		}
		p.want(";", "Ill-formed declaration. Expected \";\" after variable declaration.")
		d.span = from.to(p.last())
		return list
	}
}

// oldArray reads the sizes behind a name.
func (p *parser) oldArray(t *Sized, word string) *Sized {
	open := p.take()
	at := p.peek().Span
	out := *t
	var dims []Expr
	for {
		dims = append(dims, p.expression())
		if !p.skip(",") {
			break
		}
	}
	close := p.want("]", "Ill-formed declaration. Expected \",\" or \"]\" after the size of an array.")
	what := p.src.Text[t.Span.From:t.Span.To]
	if !p.set.Deprecated {
		p.fail(at, "Ill-formed declaration. \";\" expected after variable declaration.\n  It looks like you are trying to use the old array syntax.\n  Please use the new syntax:\n  array%s %s %s;", p.src.Text[open.From:close.To], what, word)
	}
	p.note(at, "It looks like you are trying to use the old array syntax.\n  Please use the new syntax:\n  array%s %s %s;", p.src.Text[open.From:close.To], what, word)
	out.Dims = append(dims, t.Dims...)
	return &out
}

// sized reads the type of a declaration.
func (p *parser) sized() *Sized {
	defer p.enter()()
	from := p.peek().Span
	s := &Sized{}
	if p.is("array") {
		p.take()
		p.want("[", "Ill-formed type. Expected \"[\" after \"array\".")
		var dims []Expr
		for {
			dims = append(dims, p.expression())
			if !p.skip(",") {
				break
			}
		}
		p.want("]", "Ill-formed type. Expected \",\" or \"]\" after the size of an array.")
		s = p.sized()
		s.Dims = append(dims, s.Dims...)
		s.Span = from.to(p.last())
		return s
	}
	if t := p.peek(); t.kind != keyword || kinds[t.text] == 0 && t.text != "tuple" {
		p.fail(t.Span, "Ill-formed type. Expected a type, such as real or vector[3], and %s stands here.", p.found())
	}
	t := p.take()
	s.Word, s.Kind = t.text, kinds[t.text]
	if t.text == "tuple" {
		p.sizedTuple(s)
		s.Span = from.to(p.last())
		return s
	}
	sizes := s.Kind.Rank()
	if n := special[s.Word]; n != 0 {
		sizes = n
	} else if p.is("<") {
		p.constraint(s)
	}
	p.sizes(s, sizes)
	s.Span = from.to(p.last())
	return s
}

func (p *parser) sizedTuple(s *Sized) {
	s.Kind = tupleKind
	p.want("(", "Ill-formed type. Expected \"(\" after \"tuple\".")
	for {
		if !p.declares() {
			p.fail(p.peek().Span, "Ill-formed type. Expected a type of a tuple.")
		}
		s.Elems = append(s.Elems, p.sized())
		if !p.skip(",") {
			break
		}
	}
	p.want(")", "Ill-formed type. Expected \",\" or \")\" after a type of a tuple.")
}

// sizes reads the sizes of a vector or matrix.
func (p *parser) sizes(s *Sized, n int) {
	if n == 0 {
		return
	}
	if !p.is("[") {
		text := `"[" expression "]"`
		if n == 2 {
			text = `"[" expression "," expression "]"`
		}
		p.fail(p.peek().Span, "Ill-formed type. Expected %s for size of %s.", text, s.Word)
	}
	p.take()
	for {
		s.Sizes = append(s.Sizes, p.expression())
		if !p.skip(",") {
			break
		}
	}
	p.want("]", "Ill-formed type. Expected \"]\" after the size of %s.", s.Word)
	if s.Word == "cholesky_factor_cov" && len(s.Sizes) == 1 {
		s.Sizes = append(s.Sizes, s.Sizes[0])
	}
	if len(s.Sizes) != n {
		p.fail(p.last(), "Ill-formed type. %s has %d size(s), and %d stand here. Write as many as it has.", s.Word, n, len(s.Sizes))
	}
}

// constraint reads <lower=..., upper=...> or <offset=..., multiplier=...>.
func (p *parser) constraint(s *Sized) {
	p.take()
	for {
		t := p.take()
		to, ok := map[string]*Expr{"lower": &s.Lower, "upper": &s.Upper, "offset": &s.Offset, "multiplier": &s.Multiplier}[t.text]
		if !ok {
			p.fail(t.Span, "Ill-formed constraint. Expected \"lower\", \"upper\", \"offset\" or \"multiplier\", followed by \"=\" and a value.")
		}
		if *to != nil {
			p.fail(t.Span, "Ill-formed constraint. %q stands twice. Remove one of them.", t.text)
		}
		p.want("=", "Ill-formed constraint. Expected \"=\" after %q.", t.text)
		*to = p.binary(addition)
		if !p.skip(",") {
			break
		}
	}
	if (s.Lower != nil || s.Upper != nil) && (s.Offset != nil || s.Multiplier != nil) {
		p.fail(p.last(), "Ill-formed constraint. A variable has bounds or an offset and a multiplier, not both. Remove one of the pairs.")
	}
	p.want(">", "Ill-formed constraint. Expected \",\" or \">\". A value with a comparison stands in parentheses.")
}

// arrow takes the assignment of old programs.
func (p *parser) arrow() {
	t := p.take()
	p.note(t.Span, "Assignment with \"<-\" is deprecated: write \"=\".")
}

var assignments = map[string]string{"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", ".*=": ".*", "./=": "./"}

// statement reads a statement other than a declaration; an empty one is nil.
func (p *parser) statement() Stmt {
	t := p.peek()
	from := t.Span
	done := func() stmt { return stmt{from.to(p.last())} }
	if t.kind == symbol {
		switch t.text {
		case ";":
			p.take()
			return nil
		case "{":
			if p.arrayAhead() {
				return p.simple(from)
			}
			return p.block("")
		}
	}
	if t.kind == keyword {
		switch t.text {
		case "if":
			p.take()
			s := &If{}
			p.want("(", "Ill-formed statement. Expected \"(\" after \"if\".")
			s.Cond = p.expression()
			p.want(")", "Ill-formed statement. Expected \")\" after the condition.")
			s.Then = p.body()
			if p.skip("else") {
				s.Else = p.body()
			}
			s.stmt = done()
			return s
		case "while":
			p.take()
			s := &While{}
			p.want("(", "Ill-formed statement. Expected \"(\" after \"while\".")
			s.Cond = p.expression()
			p.want(")", "Ill-formed statement. Expected \")\" after the condition.")
			s.Body = p.body()
			s.stmt = done()
			return s
		case "for":
			return p.loop()
		case "break", "continue":
			p.take()
			p.want(";", "Ill-formed statement. Expected \";\" after %q.", t.text)
			return &Jump{done(), t.text}
		case "return":
			p.take()
			s := &Return{}
			if !p.is(";") {
				s.X = p.expression()
			}
			p.want(";", "Ill-formed statement. Expected \";\" after the value that is returned.")
			s.stmt = done()
			return s
		case "print", "reject", "fatal_error":
			p.take()
			s := &Tell{Word: t.text}
			p.want("(", "Ill-formed statement. Expected \"(\" after %q.", t.text)
			if !p.is(")") {
				s.Args = p.expressions()
			}
			p.want(")", "Ill-formed statement. Expected \",\" or \")\" after an argument of %q.", t.text)
			p.want(";", "Ill-formed statement. Expected \";\" after %q.", t.text)
			s.stmt = done()
			return s
		case "profile":
			p.take()
			p.want("(", "Ill-formed statement. Expected \"(\" after \"profile\".")
			if p.peek().kind != text {
				p.fail(p.peek().Span, "Ill-formed statement. Expected a string as the name of the profile.")
			}
			p.take()
			p.want(")", "Ill-formed statement. Expected \")\" after the name of the profile.")
			s := &Profile{Body: p.block("Ill-formed statement. Expected \"{\" after the name of the profile.")}
			s.stmt = done()
			return s
		case "target", "jacobian":
			if p.ahead(1).text == "+=" {
				p.at += 2
				s := &Increase{X: p.expression(), Jacobian: t.text == "jacobian"}
				p.want(";", "Ill-formed statement. Expected \";\" after the value that is added to %s.", t.text)
				s.stmt = done()
				return s
			}
		case "functions", "data", "parameters", "transformed", "model", "generated":
			p.fail(from, "Ill-formed block. A \"}\" is missing: add it before this block.")
		case "else":
			p.fail(from, "Ill-formed statement. This \"else\" belongs to no \"if\": remove it, or put the statements before it in braces.")
		}
	}
	return p.simple(from)
}

// arrayAhead says whether the brace here opens an array that stands before a distribution, and not a block.
func (p *parser) arrayAhead() bool {
	open := 0
	for i := p.at; i < len(p.list); i++ {
		t := p.list[i]
		if t.kind != symbol {
			continue
		}
		switch t.text {
		case "{":
			open++
		case ";":
			return false
		case "}":
			if open--; open == 0 {
				return i+1 < len(p.list) && p.list[i+1].kind == symbol && p.list[i+1].text == "~"
			}
		}
	}
	return false
}

// body reads the statement of a condition or a loop.
func (p *parser) body() Stmt {
	defer p.enter()()
	if p.declares() {
		p.fail(p.peek().Span, "Ill-formed statement. A declaration cannot be the only statement of a condition or loop: write it in braces.")
	}
	if s := p.statement(); s != nil {
		return s
	}
	return &Block{stmt: stmt{p.last()}}
}

// loop reads a loop over integers or over elements.
func (p *parser) loop() Stmt {
	from := p.take().Span
	p.want("(", "Ill-formed loop. Expected \"(\" after \"for\".")
	word := p.name("a variable")
	p.want("in", "Ill-formed loop. Expected \"in\" after the name of the loop's variable.")
	lo := p.expression()
	if p.skip(":") {
		s := &For{Name: word.text, Word: word.Span, Lo: lo, Hi: p.expression()}
		p.want(")", "Ill-formed loop. Expected \")\" after the range.")
		s.Body = p.body()
		s.span = from.to(p.last())
		return s
	}
	p.want(")", "Ill-formed loop. Expected \":\" and the end of the range, or \")\".")
	s := &Each{Name: word.text, Word: word.Span, Over: lo, Body: p.body()}
	s.span = from.to(p.last())
	return s
}

// simple reads what starts with an expression: an assignment, a distribution statement or a call.
func (p *parser) simple(from Span) Stmt {
	if t := p.peek(); t.kind == end || t.kind == symbol && !strings.Contains("([{-+!", t.text) || t.kind == keyword && kinds[t.text] == 0 && t.text != "target" && t.text != "array" && t.text != "jacobian" {
		p.fail(t.Span, "Ill-formed statement. Expected a statement or \"}\", and %s stands here.", p.found())
	}
	x := p.expression()
	done := func() stmt { return stmt{from.to(p.last())} }
	t := p.peek()
	if op, ok := assignments[t.text]; ok && t.kind == symbol {
		p.take()
		s := &Assign{To: x, Op: op, From: p.expression()}
		p.want(";", "Ill-formed assignment. Expected \";\" after the value.")
		s.stmt = done()
		return s
	}
	switch {
	case p.is("~"):
		return p.tilde(from, x)
	case p.is("<-"): // not an expression less than a negative one: the statement would end here
		if p.set.Deprecated {
			p.arrow()
			s := &Assign{To: x, From: p.expression()}
			p.want(";", "Ill-formed assignment. Expected \";\" after the value.")
			s.stmt = done()
			return s
		}
		p.take()
		p.expression()
	case p.is(";"):
		if c, ok := x.(*Call); ok {
			p.take()
			if c.Name == "increment_log_prob" && len(c.Args) == 1 && p.set.Deprecated {
				p.note(c.Word, "increment_log_prob(x) is deprecated: write \"target += x\".")
				return &Increase{stmt: done(), X: c.Args[0]}
			}
			return &Do{done(), c}
		}
	case isCall(x) && (x.(*Call).Name == "elif" || x.(*Call).Name == "elseif"):
		p.fail(x.At(), "Ill-formed statement. Write \"else if\" for %q.", x.(*Call).Name)
	case isCall(x):
		p.fail(p.peek().Span, "Ill-formed statement. Expected \";\" after the call of a function.")
	}
	if n, ok := x.(*Name); ok && p.peek().kind == name {
		if meant := spelling.Meant(n.Name, slices.Sorted(maps.Keys(kinds))); meant != "" {
			p.fail(n.At(), "Ill-formed declaration. There is no type %q. Did you mean %q?", n.Name, meant)
		}
	}
	p.fail(p.peek().Span, "Ill-formed phrase. Expected a statement, but found a partial value before this point.\nDid you mean for this to be the start of an assignment or \"~\"-statement?")
	return nil
}

func isCall(x Expr) bool {
	_, ok := x.(*Call)
	return ok
}

// tilde reads ~ f(args) T[lower, upper].
func (p *parser) tilde(from Span, x Expr) Stmt {
	p.take()
	word := p.name("a distribution")
	s := &Tilde{X: x, Name: word.text, Word: word.Span}
	p.want("(", "Ill-formed \"~\"-statement. Expected \"(\" after the name of the distribution.")
	if !p.is(")") {
		s.Args = p.expressions()
	}
	p.want(")", "Ill-formed \"~\"-statement. Expected \",\" or \")\" after an argument of the distribution.")
	if t := p.peek(); t.kind == name && t.text == "T" {
		p.take()
		p.want("[", "Ill-formed truncation. Expected \"[\" after \"T\".")
		s.Truncated = true
		if !p.is(",") {
			s.Lower = p.expression()
		}
		p.want(",", "Ill-formed truncation. Expected \",\" between the bounds: T[lower, upper], T[lower, ] or T[ , upper].")
		if !p.is("]") {
			s.Upper = p.expression()
		}
		p.want("]", "Ill-formed truncation. Expected \"]\" after the bounds.")
	}
	p.want(";", "Ill-formed \"~\"-statement. Expected \";\" or a truncation T[lower, upper] after the distribution.")
	s.span = from.to(p.last())
	return s
}

// found names the next word for messages.
func (p *parser) found() string {
	t := p.peek()
	if t.kind == end {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", t.text)
}
