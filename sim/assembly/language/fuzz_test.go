// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"bytes"
	"testing"
)

// Grammars that are read have words that parse or fail, without a panic.
func FuzzReadGrammar(f *testing.F) {
	f.Add([]byte(small), "run")
	f.Add(latin, "canis videt rosam")
	f.Fuzz(func(t *testing.T, b []byte, sentence string) {
		g, err := ReadGrammar(bytes.NewReader(b))
		if err != nil || g.Parameters.Rounds > 20 || g.Parameters.LexK > 100 || g.Parameters.K > 200 || len(g.Areas) > 10 || g.Words > 100 {
			return
		}
		p, err := NewParser(g, 1)
		if err != nil {
			return
		}
		p.Tries = 1
		if len(tokens(sentence)) < 6 {
			p.Parse(sentence)
		}
	})
}
