// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

// key lists the paths of a quantity in a file: the one that boost_corr uses today, then those of
// older programs.
type key []string

var (
	keyStart   = key{"/entry/start_time", "/measurement/instrument/source_begin/datetime"}
	keyFrame   = key{"/entry/instrument/detector_1/frame_time", "/measurement/instrument/detector/exposure_period"}
	keyCount   = key{"/entry/instrument/detector_1/count_time", "/measurement/instrument/detector/exposure_time"}
	keyPixelX  = key{"/entry/instrument/detector_1/x_pixel_size"}
	keyPixelY  = key{"/entry/instrument/detector_1/y_pixel_size"}
	keyEnergy  = key{"/entry/instrument/incident_beam/incident_energy", "/measurement/instrument/source_begin/energy"}
	keyBluesky = key{"/entry/instrument/bluesky/metadata"}
	keyVersion = key{"/xpcs/Version"}

	keyTrace    = key{"/xpcs/spatial_mean/intensity_vs_time", "/exchange/frameSum"}
	keySAXS2D   = key{"/xpcs/temporal_mean/scattering_2d", "/exchange/pixelSum"}
	keySAXS1D   = key{"/xpcs/temporal_mean/scattering_1d", "/exchange/partition-mean-total"}
	keySegments = key{"/xpcs/temporal_mean/scattering_1d_segments", "/exchange/partition-mean-partial"}

	keyTau           = key{"/xpcs/multitau/delay_list", "/exchange/tau"}
	keyG2            = key{"/xpcs/multitau/normalized_g2", "/exchange/norm-0-g2"}
	keyErr           = key{"/xpcs/multitau/normalized_g2_err", "/exchange/norm-0-stderr"}
	keyPartial       = key{"/xpcs/multitau/normalized_g2_partial", "/xpcs/multitau/normalized_g2_segments"}
	keyPartialErr    = key{"/xpcs/multitau/normalized_g2_partial_err", "/xpcs/multitau/normalized_g2_segments_err"}
	keyPartialLabels = key{"/xpcs/multitau/normalized_g2_partial_labels", "/xpcs/multitau/normalized_g2_segments_labels"}
	keyCov           = key{"/xpcs/multitau/normalized_g2_covariance"}
	keySkew          = key{"/xpcs/multitau/normalized_g2_skewness"}
	keyCoincidences  = key{"/xpcs/multitau/expected_coincidences"}
	keyPixels        = key{"/xpcs/multitau/bin_pixels"}
	keyUnnormalized  = key{"/xpcs/multitau/unnormalized_G2"}
	keyStride        = key{"/xpcs/multitau/config/stride_frame", "/xpcs/stride_frames"}
	keyAverage       = key{"/xpcs/multitau/config/avg_frame", "/xpcs/avg_frames"}

	keyMaps       = key{"/xpcs/twotime/correlation_map"}
	keyAges       = key{"/xpcs/twotime/ages"}
	keyTwoG2      = key{"/xpcs/twotime/normalized_g2"}
	keyTwoParts   = key{"/xpcs/twotime/normalized_g2_segments"}
	keyTwoBins    = key{"/xpcs/twotime/processed_bins"}
	keyTwoDelay   = key{"/xpcs/twotime/delay_list"}
	keyTwoStride  = key{"/xpcs/twotime/config/stride_frame"}
	keyTwoAverage = key{"/xpcs/twotime/config/avg_frame"}
	keyTwoSmooth  = key{"/xpcs/twotime/config/smooth"}

	keyMask     = key{"/xpcs/qmap/mask", "/qmap/mask", "/xpcs/mask"}
	keyDynamic  = key{"/xpcs/qmap/dynamic_roi_map", "/qmap/dynamic_roi_map", "/xpcs/dqmap"}
	keyStatic   = key{"/xpcs/qmap/static_roi_map", "/qmap/static_roi_map", "/xpcs/sqmap"}
	keyDQ       = key{"/xpcs/qmap/dynamic_v_list_dim0", "/qmap/dynamic_v_list_dim0", "/xpcs/dqlist"}
	keyDPhi     = key{"/xpcs/qmap/dynamic_v_list_dim1", "/qmap/dynamic_v_list_dim1", "/xpcs/dphilist"}
	keySQ       = key{"/xpcs/qmap/static_v_list_dim0", "/qmap/static_v_list_dim0", "/xpcs/sqlist"}
	keySPhi     = key{"/xpcs/qmap/static_v_list_dim1", "/qmap/static_v_list_dim1", "/xpcs/sphilist"}
	keyDIndex   = key{"/xpcs/qmap/dynamic_index_mapping", "/qmap/dynamic_index_mapping"}
	keyBinQ     = key{"/xpcs/qmap/dynamic_bin_q", "/qmap/dynamic_bin_q"}   // mean of q over the pixels of each dynamic bin: ours alone
	keyBinQ2    = key{"/xpcs/qmap/dynamic_bin_q2", "/qmap/dynamic_bin_q2"} // and of its square
	keySIndex   = key{"/xpcs/qmap/static_index_mapping", "/qmap/static_index_mapping"}
	keyDCount   = key{"/xpcs/qmap/dynamic_num_pts", "/qmap/dynamic_num_pts"}
	keySCount   = key{"/xpcs/qmap/static_num_pts", "/qmap/static_num_pts"}
	keyNames    = key{"/xpcs/qmap/map_names", "/qmap/map_names"}
	keyUnits    = key{"/xpcs/qmap/map_units", "/qmap/map_units"}
	keyBeamX    = key{"/xpcs/qmap/beam_center_x", "/qmap/beam_center_x", "/entry/instrument/detector_1/beam_center_x"}
	keyBeamY    = key{"/xpcs/qmap/beam_center_y", "/qmap/beam_center_y", "/entry/instrument/detector_1/beam_center_y"}
	keyDistance = key{"/xpcs/qmap/detector_distance", "/qmap/detector_distance", "/entry/instrument/detector_1/distance"}
	keyPixel    = key{"/xpcs/qmap/pixel_size", "/qmap/pixel_size", "/entry/instrument/detector_1/x_pixel_size"}
	keyBlemish  = key{"/xpcs/qmap/blemish", "/qmap/blemish"}
	keySource   = key{"/xpcs/qmap/source_file", "/qmap/source_file"}
	keyQEnergy  = key{"/xpcs/qmap/energy", "/qmap/energy", "/entry/instrument/incident_beam/incident_energy"}
)
