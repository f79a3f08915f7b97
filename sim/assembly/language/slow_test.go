// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package language

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"gonum.org/v1/gonum/stat"
)

// A hundred brains for every sentence of the reference: at most two in a thousand
// parses may differ. Measured: none of 2200.
func TestManyBrains(t *testing.T) {
	gs := grammars(t)
	var all struct {
		Cases []struct {
			Grammar, Sentence string
			Dependencies      [][3]string
		}
	}
	golden.JSON(t, &all, "assemblies", "parser_outputs.json")
	wrong, n := 0, 0
	for _, c := range all.Cases {
		var want []Dependency
		for _, d := range c.Dependencies {
			want = append(want, Dependency{d[0], d[1], d[2]})
		}
		for seed := range uint64(100) {
			got, err := newParser(t, gs[c.Grammar], 2000+seed).Parse(c.Sentence)
			if n++; !slices.Equal(lostWords(t, err), overwritten(gs[c.Grammar], c.Sentence, want)) || !slices.Equal(sorted(got), sorted(want)) {
				wrong++
				t.Logf("%s, seed %d: %v, %v", c.Sentence, 2000+seed, got, err)
			}
		}
	}
	if t.Logf("%d of %d parses differ", wrong, n); float64(wrong) > 0.002*float64(n) {
		t.Errorf("%d of %d parses differ", wrong, n)
	}
}

// A hundred brains hear every sentence with clauses once: of each at most three lose
// something. Measured: 5 of 1800, at most one of a sentence.
func TestClausesInManyBrains(t *testing.T) {
	g := grammarOf(t, "english_recursive")
	for sentence, text := range clauseSentences {
		want, lost := dependencies(text), 0
		for seed := range uint64(100) {
			p := newParser(t, g, 5000+seed)
			p.Tries = 1
			got, err := p.Parse(sentence)
			whole := slices.Equal(sorted(got), sorted(want))
			if !whole {
				lost++
			}
			if whole != (err == nil) {
				t.Errorf("%s, seed %d: %v: %v", sentence, 5000+seed, got, err)
			}
		}
		if t.Logf("%3d of 100 brains lose something of %q", lost, sentence); lost > 3 {
			t.Errorf("%d of 100 brains lose something of %q", lost, sentence)
		}
	}
}

// All orders, of small and large lexicons, sparse and dense fibres. With dense fibres
// some learners confuse orders (2 of 60): four of 24 may.
func TestManyOrders(t *testing.T) {
	for _, s := range []OrderSettings{{}, {P: 0.1}, {Nouns: 4, Verbs: 4}, {K: 100, N: 100000}} {
		bad, may := 0, 1
		if s.P > 0.05 {
			may = 4
		}
		for i, o := range orders {
			for seed := range uint64(4) { // a brain of its own for each: what a brain confuses it does in all orders
				s.Orders, s.Seed = []string{o}, 1000+10*uint64(i)+seed
				l := newOrderLearner(t, s)
				if err := l.HearAny(15); err != nil {
					t.Fatal(err)
				}
				if wrong(t, l, 6) > 1 {
					bad++
				}
			}
		}
		if t.Logf("%+v: %d of 24 learners say more than one of six wrong", s, bad); bad > may {
			t.Errorf("%+v: %d of 24 learners say more than one of six wrong", s, bad)
		}
	}
}

// Learners of 2 to 4 nouns and as many verbs: all learn, from more sentences the more
// words there are.
func TestManyLearners(t *testing.T) {
	last := 0.0
	for words := 2; words <= 4; words++ {
		got := lesson(t, 40, LearnerSettings{Nouns: words, Verbs: words}, 0)
		m, sd := stat.MeanStdDev(got, nil)
		t.Logf("%d and %d words: %.1f sentences, deviation %.1f, %v to %v", words, words, m, sd, slices.Min(got), slices.Max(got))
		if len(got) < 39 || m <= last {
			t.Errorf("%d and %d words: %d of 40 learnt, from %.1f sentences, fewer words from %.1f", words, words, len(got), m, last)
		}
		last = m
	}
}
