// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/cluster/remote"
)

func (a *app) fetch() *cobra.Command {
	return &cobra.Command{
		Use:   "fetch URL FOLDER",
		Short: "Copy files from an object store to a folder",
		Long: `Copy the files below a URL to a folder, except those that the folder already has.

  euryale-cluster fetch s3://bucket/run/results run/results
  euryale-cluster fetch 's3://bucket/data?region=eu-central-1' data
`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			b, err := remote.Open(c.Context(), args[0])
			if err != nil {
				return usageOf(err)
			}
			defer b.Close()
			m, err := b.Pull(c.Context(), args[1])
			if err != nil && !errors.As(err, new(*remote.LeftOutError)) {
				return err
			}
			return errors.Join(a.moved(m), err)
		},
	}
}

func (a *app) push() *cobra.Command {
	return &cobra.Command{
		Use:   "push FOLDER URL",
		Short: "Copy files from a folder to an object store",
		Long: `Copy the files of a folder to a URL, except those that are already there.

Hidden files, temporary files and a leader's token are left out.

  euryale-cluster push run/results s3://bucket/run/results
`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err != nil {
				return err
			}
			b, err := remote.Open(c.Context(), args[1])
			if err != nil {
				return usageOf(err)
			}
			defer b.Close()
			m, err := b.Push(c.Context(), args[0])
			if err != nil && !errors.As(err, new(*remote.LeftOutError)) {
				return err
			}
			return errors.Join(a.moved(m), err)
		},
	}
}

func (a *app) moved(m remote.Moved) error {
	return a.say(m, "%d files (%.4g MB) were copied; %d were there already.", m.Files, float64(m.Bytes)/1e6, m.Same)
}

// usageOf takes what is wrong with a URL for wrong usage.
func usageOf(err error) error {
	if strings.Contains(err.Error(), ": want ") {
		return &exitError{code: exitUsage, err: err}
	}
	return err
}
