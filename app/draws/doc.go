// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package draws samples posteriors into run folders for all fields, and has the commands on draws, whatever made them.
package draws
