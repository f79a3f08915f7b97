// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command euryale simulates scattering and neural assemblies, fits and samples models,
// and reports on the results.
//
// Usage: euryale VERB THING [FILE...] [flags]; see euryale help. Package cli implements it, so that
// your own command can add to it.
package main

import (
	"os"

	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
