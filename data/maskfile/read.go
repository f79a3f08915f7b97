package maskfile

import (
	"bufio"
	"fmt"
	"io"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Read reads the mask of a file, for the detector of the settings.
func Read(name string, s Settings) (*Mask, error) {
	k, err := kind(name)
	if err != nil {
		return nil, err
	}
	var m *Mask
	switch k {
	case "hdf5":
		m, err = readHDF5(name, s)
	case "json", "text":
		m, err = s.fromList(name)
	default:
		m, err = readFlat(name, k, s)
	}
	if err == nil {
		m, err = s.fit(m)
	}
	if err != nil {
		return nil, fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return m, nil
}

// readFlat reads a picture or an array.
func readFlat(name, kind string, s Settings) (*Mask, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if kind == "npy" {
		return readNPY(f, s)
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readTIFF(f, st.Size(), s)
}

func readNPY(r io.Reader, s Settings) (*Mask, error) {
	x, err := tensor.ReadNPY(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	shape := x.Shape()
	if len(shape) != 2 {
		return nil, fmt.Errorf("an array of %d axes: want 2, rows and columns", len(shape))
	}
	if err := s.shape(shape[0], shape[1]); err != nil {
		return nil, err
	}
	return above(x.Float64s(), shape[0], shape[1]), nil
}

// usual are the places of masks in HDF5 files.
var usual = []string{"/mask", "/data/mask", "/qmap/mask", "/xpcs/qmap/mask"}

func readHDF5(name string, s Settings) (*Mask, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fromHDF5(f, s)
}

func fromHDF5(f *hdf5.File, s Settings) (*Mask, error) {
	key, err := s.key(f)
	if err != nil {
		return nil, err
	}
	d, err := f.Dataset(key)
	if err != nil {
		return nil, err
	}
	shape := d.Shape()
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 {
		return nil, fmt.Errorf("the dataset %s has the shape %v: want rows and columns", key, d.Shape())
	}
	if err := s.shape(shape[0], shape[1]); err != nil {
		return nil, fmt.Errorf("the dataset %s has %w", key, err)
	}
	if d.Type().Class == hdf5.Enum { // truth values
		keep, err := d.Bools()
		return &Mask{shape[0], shape[1], keep}, err
	}
	v, err := d.Float64s()
	if err != nil {
		return nil, err
	}
	return above(v, shape[0], shape[1]), nil
}

// key returns the path of the mask.
func (s Settings) key(f *hdf5.File) (string, error) {
	if s.Key != "" {
		return s.Key, nil
	}
	for _, key := range usual {
		if f.Has(key) {
			return key, nil
		}
	}
	return onlyImage(f, fmt.Sprintf("none of %q is there, and ", usual))
}

// onlyImage returns the path of the only dataset of two axes; an error begins with the given words.
func onlyImage(f *hdf5.File, because string) (string, error) {
	var found []string
	err := f.Walk(func(path string, group bool) error {
		if group {
			return nil
		}
		if d, err := f.Dataset(path); err == nil && len(d.Shape()) == 2 {
			found = append(found, path)
		}
		return nil
	})
	if len(found) == 1 {
		return found[0], nil
	}
	if err != nil {
		return "", err
	}
	const most = 5
	return "", fmt.Errorf("%s%d datasets have two axes, such as %q: name one; see Settings.Key", because, len(found), found[:min(len(found), most)])
}
