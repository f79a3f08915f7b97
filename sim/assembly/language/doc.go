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
// Where an area is to hold several words at once, parsers keep the last: of several adjectives of a
// noun one is found. If a parse is incomplete or wrong, a [*LostError] comes with it and says
// where: a sentence without an error was read completely.
//
// The procedure is that of the reference, with four departures for relative clauses. A word that
// enters an area which held another word before is heard alone at first; otherwise whatever was
// linked to the other word, such as a determiner that two subjects share or a subject that two
// verbs share, would bring that word back. Fibres that were active within a clause are remembered
// separately from those outside, and are read from its verb, so that determiners, adjectives and
// objects of a clause are found, and are not looked for outside it. All verbs, not only transitive
// ones, are linked to the clause that they are heard in. Where a clause begins or ends, all areas
// fall silent except that of the noun it belongs to.
//
// Reference: Mitropolsky, Collins and Papadimitriou, TACL 9 (2021) 1374,
// doi:10.1162/tacl_a_00432.
package language
