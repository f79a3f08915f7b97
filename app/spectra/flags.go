// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// spectraFlags are what the commands for stellar spectra share: the library, the model, and how spectra are
// read. The underscores of rvspecfit are accepted too.
type spectraFlags struct {
	Config string `json:"config,omitempty"`
	fitfile.Request
	Arm      []string `json:"arm,omitempty"`
	Power    float64  `json:"resolving_power,omitempty"`
	Range    string   `json:"range,omitempty"`
	Leave    []string `json:"mask_range,omitempty"`
	Air      bool     `json:"air,omitempty"`
	MaskGood string   `json:"mask_good,omitempty"`
	Vacuum   bool     `json:"vacuum,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	MaskBits int64    `json:"mask_bits,omitempty"`
	Exposure []string `json:"exposure,omitempty"`
	Each     bool     `json:"per_exposure,omitempty"`
	// HalfWeights holds the weights of networks in 16 bits on a GPU.
	HalfWeights bool `json:"half_weights,omitempty"`
}

// defaultFlags are the flags with a configuration file.
func defaultFlags(config string) spectraFlags {
	f := spectraFlags{Config: config}
	if err := setting.Complete(&f.Request); err != nil {
		panic(err)
	}
	return f
}

// underscores lets flags be written with underscores, as rvspecfit does.
func underscores(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

func (f *spectraFlags) add(c *cobra.Command) {
	c.Flags().SetNormalizeFunc(underscores)
	s := c.Flags()
	s.StringVar(&f.Config, "config", "", "configuration file of rvspecfit (default config.yaml, if it exists)")
	frame.AddSettings(c, "", &f.Request)
}

// addPlain adds the flags of spectra that are not DESI's.
func (f *spectraFlags) addPlain(c *cobra.Command) {
	s := c.Flags()
	s.StringSliceVar(&f.Arm, "arm", nil, "arm of the library, one for all files or one per file (default the arm that the file names, or the only one)")
	s.Float64Var(&f.Power, "resolving-power", 0, "resolving power (wavelength/FWHM) to convolve the templates to (default: templates already have the instrument's)")
	s.StringVar(&f.Range, "range", "", "range of wavelengths to use, as FROM:TO in Angstrom (default all that the templates cover)")
	s.StringSliceVar(&f.Leave, "mask-range", nil, "ranges of wavelengths to leave out, such as a telluric band or a line, as FROM:TO in Angstrom; repeat it or separate them by commas")
	s.BoolVar(&f.Air, "air", false, "take wavelengths as measured in air")
	s.StringVar(&f.MaskGood, "mask-good", "", "number with which a mask column marks good pixels, 0 or 1 (default: by its name, or by what it leaves)")
	s.BoolVar(&f.Vacuum, "vacuum", false, "take wavelengths as measured in vacuum, whatever the file says")
	s.StringVar(&f.Unit, "unit", "", "unit of the wavelengths: Angstrom, nm, micron or m (default from the file)")
	s.BoolVar(&f.Each, "per-exposure", false, "fit a separate velocity for each exposure of a star; all other parameters are shared")
	s.StringSliceVar(&f.Exposure, "exposure", nil, "exposure that each file belongs to, for --per-exposure (default: every file is its own)")
	s.Int64Var(&f.MaskBits, "mask-bits", usualMaskBits, "bits of an SDSS mask that mark a pixel as bad; the default is bit 23, BRIGHTSKY")
}

// plain returns the first flag that is given and that files of DESI have no use for, or "".
func (f *spectraFlags) plain() string {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"per-exposure", f.Each}, {"exposure", f.Exposure != nil}, {"arm", f.Arm != nil}, {"resolving-power", f.Power != 0}, {"range", f.Range != ""}, {"mask-range", f.Leave != nil},
		{"unit", f.Unit != ""}, {"air", f.Air}, {"vacuum", f.Vacuum}, {"mask-good", f.MaskGood != ""}, {"mask-bits", f.MaskBits != usualMaskBits && f.MaskBits != 0},
	} {
		if flag.given {
			return flag.name
		}
	}
	return ""
}

// usualMaskBits has bit 23 of the masks of SDSS, BRIGHTSKY.
const usualMaskBits = 1 << 23

// configuration reads the file of --config, or config.yaml if that is there.
func configuration(a *frame.App, f *spectraFlags) (*rvspecfit.Config, error) {
	name := f.Config
	if name == "" && foreign.Exists("config.yaml") {
		name = "config.yaml"
	}
	c := rvspecfit.DefaultConfig()
	if name != "" {
		var err error
		if c, err = rvspecfit.ReadConfig(name); err != nil {
			if e := exit.Input(err); exit.CodeOf(e) == exit.NoInput {
				return nil, e
			}
			return nil, exit.With(exit.Config, err)
		}
		for _, k := range c.Unused {
			a.Note("%s: %s is not a known setting and was ignored", name, k)
		}
	}
	if f.Library != "" {
		c.Library = f.Library
	}
	if f.NoCCF {
		c.Continuum = false
	}
	return c, nil
}

// withWeights returns a backend whose GPUs hold large constant matrices in a type.
func withWeights(b ad.Backend, s ad.Storage) ad.Backend {
	return ad.WithGPUs(b, func(c ad.CUDA) ad.CUDA {
		c.Weights = s
		return c
	})
}

// pipeline resolves the flags.
func pipeline(a *frame.App, f *spectraFlags) (*fitfile.Pipeline, error) {
	c, err := configuration(a, f)
	if err != nil {
		return nil, err
	}
	f.Init = strings.ToLower(f.Init)
	if err := frame.CheckSettings(&f.Request); err != nil {
		return nil, err
	}
	s, err := f.Request.Settings()
	if err != nil {
		return nil, frame.SettingError(err)
	}
	s.Config, s.PerExposure, s.Threads, s.Precision, s.Backend = c, f.Each, a.Threads, a.Precision, a.Backend(1)
	if f.HalfWeights {
		if a.Precision != 32 {
			return nil, exit.Usage("--half-weights needs --precision 32")
		}
		s.Backend = withWeights(s.Backend, ad.Float16)
	}
	if c.Library == "" {
		return nil, &exit.Error{Code: exit.Config, Err: errNoLibrary, Hint: "use --library FOLDER, or template_lib in the file of --config"}
	}
	p, err := fitfile.New(s)
	if err != nil {
		if e := exit.Input(err); exit.CodeOf(e) == exit.NoInput {
			return nil, e
		}
		return nil, exit.With(exit.WrongUsage, err)
	}
	if len(f.Fixed)+len(f.Priors)+len(f.Floor) > 0 { // whose names the library knows
		if _, err := p.Params(); err != nil {
			return nil, exit.Input(err)
		}
	}
	return p, nil
}

// taking returns how the spectra of the i-th of n files are taken.
func (f *spectraFlags) taking(i, n int) (fitfile.Taking, error) {
	t := fitfile.Taking{Power: f.Power}
	switch len(f.Arm) {
	case 0:
	case 1:
		t.Arm = f.Arm[0]
	case n:
		t.Arm = f.Arm[i]
	default:
		return t, exit.Usage("--arm names %s for %s: want one for all files, or one per file", errtext.Count(len(f.Arm), "arm"), errtext.Count(n, "file"))
	}
	if f.Power < 0 || math.IsNaN(f.Power) || math.IsInf(f.Power, 0) {
		return t, exit.Usage("--resolving-power %g: want a number above 0", f.Power)
	}
	if f.Range != "" {
		var err error
		if t.Within, err = wavelengths("range", f.Range); err != nil {
			return t, err
		}
	}
	for _, text := range f.Leave {
		r, err := wavelengths("mask-range", text)
		if err != nil {
			return t, err
		}
		t.Without = append(t.Without, r)
	}
	return t, nil
}

// wavelengths reads FROM:TO.
func wavelengths(flag, text string) (r fitfile.Range, err error) {
	lo, hi, _ := strings.Cut(text, ":")
	from, err1 := strconv.ParseFloat(strings.TrimSpace(lo), 64)
	to, err2 := strconv.ParseFloat(strings.TrimSpace(hi), 64)
	if err1 == nil && err2 == nil && from > to {
		return r, exit.Usage("--%s %q: FROM is above TO: write %s:%s", flag, text, strings.TrimSpace(hi), strings.TrimSpace(lo))
	}
	if err1 != nil || err2 != nil || !(from > 0 && from < to) || math.IsInf(to, 0) {
		return r, exit.Usage("--%s %q: want FROM:TO in Angstrom, such as 3600:5800", flag, text)
	}
	return fitfile.Range{From: from, To: to}, nil
}

// exposure returns the label of the i-th of n files.
func (f *spectraFlags) exposure(i int, names []string) (string, error) {
	switch len(f.Exposure) {
	case 0:
		return names[i], nil
	case len(names):
		return f.Exposure[i], nil
	}
	return "", exit.Usage("--exposure names %s for %s: want one per file", errtext.Count(len(f.Exposure), "exposure"), errtext.Count(len(names), "file"))
}

// units returns what the flags say about wavelengths.
func (f *spectraFlags) units() (survey.Units, error) {
	if f.Air && f.Vacuum {
		return survey.Units{}, exit.Usage("--air and --vacuum contradict each other: use one of them")
	}
	if f.MaskGood != "" && f.MaskGood != "0" && f.MaskGood != "1" {
		return survey.Units{}, exit.Usage("--mask-good %q: want 0 or 1, the number with which the mask marks good pixels", f.MaskGood)
	}
	return survey.Units{Wave: f.Unit, Air: f.Air, Vacuum: f.Vacuum, GoodMask: f.MaskGood}, nil
}
