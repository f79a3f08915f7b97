//go:build slow

package autodiff_test

import (
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

func TestManyGraphsOnDevice(t *testing.T) {
	pretend.Shared(t)
	graphsOnDevice(t, 50, 10)
}
