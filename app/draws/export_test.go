// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

// What tests outside the package take from it.
type SbcDoc = sbcDoc
type TimingDoc = timingDoc
