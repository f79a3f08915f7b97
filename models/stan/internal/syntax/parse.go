// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// Settings rule what the parser accepts.
type Settings struct {
	// Deprecated accepts the arrays, the assignments <- and the increments of programs written before Stan 2.33, with a note for each kind.
	Deprecated bool
}

// deepest is how far expressions and statements may nest.
const deepest = 500

type parser struct {
	src   *Source
	set   Settings
	list  []token
	at    int
	depth int
	notes []*Error
}

// stop carries a mistake out of the parser.
type stop struct{ err *Error }

// Parse reads a program.
func Parse(src *Source, set Settings) (prog *Program, err error) {
	list, err := src.scan()
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, set: set, list: list}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			prog, err = nil, r.err
		default:
			panic(r)
		}
	}()
	prog = p.program()
	prog.Notes = p.notes
	return prog, nil
}

func (p *parser) peek() token { return p.list[p.at] }
func (p *parser) ahead(n int) token {
	return p.list[min(p.at+n, len(p.list)-1)]
}
func (p *parser) take() token {
	t := p.list[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}
func (p *parser) last() Span { return p.list[max(0, p.at-1)].Span }

// is says whether the next word is a symbol or keyword.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == symbol || t.kind == keyword) && t.text == text
}

func (p *parser) skip(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) fail(at Span, format string, args ...any) {
	panic(stop{&Error{Source: p.src, Span: at, Syntax: true, Text: fmt.Sprintf(format, args...)}})
}

// want takes a symbol or fails with a sentence.
func (p *parser) want(text, format string, args ...any) token {
	if !p.is(text) {
		p.fail(p.peek().Span, format+p.habit(text), args...)
	}
	return p.take()
}

// habit says what stands in Stan for the word of another language that stands where text is wanted.
func (p *parser) habit(text string) string {
	t, before := p.peek(), token{}
	if p.at > 0 {
		before = p.list[p.at-1]
	}
	switch {
	case t.kind == name && t.text == "and":
		return ` Write "&&" for "and".`
	case t.kind == name && t.text == "or":
		return ` Write "||" for "or".`
	case t.text == "=" && text == ")":
		return " Arguments have no names: give the values in order."
	case t.text == "*" && before.text == "*":
		return ` Write "^" for a power.`
	case t.text == "'":
		return ` Strings stand in double quotation marks.`
	}
	return ""
}

// note tells of something deprecated, once for each sentence.
func (p *parser) note(at Span, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	first, _, _ := strings.Cut(text, "\n")
	for _, n := range p.notes {
		if strings.HasPrefix(n.Text, first) {
			return
		}
	}
	p.notes = append(p.notes, &Error{Source: p.src, Span: at, Syntax: true, Text: text})
}

func (p *parser) enter() func() {
	p.depth++
	if p.depth > deepest {
		p.fail(p.peek().Span, "Expressions and statements nest more than %d deep here. Give parts of it names.", deepest)
	}
	return func() { p.depth-- }
}

// blockName returns the name of the block that starts here, and its number of words.
func (p *parser) blockName() (name string, words int) {
	t, next := p.peek(), p.ahead(1)
	if t.kind != keyword {
		return "", 0
	}
	if (t.text == "transformed" && (next.text == "data" || next.text == "parameters")) || (t.text == "generated" && next.text == "quantities") {
		return t.text + " " + next.text, 2
	}
	if t.text == "functions" || slices.Contains(BlockNames[:], t.text) {
		return t.text, 1
	}
	return "", 0
}

func (p *parser) program() *Program {
	prog := &Program{Source: p.src}
	order := append([]string{"functions"}, BlockNames[:]...)
	reached, after := 0, ""
	for p.peek().kind != end {
		name, words := p.blockName()
		at := slices.Index(order, name)
		if name == "" || at < reached {
			hint := ""
			if meant := spelling.Meant(p.peek().text, order); name == "" && meant != "" {
				hint = fmt.Sprintf(" Did you mean %q?", meant)
			}
			p.fail(p.peek().Span, "Ill-formed program. Expected %send of file%s.%s", blocksFrom(order[min(reached, len(order)):]), after, hint)
		}
		p.at += words
		if name == "functions" {
			prog.Functions = p.functions()
		} else {
			b := p.block(fmt.Sprintf("Ill-formed block. Expected \"{\" after %q.", name))
			prog.Blocks[at-1] = b
			for _, s := range b.List {
				if _, ok := s.(*Declare); !ok && (name == "data" || name == "parameters") {
					p.fail(s.At(), "Ill-formed block. The block %q holds declarations only, and this is a statement.", name)
				}
			}
		}
		reached, after = at+1, " after end of "+name+" block"
	}
	return prog
}

func blocksFrom(names []string) string {
	var s []string
	for _, n := range names {
		s = append(s, fmt.Sprintf("%q", n+" {"))
	}
	return strings.Join(append(s, ""), " or ")
}

func (p *parser) functions() (list []*Function) {
	p.want("{", "Ill-formed block. Expected \"{\" after \"functions\".")
	for !p.skip("}") {
		list = append(list, p.function())
	}
	return list
}

