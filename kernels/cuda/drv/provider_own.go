//go:build !cu || !cgo

package drv

// Find opens the driver; see Open.
func Find() (Provider, error) {
	d, err := Open()
	if err != nil {
		return nil, err
	}
	return d, nil
}
