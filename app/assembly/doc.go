// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package assembly has the commands for neural assemblies: simulation, fits and the training of connections.
package assembly
