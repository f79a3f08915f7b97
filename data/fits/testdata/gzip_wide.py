"""Makes gzip_wide.fits: an image of 2 x 3 pixels of 16 bits whose tiles are gzip streams of 32 bits a pixel, as fpack wrote them in 2006.

Made with astropy 7, numpy 2.4.
"""
import gzip

import numpy as np
from astropy.io import fits

rows = [gzip.compress(np.array(r, dtype=">i4").tobytes(), mtime=0) for r in ([1, -2, 300], [4, 5, -32768])]
data = np.empty(2, dtype=object)
data[:] = [np.frombuffer(r, dtype="u1") for r in rows]
h = fits.BinTableHDU.from_columns([fits.Column("COMPRESSED_DATA", "PB()", array=data)], name="COMPRESSED_IMAGE")
h.header.update({"ZIMAGE": True, "ZTILE1": 3, "ZTILE2": 1, "ZCMPTYPE": "GZIP_1", "ZSIMPLE": True, "ZBITPIX": 16, "ZNAXIS": 2, "ZNAXIS1": 3, "ZNAXIS2": 2})
fits.HDUList([fits.PrimaryHDU(), h]).writeto("gzip_wide.fits", overwrite=True)
