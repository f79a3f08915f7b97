// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
)

// mergeQMaps joins the q maps of --merge, in their order.
func mergeQMaps(names string) (*nexus.QMap, error) {
	files := strings.Split(names, ",")
	if len(files) < 2 {
		return nil, exit.Usage("--merge %s: want two q maps or more, such as small.hdf,large.hdf", names)
	}
	var all *nexus.QMap
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			return nil, exit.Usage("--merge %s: %s is named twice", names, name)
		}
		q, err := nexus.OpenQMap(strings.TrimSpace(name))
		if err != nil {
			return nil, exit.Input(err)
		}
		if all == nil {
			all = q
			continue
		}
		if all, err = xpcs.Merge(all, q); err != nil {
			return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
		}
	}
	return all, nil
}
