// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package lists has the commands for work lists.
package lists
