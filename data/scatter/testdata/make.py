# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Small files of forms that this module does not write: run it in this folder, with numpy, scipy, xarray and tifffile."""
import numpy as np, xarray as xr
c=np.arange(24,dtype=np.int32).reshape(2,3,4)
da=xr.DataArray(c,dims=('energy','pix_y','pix_x'),coords=dict(energy=[280.,285.5],exposure=('energy',[0.5,2.]),pix_y=np.arange(3),pix_x=np.arange(4)),attrs=dict(dist=0.1,pixel1=1e-4,pixel2=1e-4,poni1=1.5e-4,poni2=2e-4,polarization=90.,sample_name='film',config='{"a": [1, 2]}'))
da.to_netcdf('classic.nc',engine='scipy')
import tifffile
tifffile.imwrite('stack.tif',c.astype(np.uint16),photometric='minisblack')
