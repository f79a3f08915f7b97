# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0

# Made from the commands of the program by go run ./internal/python commands.

"""A function for each command of the program, with its flags as keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from .program import Common, Data, Text, call
from .results import Fit, Posterior, Result, Run

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "average", "batch", "batch_k8s", "batch_merge", "batch_retry", "batch_run", "batch_sbatch",
    "batch_status", "bench_gpu", "build_catalogue", "build_convert", "build_library", "compare",
    "convert", "correlate", "demo_assembly", "demo_g2", "demo_rsoxs", "demo_spectrum",
    "demo_twotime", "demo_xpcs", "diagnose", "fit_curve", "fit_g2", "fit_geometry", "fit_nlsq",
    "fit_spectra", "fit_stan", "fit_twotime", "info", "invert_rsoxs", "loo", "mask", "plot",
    "plot_experiment", "plot_figure", "plot_frames", "plot_g2", "plot_image", "plot_intensity",
    "plot_library", "plot_mask", "plot_measured", "plot_morphology", "plot_overlap", "plot_pattern",
    "plot_qmap", "plot_raster", "plot_saxs", "plot_script", "plot_spectrum", "plot_stability",
    "plot_support", "plot_table", "plot_twotime", "plot_volume", "plot_weights", "qmap",
    "reduce_ages", "reduce_intensity", "reduce_nexafs", "reduce_rsoxs", "reduce_saxs",
    "sample_assembly", "sample_curve", "sample_expr", "sample_g2", "sample_spectrum", "sample_stan",
    "sample_twotime", "sbc", "sim_assembly", "sim_rsoxs", "sim_twotime", "summary",
    "train_connectome", "train_spectrum", "view",
]

REPEATED = {
    "compare", "contour", "correlation-xy", "data", "derived", "exclude", "extra-params", "file",
    "from", "input-files", "list", "param", "range", "ring", "sector", "sigma-x", "tie",
}
"""Flags of which each value stands alone; those of others are joined by commas."""


def average(
    result: Data | Sequence[Data],
    output: Text,
    *,
    all: bool = False,
    bin: int | None = None,
    customary_errors: bool = False,
    high: float | None = None,
    low: float | None = None,
    non_zero: bool = False,
    pixels: bool = False,
    qmap: Text | None = None,
    window: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Average repeated measurements, or regroup pixels with another q map.

    Parameters
    ----------
    all : bool
        Average all repeats, good or not.
    bin : int
        Bin whose g2 decides whether a repeat is good (default 1).
    customary_errors : bool
        Divide the mean error by the square root of the number of repeats, as viewers do (default: root
        of the summed squares of the errors, divided by the number of repeats).
    high : float
        Largest mean of a good repeat (default 1.05).
    low : float
        Smallest mean of a good repeat (default 0.95).
    non_zero : bool
        With `pixels`, leave correlations that are 0 in a repeat out of the mean.
    pixels : bool
        Also average the correlations of single pixels.
    qmap : Text
        Group the pixels into the bins of this q map (needs `pixels`).
    window : int
        Number of longest delays over which g2 of `bin` is averaged (default 10).

    ``euryale.help("average")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "average", ["result", "output"], locals())


def batch(
    config: Data,
    **common: Unpack[Common],
) -> Result:
    """Do the same work on many items, on one machine or a cluster.

    ``euryale.help("batch")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch", ["config"], locals())


