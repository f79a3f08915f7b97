// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import "github.com/euryale-dev/euryale/infer"

// What tests outside the package take from it.
type SbcDoc = sbcDoc
type TimingDoc = timingDoc

// Attempts keeps what one fit found and tells the next of it.
func Attempts(first, second *infer.Fit) {
	var cfg ChainConfig
	cfg.remember(first)
	cfg.recall(second)
}
