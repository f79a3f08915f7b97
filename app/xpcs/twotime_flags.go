// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// isConfiguration reports whether a file is a configuration by its name.
func isConfiguration(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// settle takes the configuration's text into what config.json holds. A file that is a configuration by its name is one.
func settle(r *motion.Request, file string) (data string, err error) {
	if isConfiguration(file) {
		if r.Config != "" {
			return "", exit.Usage("%s and --config %s are both configurations: name one of them and the file of correlations", file, r.Config)
		}
		r.Config, file = file, ""
	}
	if r.Config == "" {
		return file, nil
	}
	text, err := foreign.ReadFile(r.Config, ".yaml", ".yml", ".json")
	if err != nil {
		return "", exit.Input(err)
	}
	r.Text, r.Config = string(text), frame.Absolute(r.Config)
	return file, nil
}

// configuration returns the configuration with the flags in it.
func configuration(r *motion.Request) (*homodyne.Config, error) {
	c, err := r.Configuration()
	return c, requestError(err)
}

// requestError gives an error about a setting the exit code of wrong usage, and others that of a configuration.
func requestError(err error) error {
	if errors.As(err, new(*setting.Error)) {
		return frame.SettingError(err)
	}
	return exit.With(exit.Config, err)
}

// joined lists texts.
func joined(list []string) string { return strings.Join(list, ", ") }

// valuesText lists parameters with their values.
func valuesText(names []string, x map[string]frame.Number) string {
	var all []string
	for _, n := range names {
		if v, ok := x[n]; ok {
			all = append(all, fmt.Sprintf("%s %.5g", n, float64(v)))
		}
	}
	return joined(all)
}
