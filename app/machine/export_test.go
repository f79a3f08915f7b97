// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

// What tests outside the package take from it.
type InfoDoc = infoDoc
