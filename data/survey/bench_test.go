// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
)

// large writes a coadd of the size of DESI's: 500 fibers, 2751, 2326 and 2881 pixels, 11 diagonals.
func large(b testing.TB, name string) {
	w := must[*fits.Writer](b)(fits.Create(name))
	defer w.Discard()
	n := 500
	ids, status, types := make([]int64, n), make([]int32, n), make([]string, n)
	for i := range ids {
		ids[i], types[i] = int64(i), "TGT"
	}
	w.Table("FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "COADD_FIBERSTATUS", Values: status}, {Name: "OBJTYPE", Values: types}})
	r := rand.New(rand.NewPCG(1, 2))
	for arm, c := range map[string][2]float64{"B": {3600, 2751}, "R": {5760, 2326}, "Z": {7520, 2881}} {
		pix := int(c[1])
		wave := make([]float64, pix)
		for i := range wave {
			wave[i] = c[0] + 0.8*float64(i)
		}
		flux := make([]float32, n*pix)
		for i := range flux {
			flux[i] = 1 + r.Float32()
		}
		w.Image(arm+"_WAVELENGTH", nil, []int{pix}, wave)
		w.Image(arm+"_FLUX", nil, []int{n, pix}, flux)
		w.Image(arm+"_IVAR", nil, []int{n, pix}, flux)
		w.Image(arm+"_MASK", nil, []int{n, pix}, make([]int32, n*pix))
		s := w.Stream(arm+"_RESOLUTION", nil, []int{n, 11, pix})
		for i := range n {
			s.Write(flux[i*pix : i*pix+pix])
			s.Write(make([]float32, 10*pix))
		}
		s.Close()
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkCoaddOf500Fibers(b *testing.B) {
	for _, ext := range []string{".fits", ".fits.gz"} {
		name := filepath.Join(b.TempDir(), "coadd-large"+ext)
		large(b, name)
		b.Run("write"+ext, func(b *testing.B) {
			for range b.N {
				large(b, name)
			}
			info := must[os.FileInfo](b)(os.Stat(name))
			b.ReportMetric(float64(info.Size())*float64(b.N)/b.Elapsed().Seconds()/1e6, "MB/s")
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
		for _, resolution := range []bool{false, true} {
			b.Run(fmt.Sprintf("read%s/resolution=%v", ext, resolution), func(b *testing.B) {
				var most uint64
				for range b.N {
					d := must[*DESI](b)(OpenDESI(name))
					must[*Chosen](b)(d.Select(Selection{}))
					for row := range d.TargetID {
						must[[]*Arm](b)(d.Fiber(row, d.Arms, resolution))
						if row%100 == 0 {
							var m runtime.MemStats
							runtime.ReadMemStats(&m)
							most = max(most, m.HeapInuse)
						}
					}
					d.Close()
				}
				b.ReportMetric(500*float64(b.N)/b.Elapsed().Seconds(), "fibers/s")
				b.ReportMetric(float64(most)/1e6, "heap-MB")
			})
		}
		if strings.HasSuffix(ext, ".fits") {
			b.Run("verify", func(b *testing.B) {
				for range b.N {
					f := must[*fits.File](b)(fits.Open(name))
					if err := f.Verify(); err != nil {
						b.Fatal(err)
					}
					f.Close()
				}
			})
		}
	}
}
