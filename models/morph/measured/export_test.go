// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// Refitted predicts a block by draws about a fit without it; nil if that cannot be done.
func (t *Task) Refitted(fit *infer.Fit, e diag.ELPD, block int) (*diag.PointELPD, error) {
	r, err := t.newRefitter(fit, e)
	if err != nil || r == nil {
		return nil, err
	}
	return r.predict(block, e.Points[block].LPPD)
}

// DefectAt returns the kind and the words of the defect of the data that is named at the start; empty if there is none.
func (t *Task) DefectAt() (kind, words string, err error) {
	if err := t.prepare(); err != nil {
		return "", "", err
	}
	d, err := t.defect(&Solution{X: t.starts()})
	if d == nil || err != nil {
		return "", "", err
	}
	return d.flag.Kind, d.flag.String(), nil
}

// Looked returns the kinds of effects that a verdict looks for at the start.
func (t *Task) Looked() (kinds []string, err error) {
	_, list, err := t.inspect(&Solution{X: t.starts()})
	for _, l := range list {
		kinds = append(kinds, l.kind)
	}
	return kinds, err
}

// FewAt returns the finding that few pixels make the noise at the start; empty if there is none.
func (t *Task) FewAt() (kind, words string, err error) {
	if err := t.prepare(); err != nil {
		return "", "", err
	}
	c, _, err := t.inspect(&Solution{X: t.starts()})
	if err != nil {
		return "", "", err
	}
	if c.mean, err = c.means("", 0); err != nil {
		return "", "", err
	}
	f, _ := c.fewPixels()
	return f.Kind, f.Text, nil
}
