// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/frame"
)

// What tests outside the package take from it.
const ManifestName = manifestName

type Job = job
type MergeDoc = mergeDoc

var KubernetesName = kubernetesName
var ItemProcess = itemProcess

// JobCommands returns the commands that print the job files of all schedulers.
func JobCommands(a *frame.App) (all []*cobra.Command) {
	for _, s := range schedulers {
		all = append(all, s.command(a))
	}
	return all
}

// JobFiles fills the job files of all schedulers, whose own flags have their defaults.
func JobFiles(j Job) (files []string, err error) {
	for _, s := range schedulers {
		var b strings.Builder
		j.Own, _ = s.add(&cobra.Command{})
		if err := s.file.Execute(&b, &j); err != nil {
			return nil, err
		}
		files = append(files, b.String())
	}
	return files, nil
}
