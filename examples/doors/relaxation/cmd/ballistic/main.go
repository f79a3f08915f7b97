// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command ballistic is euryale with the relaxation model of this module.
package main

import (
	"os"

	_ "example.org/relaxation" // registers the model
	"github.com/euryale-dev/euryale/cli"
)

func main() { os.Exit(cli.Main()) }
