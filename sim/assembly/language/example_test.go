// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language_test

import (
	"context"
	"fmt"

	"github.com/euryale-dev/euryale/sim/assembly/language"
)

func ExampleParser() {
	p, err := language.NewParser(language.Latin(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, sentence := range []string{"canem puella amat", "cani dat puella rosam"} {
		deps, err := p.Parse(sentence)
		fmt.Println(deps, err)
	}
	_, err = p.Parse("canis rosan videt")
	fmt.Println(err)
	// Output:
	// [{amat puella NOM} {amat canis ACC}] <nil>
	// [{dat puella NOM} {dat rosa ACC} {dat canis DAT}] <nil>
	// language: word 2, "rosan", is not in the lexicon: did you mean "rosa"?
}

func ExampleParser_Trace() {
	p, err := language.NewParser(language.Latin(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := p.Trace("puella dormit")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range t.Steps {
		fmt.Println(s.Word, s.Fibres)
		for _, a := range s.States {
			fmt.Println("  ", a.Area, "holds", a.Word)
		}
	}
	// Output:
	// puella [LEX>LEX LEX>NOM NOM>LEX NOM>NOM]
	//    LEX holds puella
	//    NOM holds puella
	// dormit [LEX>LEX LEX>VERB NOM>NOM NOM>VERB VERB>LEX VERB>NOM VERB>VERB]
	//    LEX holds dormit
	//    NOM holds puella
	//    VERB holds dormit
}

func ExampleLearner() {
	l, err := language.NewLearner(language.LearnerSettings{Nouns: 2, Verbs: 2, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := l.Learn(context.Background(), 2, 300) // every second time a single word
	fmt.Println("learnt:", outcome.Learnt, err)
	said, err := l.Say(3) // the second verb is done
	fmt.Println("says word", said, err)
	// Output:
	// learnt: true <nil>
	// says word 3 <nil>
}

func ExampleOrderLearner() {
	l, err := language.NewOrderLearner(language.OrderSettings{Orders: []string{"VSO"}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := l.HearAny(10); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Say(language.Scene{Subject: 0, Verb: 2, Object: 1}))
	// Output:
	// VSO <nil>
}
