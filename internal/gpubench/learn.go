// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/roofline"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Decision is the value of a choice that an experiment speaks for.
type Decision struct {
	Choice  string  `json:"choice"`
	Default int     `json:"default"`
	Value   int     `json:"value"`
	Gain    float64 `json:"gain"` // time with the default by that with the value, the geometric mean over rows
	Why     string  `json:"why"`
}

// Decisions returns one for each choice. Another value than the default is chosen only if it was timed on every row of the choice, is
// slower on none, and faster on at least one by more than what both measurements leave open.
func (e *Experiment) Decisions() (list []Decision) {
	for _, c := range cuda.Choices() {
		d := Decision{Choice: c.Name, Default: c.Default, Value: c.Default, Gain: 1, Why: "no other value is faster by more than its uncertainty"}
		for _, v := range c.Values {
			gain, why := e.against(c, v)
			switch {
			case v == c.Default:
			case why != "" && !e.timed(c):
				d.Why = "it was not measured"
			case why == "" && gain > d.Gain:
				d.Value, d.Gain, d.Why = v, gain, "it is faster by more than its uncertainty, and slower on no row"
			}
		}
		list = append(list, d)
	}
	return list
}

// timed reports whether the default of a choice was timed on all its rows.
func (e *Experiment) timed(c cuda.Choice) bool {
	return !slices.ContainsFunc(c.Rows, func(row string) bool { return e.trial(c.Name, row, c.Default) == nil })
}

// trial returns a trial that can be judged, or nil.
func (e *Experiment) trial(choice, row string, value int) *Trial {
	for i := range e.Trials {
		x := &e.Trials[i]
		sound := x.Error == "" && x.Samples > 1 && x.Low > 0 && x.Low <= x.Millis && x.Millis <= x.High && !math.IsInf(x.High, 0)
		if x.Choice == choice && x.Row == row && x.Value == value && sound {
			return x
		}
	}
	return nil
}

// against compares a value with the default of its choice; why says why it is not chosen.
func (e *Experiment) against(c cuda.Choice, value int) (gain float64, why string) {
	faster, sum := false, 0.0
	for _, row := range c.Rows {
		was, is := e.trial(c.Name, row, c.Default), e.trial(c.Name, row, value)
		switch {
		case was == nil || is == nil:
			return 1, "it was not measured on " + row
		case is.Low > was.High:
			return 1, "it is slower on " + row
		}
		faster = faster || is.High < was.Low
		sum += math.Log(was.Millis / is.Millis)
	}
	if !faster {
		return 1, "it is not faster by more than its uncertainty"
	}
	return math.Exp(sum / float64(len(c.Rows))), ""
}

// Learned returns what the decisions make of the table of cards.
func (e *Experiment) Learned() cuda.Learned {
	l := cuda.Learned{Card: e.Card, Driver: e.Driver, Date: e.Date, Values: map[string]int{}}
	for _, d := range e.Decisions() {
		if d.Value != d.Default {
			l.Values[d.Choice] = d.Value
		}
	}
	return l
}

// Places of what is learned, in a checkout.
const (
	learnedFile = "kernels/cuda/learned.json"
	pageFile    = "docs/GPU.md"
	pageBegin   = "<!-- experiments -->\n"
	pageEnd     = "<!-- end of experiments -->\n"
)

// Into puts what an experiment says into a checkout: the values of its card into the table that programs read, in place of those of an earlier one of the same card,
// and its tables into docs/GPU.md.
func (e *Experiment) Into(checkout string) error {
	table, page := filepath.Join(checkout, learnedFile), filepath.Join(checkout, pageFile)
	old, err := os.ReadFile(table)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("this is no checkout of Euryale, since it lacks %s: name the folder that has it", learnedFile)
	case err != nil:
		return err
	}
	var cards []cuda.Learned
	if err := json.Unmarshal(old, &cards); err != nil {
		return fmt.Errorf("%s: %w: restore the file", table, err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), pageBegin)
	sections, after, ends := strings.Cut(rest, pageEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no place %q ... %q for the tables: restore it", page, strings.TrimSpace(pageBegin), strings.TrimSpace(pageEnd))
	}
	cards = append(slices.DeleteFunc(cards, func(l cuda.Learned) bool { return l.Card == e.Card }), e.Learned())
	slices.SortFunc(cards, func(a, b cuda.Learned) int { return strings.Compare(a.Card, b.Card) })
	b, err := json.MarshalIndent(cards, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(table, append(b, '\n')); err != nil {
		return err
	}
	return atomicfile.WriteBytes(page, []byte(before+pageBegin+e.replaced(sections)+pageEnd+after))
}

