// Package language parses sentences with assemblies of neurons.
//
// A [Grammar] is a table of areas, words and rules; a [Parser] presents the words
// of a sentence to a brain, one after the other, and reads the dependencies that
// the brain then holds. [Parser.Trace] tells what every word did.
//
//	p, err := language.NewParser(grammar, 1)
//	deps, err := p.Parse("the dogs chase cats")
//
// Reference: Mitropolsky, Collins and Papadimitriou, TACL 9 (2021) 1374,
// doi:10.1162/tacl_a_00432.
package language
