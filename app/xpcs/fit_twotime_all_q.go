// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// ringsDoc is the JSON document of fit twotime --all-q.
type ringsDoc struct {
	Device string          `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine string          `json:"engine"`
	File   string          `json:"file"`
	Fits   []*motionFitDoc `json:"fits"`
	Failed []ringFailedDoc `json:"failed"`
}

// ringFailedDoc is a q whose fit failed.
type ringFailedDoc struct {
	Q       frame.Number `json:"q"`
	Message string       `json:"message"`
}

// ringsOf lists the values of q of the file that arguments and settings name, with its name.
func ringsOf(file string, cfg twotimeRunConfig) (string, []float64, error) {
	file, err := settle(&cfg.Twotime, file)
	if err != nil {
		return "", nil, err
	}
	c, err := configuration(&cfg.Twotime)
	if err != nil {
		return "", nil, err
	}
	if file == "" {
		if file, err = c.Path(c.Data); err != nil {
			return "", nil, exit.Input(err)
		}
	}
	h, err := homodyne.Open(file)
	if err != nil {
		return "", nil, exit.Input(err)
	}
	defer h.Close()
	rings := h.Rings(c.Selection().Tolerance)
	if len(rings) == 0 {
		err = fmt.Errorf("%s has no bin with a known q: fit it with --q", file)
	}
	return file, rings, exit.With(exit.Data, err)
}

// runFitRings fits each q of a file on its own, one after another, from its own starts and from the motion at the q before. In the folder of --out every q has its own folder, and fits.csv has the
// parameters of all.
func runFitRings(ctx context.Context, a *frame.App, file string, cfg twotimeRunConfig) error {
	if cfg.Twotime.Q > 0 {
		return exit.Usage("--all-q and --q: give one of them")
	}
	data, rings, err := ringsOf(file, cfg)
	if err != nil {
		return err
	}
	if isConfiguration(file) {
		cfg.Twotime.Config = file
	}
	all, folders := a.Out, a.Out != "" && !table.Known(a.Out)
	if folders {
		all = filepath.Join(a.Out, frame.FitsFile)
		if err := os.MkdirAll(a.Out, 0o777); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
		err = a.MayWrite(all, "file", a.Overwrite)
	} else {
		_, err = a.OpenOutputs(data)
	}
	if err != nil {
		return err
	}
	doc := ringsDoc{Engine: "twotime", File: data, Fits: []*motionFitDoc{}, Failed: []ringFailedDoc{}}
	lost := frame.LostOf("wavevector", len(rings))
	var fits []any
	var verdict error
	var near []float64 // motion at the last q that was fitted, which is that of the same sample
	for _, q := range rings {
		one := cfg
		one.Twotime.Q = q
		f, d, err := fitOneQ(ctx, a, data, one, near, func() (to frame.Outputs, err error) {
			if folders {
				to.Folder, err = a.MakeRundir(filepath.Join(a.Out, fmt.Sprintf("q%.6g", q)))
			}
			return to, err
		})
		if err != nil {
			if err = fmt.Errorf("q = %.6g: %w", q, err); !lost.Add(a, "", err) {
				return err
			}
			doc.Failed = append(doc.Failed, ringFailedDoc{frame.Number(q), exit.Text(err, nil)})
			continue
		}
		if doc.Device, near = d.Device, f.Theta; !f.Status.Converged() {
			near = nil
		}
		doc.Fits, fits = append(doc.Fits, d), append(fits, d)
		if v := strictlyTwotime(a, f); verdict == nil && v != nil {
			verdict = fmt.Errorf("q = %.6g: %w", q, v)
		}
		if !a.JSON {
			if err := printTwotimeFit(a, f, d); err != nil {
				return err
			}
			say(a, "")
		}
	}
	if all != "" && len(fits) > 0 {
		t, err := frame.ParameterTable(fits...)
		if err == nil {
			err = exit.With(exit.CannotWrite, t.Save(all, a.Overwrite))
		}
		if err != nil {
			return err
		}
		a.Note("wrote %s: %s", all, errtext.Count(len(fits), "fit"))
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return err
		}
	}
	if err := lost.Err("fitted"); err != nil {
		return err
	}
	return exit.With(exit.Failed, errors.Join(verdict))
}
