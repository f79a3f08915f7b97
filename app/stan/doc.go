// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package stan has the commands for programs of the Stan language.
package stan
