// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command manual writes what a package of the program holds beside it: a page of the manual for each command, and
// completions for shells.
//
//	go run ./internal/manual FOLDER
package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/euryale-dev/euryale/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/manual FOLDER")
		os.Exit(64)
	}
	if err := write(os.Args[1], cli.Command()); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// write fills the folders man and completions below dir.
func write(dir string, c *cobra.Command) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	day := time.Unix(0, 0).UTC() // the same files for the same commit
	if err := doc.GenManTree(c, &doc.GenManHeader{Title: "EURYALE", Section: "1", Source: "Euryale", Manual: "Euryale", Date: &day}, man); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := pack(page); err != nil {
			return err
		}
	}
	return errors.Join(c.GenBashCompletionFileV2(filepath.Join(completions, "euryale.bash"), true),
		c.GenZshCompletionFile(filepath.Join(completions, "_euryale")),
		c.GenFishCompletionFile(filepath.Join(completions, "euryale.fish"), true),
		c.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "euryale.ps1")))
}

// pack compresses a page, as manuals are kept.
func pack(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	f, err := os.Create(page + ".gz")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(text)
	return errors.Join(err, z.Close(), f.Close(), os.Remove(page))
}
