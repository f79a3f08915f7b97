// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !slow

package assembly

// slow says that tests may take minutes.
const slow = false
