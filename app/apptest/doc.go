// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package apptest has the inputs and helpers of the tests of commands.
package apptest
