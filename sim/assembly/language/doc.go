// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package language lets assemblies of neurons parse sentences, and learn words and
// the order of words.
//
// A [Grammar] is a table of areas, words and rules; a [Parser] presents the words
// of a sentence to a brain, one after the other, and reads the dependencies that
// the brain then holds, also of relative clauses. [Parser.Trace] tells what every
// word did.
//
//	p, err := language.NewParser(language.Latin(), 1)
//	deps, err := p.Parse("canem puella amat")
//
// A [Learner] hears sentences of a noun and a verb while it sees what they mean; it
// comes to say the word of a meaning, and to know nouns from verbs. An [OrderLearner]
// hears subject, verb and object while it sees who does what, and comes to say them in
// the order of its language.
//
//	l, err := language.NewLearner(language.LearnerSettings{Seed: 1})
//	outcome, err := l.Learn(ctx, 0, 300)
//
// Where an area is to hold several words at once, parsers keep the last: of several
// adjectives of a noun one is found. What a parse lacks or has wrong comes with it as a
// [*LostError]: a sentence without an error was read whole.
//
// The procedure is that of the reference, with four departures for relative clauses. A
// word that enters an area which held another before is heard alone at first, or what was
// linked to the other would bring that one back: a determiner that two subjects share, or
// a subject that two verbs share. Fibres that were active within a clause are remembered
// apart from those outside, and read from its verb: determiners, adjectives and objects of
// a clause are found, and none of them is looked for outside it. All verbs, not only
// transitive ones, are linked to the clause that they are heard in. Areas fall silent where
// a clause begins or ends, but that of the noun it belongs to.
//
// Reference: Mitropolsky, Collins and Papadimitriou, TACL 9 (2021) 1374,
// doi:10.1162/tacl_a_00432.
package language