// replaced returns the sections of a page with that of this card in its place, or at the end.
func (e *Experiment) replaced(sections string) string {
	of := map[string]string{}
	for _, s := range strings.Split(sections, "\n### ")[1:] {
		name, _, _ := strings.Cut(s, "\n")
		of[name] = "\n### " + strings.TrimRight(s, "\n") + "\n"
	}
	of[e.Card] = "\n### " + e.Card + "\n\n" + e.String()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		b.WriteString(of[name])
	}
	return b.String() + "\n"
}

// String returns the tables of the experiment in Markdown.
func (e *Experiment) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s, driver %d.%d, %.0f MHz. %d comparing tests passed.\n", e.Date, e.Driver/1000, e.Driver%1000/10, e.ClockMHz, e.Passed)
	for _, line := range e.Failed {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	b.WriteString("\n| choice | row | value | ms | interval of 95 % |\n|---|---|---|---|---|\n")
	for _, x := range e.Trials {
		if x.Error != "" {
			line, _, _ := strings.Cut(x.Error, "\n")
			fmt.Fprintf(&b, "| %s | %s | %d | - | %s |\n", x.Choice, x.Row, x.Value, strings.ReplaceAll(line, "|", "/"))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.4f | %.4f to %.4f |\n", x.Choice, x.Row, x.Value, x.Millis, x.Low, x.High)
	}
	b.WriteString("\n| choice | default | chosen | default / chosen | why |\n|---|---|---|---|---|\n")
	for _, d := range e.Decisions() {
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %s |\n", d.Choice, d.Default, d.Value, d.Gain, d.Why)
	}
	e.beside(&b)
	if n := len(e.Sanitizer); n > 0 {
		fmt.Fprintf(&b, "\nThe sanitizer wrote %d lines, which the file of the experiment has.\n", n)
	}
	for k, m := range e.Missing {
		if k == 0 {
			b.WriteString("\nLeft out:\n\n")
		}
		fmt.Fprintf(&b, "- %s\n", m)
	}
	return b.String()
}

// beside writes the table of operations beside what the model expects, if it has the card.
func (e *Experiment) beside(b *strings.Builder) {
	if e.Table == nil {
		return
	}
	expected := map[[2]string]float64{}
	if card, err := roofline.Find(e.Card); err == nil {
		if x, err := Explain(card, ""); err == nil {
			for _, r := range x.Rows {
				expected[[2]string{r.Name, r.How}] = r.Expected
			}
		}
	}
	b.WriteString("\n| operation | as | measured, ms | floor, ms | expected, ms | off by |\n|---|---|---|---|---|---|\n")
	for _, r := range e.Table.Rows {
		want, off := "-", "-"
		if v := expected[[2]string{r.Name, r.How}]; v > 0 && r.Millis > 0 {
			want, off = fmt.Sprintf("%.4f", v), fmt.Sprintf("%+.0f %%", 100*(v/r.Millis-1))
		}
		if r.Error != "" {
			line, _, _ := strings.Cut(r.Error, "\n")
			fmt.Fprintf(b, "| %s | %s | - | - | - | %s |\n", r.Name, r.How, strings.ReplaceAll(line, "|", "/"))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %.4f | %.4f | %s | %s |\n", r.Name, r.How, r.Millis, r.Floor, want, off)
	}
}
