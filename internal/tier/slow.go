// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package tier

// Slow is whether the slow tier runs.
const Slow = true
