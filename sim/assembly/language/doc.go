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
// Where a word takes several areas or an area several words at once, parsers keep the
// last: of several adjectives of a noun one is found. In a relative clause determiners
// and adjectives, and verbs that share their subject with the outer verb, are lost.
//
// Reference: Mitropolsky, Collins and Papadimitriou, TACL 9 (2021) 1374,
// doi:10.1162/tacl_a_00432.
package language
