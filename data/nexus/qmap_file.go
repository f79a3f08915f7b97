// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// OpenQMap reads the q map of a q-map file (group /qmap) or of a result file (/xpcs/qmap), with its images of the
// detector.
func OpenQMap(name string) (*QMap, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &loader{file: f}
	if l.find(keyDynamic, false) == "" && l.find(keyDQ, false) == "" {
		l.links(keyDynamic)
		if l.err == nil {
			l.err = &KeyError{File: name, Key: strings.Join(keyDynamic, " or "), What: "it is missing, so the file is neither a q map nor a result: make a q map with euryale qmap"}
		}
	}
	if l.err != nil {
		return nil, l.err
	}
	q := l.qmap(&Result{})
	if l.err != nil {
		return nil, l.err
	}
	if q.Maps, err = readMaps(l); err != nil {
		return nil, err
	}
	return q, nil
}

// WriteQMap makes a q-map file that OpenQMap, h5py, pySimpleMask and the correlators for these files
// read. Maps must be present.
func WriteQMap(name string, q *QMap) error {
	if q.Maps == nil || len(q.Dynamic.Axis0) == 0 {
		return fmt.Errorf("nexus: cannot write the q map: it lacks images of the detector or bins: set Maps and the partitions")
	}
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	saver{Writer: w, alone: true}.qmap(q)
	return w.Close()
}
