// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"fmt"
	"os"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/gpubench"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// learnedDoc is the document of what an experiment speaks for.
type learnedDoc struct {
	Decisions []gpubench.Decision `json:"decisions"`
	Learned   cuda.Learned        `json:"learned"`
	Into      string              `json:"into,omitempty"`
}

// learnGPU prints what an experiment found out, and puts it into a checkout if one is named.
func learnGPU(a *frame.App, how printed) error {
	e, err := gpubench.ReadExperiment(how.learn)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return exit.With(exit.NoInput, err)
	case err != nil:
		return exit.With(exit.Data, err)
	}
	if how.into != "" {
		if err := e.Into(how.into); err != nil {
			return exit.With(exit.CannotWrite, fmt.Errorf("--into %s: %w", how.into, err))
		}
	}
	if a.JSON {
		return a.Document(learnedDoc{e.Decisions(), e.Learned(), how.into})
	}
	_, err = fmt.Fprint(a.Stdout, e)
	return exit.With(exit.CannotWrite, err)
}
