// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/infer"
)

// mostStored is the largest number of posterior predictive values that a folder keeps: 40
// MB. For larger models infer.Fit.PosteriorPredictive draws them when they are needed.
const mostStored = 5_000_000

// SaveDraws writes the draws of a fit as one table per chain, with the settings in the
// headers, and all chains together as labelled arrays.
func (f Folder) SaveDraws(fit *infer.Fit, settings map[string]string) error {
	kept := 0
	for c := range fit.Chains() {
		kept += fit.Len(c)
	}
	tree, err := fit.Data(infer.DataSettings{Predictive: fit.Observations()*kept <= mostStored})
	if err != nil {
		return err
	}
	err = zarr.Write(f.Path(DrawsFolder), tree, zarr.Settings{Overwrite: true})
	if foreign := (*zarr.ForeignError)(nil); errors.As(err, &foreign) {
		return foreign
	}
	if err != nil {
		return err
	}
	chains, err := stancsv.Chains(tree)
	if err != nil {
		return err
	}
	for i, c := range chains {
		c.Settings = map[string]string{}
		maps.Copy(c.Settings, settings)
		c.Settings["id"] = strconv.Itoa(i + 1)
		if t := fit.Timing(); len(t) == len(chains) {
			c.Elapsed = &stancsv.Elapsed{Warmup: t[i].Warmup.Seconds(), Sampling: t[i].Sampling.Seconds()}
		}
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			return err
		}
		if err := WriteFile(f.Path(fmt.Sprintf("chain-%d.csv", i+1)), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}
