// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package exit has the exit codes of commands, and says which error of a file, a device or an argument has which.
package exit
