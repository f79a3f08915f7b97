// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command hill is euryale with what package hill adds.
package main

import (
	"os"

	"github.com/euryale-dev/euryale/cli"

	_ "example.org/operation"
)

func main() { os.Exit(cli.Main()) }