def batch_k8s(
    folder: Data,
    *,
    claim: Text | None = None,
    cpus: int | None = None,
    gpus: int | None = None,
    image: Text | None = None,
    limit: int | None = None,
    memory: Text | None = None,
    name: Text | None = None,
    path: Text | None = None,
    shards: int | None = None,
    time: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Print a Kubernetes job for a batch.

    Parameters
    ----------
    claim : Text
        Name of the PersistentVolumeClaim (default work).
    cpus : int
        CPUs per task (default 4).
    gpus : int
        GPUs per task (default 1 if the batch has device: cuda, otherwise none).
    image : Text
        Container image (default euryale:latest).
    limit : int
        Largest number of tasks that run at the same time (default all).
    memory : Text
        Memory per task (default 4G).
    name : Text
        Name of the job (default the name of the folder).
    path : Text
        Folder where the volume is mounted; required, and not /.
    shards : int
        Number of tasks that share the items; at most as many as the batch has blocks (default 16).
    time : Text
        Time limit per task (default 4h).

    ``euryale.help("batch k8s")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch k8s", ["folder"], locals())


def batch_merge(
    folder: Data,
    **common: Unpack[Common],
) -> Result:
    """Merge the results of all shards of a batch.

    ``euryale.help("batch merge")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch merge", ["folder"], locals())


def batch_retry(
    folder: Data,
    **common: Unpack[Common],
) -> Result:
    """Clear the failures of a batch so that batch run tries them again.

    ``euryale.help("batch retry")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch retry", ["folder"], locals())


def batch_run(
    folder: Data,
    *,
    shard: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Work on the items of a batch.

    Parameters
    ----------
    shard : Text
        Part of the items (shard) to work on: I/N, with I counted from 0 (default: the launcher's shard,
        or all items).

    ``euryale.help("batch run")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch run", ["folder"], locals())


def batch_sbatch(
    folder: Data,
    *,
    account: Text | None = None,
    cpus: int | None = None,
    gpus: int | None = None,
    limit: int | None = None,
    memory: Text | None = None,
    name: Text | None = None,
    partition: Text | None = None,
    shards: int | None = None,
    time: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Print a Slurm job script for a batch.

    Parameters
    ----------
    account : Text
        Account to charge.
    cpus : int
        CPUs per task (default 4).
    gpus : int
        GPUs per task (default 1 if the batch has device: cuda, otherwise none).
    limit : int
        Largest number of tasks that run at the same time (default all).
    memory : Text
        Memory per task (default 4G).
    name : Text
        Name of the job (default the name of the folder).
    partition : Text
        Partition of the cluster to submit to.
    shards : int
        Number of tasks that share the items; at most as many as the batch has blocks (default 16).
    time : Text
        Time limit per task (default 4h).

    ``euryale.help("batch sbatch")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch sbatch", ["folder"], locals())


def batch_status(
    folder: Data,
    *,
    this_shard: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Show the progress of a batch.

    Parameters
    ----------
    this_shard : bool
        Report only on the shard that the launcher assigned to this task.

    ``euryale.help("batch status")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "batch status", ["folder"], locals())


def bench_gpu(
    *,
    card: Text | None = None,
    csv: bool = False,
    explain: bool = False,
    into: Text | None = None,
    learn: Text | None = None,
    only: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Measure operations on a GPU against the limits of the hardware.

    Parameters
    ----------
    card : Text
        Card NAME whose times `explain` expects, without measuring: H100, H200, A100, L4 (default the
        GPU, which is measured too, or H100 if there is none).
    csv : bool
        Print the table as CSV.
    explain : bool
        List the kernels of each operation with the time that a model expects of them.
    into : Text
        Root folder of a CHECKOUT of the source, where the file of `learn` updates docs/GPU.md and the
        defaults of cards.
    learn : Text
        FILE.json that scripts/gpu.sh experiment wrote, whose tables are printed.
    only : Text
        Measure only operations whose name contains this text.

    ``euryale.help("bench gpu")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "bench gpu", [], locals())


def build_catalogue(
    dir: Data,
    output: Text,
    *,
    extra_params: Text | Sequence[Text] | None = None,
    mask: Text | None = None,
    param: Text | Sequence[Text] | None = None,
    pattern: Text | None = None,
    skip_bad: bool = False,
    update: bool = False,
    **common: Unpack[Common],
) -> Result:
    """List the spectra of a model grid and their parameters.

    Parameters
    ----------
    extra_params : Text | Sequence[Text]
        Additional parameter and its header keyword, as name:KEY; repeatable.
    mask : Text
        CSV table of spectra to leave out, with columns filename, NAME_min and NAME_max.
    param : Text | Sequence[Text]
        Parameter and its header keyword, as name:KEY; repeatable (default the keywords of PHOENIX).
    pattern : Text
        Pattern of the file names, such as 'lte*.fits' (default *.fits and *.fits.gz except WAVE_*).
    skip_bad : bool
        Skip files whose headers lack a parameter.
    update : bool
        Add new files to an existing table OUT.csv.

    ``euryale.help("build catalogue")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "build catalogue", ["dir", "output"], locals())


def build_convert(
    library: Data,
    output: Text,
    *,
    setup: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Convert a library to one file or to a folder for rvspecfit.

    Parameters
    ----------
    setup : Text | Sequence[Text]
        Arms (channels of the spectrograph, such as desi_b; setups in rvspecfit) to write (default all).

    ``euryale.help("build convert")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "build convert", ["library", "output"], locals())


def build_library(
    catalogue: Data,
    output: Text,
    *,
    air: bool = False,
    ccf_every: int | None = None,
    ccf_step: float | None = None,
    ccf_vsinis: float | Sequence[float] | None = None,
    dir: Text | None = None,
    fill: bool = False,
    fixed_fwhm: bool = False,
    float_bits: int | None = None,
    interpolation: Text | None = None,
    lambda0: float | None = None,
    lambda1: float | None = None,
    linear: bool = False,
    matrices: bool = False,
    no_ccf: bool = False,
    normalise: Text | None = None,
    resolution: Text | None = None,
    resolution0: float | None = None,
    revision: Text | None = None,
    setup: Text | Sequence[Text] | None = None,
    skip_bad: bool = False,
    skipexisting: bool = False,
    step: float | None = None,
    wave_file: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Prepare a library of template spectra for an instrument.

    Parameters
    ----------
    air : bool
        Give the templates wavelengths in air.
    ccf_every : int
        Make a cross-correlation template from every n-th spectrum (default 30).
    ccf_step : float
        Pixel width of the cross-correlation templates, in Angstrom (default that of the library).
    ccf_vsinis : float | Sequence[float]
        Rotational velocities of the cross-correlation templates, in km/s (default 0,300).
    dir : Text
        Folder that holds the spectra (default the working directory).
    fill : bool
        Compute missing nodes of a grid from their neighbours.
    fixed_fwhm : bool
        Use the FWHM that `resolution` gives in the middle of the arm for the whole arm.
    float_bits : int
        Floating-point precision of the library in bits, 32 or 64 (default 32).
    interpolation : Text
        Method of interpolation: grid, triangulation, or templates for none (default grid).
    lambda0 : float
        First wavelength of an arm that is not DESI's, in Angstrom.
    lambda1 : float
        Last wavelength of an arm that is not DESI's, in Angstrom.
    linear : bool
        Use pixels of equal width (default: equal steps in the logarithm, which rotation needs).
    matrices : bool
        Prepare DESI's arms for spectra that come with resolution matrices.
    no_ccf : bool
        Make no cross-correlation templates.
    normalise : Text
        Normalisation of the spectra: linear_continuum, median or none (default linear_continuum).
    resolution : Text
        Resolving power of an arm that is not DESI's: a number, or a formula of the wavelength x such as
        x/1.55.
    resolution0 : float
        Resolving power of the input spectra (default 100000).
    revision : Text
        Revision to record in the library.
    setup : Text | Sequence[Text]
        Arms of the instrument (default [desi_b,desi_r,desi_z]).
    skip_bad : bool
        Skip spectra that cannot be used.
    skipexisting : bool
        Skip arms whose files are already in the folder OUT.
    step : float
        Pixel width of an arm that is not DESI's, in Angstrom.
    wave_file : Text
        File with the wavelengths of all spectra, in the folder of `dir` or elsewhere (default:
        wavelengths are in the headers).

    ``euryale.help("build library")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "build library", ["catalogue", "output"], locals())


def compare(
    run: Data | Sequence[Data],
    *,
    names: Text | Sequence[Text] | None = None,
    var: Text | None = None,
    waic: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Rank models of the same data by how well they predict it.

    Parameters
    ----------
    names : Text | Sequence[Text]
        Names of the models, in order (default: from the file names).
    var : Text
        Observed variable to use (default the only one).
    waic : bool
        Use WAIC, which cannot tell when it fails, instead of PSIS-LOO.

    ``euryale.help("compare")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "compare", ["run"], locals())


def convert(
    run: Data | Sequence[Data],
    output: Text,
    *,
    compress: int | None = None,
    no_covariance: bool = False,
    to: Text | None = None,
    twotime: bool = False,
    zarr_format: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Convert draws or correlations to another format: Zarr, netCDF, CSV, ...

    Parameters
    ----------
    compress : int
        Compression level for zarr and netcdf, from 0 (none, the default) to 9 (smallest file).
    no_covariance : bool
        Leave the covariance, which takes many columns, out of the CSV file of a result.
    to : Text
        Output format: zarr, netcdf, json, csv or arrow, or npz for correlations (default: from the
        extension of OUT).
    twotime : bool
        Include the two-time correlation of a result file.
    zarr_format : int
        Version of the Zarr format: 2, which all programs read, or 3, which zarr-python 2 does not
        (default 2).

    ``euryale.help("convert")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "convert", ["run", "output"], locals())


def correlate(
    frames: Data | Sequence[Data],
    *,
    average_frames: int | None = None,
    begin: int | None = None,
    bins: Text | None = None,
    correlation: Literal["multitau", "twotime", "both"] | None = None,
    dataset: Text | None = None,
    end: int | None = None,
    format: Text | None = None,
    frame_time: Text | float | None = None,
    high: float | None = None,
    idle: Text | float | None = None,
    low: float | None = None,
    max_memory: int | None = None,
    max_pixels: int | None = None,
    metadata: Text | None = None,
    no_age_errors: bool = False,
    no_normalize: bool = False,
    offset_bytes: int | None = None,
    parts: int | None = None,
    prefix: Text | None = None,
    qmap: Text | None = None,
    report: bool = False,
    save_pixels: bool = False,
    shape: Text | None = None,
    skip: Text | None = None,
    smooth: Literal["static", "dynamic"] | None = None,
    stride: int | None = None,
    suffix: Text | None = None,
    type: Text | None = None,
    watch: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Correlate the frames of a detector.

    Parameters
    ----------
    average_frames : int
        Number of frames to average into one (default 1).
    begin : int
        First frame to use, counted from 0.
    bins : Text
        Bins to compute the two-time correlation of, such as 1,2,5-7 (default all).
    correlation : Literal["multitau", "twotime", "both"]
        Kind of correlation: multitau, twotime or both (default multitau).
    dataset : Text
        Path of the frames in HDF5 files (default: the usual places).
    end : int
        Frame after the last one to use; negative numbers count from the end (default all).
    format : Text
        Format of the frames: hdf5, imm, npy, pictures, raw or rigaku (default: detected from the file).
    frame_time : Text | float
        Time between frames, in s or with a unit such as ms or us (default from the metadata).
    high : float
        Largest mean intensity of a good frame, in counts per pixel (default no limit).
    idle : Text | float
        Stop watching after this long without a new file (default never).
    low : float
        Smallest mean intensity of a good frame, in counts per pixel.
    max_memory : int
        Memory for sums, in MiB; movies that need more are read several times (default 2048).
    max_pixels : int
        Largest number of pixels of a frame or an image, which guards against damaged files (default
        67108864).
    metadata : Text
        HDF5 file with the times and the geometry (default the file of the frames and NAME_metadata.hdf
        beside it).
    no_age_errors : bool
        Do not store what reduce ages needs for its errors, about 1 MB per bin of a two-time
        correlation.
    no_normalize : bool
        Do not divide each frame by its mean over the bins.
    offset_bytes : int
        Number of bytes before the first frame of a raw file.
    parts : int
        Also compute g2 of the first part of the frames, for this many parts, to show whether g2 is
        stable.
    prefix : Text
        Text to put before the names of the results.
    qmap : Text
        Q-map file, or a result file that contains a q map (required).
    report : bool
        Write a report with pictures, NAME_report, beside each result.
    save_pixels : bool
        Also keep the correlation of every pixel, so that it can be regrouped with other q maps.
    shape : Text
        Size of a frame as rows x columns, such as 512x1024; for raw and rigaku.
    skip : Text
        Frames to treat as bad, counted from 0, such as 10,200-210.
    smooth : Literal["static", "dynamic"]
        Bins over which frames are averaged to normalise the two-time correlation: static or dynamic
        (default static).
    stride : int
        Use every n-th frame (default 1).
    suffix : Text
        Text to put after the names of the results, before _results.hdf.
    type : Text
        Number type of raw files, such as <u2, >u4 or f4 (default <u2).
    watch : Text
        Watch this folder and correlate its files as they arrive.

    ``euryale.help("correlate")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "correlate", ["frames"], locals())


def demo_assembly(
    **common: Unpack[Common],
) -> Result:
    """Form, associate and complete assemblies of neurons.

    ``euryale.help("demo assembly")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo assembly", [], locals())


def demo_g2(
    **common: Unpack[Common],
) -> Result:
    """Fit every bin of a result file and sample two of them.

    ``euryale.help("demo g2")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo g2", [], locals())


def demo_rsoxs(
    *,
    data: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Simulate a particle's scattering and recover it.

    Parameters
    ----------
    data : bool
        Only make the data.

    ``euryale.help("demo rsoxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo rsoxs", [], locals())


def demo_spectrum(
    *,
    data: bool = False,
    fibers: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Fit a file of stellar spectra and sample one star.

    Parameters
    ----------
    data : bool
        Only make the data.
    fibers : int
        Number of fibers in the file (default 20).

    ``euryale.help("demo spectrum")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo spectrum", [], locals())


def demo_twotime(
    *,
    data: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Simulate, fit and sample the motion of a sheared sample.

    Parameters
    ----------
    data : bool
        Only make the correlations and the configuration.

    ``euryale.help("demo twotime")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo twotime", [], locals())


def demo_xpcs(
    *,
    data: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Simulate, correlate, fit and sample the frames of a detector.

    Parameters
    ----------
    data : bool
        Only make the frames and the q map.

    ``euryale.help("demo xpcs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "demo xpcs", [], locals())


def diagnose(
    run: Data | Sequence[Data],
    **common: Unpack[Common],
) -> Result:
    """Check whether draws can be trusted, and say what to do if not.

    ``euryale.help("diagnose")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "diagnose", ["run"], locals())


def fit_curve(
    data: Data | Sequence[Data],
    formula: Data,
    *,
    ar1: Text | None = None,
    bootstrap: int | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    by: Text | None = None,
    choose: Text | None = None,
    compare: Text | Sequence[Text] | None = None,
    contour: Text | Sequence[Text] | None = None,
    conventions: bool = False,
    correlation_xy: Text | Sequence[Text] | None = None,
    correlations: bool = False,
    cov: Text | None = None,
    derived: Text | Sequence[Text] | None = None,
    evidence: bool = False,
    exclude: Text | Sequence[Text] | None = None,
    f_scale: float | None = None,
    fixed: Mapping[str, float] | None = None,
    implicit: bool = False,
    limits: bool = False,
    loss: Literal["linear", "soft_l1", "huber", "cauchy", "arctan"] | None = None,
    offset_error: Text | None = None,
    prior: Mapping[str, str] | None = None,
    profile: bool = False,
    range: Text | Sequence[Text] | None = None,
    relative_sigma: bool = False,
    resample: Text | None = None,
    scale_error: Text | None = None,
    sheet: Text | None = None,
    sigma: Text | None = None,
    sigma_x: Text | Sequence[Text] | None = None,
    start: Mapping[str, float] | None = None,
    starts: int | None = None,
    tie: Text | Sequence[Text] | None = None,
    y: Text | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Fit a formula to a table by least squares.

    Parameters
    ----------
    ar1 : Text
        Correlation of the errors of neighbouring rows, such as 0.6, auto, or "0.6 over run".
    bootstrap : int
        Number of resampled data sets to fit, such as 1000 (default none).
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter, which truncate its prior.
    by : Text
        Column by whose values the rows are fitted one group after another.
    choose : Text
        Values at which to hold a parameter, of which the best is taken, such as n=1:5 for whole
        numbers, or n=0.5,1,2.
    compare : Text | Sequence[Text]
        Another formula to compare; may be repeated.
    contour : Text | Sequence[Text]
        Pair of parameters, such as a,tau, or all; may be repeated.
    conventions : bool
        Print the errors as SciPy, lmfit and ROOT would.
    correlation_xy : Text | Sequence[Text]
        Correlation of the errors of a column of `sigma_x` with those of y in the same row: a column or
        a number, such as x=0.3; may be repeated.
    correlations : bool
        Print the correlations of the parameters.
    cov : Text
        File with the covariance matrix of y: text or NumPy.
    derived : Text | Sequence[Text]
        Quantity derived from parameters, such as ratio=a/b; may be repeated.
    evidence : bool
        With `compare` or `choose`: take the formula or the value with the largest evidence, the
        probability of the data under the model and its priors, which all parameters need (`prior`, or
        `bounds` with two ends).
    exclude : Text | Sequence[Text]
        Rows to leave out, such as x=4.2:4.5; may be repeated.
    f_scale : float
        Residual from which a robust loss weighs less, in standard deviations (default 1).
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    implicit : bool
        The formula is 0 at the true values of its columns, which have `sigma_x`.
    limits : bool
        Compute one-sided limits of 95 % from profiles.
    loss : Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
        Loss of the residuals: linear, soft_l1, huber, cauchy or arctan (default linear).
    offset_error : Text
        Standard deviation of an offset that all rows share, such as 0.1, or "0.1 over run".
    prior : Mapping[str, str]
        Prior of a parameter, such as tau=lognormal(1,1); in fit curve a penalty, normal or lognormal.
    profile : bool
        Compute intervals of 68 and 95 % from profiles.
    range : Text | Sequence[Text]
        Rows to keep, such as x=0:10; may be repeated.
    relative_sigma : bool
        Take errors of y only as weights, and scale errors so that chi2/dof is 1.
    resample : Text
        What the bootstrap draws: cases or residuals (default cases).
    scale_error : Text
        Standard deviation of a factor that all rows share, such as 2%, or "2% over run".
    sheet : Text
        Sheet of a workbook, by name or number, or path in an HDF5 file (default the first table).
    sigma : Text
        Standard errors of y: a column, a number, a share such as 5%, or poisson for counts (default a
        column called sigma, err, error or dy, or after y, such as k_err for k).
    sigma_x : Text | Sequence[Text]
        Errors of a column of the formula, such as t=dt, t=0.1 or t=5%; may be repeated.
    start : Mapping[str, float]
        Starting value of a parameter; found from the data if none is given.
    starts : int
        Number of starts from which to fit for a report of all minima, such as 50 (default none).
    tie : Text | Sequence[Text]
        Parameter that follows from others, such as b=2*a; may be repeated.
    y : Text
        Column, or formula of columns, that the formula describes (default y, or the last column that
        neither the formula uses nor holds errors by its name).

    ``euryale.help("fit curve")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit curve", ["data", "formula"], locals())


def fit_g2(
    file: Data | Sequence[Data],
    *,
    bins: Text | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    drop_invalid: bool = False,
    fixed: Mapping[str, float] | None = None,
    loss: Literal["linear", "soft_l1", "huber", "cauchy", "arctan"] | None = None,
    model: Literal["aps_single", "aps_double", "double", "power", "aps_power", "single", "stretched"] | None = None,
    prior: Mapping[str, str] | None = None,
    start: Mapping[str, float] | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Fit correlation functions g2(tau) in every q bin.

    Parameters
    ----------
    bins : Text
        Bins to fit, such as 3,5-7 (default all).
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter.
    drop_invalid : bool
        Drop points whose delay, value or error is not a usable number.
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    loss : Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
        Loss function: linear, soft_l1, huber, cauchy or arctan (default linear).
    model : Literal["aps_single", "aps_double", "double", "power", "aps_power", "single", "stretched"]
        Relaxation model: aps_single, aps_double, double, power, aps_power, single or stretched (default
        single).
    prior : Mapping[str, str]
        Prior of a parameter, such as tau=lognormal(-3,1); in fit g2 a penalty, which needs errors:
        normal, lognormal, halfnormal, truncatednormal or uniform.
    start : Mapping[str, float]
        Starting value of a parameter.

    ``euryale.help("fit g2")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit g2", ["file"], locals())


def fit_geometry(
    image: Data,
    output: Text | None = None,
    *,
    beam_x: Text | float | None = None,
    beam_y: Text | float | None = None,
    convention: Text | None = None,
    dataset: Text | None = None,
    distance: Text | float | None = None,
    energy: Text | float | None = None,
    format: Text | None = None,
    frames: int | None = None,
    free: Text | Sequence[Text] | None = None,
    from_: Text | Sequence[Text] | None = None,
    incidence: Text | float | None = None,
    keep_center: bool = False,
    mask: Text | None = None,
    max_pixels: int | None = None,
    orientation: Text | None = None,
    pixel_size: Text | float | None = None,
    reflection: bool = False,
    rings: Text | None = None,
    roll: Text | float | None = None,
    shape: Text | None = None,
    swing_h: Text | float | None = None,
    swing_v: Text | float | None = None,
    type: Text | None = None,
    within: float | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Calibrate the position of a detector from powder rings.

    Parameters
    ----------
    beam_x : Text | float
        Column of the direct beam in pixels.
    beam_y : Text | float
        Row of the direct beam in pixels.
    convention : Text
        Definition of q: exact (2 k sin theta), sin2theta (k sin 2theta) or viewer (k sin 2theta with hc
        = 12.398) (default exact).
    dataset : Text
        Path of the image, the frames or the mask in HDF5 files (default: the usual places).
    distance : Text | float
        Distance from the sample to the detector.
    energy : Text | float
        Photon energy.
    format : Text
        Format of frames: hdf5, imm, npy, pictures, raw or rigaku; raw needs `shape` (default: detected
        from the file).
    frames : int
        Number of frames to average into the image, from the first (default 100).
    free : Text | Sequence[Text]
        Parameters to fit besides the centre and the distance: energy, swing_h, swing_v.
    from_ : Text | Sequence[Text]
        File that supplies whatever the other flags leave out; repeatable, and the first that has a
        number counts.
    incidence : Text | float
        Angle between the beam and the surface in reflection (default 0.14 deg).
    keep_center : bool
        Search for rings around the given beam centre instead of finding the centre in the image.
    mask : Text
        File with the mask to use.
    max_pixels : int
        Largest number of pixels of a frame or an image, which guards against damaged files (default
        67108864).
    orientation : Text
        Direction in which the upper edge of the detector points in reflection: north, west, south or
        east (default north).
    pixel_size : Text | float
        Edge length of a pixel, such as 75um.
    reflection : bool
        Treat the measurement as reflection from a surface.
    rings : Text
        Momentum transfers of the rings in 1/angstrom, or agbh or agbh:N (required).
    roll : Text | float
        Angle by which the detector is turned about the beam after the swings; it adds to azimuths.
    shape : Text
        Size of the detector as rows x columns, such as 512x1024.
    swing_h : Text | float
        Horizontal angle by which the detector is rotated about the sample.
    swing_v : Text | float
        Vertical angle by which the detector is rotated about the sample.
    type : Text
        Number type of raw files, such as <u2, >u4 or f4 (default <u2).
    within : float
        Relative range around the given distance in which to search for rings (default 0.15).

    ``euryale.help("fit geometry")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit geometry", ["image", "output"], locals())


def fit_nlsq(
    file: Data,
    *,
    bootstrap: int | None = None,
    choose: Text | None = None,
    compare: Text | Sequence[Text] | None = None,
    contour: Text | Sequence[Text] | None = None,
    conventions: bool = False,
    correlations: bool = False,
    derived: Text | Sequence[Text] | None = None,
    evidence: bool = False,
    limits: bool = False,
    problem: Data | None = None,
    profile: bool = False,
    relative_sigma: bool = False,
    resample: Text | None = None,
    starts: int | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Fit a formula to columns of numbers by least squares.

    Parameters
    ----------
    bootstrap : int
        Number of resampled data sets to fit, such as 1000 (default none).
    choose : Text
        Values at which to hold a parameter, of which the best is taken, such as n=1:5 for whole
        numbers, or n=0.5,1,2.
    compare : Text | Sequence[Text]
        Another formula to compare; may be repeated.
    contour : Text | Sequence[Text]
        Pair of parameters, such as a,tau, or all; may be repeated.
    conventions : bool
        Print the errors as SciPy, lmfit and ROOT would.
    correlations : bool
        Print the correlations of the parameters.
    derived : Text | Sequence[Text]
        Quantity derived from parameters, such as ratio=a/b; may be repeated.
    evidence : bool
        With `compare` or `choose`: take the formula or the value with the largest evidence, the
        probability of the data under the model and its priors, which all parameters need (`prior`, or
        `bounds` with two ends).
    limits : bool
        Compute one-sided limits of 95 % from profiles.
    problem : Data
        JSON file with the problem, or - for standard input.
    profile : bool
        Compute intervals of 68 and 95 % from profiles.
    relative_sigma : bool
        Take errors of y only as weights, and scale errors so that chi2/dof is 1.
    resample : Text
        What the bootstrap draws: cases or residuals (default cases).
    starts : int
        Number of starts from which to fit for a report of all minima, such as 50 (default none).

    ``euryale.help("fit nlsq")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit nlsq", ["file"], locals())


def fit_spectra(
    file: Data | Sequence[Data],
    *,
    air: bool = False,
    arm: Text | Sequence[Text] | None = None,
    chebyshev: bool = False,
    config: Text | None = None,
    doplot: bool = False,
    errors: Literal["marginal", "conditional"] | None = None,
    exposure: Text | Sequence[Text] | None = None,
    extra_columns: bool = False,
    figure_dir: Text | None = None,
    figure_prefix: Text | None = None,
    fitarm: Text | Sequence[Text] | None = None,
    fixed: Mapping[str, float] | None = None,
    fixed_continuum: bool = False,
    floor: Mapping[str, float] | None = None,
    half_weights: bool = False,
    input_file_from: Text | None = None,
    input_files: Text | Sequence[Text] | None = None,
    joint: bool = False,
    keep_spikes: bool = False,
    kernel: Literal["exact", "compat"] | None = None,
    library: Text | None = None,
    log: Text | None = None,
    mask_bits: int | None = None,
    mask_good: Text | None = None,
    mask_range: Text | Sequence[Text] | None = None,
    maxexpid: int | None = None,
    minexpid: int | None = None,
    minsn: float | None = None,
    mpi: bool = False,
    no_ccf_continuum_normalize: bool = False,
    no_subdirs: bool = False,
    npoly: int | None = None,
    nthreads: int | None = None,
    objtypes: Text | Sequence[Text] | None = None,
    output_dir: Text | None = None,
    output_mod_prefix: Text | None = None,
    output_tab_prefix: Text | None = None,
    param_init: Literal["ccf", "bruteforce"] | None = None,
    per_exposure: bool = False,
    prior: Mapping[str, str] | None = None,
    process_status_file: Text | None = None,
    queue_file: Text | None = None,
    range: Text | None = None,
    report: bool = False,
    resolution_matrix: bool = False,
    resolving_power: float | None = None,
    skipexisting: bool = False,
    targetid: int | Sequence[int] | None = None,
    targetid_file_from: Text | None = None,
    throw_exceptions: bool = False,
    unit: Text | None = None,
    vacuum: bool = False,
    zbest_include: bool = False,
    zbest_select: bool = False,
    **common: Unpack[Common],
) -> Fit:
    """Fit velocities, rotations and atmospheres of stars to spectra.

    Parameters
    ----------
    air : bool
        Take wavelengths as measured in air.
    arm : Text | Sequence[Text]
        Arm of the library, one for all files or one per file (default the arm that the file names, or
        the only one).
    chebyshev : bool
        Use Chebyshev polynomials for the continuum instead of three powers and Gaussians.
    config : Text
        Configuration file of rvspecfit (default config.yaml, if it exists).
    doplot : bool
        DESI: draw every star with its model.
    errors : Literal["marginal", "conditional"]
        Errors of the parameters: marginal, or conditional on velocity and rotation as in rvspecfit
        (default marginal).
    exposure : Text | Sequence[Text]
        Exposure that each file belongs to, for `per_exposure` (default: every file is its own).
    extra_columns : bool
        DESI: also write the columns VRAD_ERR_MARGINAL, VSINI_ERR and MODEL_P.
    figure_dir : Text
        DESI: folder to write the pictures to (default .).
    figure_prefix : Text
        DESI: prefix of the file names of pictures (default fig).
    fitarm : Text | Sequence[Text]
        DESI: arms to fit, such as b,r (default all).
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    fixed_continuum : bool
        Keep to the functions of `npoly`, as rvspecfit does (default: add polynomials where the data
        call for them).
    floor : Mapping[str, float]
        Error to add in quadrature to those of an arm, in units of flux.
    half_weights : bool
        Store the weights of template networks in 16 bits on a GPU (needs `precision` 32).
    input_file_from : Text
        File that lists the files to fit, one per line.
    input_files : Text | Sequence[Text]
        Further file to fit, like the arguments of the command; repeatable.
    joint : bool
        Treat all files as spectra of one star (not for DESI).
    keep_spikes : bool
        Keep pixels that stand out of the model as cosmic rays do, as rvspecfit does (default: leave
        them out and say so).
    kernel : Literal["exact", "compat"]
        Rotation kernel: exact, or compat as in rvspecfit, whose vsini is 4 km/s low at 10 to 25 km/s
        and 1.4 at 25 to 60 (default exact).
    library : Text
        Template library: a folder of rvspecfit or a library file (default from the configuration).
    log : Text
        DESI: file to append messages to.
    mask_bits : int
        Bits of an SDSS mask that mark a pixel as bad; the default is bit 23, BRIGHTSKY.
    mask_good : Text
        Number with which a mask column marks good pixels, 0 or 1 (default: by its name, or by what it
        leaves).
    mask_range : Text | Sequence[Text]
        Ranges of wavelengths to leave out, such as a telluric band or a line, as FROM:TO in Angstrom;
        repeat it or separate them by commas.
    maxexpid : int
        DESI: use only exposures up to this number (default no limit).
    minexpid : int
        DESI: use only exposures with a larger number than this (default -1).
    minsn : float
        DESI: fit only spectra whose S/N exceeds this in at least one arm (default no limit).
    mpi : bool
        DESI: divide the files among the processes of an MPI launcher that were given the same list.
    no_ccf_continuum_normalize : bool
        Cross-correlate without dividing by the continuum.
    no_subdirs : bool
        DESI: write directly to the output folder (default: to subfolders named like the last two
        folders of the input path).
    npoly : int
        Number of basis functions of the continuum (default 10).
    nthreads : int
        Same as `threads`.
    objtypes : Text | Sequence[Text]
        DESI: regular expressions for the target types to fit, such as MWS_ANY or STD_.*.
    output_dir : Text
        DESI: folder to write tables and models to (default that of `out`, or the working directory).
    output_mod_prefix : Text
        DESI: prefix of the file names of models (default rvmod).
    output_tab_prefix : Text
        DESI: prefix of the file names of tables (default rvtab).
    param_init : Literal["ccf", "bruteforce"]
        First guess: ccf (cross-correlation) or bruteforce (a grid of parameters) (default ccf).
    per_exposure : bool
        Fit a separate velocity for each exposure of a star; all other parameters are shared.
    prior : Mapping[str, str]
        Prior of a parameter, such as teff=normal(5800,100).
    process_status_file : Text
        DESI: file to append one line per input file to: its name, SUCCESS, FAILURE or EXISTING, the
        number of fits, the seconds.
    queue_file : Text
        DESI: file that lists files to fit; each process repeatedly removes the first line and fits that
        file, until none is left.
    range : Text
        Range of wavelengths to use, as FROM:TO in Angstrom (default all that the templates cover).
    report : bool
        DESI: write a report on the spectra with the worst verdicts to a folder beside each table.
    resolution_matrix : bool
        Use the resolution matrices in DESI's files.
    resolving_power : float
        Resolving power (wavelength/FWHM) to convolve the templates to (default: templates already have
        the instrument's).
    skipexisting : bool
        DESI: skip files whose table already exists.
    targetid : int | Sequence[int]
        DESI: targets to fit, by their numbers (default all).
    targetid_file_from : Text
        DESI: file that lists the targets to fit, one per line.
    throw_exceptions : bool
        DESI: stop at the first file that fails (default: record the failure and continue).
    unit : Text
        Unit of the wavelengths: Angstrom, nm, micron or m (default from the file).
    vacuum : bool
        Take wavelengths as measured in vacuum, whatever the file says.
    zbest_include : bool
        DESI: copy the columns of the redrock or zbest file without selecting targets by it.
    zbest_select : bool
        DESI: fit only targets that the redrock or zbest file calls stars, or whose velocity it puts
        below 1500 km/s.

    ``euryale.help("fit spectra")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit spectra", ["file"], locals())


def fit_stan(
    model: Data,
    *,
    data: Data | Sequence[Data] | None = None,
    draws: int | None = None,
    init: Data | None = None,
    jacobian: bool = False,
    library: Text | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Find the mode of a program of the Stan language, with errors.

    Parameters
    ----------
    data : Data | Sequence[Data]
        File with the variables of the data block: JSON, R dump or a table, or - for standard input; may
        be repeated.
    draws : int
        Number of draws of the normal approximation (default 1000).
    init : Data
        File with initial values of parameters, or one for each chain with commas between them; or a
        number, within which unconstrained starts are drawn.
    jacobian : bool
        Include the logarithm of the Jacobian of the constraints in the density.
    library : Text
        Shared library that BridgeStan compiled from a program, in place of MODEL.stan; it runs with
        your rights.

    ``euryale.help("fit stan")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit stan", ["model"], locals())


def fit_twotime(
    file: Data,
    *,
    all_q: bool = False,
    angles: Text | None = None,
    band: int | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    config: Text | None = None,
    contrast: Text | None = None,
    fixed: Mapping[str, float] | None = None,
    frame_time: Text | float | None = None,
    frames: Text | None = None,
    from_: Text | None = None,
    gap: Text | float | None = None,
    mean_count: float | None = None,
    model: Literal["static", "isotropic", "laminar", "two-component"] | None = None,
    offset: Text | None = None,
    prior: Mapping[str, str] | None = None,
    q: float | None = None,
    scaling: Literal["auto", "individual", "averaged", "fourier", "constant"] | None = None,
    shear: Literal["physical", "homodyne"] | None = None,
    speckles: float | None = None,
    start: Mapping[str, float] | None = None,
    starts: int | None = None,
    time_origin: Text | None = None,
    **common: Unpack[Common],
) -> Fit:
    """Fit models of motion to two-time correlations.

    Parameters
    ----------
    all_q : bool
        Fit each q of the file on its own.
    angles : Text
        Azimuths to use, in degrees, such as 0 or -10:10,80:100 (default all).
    band : int
        Also leave out entries whose frames are at most this many frames apart (default 0: only the
        diagonal).
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter, which truncate its prior.
    config : Text
        Configuration file of homodyne, xpcsjax or heterodyne; flags override it.
    contrast : Text
        Contrast for `scaling` constant: one number, or one per angle.
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    frame_time : Text | float
        Time between frames, in s or with a unit such as ms or us (default from the file).
    frames : Text
        First and last frame to use, counted from 1, such as 101:400 (default all).
    from_ : Text
        Earlier result to start from, a folder or file of this command, homodyne, xpcsjax or heterodyne.
    gap : Text | float
        Gap between the plates, in um or with a unit: mm, nm or A (default 200um).
    mean_count : float
        Mean count per pixel and frame, with `speckles`; 0 means no shot noise.
    model : Literal["static", "isotropic", "laminar", "two-component"]
        Static (diffusion, a contrast for each azimuth), isotropic (diffusion, azimuths averaged),
        laminar (diffusion and shear) or two-component (a flowing sample and a reference) (default
        static, or from the configuration).
    offset : Text
        Offset for `scaling` constant: one number, or one per angle.
    prior : Mapping[str, str]
        Prior of a parameter, of its logarithm (log_NAME), of the contrast or of the offset; in fit
        twotime a penalty: normal, lognormal, halfnormal, truncatednormal or uniform.
    q : float
        Wavevector, in 1/Angstrom (default the only one in the file).
    scaling : Literal["auto", "individual", "averaged", "fourier", "constant"]
        Contrast and offset: auto, individual, averaged, fourier or constant (default individual, one
        per angle, or from the configuration).
    shear : Literal["physical", "homodyne"]
        Convention of the shear rate: physical, or homodyne as in homodyne, xpcsjax and heterodyne
        (default physical).
    speckles : float
        Number of independent speckles per angle (default estimated from the data).
    start : Mapping[str, float]
        Starting value of a parameter.
    starts : int
        Number of starting points to try; the best of them are fitted to convergence (default 16).
    time_origin : Text
        Origin of time: experiment (just before frame 1), window (the first frame used), or how long
        before frame 1 the motion began, such as 30s.

    ``euryale.help("fit twotime")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Fit, "fit twotime", ["file"], locals())


def info(
    config: Data | None = None,
    **common: Unpack[Common],
) -> Result:
    """Show the version and the devices, or explain a configuration file.

    ``euryale.help("info")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "info", ["config"], locals())


def invert_rsoxs(
    problem: Data,
    *,
    chains: int | None = None,
    checkpoint: Text | None = None,
    choose_energies: int | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    max_tree_depth: int | None = None,
    no_report: bool = False,
    restarts: int | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    target_accept: float | None = None,
    time: float | None = None,
    warmup: int | None = None,
    zarr: bool = False,
    **common: Unpack[Common],
) -> Run:
    """Recover the parameters of a morphology from scattering patterns.

    Parameters
    ----------
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    choose_energies : int
        Choose this many photon energies for a measurement, from the tables of constants, and do not
        fit.
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_report : bool
        Draw no pictures and write no report.
    restarts : int
        Number of further starting points if the fit does not describe the patterns; of measured ones,
        those that are tried in any case, and without the flag 2 if needed (default 6).
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    time : float
        Exposure in s that `choose_energies` divides among them (default 600).
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).
    zarr : bool
        Write fit.zarr beside fit.nc, for measured patterns.

    ``euryale.help("invert rsoxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Run, "invert rsoxs", ["problem"], locals())


def loo(
    run: Data | Sequence[Data],
    *,
    var: Text | None = None,
    waic: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Estimate from draws how well a model predicts new data.

    Parameters
    ----------
    var : Text
        Observed variable to use (default the only one).
    waic : bool
        Use WAIC, which cannot tell when it fails, instead of PSIS-LOO.

    ``euryale.help("loo")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "loo", ["run"], locals())


def mask(
    output: Text,
    *,
    allow_file: Text | Sequence[Text] | None = None,
    axes: Text | None = None,
    beam_x: Text | float | None = None,
    beam_y: Text | float | None = None,
    blemish: Text | None = None,
    circle: Text | float | None = None,
    convention: Text | None = None,
    dataset: Text | None = None,
    distance: Text | float | None = None,
    dynamic: Text | None = None,
    edit: Text | None = None,
    ellipse: Text | float | None = None,
    energy: Text | float | None = None,
    exclude: bool = False,
    file: Text | float | None = None,
    fold: int | None = None,
    format: Text | None = None,
    frames: int | None = None,
    from_: Text | Sequence[Text] | None = None,
    image: Text | None = None,
    incidence: Text | float | None = None,
    include: bool = False,
    line: Text | float | None = None,
    list: Text | float | None = None,
    list_from_one: bool = False,
    list_row_first: bool = False,
    listen: Text | None = None,
    log: bool = False,
    max_pixels: int | None = None,
    orientation: Text | None = None,
    outliers: Text | float | None = None,
    parameter: Text | float | None = None,
    phi_offset: Text | float | None = None,
    pixel_size: Text | float | None = None,
    polygon: Text | float | None = None,
    qmap: Text | None = None,
    recipe: Text | None = None,
    rectangle: Text | float | None = None,
    reflection: bool = False,
    roll: Text | float | None = None,
    save_recipe: Text | None = None,
    shape: Text | None = None,
    static: Text | None = None,
    swing_h: Text | float | None = None,
    swing_v: Text | float | None = None,
    threshold: Text | float | None = None,
    type: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Make the mask of a detector with flags or in the browser.

    Parameters
    ----------
    allow_file : Text | Sequence[Text]
        Mask file that the page or a recipe may read; repeatable.
    axes : Text
        Two maps to divide into bins (default q,phi; in reflection qr,qz).
    beam_x : Text | float
        Column of the direct beam in pixels.
    beam_y : Text | float
        Row of the direct beam in pixels.
    blemish : Text
        Mask file of defective pixels, applied before all steps.
    circle : Text | float
        Mask a circle (in pixels, counted from 0).
    convention : Text
        Definition of q: exact (2 k sin theta), sin2theta (k sin 2theta) or viewer (k sin 2theta with hc
        = 12.398) (default exact).
    dataset : Text
        Path of the image, the frames or the mask in HDF5 files (default: the usual places).
    distance : Text | float
        Distance from the sample to the detector.
    dynamic : Text
        Numbers of bins for correlations (dynamic bins) along the two axes (default 36x1).
    edit : Text
        Edit the mask in the browser, over the image in this file.
    ellipse : Text | float
        Mask an ellipse with half-axes a along the rows and b along the columns, rotated by deg.
    energy : Text | float
        Photon energy.
    exclude : bool
        Mask the inside of the shapes that follow (the default).
    file : Text | float
        Keep only the pixels that a mask file (values above 0; in EDF and CBF 0), a q map or a result
        keeps; FILE:/path names a dataset in it.
    fold : int
        Fold azimuths onto the first of this many equal sectors.
    format : Text
        Format of frames: hdf5, imm, npy, pictures, raw or rigaku; raw needs `shape` (default: detected
        from the file).
    frames : int
        Number of frames to average into the image, from the first (default 100).
    from_ : Text | Sequence[Text]
        File that supplies whatever the other flags leave out; repeatable, and the first that has a
        number counts.
    image : Text
        File with the image: a result, HDF5, TIFF, EDF, CBF, NPY, NPZ, text, or frames.
    incidence : Text | float
        Angle between the beam and the surface in reflection (default 0.14 deg).
    include : bool
        Keep only the inside of the shapes that follow.
    line : Text | float
        Mask a line of width w.
    list : Text | float
        Mask the pixels in a list: JSON, or two columns x, y.
    list_from_one : bool
        Count pixels from 1 in lists.
    list_row_first : bool
        Read the row before the column in lists.
    listen : Text
        Address of the page, which only this machine can reach; port 0 picks a free port (default
        127.0.0.1:0).
    log : bool
        Space the bins of q evenly in its logarithm.
    max_pixels : int
        Largest number of pixels of a frame or an image, which guards against damaged files (default
        67108864).
    orientation : Text
        Direction in which the upper edge of the detector points in reflection: north, west, south or
        east (default north).
    outliers : Text | float
        Mask pixels that differ from their neighbours: percentile or mad, and the cutoff in units of
        their spread; append :rings=N or :tile=N to choose the neighbours (default 100 rings of q, or
        tiles of 32 pixels without a geometry).
    parameter : Text | float
        Keep ranges of the maps of the geometry, such as 'q>=0.002 & q<0.01 & -30<=phi<=30'; & (and) and
        | (or) are applied from left to right.
    phi_offset : Text | float
        Angle to add to azimuths before dividing them into bins.
    pixel_size : Text | float
        Edge length of a pixel, such as 75um.
    polygon : Text | float
        Mask a polygon with three or more corners.
    qmap : Text
        Q-map file for the page to write (default mask-qmap.hdf for OUT mask.h5).
    recipe : Text
        JSON file with steps to apply first.
    rectangle : Text | float
        Mask a rectangle of height h and width w around a centre, rotated by deg.
    reflection : bool
        Treat the measurement as reflection from a surface.
    roll : Text | float
        Angle by which the detector is turned about the beam after the swings; it adds to azimuths.
    save_recipe : Text
        Write the steps to this JSON file.
    shape : Text
        Size of the detector as rows x columns, such as 512x1024.
    static : Text
        Numbers of bins for intensities (static bins), rounded up to multiples of the dynamic ones
        (default 360x1).
    swing_h : Text | float
        Horizontal angle by which the detector is rotated about the sample.
    swing_v : Text | float
        Vertical angle by which the detector is rotated about the sample.
    threshold : Text | float
        Keep counts of at least low and less than high; either may be left out.
    type : Text
        Number type of raw files, such as <u2, >u4 or f4 (default <u2).

    ``euryale.help("mask")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "mask", ["output"], locals())


def plot(
    kind: Data,
    run: Data | Sequence[Data],
    output: Text | None = None,
    *,
    highlight: Text | Sequence[Text] | None = None,
    var: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw posterior draws, patterns, correlations, morphologies or assemblies.

    Parameters
    ----------
    highlight : Text | Sequence[Text]
        Highlight draws with a quantity in a range, as NAME=LOW:HIGH (no number for no end).
    var : Text | Sequence[Text]
        Quantities to draw (default all).

    ``euryale.help("plot")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot", ["kind", "run", "output"], locals())


def plot_experiment(
    kind: Data,
    output: Text | None = None,
    *,
    beta: float | None = None,
    k: int | None = None,
    n: int | None = None,
    p: float | None = None,
    part: float | None = None,
    rounds: int | None = None,
    script: bool = False,
    show: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw a small experiment with assemblies, run on the spot.

    Parameters
    ----------
    beta : float
        Plasticity: share by which the weight of a synapse grows when both of its neurons fire (default
        0.1).
    k : int
        Neurons of an area that fire at a time (default 40).
    n : int
        Neurons of an area (default 2000).
    p : float
        Probability of a synapse between two neurons (default 0.05).
    part : float
        Share of the assembly that is fired, for complete (default 0.4).
    rounds : int
        Rounds of the experiment (default 25).
    script : bool
        Print the script and draw nothing.
    show : Text
        Picture: support, overlap or raster (default what shows the experiment best).

    ``euryale.help("plot experiment")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot experiment", ["kind", "output"], locals())


def plot_figure(
    file: Data,
    output: Text | None = None,
    *,
    row: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw a picture of a fit again, from its numbers.

    Parameters
    ----------
    row : int
        Row of panels to draw, such as those of one energy, counted from 1; 0 draws all.

    ``euryale.help("plot figure")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot figure", ["file", "output"], locals())


def plot_frames(
    frames: Data,
    output: Text | None = None,
    *,
    dataset: Text | None = None,
    format: Text | None = None,
    frame: int | None = None,
    linear: bool = False,
    max_pixels: int | None = None,
    offset_bytes: int | None = None,
    shape: Text | None = None,
    type: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw frames of a detector.

    Parameters
    ----------
    dataset : Text
        Path of the frames in HDF5 files (default: the usual places).
    format : Text
        Format of the frames: hdf5, imm, npy, pictures, raw or rigaku (default: detected from the file).
    frame : int
        Number of the frame to draw, from 1 (default the mean of all).
    linear : bool
        Linear colours (default logarithmic).
    max_pixels : int
        Largest number of pixels of a frame or an image, which guards against damaged files (default
        67108864).
    offset_bytes : int
        Number of bytes before the first frame of a raw file.
    shape : Text
        Size of a frame as rows x columns, such as 512x1024; for raw and rigaku.
    type : Text
        Number type of raw files, such as <u2, >u4 or f4 (default <u2).

    ``euryale.help("plot frames")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot frames", ["frames", "output"], locals())


def plot_g2(
    result: Data | Sequence[Data],
    output: Text | None = None,
    *,
    bins: Text | None = None,
    overlay: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw g2 of each bin against the delay.

    Parameters
    ----------
    bins : Text
        Bins to draw, such as 1,2,5-7.
    overlay : bool
        Draw all bins in one frame.

    ``euryale.help("plot g2")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot g2", ["result", "output"], locals())


def plot_image(
    result: Data,
    output: Text | None = None,
    *,
    rings: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw the mean image of the detector.

    Parameters
    ----------
    rings : bool
        Draw the borders of the bins of q and azimuth.

    ``euryale.help("plot image")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot image", ["result", "output"], locals())


def plot_intensity(
    result: Data | Sequence[Data],
    output: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw intensity against time.

    ``euryale.help("plot intensity")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot intensity", ["result", "output"], locals())


def plot_library(
    library: Data,
    output: Text | None = None,
    *,
    alpha: float | None = None,
    arm: Text | Sequence[Text] | None = None,
    at: Text | Sequence[Text] | None = None,
    coverage: bool = False,
    feh: float | None = None,
    logg: float | None = None,
    teff: float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw a spectrum of a template library, or its coverage.

    Parameters
    ----------
    alpha : float
        Enhancement [alpha/Fe] of the star (default the middle of the library).
    arm : Text | Sequence[Text]
        Arms to draw (default all).
    at : Text | Sequence[Text]
        Further parameters of the star, as name=value.
    coverage : bool
        Draw the parameters of the templates instead of a spectrum.
    feh : float
        Metallicity [Fe/H] of the star (default the middle of the library).
    logg : float
        Surface gravity of the star, log10 of cm/s2 (default the middle of the library).
    teff : float
        Effective temperature of the star, K (default the middle of the library).

    ``euryale.help("plot library")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot library", ["library", "output"], locals())


def plot_mask(
    file: Data,
    output: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw a mask.

    ``euryale.help("plot mask")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot mask", ["file", "output"], locals())


def plot_measured(
    file: Data,
    output: Text | None = None,
    *,
    energies: float | Sequence[float] | None = None,
    linear: bool = False,
    number: int | None = None,
    q_unit: Text | None = None,
    variable: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw measured scattering patterns.

    Parameters
    ----------
    energies : float | Sequence[float]
        Photon energies to take in eV; of files that do not say their energies, those that they have
        (default all).
    linear : bool
        Linear colours and intensities (default logarithmic).
    number : int
        Number of the pattern to draw, from 1 (default 1).
    q_unit : Text
        Unit of q where the file does not say it: 1/nm or 1/A.
    variable : Text
        Name of the array to draw (default the only one, or I).

    ``euryale.help("plot measured")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot measured", ["file", "output"], locals())


def plot_morphology(
    file: Data,
    output: Text | None = None,
    *,
    depth: float | None = None,
    directors: int | None = None,
    histograms: bool = False,
    least: float | None = None,
    slice: Text | None = None,
    subsample: int | None = None,
    vector: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw a slice of a morphology, or its histograms.

    Parameters
    ----------
    depth : float
        Place of a slice without a position, as a share of the box, 0 to 1 (default 0.5).
    directors : int
        Draw a director at every n-th voxel drawn, -1 for none (default about 20 per side).
    histograms : bool
        Draw histograms of the volume instead of a slice.
    least : float
        Smallest volume fraction and S for which angles are drawn, 0 to 1 (default 0.05).
    slice : Text
        Axis perpendicular to the slice and its position, such as z or z:12 (default z, in the middle).
    subsample : int
        Draw every n-th voxel along each axis (default 1).
    vector : bool
        Use the vectors of a file that also has Euler angles.

    ``euryale.help("plot morphology")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot morphology", ["file", "output"], locals())


def plot_overlap(
    run: Data,
    output: Text | None = None,
    *,
    var: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw the overlaps that a script measures.

    Parameters
    ----------
    var : Text | Sequence[Text]
        Areas or measures to draw (default all).

    ``euryale.help("plot overlap")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot overlap", ["run", "output"], locals())


def plot_pattern(
    dir: Data | Sequence[Data],
    output: Text | None = None,
    *,
    axis: Literal["perp", "abs", "common"] | None = None,
    beam: int | None = None,
    cuts: bool = False,
    energies: Text | Sequence[Text] | None = None,
    highest: float | None = None,
    linear: bool = False,
    lowest: float | None = None,
    morphology: Text | None = None,
    number: int | None = None,
    phys_size: float | None = None,
    radii: Literal["stretched", "pixel", "true"] | None = None,
    wedge: float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw scattering patterns with I(q) and A(q).

    Parameters
    ----------
    axis : Literal["perp", "abs", "common"]
        Abscissa of the curves: perp, abs or common, as reduce rsoxs `help` explains (default perp).
    beam : int
        Direction of the light to draw, counted from 0.
    cuts : bool
        Draw cuts through the centre instead of averages.
    energies : Text | Sequence[Text]
        Energies to draw in eV, or all.
    highest : float
        Intensity of the brightest colour, together with `lowest` (default from the image).
    linear : bool
        Linear colours (default logarithmic).
    lowest : float
        Intensity of the darkest colour, together with `highest` (default from the image).
    morphology : Text
        HDF5 file that records the edge length of a voxel.
    number : int
        Draw one energy, by its number from 1 (default those of `energies`).
    phys_size : float
        Edge length of a voxel in nm (default found beside the images).
    radii : Literal["stretched", "pixel", "true"]
        Radii of the circles: stretched, pixel or true, as reduce rsoxs `help` explains (default
        stretched).
    wedge : float
        Width of the wedges in degrees, greater than 0 and at most 180 (default 90).

    ``euryale.help("plot pattern")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot pattern", ["dir", "output"], locals())


def plot_qmap(
    file: Data,
    output: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw the bins of a q map.

    ``euryale.help("plot qmap")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot qmap", ["file", "output"], locals())


def plot_raster(
    run: Data,
    output: Text | None = None,
    *,
    var: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw which neurons fire in each step.

    Parameters
    ----------
    var : Text | Sequence[Text]
        Areas or measures to draw (default all).

    ``euryale.help("plot raster")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot raster", ["run", "output"], locals())


def plot_saxs(
    result: Data | Sequence[Data],
    output: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw intensity against q.

    ``euryale.help("plot saxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot saxs", ["result", "output"], locals())


def plot_script(
    script_file: Data,
    output: Text | None = None,
    *,
    beta_times: float | None = None,
    k_times: float | None = None,
    n_times: float | None = None,
    p_times: float | None = None,
    script: bool = False,
    show: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw what a script of assemblies does, run on the spot.

    Parameters
    ----------
    beta_times : float
        Factor of the plasticities (default 1).
    k_times : float
        Factor of the numbers of neurons that fire at a time (default 1).
    n_times : float
        Factor of the numbers of neurons of areas (default 1).
    p_times : float
        Factor of the probabilities of a synapse (default 1).
    script : bool
        Print the changed script and draw nothing.
    show : Text
        Picture: support, overlap or raster (default support).

    ``euryale.help("plot script")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot script", ["script_file", "output"], locals())


def plot_spectrum(
    file: Data | Sequence[Data],
    output: Text | None = None,
    *,
    air: bool = False,
    arm: Text | Sequence[Text] | None = None,
    chebyshev: bool = False,
    config: Text | None = None,
    correlation: bool = False,
    errors: Literal["marginal", "conditional"] | None = None,
    exposure: Text | Sequence[Text] | None = None,
    fit: Text | None = None,
    fixed: Mapping[str, float] | None = None,
    fixed_continuum: bool = False,
    floor: Mapping[str, float] | None = None,
    keep_spikes: bool = False,
    kernel: Literal["exact", "compat"] | None = None,
    library: Text | None = None,
    mask_bits: int | None = None,
    mask_good: Text | None = None,
    mask_range: Text | Sequence[Text] | None = None,
    measured: bool = False,
    no_ccf_continuum_normalize: bool = False,
    npoly: int | None = None,
    param_init: Literal["ccf", "bruteforce"] | None = None,
    per_exposure: bool = False,
    prior: Mapping[str, str] | None = None,
    range: Text | None = None,
    resolution_matrix: bool = False,
    resolving_power: float | None = None,
    row: int | None = None,
    targetid: int | None = None,
    unit: Text | None = None,
    vacuum: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw the spectra of a star, its model and the residuals.

    Parameters
    ----------
    air : bool
        Take wavelengths as measured in air.
    arm : Text | Sequence[Text]
        Arm of the library, one for all files or one per file (default the arm that the file names, or
        the only one).
    chebyshev : bool
        Use Chebyshev polynomials for the continuum instead of three powers and Gaussians.
    config : Text
        Configuration file of rvspecfit (default config.yaml, if it exists).
    correlation : bool
        Draw how chi-square of the best template changes with the velocity, as cross-correlation finds
        it before the fit.
    errors : Literal["marginal", "conditional"]
        Errors of the parameters: marginal, or conditional on velocity and rotation as in rvspecfit
        (default marginal).
    exposure : Text | Sequence[Text]
        Exposure that each file belongs to, for `per_exposure` (default: every file is its own).
    fit : Text
        Result of fit spectra to draw beside what was measured: a folder, rvtab_*.fits or fit.json
        (default those beside the spectra).
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    fixed_continuum : bool
        Keep to the functions of `npoly`, as rvspecfit does (default: add polynomials where the data
        call for them).
    floor : Mapping[str, float]
        Error to add in quadrature to those of an arm, in units of flux.
    keep_spikes : bool
        Keep pixels that stand out of the model as cosmic rays do, as rvspecfit does (default: leave
        them out and say so).
    kernel : Literal["exact", "compat"]
        Rotation kernel: exact, or compat as in rvspecfit, whose vsini is 4 km/s low at 10 to 25 km/s
        and 1.4 at 25 to 60 (default exact).
    library : Text
        Template library: a folder of rvspecfit or a library file (default from the configuration).
    mask_bits : int
        Bits of an SDSS mask that mark a pixel as bad; the default is bit 23, BRIGHTSKY.
    mask_good : Text
        Number with which a mask column marks good pixels, 0 or 1 (default: by its name, or by what it
        leaves).
    mask_range : Text | Sequence[Text]
        Ranges of wavelengths to leave out, such as a telluric band or a line, as FROM:TO in Angstrom;
        repeat it or separate them by commas.
    measured : bool
        Draw what was measured, and fit nothing (default without a library).
    no_ccf_continuum_normalize : bool
        Cross-correlate without dividing by the continuum.
    npoly : int
        Number of basis functions of the continuum (default 10).
    param_init : Literal["ccf", "bruteforce"]
        First guess: ccf (cross-correlation) or bruteforce (a grid of parameters) (default ccf).
    per_exposure : bool
        Fit a separate velocity for each exposure of a star; all other parameters are shared.
    prior : Mapping[str, str]
        Prior of a parameter, such as teff=normal(5800,100).
    range : Text
        Range of wavelengths to use, as FROM:TO in Angstrom (default all that the templates cover).
    resolution_matrix : bool
        Use the resolution matrices in DESI's files.
    resolving_power : float
        Resolving power (wavelength/FWHM) to convolve the templates to (default: templates already have
        the instrument's).
    row : int
        Row of the file, counted from 1 (default the only one).
    targetid : int
        TARGETID of the star in a DESI file.
    unit : Text
        Unit of the wavelengths: Angstrom, nm, micron or m (default from the file).
    vacuum : bool
        Take wavelengths as measured in vacuum, whatever the file says.

    ``euryale.help("plot spectrum")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot spectrum", ["file", "output"], locals())


def plot_stability(
    result: Data,
    output: Text | None = None,
    *,
    bins: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw g2 of parts of a measurement to judge its stability.

    Parameters
    ----------
    bins : Text
        Bins to draw, such as 1,2,5-7.

    ``euryale.help("plot stability")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot stability", ["result", "output"], locals())


def plot_support(
    run: Data,
    output: Text | None = None,
    *,
    var: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw how many neurons of each area have fired so far.

    Parameters
    ----------
    var : Text | Sequence[Text]
        Areas or measures to draw (default all).

    ``euryale.help("plot support")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot support", ["run", "output"], locals())


def plot_table(
    file: Data,
    output: Text | None = None,
    *,
    error: Text | None = None,
    log_x: bool = False,
    log_y: bool = False,
    sheet: Text | None = None,
    x: Text | None = None,
    y: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw columns of a table.

    Parameters
    ----------
    error : Text
        Column of the standard deviations of y, where one column is drawn.
    log_x : bool
        Logarithmic axis x.
    log_y : bool
        Logarithmic axis y.
    sheet : Text
        Sheet of a workbook or extension of a FITS file, by name or number.
    x : Text
        Column of the abscissae (default the first with numbers).
    y : Text | Sequence[Text]
        Columns to draw (default the next four with numbers).

    ``euryale.help("plot table")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot table", ["file", "output"], locals())


def plot_twotime(
    result: Data,
    output: Text | None = None,
    *,
    bins: Text | None = None,
    diagonals: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw the two-time correlation of a bin.

    Parameters
    ----------
    bins : Text
        Bins to draw, such as 1,2,5-7.
    diagonals : bool
        Draw g2 along the diagonals.

    ``euryale.help("plot twotime")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot twotime", ["result", "output"], locals())


def plot_volume(
    file: Data,
    output: Text | None = None,
    *,
    azimuth: float | None = None,
    color: Text | None = None,
    elevation: float | None = None,
    least: float | None = None,
    lines: int | None = None,
    materials: int | Sequence[int] | None = None,
    vector: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Draw the directors of a morphology in three dimensions.

    Parameters
    ----------
    azimuth : float
        Direction from which the box is seen: angle about z from x, degrees (default 30).
    color : Text
        Colour of the lines: material, azimuth or tilt; azimuth is the angle of the director about z,
        and tilt that to z (default material).
    elevation : float
        Direction from which the box is seen: angle above the plane of x and y, degrees, -90 to 90
        (default 25).
    least : float
        Smallest volume fraction and S of a voxel that is drawn, 0 to 1 (default 0.3).
    lines : int
        Largest number of lines, 1 to 20000 (default 3000).
    materials : int | Sequence[int]
        Materials to draw, counted from 1 (default those with directors).
    vector : bool
        Use the vectors of a file that also has Euler angles.

    ``euryale.help("plot volume")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot volume", ["file", "output"], locals())


def plot_weights(
    run: Data,
    output: Text | None = None,
    *,
    var: Text | Sequence[Text] | None = None,
    **common: Unpack[Common],
) -> Result:
    """Draw the weights of the synapses at the end of a run.

    Parameters
    ----------
    var : Text | Sequence[Text]
        Fibres to draw, such as A>B (default all).

    ``euryale.help("plot weights")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "plot weights", ["run", "output"], locals())


def qmap(
    output: Text,
    *,
    axes: Text | None = None,
    beam_x: Text | float | None = None,
    beam_y: Text | float | None = None,
    convention: Text | None = None,
    dataset: Text | None = None,
    distance: Text | float | None = None,
    dynamic: Text | None = None,
    energy: Text | float | None = None,
    fold: int | None = None,
    from_: Text | Sequence[Text] | None = None,
    incidence: Text | float | None = None,
    log: bool = False,
    mask: Text | None = None,
    max_pixels: int | None = None,
    merge: Text | None = None,
    orientation: Text | None = None,
    phi_offset: Text | float | None = None,
    pixel_size: Text | float | None = None,
    reflection: bool = False,
    roll: Text | float | None = None,
    shape: Text | None = None,
    static: Text | None = None,
    swing_h: Text | float | None = None,
    swing_v: Text | float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Make a q map: the momentum transfer and the bin of each pixel.

    Parameters
    ----------
    axes : Text
        Two maps to divide into bins (default q,phi; in reflection qr,qz).
    beam_x : Text | float
        Column of the direct beam in pixels.
    beam_y : Text | float
        Row of the direct beam in pixels.
    convention : Text
        Definition of q: exact (2 k sin theta), sin2theta (k sin 2theta) or viewer (k sin 2theta with hc
        = 12.398) (default exact).
    dataset : Text
        Path of the mask in HDF5 or NPZ files (default: the usual places).
    distance : Text | float
        Distance from the sample to the detector.
    dynamic : Text
        Numbers of bins for correlations (dynamic bins) along the two axes (default 36x1).
    energy : Text | float
        Photon energy.
    fold : int
        Fold azimuths onto the first of this many equal sectors.
    from_ : Text | Sequence[Text]
        File that supplies whatever the other flags leave out; repeatable, and the first that has a
        number counts.
    incidence : Text | float
        Angle between the beam and the surface in reflection (default 0.14 deg).
    log : bool
        Space the bins of q evenly in its logarithm.
    mask : Text
        File with the mask to use: HDF5, TIFF, NPY, NPZ or text, in which pixels above 0 are good, EDF
        or CBF, in which 0 is good, a list of bad pixels, a q map or a result.
    max_pixels : int
        Largest number of pixels of a frame or an image, which guards against damaged files (default
        67108864).
    merge : Text
        Q maps of the same detector to join along their first axis, such as a.hdf,b.hdf.
    orientation : Text
        Direction in which the upper edge of the detector points in reflection: north, west, south or
        east (default north).
    phi_offset : Text | float
        Angle to add to azimuths before dividing them into bins.
    pixel_size : Text | float
        Edge length of a pixel, such as 75um.
    reflection : bool
        Treat the measurement as reflection from a surface.
    roll : Text | float
        Angle by which the detector is turned about the beam after the swings; it adds to azimuths.
    shape : Text
        Size of the detector as rows x columns, such as 512x1024.
    static : Text
        Numbers of bins for intensities (static bins), rounded up to multiples of the dynamic ones
        (default 360x1).
    swing_h : Text | float
        Horizontal angle by which the detector is rotated about the sample.
    swing_v : Text | float
        Vertical angle by which the detector is rotated about the sample.

    ``euryale.help("qmap")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "qmap", ["output"], locals())


def reduce_ages(
    result: Data,
    output: Text | None = None,
    *,
    ages: Text | None = None,
    all_delays: bool = False,
    bin: int | None = None,
    half: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Extract g2 at several sample ages from a two-time correlation.

    Parameters
    ----------
    ages : Text
        Ages in steps of C2, such as 100,200 (default five, evenly spaced).
    all_delays : bool
        Use every delay instead of multi-tau spacing.
    bin : int
        Dynamic bin, counted from 1 (default the first one with C2).
    half : int
        Half width of an age in steps (default a tenth of all steps).

    ``euryale.help("reduce ages")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "reduce ages", ["result", "output"], locals())


def reduce_intensity(
    result: Data,
    output: Text | None = None,
    *,
    cut: float | None = None,
    every: int | None = None,
    spectrum: bool = False,
    window: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Extract the intensity against time, or its spectrum.

    Parameters
    ----------
    cut : float
        Height above which a line of the spectrum is reported, in medians of the spectrum (default 8).
    every : int
        Keep every n-th point of the moving average (default 1).
    spectrum : bool
        Write the spectrum instead of the intensities.
    window : int
        Number of frames in the moving average (default 1).

    ``euryale.help("reduce intensity")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "reduce intensity", ["result", "output"], locals())


def reduce_nexafs(
    spectra: Data,
    output: Text | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    order: float | None = None,
    scale: float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Compute optical constants from absorption spectra.

    Parameters
    ----------
    above : float
        Exponent of the fall of beta beyond the last energy (default 4).
    below : float
        Exponent of the fall of beta below the first energy, down to 30 eV (default 3).
    order : float
        Order parameter of the sample of spectra at angles, not 0 (default 1).
    scale : float
        Factor that makes beta of the spectra (default 1).

    ``euryale.help("reduce nexafs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "reduce nexafs", ["spectra", "output"], locals())


def reduce_rsoxs(
    dir: Data | Sequence[Data],
    output: Text | None = None,
    *,
    axis: Literal["perp", "abs", "common"] | None = None,
    layout: Literal["all", "i_only", "i_para_i_perp", "i_a", "integrated"] | None = None,
    morphology: Text | None = None,
    phys_size: float | None = None,
    radii: Literal["stretched", "pixel", "true"] | None = None,
    wedge: float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Reduce scattering patterns to I(q) and anisotropy.

    Parameters
    ----------
    axis : Literal["perp", "abs", "common"]
        Abscissa of the curves: perp, abs or common, as reduce rsoxs `help` explains (default perp).
    layout : Literal["all", "i_only", "i_para_i_perp", "i_a", "integrated"]
        Columns to write: all, i_only, i_para_i_perp, i_a or integrated (default all).
    morphology : Text
        HDF5 file that records the edge length of a voxel.
    phys_size : float
        Edge length of a voxel in nm (default found beside the images).
    radii : Literal["stretched", "pixel", "true"]
        Radii of the circles: stretched, pixel or true, as reduce rsoxs `help` explains (default
        stretched).
    wedge : float
        Width of the wedges in degrees, greater than 0 and at most 180 (default 90).

    ``euryale.help("reduce rsoxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "reduce rsoxs", ["dir", "output"], locals())


def reduce_saxs(
    result: Data | Sequence[Data],
    output: Text | None = None,
    *,
    background: Text | None = None,
    bins: int | None = None,
    every: int | None = None,
    onto: bool = False,
    over_first: bool = False,
    parts: bool = False,
    q_range: Text | None = None,
    ring: Text | Sequence[Text] | None = None,
    scale: float | None = None,
    sector: Text | Sequence[Text] | None = None,
    times: float | None = None,
    weight: float | None = None,
    **common: Unpack[Common],
) -> Result:
    """Reduce intensities in results to I(q) or to profiles along rings.

    Parameters
    ----------
    background : Text
        Result file of the background.
    bins : int
        Number of q bins of a sector (default that of the static bins) or of azimuth bins of a ring
        (default 180).
    every : int
        Keep every n-th point (default 1).
    onto : bool
        Scale all curves onto the first one and report the factors.
    over_first : bool
        Divide each curve by its first point.
    parts : bool
        Also write a curve for each part of the measurement that correlate `parts` stored.
    q_range : Text
        Range of q to keep, as lowest:highest in 1/angstrom, such as 0.002:0.05.
    ring : Text | Sequence[Text]
        Range of radii to average, as inner:outer in pixels; repeatable.
    scale : float
        Factor to multiply the intensities by (default 1).
    sector : Text | Sequence[Text]
        Range of azimuths to average, as from:to in degrees, such as -30:30; repeatable.
    times : float
        Power of q to multiply the intensities by: 0, 2 or 4.
    weight : float
        Factor to multiply the background by (default 1).

    ``euryale.help("reduce saxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "reduce saxs", ["result", "output"], locals())


def sample_assembly(
    *,
    chains: int | None = None,
    checkpoint: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    max_tree_depth: int | None = None,
    no_report: bool = False,
    problem: Data | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    target_accept: float | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample parameters of neural assemblies from measurements of them.

    Parameters
    ----------
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_report : bool
        Draw no pictures and write no report.
    problem : Data
        JSON file with the problem, or - for standard input.
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).

    ``euryale.help("sample assembly")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample assembly", [], locals())


def sample_curve(
    data: Data | Sequence[Data],
    formula: Data,
    *,
    bounds: Mapping[str, Sequence[float]] | None = None,
    by: Text | None = None,
    chains: int | None = None,
    checkpoint: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    correlation_xy: Text | Sequence[Text] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    exclude: Text | Sequence[Text] | None = None,
    fixed: Mapping[str, float] | None = None,
    likelihood: Text | None = None,
    max_tree_depth: int | None = None,
    no_report: bool = False,
    prior: Mapping[str, str] | None = None,
    range: Text | Sequence[Text] | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    sheet: Text | None = None,
    sigma: Text | None = None,
    sigma_x: Text | Sequence[Text] | None = None,
    target_accept: float | None = None,
    tie: Text | Sequence[Text] | None = None,
    warmup: int | None = None,
    y: Text | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the parameters of a formula of a table.

    Parameters
    ----------
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter, which truncate its prior.
    by : Text
        Column by whose values the rows are sampled one group after another, each into a folder in that
        of the run.
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    correlation_xy : Text | Sequence[Text]
        Correlation of the errors of a column of `sigma_x` with those of y in the same row: a column or
        a number, such as x=0.3; may be repeated.
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    exclude : Text | Sequence[Text]
        Rows to leave out, such as x=4.2:4.5; may be repeated.
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    likelihood : Text
        Distribution of an observation, such as "studentt(4, mu, sigma)" or "poisson(mu)" (default
        "normal(mu, sigma)").
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_report : bool
        Draw no pictures and write no report.
    prior : Mapping[str, str]
        Prior of a parameter, such as tau=lognormal(1,1); in fit curve a penalty, normal or lognormal.
    range : Text | Sequence[Text]
        Rows to keep, such as x=0:10; may be repeated.
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    sheet : Text
        Sheet of a workbook, by name or number, or path in an HDF5 file (default the first table).
    sigma : Text
        Standard errors of y: a column, a number, a share such as 5%, or poisson for counts (default a
        column called sigma, err, error or dy, or after y, such as k_err for k).
    sigma_x : Text | Sequence[Text]
        Errors of a column of the formula, such as t=dt, t=0.1 or t=5%; may be repeated.
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    tie : Text | Sequence[Text]
        Parameter that follows from others, such as b=2*a; may be repeated.
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).
    y : Text
        Column, or formula of columns, that the formula describes (default y, or the last column that
        neither the formula uses nor holds errors by its name).

    ``euryale.help("sample curve")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample curve", ["data", "formula"], locals())


def sample_expr(
    file: Data,
    *,
    chains: int | None = None,
    checkpoint: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    max_tree_depth: int | None = None,
    no_report: bool = False,
    problem: Data | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    target_accept: float | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the parameters of a formula with priors.

    Parameters
    ----------
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_report : bool
        Draw no pictures and write no report.
    problem : Data
        JSON file with the problem, or - for standard input.
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).

    ``euryale.help("sample expr")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample expr", ["file"], locals())


def sample_g2(
    file: Data,
    *,
    bin: int | None = None,
    bins: Text | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    chains: int | None = None,
    checkpoint: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    drop_invalid: bool = False,
    evidence: bool = False,
    fixed: Mapping[str, float] | None = None,
    loss: Literal["linear", "soft_l1", "huber", "cauchy", "arctan"] | None = None,
    max_tree_depth: int | None = None,
    model: Literal["aps_single", "aps_double", "double", "power", "aps_power", "single", "stretched"] | None = None,
    no_report: bool = False,
    prior: Mapping[str, str] | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    start: Mapping[str, float] | None = None,
    target_accept: float | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the parameters of correlation functions.

    Parameters
    ----------
    bin : int
        Bin to sample, counted from 1 (default the only one).
    bins : Text
        Bins to sample one after another, such as 3,5-7, or all.
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter.
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 1000).
    drop_invalid : bool
        Drop points whose delay, value or error is not a usable number.
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    loss : Literal["linear", "soft_l1", "huber", "cauchy", "arctan"]
        Loss function: linear, soft_l1, huber, cauchy or arctan (default linear).
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    model : Literal["aps_single", "aps_double", "double", "power", "aps_power", "single", "stretched"]
        Relaxation model: aps_single, aps_double, double, power, aps_power, single or stretched (default
        single).
    no_report : bool
        Draw no pictures and write no report.
    prior : Mapping[str, str]
        Prior of a parameter, such as tau=lognormal(-3,1); in fit g2 a penalty, which needs errors:
        normal, lognormal, halfnormal, truncatednormal or uniform.
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    start : Mapping[str, float]
        Starting value of a parameter.
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.9).
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).

    ``euryale.help("sample g2")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample g2", ["file"], locals())


def sample_spectrum(
    file: Data | Sequence[Data],
    *,
    air: bool = False,
    arm: Text | Sequence[Text] | None = None,
    chains: int | None = None,
    chebyshev: bool = False,
    checkpoint: Text | None = None,
    config: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    errors: Literal["marginal", "conditional"] | None = None,
    evidence: bool = False,
    exposure: Text | Sequence[Text] | None = None,
    fixed: Mapping[str, float] | None = None,
    fixed_continuum: bool = False,
    floor: Mapping[str, float] | None = None,
    keep_spikes: bool = False,
    kernel: Literal["exact", "compat"] | None = None,
    library: Text | None = None,
    mask_bits: int | None = None,
    mask_good: Text | None = None,
    mask_range: Text | Sequence[Text] | None = None,
    max_tree_depth: int | None = None,
    no_ccf_continuum_normalize: bool = False,
    no_report: bool = False,
    npoly: int | None = None,
    param_init: Literal["ccf", "bruteforce"] | None = None,
    per_exposure: bool = False,
    prior: Mapping[str, str] | None = None,
    range: Text | None = None,
    resolution_matrix: bool = False,
    resolving_power: float | None = None,
    retries: int | None = None,
    row: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    target_accept: float | None = None,
    targetid: int | None = None,
    unit: Text | None = None,
    vacuum: bool = False,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the parameters of one star.

    Parameters
    ----------
    air : bool
        Take wavelengths as measured in air.
    arm : Text | Sequence[Text]
        Arm of the library, one for all files or one per file (default the arm that the file names, or
        the only one).
    chains : int
        Number of independent chains (default 4).
    chebyshev : bool
        Use Chebyshev polynomials for the continuum instead of three powers and Gaussians.
    checkpoint : Text
        Time between checkpoints (default 10s).
    config : Text
        Configuration file of rvspecfit (default config.yaml, if it exists).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 500).
    errors : Literal["marginal", "conditional"]
        Errors of the parameters: marginal, or conditional on velocity and rotation as in rvspecfit
        (default marginal).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    exposure : Text | Sequence[Text]
        Exposure that each file belongs to, for `per_exposure` (default: every file is its own).
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    fixed_continuum : bool
        Keep to the functions of `npoly`, as rvspecfit does (default: add polynomials where the data
        call for them).
    floor : Mapping[str, float]
        Error to add in quadrature to those of an arm, in units of flux.
    keep_spikes : bool
        Keep pixels that stand out of the model as cosmic rays do, as rvspecfit does (default: leave
        them out and say so).
    kernel : Literal["exact", "compat"]
        Rotation kernel: exact, or compat as in rvspecfit, whose vsini is 4 km/s low at 10 to 25 km/s
        and 1.4 at 25 to 60 (default exact).
    library : Text
        Template library: a folder of rvspecfit or a library file (default from the configuration).
    mask_bits : int
        Bits of an SDSS mask that mark a pixel as bad; the default is bit 23, BRIGHTSKY.
    mask_good : Text
        Number with which a mask column marks good pixels, 0 or 1 (default: by its name, or by what it
        leaves).
    mask_range : Text | Sequence[Text]
        Ranges of wavelengths to leave out, such as a telluric band or a line, as FROM:TO in Angstrom;
        repeat it or separate them by commas.
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_ccf_continuum_normalize : bool
        Cross-correlate without dividing by the continuum.
    no_report : bool
        Draw no pictures and write no report.
    npoly : int
        Number of basis functions of the continuum (default 10).
    param_init : Literal["ccf", "bruteforce"]
        First guess: ccf (cross-correlation) or bruteforce (a grid of parameters) (default ccf).
    per_exposure : bool
        Fit a separate velocity for each exposure of a star; all other parameters are shared.
    prior : Mapping[str, str]
        Prior of a parameter, such as teff=normal(5800,100).
    range : Text
        Range of wavelengths to use, as FROM:TO in Angstrom (default all that the templates cover).
    resolution_matrix : bool
        Use the resolution matrices in DESI's files.
    resolving_power : float
        Resolving power (wavelength/FWHM) to convolve the templates to (default: templates already have
        the instrument's).
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    row : int
        Row of the file, counted from 1 (default the only one).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.9).
    targetid : int
        TARGETID of the star in a DESI file.
    unit : Text
        Unit of the wavelengths: Angstrom, nm, micron or m (default from the file).
    vacuum : bool
        Take wavelengths as measured in vacuum, whatever the file says.
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default 300).

    ``euryale.help("sample spectrum")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample spectrum", ["file"], locals())


def sample_stan(
    model: Data,
    *,
    chains: int | None = None,
    checkpoint: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    data: Data | Sequence[Data] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    explain: bool = False,
    init: Data | None = None,
    library: Text | None = None,
    max_tree_depth: int | None = None,
    no_report: bool = False,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    target_accept: float | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the posterior of a program of the Stan language.

    Parameters
    ----------
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    data : Data | Sequence[Data]
        File with the variables of the data block: JSON, R dump or a table, or - for standard input; may
        be repeated.
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    explain : bool
        Say how the program is computed, line by line, and sample nothing.
    init : Data
        File with initial values of parameters, or one for each chain with commas between them; or a
        number, within which unconstrained starts are drawn.
    library : Text
        Shared library that BridgeStan compiled from a program, in place of MODEL.stan; it runs with
        your rights.
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    no_report : bool
        Draw no pictures and write no report.
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default until the sampler
        has adapted, at most 1000).

    ``euryale.help("sample stan")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample stan", ["model"], locals())


def sample_twotime(
    file: Data,
    *,
    angles: Text | None = None,
    band: int | None = None,
    bounds: Mapping[str, Sequence[float]] | None = None,
    chains: int | None = None,
    checkpoint: Text | None = None,
    config: Text | None = None,
    coordinates: Literal["chosen", "declared", "laplace"] | None = None,
    draws: int | None = None,
    evidence: bool = False,
    fixed: Mapping[str, float] | None = None,
    frame_time: Text | float | None = None,
    frames: Text | None = None,
    gap: Text | float | None = None,
    homodyne: bool = False,
    likelihood: Literal["cells", "pairs", "wishart", "independent"] | None = None,
    max_tree_depth: int | None = None,
    mean_count: float | None = None,
    model: Literal["static", "isotropic", "laminar", "two-component"] | None = None,
    no_report: bool = False,
    prior: Mapping[str, str] | None = None,
    q: float | None = None,
    retries: int | None = None,
    sampler: Literal["nuts", "smc"] | None = None,
    shear: Literal["physical", "homodyne"] | None = None,
    speckles: float | None = None,
    target_accept: float | None = None,
    time_origin: Text | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Posterior:
    """Sample the parameters of motion from two-time correlations.

    Parameters
    ----------
    angles : Text
        Azimuths to use, in degrees, such as 0 or -10:10,80:100 (default all).
    band : int
        Also leave out entries whose frames are at most this many frames apart (default 0: only the
        diagonal).
    bounds : Mapping[str, Sequence[float]]
        Bounds of a parameter, which truncate its prior.
    chains : int
        Number of independent chains (default 4).
    checkpoint : Text
        Time between checkpoints (default 10s).
    config : Text
        Configuration file of homodyne, xpcsjax or heterodyne; flags override it.
    coordinates : Literal["chosen", "declared", "laplace"]
        Coordinates in which the chains move: chosen (in the warm-up, for hierarchies, processes and
        scales; what is normal given the rest is integrated out), declared (those of the model), or
        laplace (what is normal but for the data, such as effects of groups in counts, is integrated out
        by Laplace's approximation, corrected draw by draw) (default chosen).
    draws : int
        Draws to keep per chain (default 1000).
    evidence : bool
        Estimate the evidence, the probability of the data under the model, from the draws of nuts by
        bridge sampling.
    fixed : Mapping[str, float]
        Hold a parameter fixed.
    frame_time : Text | float
        Time between frames, in s or with a unit such as ms or us (default from the file).
    frames : Text
        First and last frame to use, counted from 1, such as 101:400 (default all).
    gap : Text | float
        Gap between the plates, in um or with a unit: mm, nm or A (default 200um).
    homodyne : bool
        Also write the results in the layout of homodyne (subfolder cmc).
    likelihood : Literal["cells", "pairs", "wishart", "independent"]
        Likelihood of the entries: cells, pairs, wishart or independent (default cells).
    max_tree_depth : int
        Depth at which trajectories stop growing, after 2^depth - 1 steps (default 10).
    mean_count : float
        Mean count per pixel and frame, with `speckles`; 0 means no shot noise.
    model : Literal["static", "isotropic", "laminar", "two-component"]
        Static (diffusion, a contrast for each azimuth), isotropic (diffusion, azimuths averaged),
        laminar (diffusion and shear) or two-component (a flowing sample and a reference) (default
        static, or from the configuration).
    no_report : bool
        Draw no pictures and write no report.
    prior : Mapping[str, str]
        Prior of a parameter, of its logarithm (log_NAME), of the contrast or of the offset; in fit
        twotime a penalty: normal, lognormal, halfnormal, truncatednormal or uniform.
    q : float
        Wavevector, in 1/Angstrom (default the only one in the file).
    retries : int
        Number of more careful attempts after a bad verdict (default 1).
    sampler : Literal["nuts", "smc"]
        Nuts (the no-U-turn sampler), or smc (a cloud of draws in each chain that moves from the priors
        to the posterior; for several modes, and for the evidence) (default nuts).
    shear : Literal["physical", "homodyne"]
        Convention of the shear rate: physical, or homodyne as in homodyne, xpcsjax and heterodyne
        (default physical).
    speckles : float
        Number of independent speckles per angle (default estimated from the data).
    target_accept : float
        Target acceptance rate used to adapt the step size, in (0, 1) (default 0.8, raised if there are
        divergences).
    time_origin : Text
        Origin of time: experiment (just before frame 1), window (the first frame used), or how long
        before frame 1 the motion began, such as 30s.
    warmup : int
        Warm-up draws per chain, which adapt the sampler and are discarded (default 500).

    ``euryale.help("sample twotime")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Posterior, "sample twotime", ["file"], locals())


def sbc(
    *,
    draws: int | None = None,
    fits: int | None = None,
    problem: Data | None = None,
    ranks: int | None = None,
    warmup: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Check a model and its sampler by simulation.

    Parameters
    ----------
    draws : int
        Draws to keep per fit (default 1000).
    fits : int
        Number of data sets to simulate and fit (default 1000).
    problem : Data
        JSON file with the problem, or - for standard input.
    ranks : int
        Number of independent posterior draws to rank each prior draw among (default 99).
    warmup : int
        Warm-up draws per fit, which adapt the sampler and are discarded (default 1000).

    ``euryale.help("sbc")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "sbc", [], locals())


def sim_assembly(
    script: Data,
    *,
    checkpoint: Text | None = None,
    profile: bool = False,
    winners: bool = False,
    **common: Unpack[Common],
) -> Run:
    """Run an experiment with assemblies of neurons from a script.

    Parameters
    ----------
    checkpoint : Text
        Time between checkpoints (default 30s).
    profile : bool
        Record the calls, the time and the bytes of each part of the steps.
    winners : bool
        Record the winners of all areas in trace.csv.

    ``euryale.help("sim assembly")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Run, "sim assembly", ["script"], locals())


def sim_rsoxs(
    morph: Data,
    output: Text | None = None,
    *,
    collapse_z: bool = False,
    grid: Literal["cyrsoxs", "exact"] | None = None,
    parity: bool = False,
    **common: Unpack[Common],
) -> Result:
    """Simulate the scattering patterns of a morphology, as CyRSoXS does.

    Parameters
    ----------
    collapse_z : bool
        Average the morphology along z and scatter from that one slice.
    grid : Literal["cyrsoxs", "exact"]
        Q of pixels and planes: cyrsoxs, or exact (the q of the Fourier transform) (default cyrsoxs).
    parity : bool
        Reproduce the known errors of CyRSoXS.

    ``euryale.help("sim rsoxs")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "sim rsoxs", ["morph", "output"], locals())


def sim_twotime(
    output: Text,
    *,
    angles: Text | None = None,
    config: Text | None = None,
    contrast: Text | None = None,
    frame_time: Text | float | None = None,
    frames: int | None = None,
    gap: Text | float | None = None,
    layout: Literal["npz", "aps_u", "aps_old"] | None = None,
    mean_count: float | None = None,
    model: Literal["static", "isotropic", "laminar", "two-component"] | None = None,
    offset: Text | None = None,
    q: float | None = None,
    set: Mapping[str, float] | None = None,
    shear: Literal["physical", "homodyne"] | None = None,
    speckles: int | None = None,
    time_origin: Text | None = None,
    **common: Unpack[Common],
) -> Result:
    """Simulate two-time correlations of a moving sample.

    Parameters
    ----------
    angles : Text
        Azimuths in degrees (default 0,45,90, or the file of angles in the configuration).
    config : Text
        Configuration file of homodyne, xpcsjax or heterodyne; flags override it.
    contrast : Text
        Contrast: one number, or one per angle (default 0.2).
    frame_time : Text | float
        Time between frames, in s or with a unit such as ms or us (default 0.1s, or from the
        configuration).
    frames : int
        Number of frames (default 100).
    gap : Text | float
        Gap between the plates, in um or with a unit: mm, nm or A (default 200um).
    layout : Literal["npz", "aps_u", "aps_old"]
        Npz (a cache of homodyne), aps_u (APS 8-ID) or aps_old (its old layout) (default from the
        extension of OUT).
    mean_count : float
        Mean count per pixel and frame; 0 means no shot noise (default 0.5).
    model : Literal["static", "isotropic", "laminar", "two-component"]
        Static (diffusion, a contrast for each azimuth), isotropic (diffusion, azimuths averaged),
        laminar (diffusion and shear) or two-component (a flowing sample and a reference) (default
        static, or from the configuration).
    offset : Text
        Offset: one number, or one per angle; a value above 1 simulates pixels of unequal brightness
        (default 1).
    q : float
        Wavevector, in 1/Angstrom (default 0.0054, or from the configuration).
    set : Mapping[str, float]
        Value of a parameter.
    shear : Literal["physical", "homodyne"]
        Convention of the shear rate: physical, or homodyne as in homodyne, xpcsjax and heterodyne
        (default physical).
    speckles : int
        Number of independent speckles per angle (default 10000).
    time_origin : Text
        Origin of time: experiment (just before frame 1), window (the first frame used), or how long
        before frame 1 the motion began, such as 30s.

    ``euryale.help("sim twotime")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "sim twotime", ["output"], locals())


def summary(
    run: Data | Sequence[Data],
    **common: Unpack[Common],
) -> Result:
    """Summarise draws: means, intervals, effective sample sizes and R-hat.

    ``euryale.help("summary")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "summary", ["run"], locals())


def train_connectome(
    problem: Data,
    **common: Unpack[Common],
) -> Run:
    """Train the synapses of neural assemblies to classify stimuli.

    ``euryale.help("train connectome")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Run, "train connectome", ["problem"], locals())


def train_spectrum(
    library: Data,
    output: Text,
    *,
    batch: int | None = None,
    learning_rate: float | None = None,
    nlayers: int | None = None,
    no_pca_init: bool = False,
    npc: int | None = None,
    num_epochs: int | None = None,
    patience: int | None = None,
    setup: Text | Sequence[Text] | None = None,
    validation: float | None = None,
    width: int | None = None,
    **common: Unpack[Common],
) -> Run:
    """Train networks that interpolate template spectra.

    Parameters
    ----------
    batch : int
        Number of templates per update (default 100).
    learning_rate : float
        Initial learning rate of Adam (default 0.001).
    nlayers : int
        Number of hidden layers (default 2).
    no_pca_init : bool
        Start the last layer from random weights (default: from principal components).
    npc : int
        Width of the last hidden layer, at most the number of templates (default 200).
    num_epochs : int
        Largest number of epochs (default 1000000).
    patience : int
        Number of epochs without a lower loss after which the learning rate is halved (default 40).
    setup : Text | Sequence[Text]
        Arms to train (default all).
    validation : float
        Fraction of the templates to hold out for validation, below 0.5.
    width : int
        Width of the hidden layers (default 256).

    ``euryale.help("train spectrum")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Run, "train spectrum", ["library", "output"], locals())


def view(
    file: Data | Sequence[Data] | None = None,
    *,
    no_browser: bool = False,
    port: int | None = None,
    **common: Unpack[Common],
) -> Result:
    """Browse files and runs in a page, with pictures that zoom.

    Parameters
    ----------
    no_browser : bool
        Print the address and open no browser.
    port : int
        Port to listen on (default any that is free).

    ``euryale.help("view")`` prints the rest; the keywords of all commands are those of `Common`.
    """
    return call(Result, "view", ["file"], locals())
