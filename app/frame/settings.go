// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/setting"
)

// AddSettings gives a command, such as "fit g2", a flag for each setting of a declaration, which is a pointer to a struct as package
// setting describes it. What has a value already keeps it as its default.
func AddSettings(c *cobra.Command, command string, declared any) {
	for _, s := range setting.Of(declared) {
		if s.Only != nil && !slices.Contains(s.Only, command) {
			continue
		}
		usage := s.About
		if s.Choices != nil && !strings.Contains(usage, s.Choices[0]) { // it does not explain them
			usage += ": " + setting.Listed(s.Choices)
		}
		if s.Unit != "" {
			usage += ", in " + s.Unit
		}
		if form := s.Form(); form != "" {
			usage += ", as `" + form + "`; repeatable"
		}
		if s.Zero != "" && s.IsZero() {
			usage += " (default " + s.Zero + ")"
		}
		if s.Default != "" && s.IsZero() {
			if err := s.Set(s.Default); err != nil {
				panic(err)
			}
		}
		f := c.Flags().VarPF(settingFlag{s}, s.Name, "", usage)
		if s.Kind() == "bool" {
			f.NoOptDefVal = "true"
		}
		if s.Choices != nil {
			CompleteFlag(c, s.Name, slices.Clone(s.Choices))
		}
	}
}

// settingFlag is a setting as the parser of flags takes it.
type settingFlag struct{ setting.Setting }

// Set reads a value. A 0 or an empty text that stands for a default is refused here, where it is known to be given.
func (f settingFlag) Set(text string) error {
	if err := f.Setting.Set(text); err != nil {
		return err
	}
	if f.IsZero() && (f.Zero != "" || f.Choices != nil) { // others are refused with all that is out of range
		if wrong := f.Given(); wrong != "" {
			return &setting.Error{Name: f.Name, Text: wrong}
		}
	}
	return nil
}

// spelled lets the flags of a command be called as setting.Spelled says: --bound a=0:1 is --bounds a=0:1.
func spelled(c *cobra.Command) {
	flags := c.Flags()
	before := flags.GetNormalizeFunc()
	flags.SetNormalizeFunc(func(set *pflag.FlagSet, name string) pflag.NormalizedName {
		return before(set, setting.Spelled(name))
	})
}

// String returns the value for help texts.
func (f settingFlag) String() string {
	if f.Field == "" { // the parser asks a zero value, too
		return ""
	}
	return f.Text()
}

// Type names what follows the flag in help texts.
func (f settingFlag) Type() string { return f.Kind() }

// CheckSettings reports all settings of a declaration that are out of range at once.
func CheckSettings(declared any) error {
	var bad []string
	for _, e := range setting.Mistakes(declared) {
		bad = append(bad, "--"+e.Name+" "+e.Text)
	}
	if bad != nil {
		return exit.Usage("%s", strings.Join(bad, "; "))
	}
	return nil
}

// SettingError gives an error about a setting the exit code of wrong usage, and the name of its flag.
func SettingError(err error) error { return exit.With(exit.WrongUsage, err) }

// SettingOf returns the setting behind a flag, if AddSettings made it.
func SettingOf(f *pflag.Flag) (setting.Setting, bool) {
	s, ok := f.Value.(settingFlag)
	return s.Setting, ok
}
