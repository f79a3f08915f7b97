// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// Script is an experiment. Its settings may be changed before it runs.
type Script struct {
	File     string
	Text     string
	Mode     string // simulation mode: lazy-exact, lazy-ref or exact
	Settings assembly.Settings
	Stimuli  []Stimulus
	Areas    []assembly.Area
	Fibres   []Fibre
	Rounds   int             // total number of steps of the brain, including those of branches
	Winners  map[string]bool // areas whose winners are kept in the rounds
	Memory   float64         // bytes that a run may take, see Fits; default 8 GB

	program []instruction
	needs   needs
}

// Stimulus is a set of Size neurons that fire together.
type Stimulus struct {
	Name string
	Size int
}

// Fibre holds the settings of one fibre; NaN and -1 stand for settings that it does not have.
type Fibre struct {
	From, To string
	P, Beta  float64
	Rule     assembly.Rule
}

var (
	modes     = []string{"lazy-exact", "lazy-ref", "exact"}
	rules     = []string{"hebb", "additive", "anti-hebb", "willshaw"}
	policies  = []string{"top-k", "threshold", "relative"}
	header    = []string{"seed", "p", "beta", "mode", "activity", "max_weight", "empty_if_silent", "no_self", "threads", "cache_mb", "memory", "winners", "stimuli", "areas", "fibres", "fibers", "procedures", "run"}
	areaKeys  = []string{"n", "k", "beta", "explicit", "rule", "policy", "threshold", "at_least", "latency", "latency_strength", "refraction"}
	fibreKeys = []string{"p", "beta", "rule"}
)

// mostBytes bounds the text of a script, mostNeurons the size of an area or stimulus.
const (
	mostBytes   = 16 << 20
	mostNeurons = math.MaxInt32
	defaultBeta = 0.05
)

// Parse reads a script. It reports all mistakes at once, as a *Mistakes.
func Parse(file string, text []byte) (*Script, error) {
	wrong := &Mistakes{File: file}
	if len(text) > mostBytes {
		wrong.add(Mistake{What: fmt.Sprintf("the script has %d bytes: want at most %d", len(text), mostBytes)})
		return nil, wrong
	}
	top := document(wrong, text)
	if len(wrong.List) > 0 {
		return nil, wrong.sorted()
	}
	c := &compiler{reader: reader{wrong: wrong}, Script: &Script{File: file, Text: string(text), needs: newNeeds()}, scope: newScope()}
	c.script(top)
	if len(wrong.List) > 0 {
		return nil, wrong.sorted()
	}
	return c.Script, nil
}

// document returns the top-level mapping of a script.
func document(wrong *Mistakes, text []byte) *yaml.Node {
	var doc, more yaml.Node
	if what := foreign.NotText(text); what != "" {
		wrong.add(Mistake{What: "the script is " + what})
		return nil
	}
	if err := foreign.NotOther(text, foreign.AssemblyScript); err != nil {
		wrong.add(Mistake{What: err.Error()})
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		wrong.add(Mistake{What: "the script is empty: write at least areas and run"})
		return nil
	case err != nil:
		wrong.add(syntax(err))
		return nil
	}
	if err := d.Decode(&more); err == nil {
		wrong.add(Mistake{more.Line, more.Column, "a second document begins here, but a script must be a single one"})
	} else if !errors.Is(err, io.EOF) {
		wrong.add(syntax(err))
	}
	r := reader{wrong: wrong}
	r.noAliases(&doc)
	return doc.Content[0]
}

// syntax converts a YAML error, whose text names the line in words, to a Mistake.
func syntax(err error) Mistake {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(what, "line "); ok {
		if number, text, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				return Mistake{Line: line, What: text}
			}
		}
	}
	return Mistake{What: what}
}

func (r *reader) noAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		r.at(n, "the alias *%s is not supported: make a procedure of what repeats", n.Value)
	}
	for _, c := range n.Content {
		r.noAliases(c)
	}
}

// script reads the whole document.
func (c *compiler) script(top *yaml.Node) {
	m := c.mapping(top, "a script", header...)
	if m == nil {
		return
	}
	c.settings(m)
	if m["p"] == nil {
		c.at(top, "p is missing: give the probability of a synapse")
	}
	if m["stimuli"] != nil {
		c.stimuli(m["stimuli"])
	}
	switch areas := m["areas"]; {
	case areas == nil:
		c.at(top, "no areas")
	case areas.Kind == yaml.MappingNode && len(areas.Content) == 0:
		c.at(areas, "there are no areas: give at least one, such as A: {n: 10000, k: 100}")
	default:
		c.areas(areas, c.number(m["beta"], "beta", 0, math.Inf(1), defaultBeta))
	}
	switch fibres, fibers := m["fibres"], m["fibers"]; {
	case fibres != nil && fibers != nil:
		c.at(fibers, "fibers repeats fibres: write only one of them")
	case fibres != nil:
		c.fibres(fibres)
	case fibers != nil:
		c.fibres(fibers)
	}
	c.winnersOf(m["winners"])
	c.procedures(m["procedures"])
	if m["run"] == nil {
		c.at(top, "run is missing: give a list of steps")
		return
	}
	body := c.list(m["run"], "run")
	c.circles()
	c.expand(body, nil)
	if len(c.wrong.List) > 0 {
		return
	}
	if len(c.program) == 0 {
		c.at(m["run"], "run has no steps: give it at least one")
	}
	c.fit()
}

func (c *compiler) settings(m map[string]*yaml.Node) {
	c.Mode = modes[c.choice(m["mode"], "mode", modes...)]
	s := &c.Settings
	s.Seed = c.seed(m["seed"])
	s.P = c.number(m["p"], "p", 0, 1, 0)
	s.Activity = assembly.Activity(c.choice(m["activity"], "activity", "sticky", "silent"))
	s.MaxWeight = c.number(m["max_weight"], "max_weight", 0, math.Inf(1), 0)
	s.EmptyIfSilent = c.yes(m["empty_if_silent"], "empty_if_silent", false)
	s.NoSelf = c.yes(m["no_self"], "no_self", false)
	s.Threads = c.whole(m["threads"], "threads", 0, 1<<16, 0)
	c.Memory = 1e9 * c.number(m["memory"], "memory", 0, 1e9, defaultMemory)
	s.Cache = c.whole(m["cache_mb"], "cache_mb", 0, 1<<30, 0) << 20
	if c.Mode == "lazy-ref" {
		s.Lazy = assembly.Normal
	}
}

// winnersOf reads the areas whose winners are kept: all, none, or those named.
func (c *compiler) winnersOf(n *yaml.Node) {
	c.Winners = map[string]bool{}
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, a := range n.Content {
			c.Winners[c.area(a)] = true
		}
	case c.known(n.Value) == isArea:
		c.Winners[n.Value] = true
	case c.yes(n, "winners", false):
		for _, a := range c.Areas {
			c.Winners[a.Name] = true
		}
	}
}

// Sum identifies the text of a script: SHA-256 in hexadecimal digits.
func (s *Script) Sum() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s.Text))) }