func (p *parser) function() *Function {
	f := &Function{Span: p.peek().Span}
	if p.skip("void") {
		f.Result = typing.Of(typing.Void)
	} else {
		f.Result = p.unsized("Ill-formed function. Expected a return type, such as \"real\" or \"void\", or \"}\" after the last function.")
	}
	t := p.name("a function")
	f.Name, f.At = t.text, t.Span
	p.want("(", "Ill-formed function. Expected \"(\" after the name %q.", f.Name)
	for !p.is(")") {
		a := Arg{Span: p.peek().Span}
		data := p.skip("data")
		a.Type = p.unsized("Ill-formed function. Expected the type of an argument, such as \"real\" or \"array[] int\".")
		a.Type.Data = data
		a.Name = p.name("an argument").text
		f.Args = append(f.Args, a)
		if !p.skip(",") {
			break
		}
	}
	p.want(")", "Ill-formed function. Expected \",\" or \")\" after an argument.")
	if p.skip(";") {
		f.Span = f.Span.to(p.last())
		return f
	}
	f.Body = p.block("Ill-formed function. Expected \"{\" or \";\" after the arguments.")
	f.Span = f.Span.to(p.last())
	return f
}

// once are reserved words that programs could use as names before Stan 2.33.
var once = set(`array jacobian sum_to_zero_matrix sum_to_zero_vector lower upper offset multiplier tuple fatal_error profile`)

// unreserve makes a word a name in the rest of the program.
func (p *parser) unreserve(word string) {
	for i := range p.list[p.at:] {
		if t := &p.list[p.at+i]; t.kind == keyword && t.text == word {
			t.kind = name
		}
	}
}

// name takes an identifier.
func (p *parser) name(what string) token {
	t := p.peek()
	switch {
	case t.kind == keyword && once[t.text] && p.set.Deprecated:
		p.note(t.Span, "%q is a reserved word since Stan 2.33, and names a variable here: rename it.", t.text)
		p.unreserve(t.text)
	case t.kind == keyword:
		p.fail(t.Span, "Ill-formed identifier. Expected a new identifier but found reserved keyword %q.", t.text)
	case t.text == "<":
		p.fail(t.Span, "Ill-formed identifier. Expected the name of %s. Constraints stand before sizes: vector<lower=0>[2] x.", what)
	case t.kind != name:
		p.fail(t.Span, "Ill-formed identifier. Expected the name of %s.", what)
	}
	if strings.HasSuffix(t.text, "__") {
		p.fail(t.Span, "Ill-formed identifier. Names that end with two underscores are reserved.")
	}
	return p.take()
}

// unsized reads the type of an argument or result.
func (p *parser) unsized(problem string) typing.Type {
	defer p.enter()()
	if p.is("array") {
		p.take()
		p.want("[", "Ill-formed type. Expected \"[\" after \"array\".")
		dims := 1
		for p.skip(",") {
			dims++
		}
		p.want("]", "Ill-formed type. Expected \",\" or \"]\" for the dimensions of an array. Arguments and results have no sizes.")
		return p.unsized(problem).Array(dims)
	}
	t := p.peek()
	if t.text == "tuple" && t.kind == keyword {
		return p.tuple(problem)
	}
	k, ok := kinds[t.text]
	if t.kind != keyword || !ok || special[t.text] != 0 {
		p.fail(t.Span, "%s", problem)
	}
	p.take()
	out := typing.Of(k)
	if p.is("[") { // the old form real[,] x
		open := p.take()
		dims := 1
		for p.skip(",") {
			dims++
		}
		p.want("]", "Ill-formed type. Expected \",\" or \"]\" for the dimensions of an array. Arguments and results of functions have no sizes: write \"vector x\" or \"array[] real x\".")
		text := "array[" + strings.Repeat(",", dims-1) + "] " + k.String()
		p.old(open.Span, "It looks like you are trying to use the old array syntax.\n  Please use the new syntax:\n  %s", text)
		out = out.Array(dims)
	}
	return out
}

func (p *parser) tuple(problem string) typing.Type {
	p.take()
	p.want("(", "Ill-formed type. Expected \"(\" after \"tuple\".")
	out := typing.Of(typing.Tuple)
	for {
		out.Elems = append(out.Elems, p.unsized(problem))
		if !p.skip(",") {
			break
		}
	}
	p.want(")", "Ill-formed type. Expected \",\" or \")\" after a type of a tuple.")
	return out
}

// old fails on what is deprecated, or notes it.
func (p *parser) old(at Span, format string, args ...any) {
	if !p.set.Deprecated {
		p.fail(at, "Ill-formed declaration. \";\" expected after variable declaration.\n  "+format, args...)
	}
	p.note(at, format, args...)
}

func (p *parser) block(problem string) *Block {
	open := p.want("{", "%s", problem)
	b := &Block{stmt: stmt{open.Span}}
	for !p.is("}") {
		if p.peek().kind == end {
			line, _ := p.src.line(open.From)
			p.fail(p.peek().Span, "Ill-formed block. The file ends, and the block that starts on line %d does not: add the \"}\" that is missing.", line)
		}
		b.List = append(b.List, p.statements()...)
	}
	p.take()
	b.span = open.Span.to(p.last())
	return b
}
