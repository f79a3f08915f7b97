// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"bytes"
	_ "embed"
)

//go:embed latin.json
var latin []byte

// Latin returns a small grammar to try a parser with. Its words may stand in any order, because
// their endings tell the case: canis (dog), puella (girl), rosa, videt (sees), amat (loves), dat
// (gives), dormit (sleeps). Words are read in the nominative.
func Latin() *Grammar {
	g, err := ReadGrammar(bytes.NewReader(latin))
	if err != nil {
		panic("language: the built-in grammar is wrong: " + err.Error())
	}
	return g
}
