// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// reading takes the value of a key.
type reading func(r *configReader, key string, n *yaml.Node)

// keys are those that have a meaning, by their path.
var keys map[string]reading

// remarks are keys that say nothing to a program.
var remarks = spread(map[string]string{
	"":                    "metadata description version",
	"analysis_settings":   "model_description",
	"analyzer_parameters": "time_unit",
	"experimental_data":   "data_type file_format exchange_key",
	"initial_parameters":  "units",
	"optimization.nlsq":   "analysis_mode",
	"parameter_space":     "model",
	"phi_filtering":       "algorithm",
})

// meaningless are keys, and all that is below them, which other programs need and this one does not: it keeps no caches, cuts no data
// into shards, follows no stages, and has contrast and offset in closed form.
var meaningless = spread(map[string]string{
	"": "logging performance validation quality_control stratification sequential v2_features data_filtering preprocessing hardware device streaming " +
		"advanced_settings performance_settings validation_rules workflow_integration output_settings execution_options",
	"data":                                 "dataset_path t_range q_index max_points",
	"experimental_data":                    "cache_file_path cache_directory cache_filename_template cache_compression use_caching",
	"phi_filtering":                        "tolerance quality_control",
	"noise_estimation":                     "model posterior_samples adam_config per_angle validation",
	"optimization":                         "recovery sequential stratification streaming lsq",
	"optimization_config":                  "classical_optimization robust_optimization bayesian_inference scaling_parameters",
	"optimization.nlsq.multi_start":        "degeneracy_threshold n_workers refinement_ftol sampling_strategy use_screening",
	"optimization.nlsq.quality_validation": "bounds_tolerance enable warn_on_bounds_hit warn_on_convergence_failure warn_on_max_restarts",
	"optimization.nlsq.anti_degeneracy":    "constant_scaling_threshold enable execute_layers fourier_auto_threshold gradient_monitoring hierarchical regularization shear_weighting",
	"optimization.nlsq.cmaes": "auto_select data_chunk_size max_restarts memory_limit_gb normalization_epsilon normalize population_batch_size preset refine_with_nlsq " +
		"refinement_ftol refinement_gtol refinement_loss refinement_max_nfev refinement_workflow refinement_xtol restart_strategy scale_threshold sigma_warmstart " +
		"tol_fun tol_x warmstart_auto_skip warmstart_skip_threshold",
	"optimization.nlsq": "workflow goal memory_fraction memory_threshold_gb trust_region_scale verbose x_scale x_scale_map progress diagnostics hybrid_streaming " +
		"hybrid_recovery recovery validation method use_jac use_nlsq_library force_stratified_ls max_recovery_attempts sampling_strategy " +
		"cmaes_anti_degeneracy cmaes_diagonal_filtering cmaes_max_iterations cmaes_population_size cmaes_sigma0 cmaes_tolfun cmaes_tolx constant_scaling_threshold " +
		"enable_anti_degeneracy enable_diagnostics enable_gradient_monitoring enable_hierarchical enable_recovery enable_stratified enable_streaming " +
		"fourier_auto_threshold gradient_consecutive_triggers gradient_ratio_threshold group_variance_lambda hierarchical_inner_tolerance " +
		"hierarchical_max_outer_iterations hierarchical_outer_tolerance hybrid_convergence_threshold hybrid_convergence_window hybrid_enable hybrid_lbfgs_memory " +
		"hybrid_max_phases hybrid_method hybrid_normalization hybrid_warmup_fraction nlsq_memory_fallback_gb nlsq_memory_fraction nlsq_rescale_data nlsq_stability " +
		"nlsq_x_scale regularization_mode regularization_target_cv streaming_chunk_size target_chunk_size",
	"optimization.cmc": "enable min_points_for_cmc sharding backend backend_config combination validation timeout per_shard_timeout heartbeat_timeout run_id " +
		"prior_tempering reparameterization nlsq constant_scaling_threshold initialization",
	"optimization.cmc.per_angle":      "constant_scaling_threshold",
	"optimization.cmc.per_shard_mcmc": "adaptive_sampling chain_method enable_jax_profiling init_strategy jax_profile_dir min_samples min_warmup",
	"optimization.mcmc":               "backend progress_bar initial_values",
	"output":                          "formats create_subdirs timestamp_dirs compress_hdf5 compression_level include_diagnostics save_correlation save_residuals save_arrays save_json save_plots run_id",
	"plotting":                        "show_plots style preview_mode fit_surface datashader matplotlib angle_correlation angle_coverage correlation_function fit_quality parameter_distributions residual_analysis",
	"plotting.color_scale":            "pin_legacy_range percentile_min percentile_max",
})

// spread makes a list of paths from names by section.
func spread(of map[string]string) (all []string) {
	for section, names := range of {
		for _, name := range strings.Fields(names) {
			all = append(all, strings.TrimPrefix(section+"."+name, "."))
		}
	}
	return all
}

func init() {
	inf, above := math.Inf(1), math.SmallestNonzeroFloat64
	keys = map[string]reading{
		"analysis_mode":                            func(r *configReader, key string, n *yaml.Node) { r.mode, r.modeLine = r.text(key, n), n.Line },
		"analysis.mode":                            func(r *configReader, key string, n *yaml.Node) { r.mode, r.modeLine = r.text(key, n), n.Line },
		"analysis_settings.static_mode":            func(r *configReader, key string, n *yaml.Node) { r.static = fmt.Sprint(r.truth(key, n)) },
		"analysis_settings.static_submode":         func(r *configReader, key string, n *yaml.Node) { r.sub = r.text(key, n) },
		"analysis_settings.enable_angle_filtering": anglesEnabled,
		"analysis_settings.angle_filter_ranges":    anglePairs,

		"time_origin": choice(map[string]func(c *Config){"experiment": func(c *Config) { c.Clock.Window = false }, "window": func(c *Config) { c.Clock.Window = true }}),
		"origin":      float(-inf, inf, func(c *Config) *float64 { return &c.Clock.Origin }),
		"shear":       choice(map[string]func(c *Config){"physical": func(c *Config) { c.Customary = false }, "homodyne": func(c *Config) { c.Customary = true }}),
		"band":        count(0, 1e6, func(c *Config) *int { return &c.Band }),
		"q_tolerance": float(above, farthest, func(c *Config) *float64 { return &c.Tolerance }),

		"analyzer_parameters.scattering.wavevector_q":   float(above, inf, func(c *Config) *float64 { return &c.Q }),
		"analyzer_parameters.geometry.stator_rotor_gap": gap(1),
		"analyzer_parameters.frame_step": func(r *configReader, key string, n *yaml.Node) {
			if v, ok := r.whole(key, n, 1, 1e9); ok && v != 1 {
				r.wrong(n, key, "the value is %d, but all frames are used here; leave it out", v)
			}
		},
		"data.file_path":    folderOf(func(r *configReader, s string) { r.c.Data = s }),
		"data.q_value":      float(above, inf, func(c *Config) *float64 { return &c.Q }),
		"data.gap_distance": gap(1e4), // micrometres there
		"data.dt":           float(above, inf, func(c *Config) *float64 { return &c.Step }),
		"data.phi_range":    func(r *configReader, key string, n *yaml.Node) { r.angleRange(key, r.numbers(key, n), n) },

		"experimental_data.file_path":        folderOf(func(r *configReader, s string) { r.c.Data = s }),
		"experimental_data.data_folder_path": folderOf(func(r *configReader, s string) { r.folder = s }),
		"experimental_data.data_file_name":   folderOf(func(r *configReader, s string) { r.file = s }),
		"experimental_data.phi_angles_path":  folderOf(func(r *configReader, s string) { r.c.Azimuths = joined(s, r.c.Azimuths) }),
		"experimental_data.phi_angles_file":  folderOf(func(r *configReader, s string) { r.c.Azimuths = joined(r.c.Azimuths, s) }),
		"file_paths.c2_data_file":            folderOf(func(r *configReader, s string) { r.c.Data = s }),
		"file_paths.phi_angles_file":         folderOf(func(r *configReader, s string) { r.c.Azimuths = s }),
		"file_paths.output_directory":        folderOf(func(r *configReader, s string) { r.c.Output = s }),

		"phi_filtering.enabled":                                      anglesEnabled,
		"phi_filtering.target_ranges":                                angleRanges,
		"phi_filtering.fallback_to_all_angles":                       anglesFallback,
		"optimization.angle_filtering.enabled":                       anglesEnabled,
		"optimization.angle_filtering.target_angle_ranges":           angleRanges,
		"optimization.angle_filtering.target_ranges":                 angleRanges,
		"optimization.angle_filtering.fallback_to_all_angles":        anglesFallback,
		"optimization_config.angle_filtering.enabled":                anglesEnabled,
		"optimization_config.angle_filtering.target_ranges":          angleRanges,
		"optimization_config.angle_filtering.fallback_to_all_angles": anglesFallback,

		"initial_parameters.parameter_names":            func(r *configReader, key string, n *yaml.Node) { r.names = r.texts(key, n) },
		"initial_parameters.values":                     func(r *configReader, key string, n *yaml.Node) { r.values, r.valuesLine = r.numbers(key, n), n.Line },
		"initial_parameters.active_parameters":          func(r *configReader, key string, n *yaml.Node) { r.active = r.texts(key, n) },
		"initial_parameters.fixed_parameters":           fixedParameters,
		"initial_parameters.per_angle_scaling.contrast": func(r *configReader, key string, n *yaml.Node) { r.c.Contrasts = r.numbers(key, n) },
		"initial_parameters.per_angle_scaling.offset":   func(r *configReader, key string, n *yaml.Node) { r.c.Offsets = r.numbers(key, n) },

		"parameter_space.bounds": spaceBounds,
		"parameter_space.priors": spacePriors,
		"parameter_bounds":       plainBounds,
		"parameters":             groupedParameters,

		"optimization.method": choice(map[string]func(c *Config){
			"nlsq": func(c *Config) { c.Method = LeastSquares }, "nuts": func(c *Config) { c.Method = Sampling },
			"mcmc": func(c *Config) { c.Method = Sampling }, "both": func(c *Config) { c.Method = Both },
			"cmc": func(c *Config) {
				c.Method = Sampling
				c.Notices = append(c.Notices, "method cmc: the posterior here is of all data at once, without shards")
			}}),
		"optimization.nlsq.max_iterations": count(1, 1e9, func(c *Config) *int { return &c.NLSQ.Iterations }),
		"optimization.nlsq.tolerance":      float(0, 1, func(c *Config) *float64 { return &c.NLSQ.FTol }),
		"optimization.nlsq.ftol":           float(0, 1, func(c *Config) *float64 { return &c.NLSQ.FTol }),
		"optimization.nlsq.xtol":           float(0, 1, func(c *Config) *float64 { return &c.NLSQ.XTol }),
		"optimization.nlsq.gtol":           float(0, 1, func(c *Config) *float64 { return &c.NLSQ.GTol }),
		"optimization.nlsq.loss": func(r *configReader, key string, n *yaml.Node) {
			if s := r.text(key, n); !slices.Contains([]string{"linear", "soft_l1", "huber", "cauchy", "arctan"}, s) {
				r.wrong(n, key, "the value is %s; want linear, soft_l1, huber, cauchy or arctan", kindOf(n))
			} else {
				r.c.NLSQ.Loss = s
			}
		},
		"optimization.nlsq.anti_degeneracy.per_angle_mode": scalingMode,
		"optimization.nlsq.per_angle_mode":                 scalingMode,
		"optimization.cmc.per_angle_mode":                  cmcScaling,
		"optimization.cmc.per_angle.per_angle_mode":        cmcScaling,
		"optimization.nlsq.anti_degeneracy.fourier_order":  count(1, 2, func(c *Config) *int { return &c.Harmonics }),
		"optimization.nlsq.fourier_order":                  count(1, 2, func(c *Config) *int { return &c.Harmonics }),

		"optimization.nlsq.multi_start.enable":                               manyStarts,
		"optimization.nlsq.multistart":                                       manyStarts,
		"optimization.nlsq.multi_start.n_starts":                             startCount,
		"optimization.nlsq.multistart_n":                                     startCount,
		"optimization.nlsq.multi_start.refine_top_k":                         count(1, 1e6, func(c *Config) *int { return &c.NLSQ.Refined }),
		"optimization.nlsq.refine_top_k":                                     count(1, 1e6, func(c *Config) *int { return &c.NLSQ.Refined }),
		"optimization.nlsq.multi_start.screen_keep_fraction":                 float(0, 1, func(c *Config) *float64 { return &c.NLSQ.ScreenFraction }),
		"optimization.nlsq.screen_keep_fraction":                             float(0, 1, func(c *Config) *float64 { return &c.NLSQ.ScreenFraction }),
		"optimization.nlsq.multi_start.seed":                                 seed(func(c *Config) *uint64 { return &c.NLSQ.Seed }),
		"optimization.nlsq.cmaes.enable":                                     func(r *configReader, key string, n *yaml.Node) { r.c.NLSQ.Evolution = r.truth(key, n) },
		"optimization.nlsq.enable_cmaes":                                     func(r *configReader, key string, n *yaml.Node) { r.c.NLSQ.Evolution = r.truth(key, n) },
		"optimization.nlsq.cmaes.sigma":                                      float(above, inf, func(c *Config) *float64 { return &c.NLSQ.EvolutionSigma }),
		"optimization.nlsq.cmaes.popsize":                                    count(2, 1e6, func(c *Config) *int { return &c.NLSQ.EvolutionPopulation }),
		"optimization.nlsq.cmaes.max_generations":                            count(1, 1e9, func(c *Config) *int { return &c.NLSQ.EvolutionGenerations }),
		"optimization.nlsq.quality_validation.reduced_chi_squared_threshold": float(above, inf, func(c *Config) *float64 { return &c.NLSQ.ReducedChiSquaredLimit }),

		"noise_estimation.enabled": func(r *configReader, key string, n *yaml.Node) { r.c.Noise = r.truth(key, n) },
		"output.directory":         folderOf(func(r *configReader, s string) { r.c.Output = s }),
		"output.base_directory": folderOf(func(r *configReader, s string) {
			if r.c.Output == "" {
				r.c.Output = s
			}
		}),
		"output.output_dir":              folderOf(func(r *configReader, s string) { r.c.Output = s }),
		"plotting.save_plots":            func(r *configReader, key string, n *yaml.Node) { r.c.Plots.Save = r.truth(key, n) },
		"plotting.format":                func(r *configReader, key string, n *yaml.Node) { r.c.Plots.Format = r.text(key, n) },
		"plotting.dpi":                   count(1, 1e5, func(c *Config) *int { return &c.Plots.DPI }),
		"plotting.color_scale.mode":      func(r *configReader, key string, n *yaml.Node) { r.c.Plots.Fixed = r.text(key, n) == "fixed" },
		"plotting.color_scale.fixed_min": float(-inf, inf, func(c *Config) *float64 { return &c.Plots.Low }),
		"plotting.color_scale.fixed_max": float(-inf, inf, func(c *Config) *float64 { return &c.Plots.High }),
	}
	for _, at := range []string{"analyzer_parameters.", "analyzer_parameters.temporal."} {
		keys[at+"dt"] = float(above, inf, func(c *Config) *float64 { return &c.Step })
		keys[at+"start_frame"] = firstFrame
		keys[at+"end_frame"] = func(r *configReader, key string, n *yaml.Node) {
			if v, ok := r.whole(key, n, -1, 1e9); ok {
				r.c.Last = max(v, 0)
			}
		}
	}
	for _, at := range []string{"analyzer_parameters.temporal.", "temporal."} {
		keys[at+"t_start"] = func(r *configReader, key string, n *yaml.Node) {
			if v, ok := r.number(key, n, 0, inf); ok {
				r.c.Clock.Start = &v
			}
		}
	}
	keys["temporal.dt"] = keys["analyzer_parameters.dt"]
	// Of the two sections the one of all chains counts, as it does in homodyne.
	for _, at := range []string{"optimization.mcmc.", "optimization.cmc.per_shard_mcmc."} {
		main := at == "optimization.mcmc."
		keys[at+"num_warmup"] = sampler(main, "warmup", 1, 1e7, true)
		keys[at+"num_samples"] = sampler(main, "draws", 1, 1e8, true)
		keys[at+"num_chains"] = sampler(main, "chains", 1, 1e4, true)
		keys[at+"max_tree_depth"] = sampler(main, "depth", 1, 30, true)
		keys[at+"target_accept_prob"] = sampler(main, "accept", 0.01, 0.999, false)
		keys[at+"seed"] = seed(func(c *Config) *uint64 { return &c.Sampler.Seed })
		dense := func(r *configReader, key string, n *yaml.Node) { r.c.Sampler.Dense = r.truth(key, n) }
		keys[at+"dense_mass_matrix"], keys[at+"dense_mass"] = dense, dense
	}
	for name := range customary {
		keys["parameter_space."+name] = spaceParameter
	}
	for _, alias := range []string{"gamma_dot_0", "phi_0"} {
		keys["parameter_space."+alias] = spaceParameter
	}
}

// section reports whether keys are below a path.
func section(path string) bool {
	for k := range keys {
		if strings.HasPrefix(k, path+".") {
			return true
		}
	}
	return false
}

// below returns the names of keys and sections of a section, sorted.
func below(path string) []string {
	if path != "" {
		path += "."
	}
	set := map[string]bool{}
	for _, k := range slices.Concat(slices.Collect(maps.Keys(keys)), meaningless, remarks) {
		if rest, ok := strings.CutPrefix(k, path); ok {
			name, _, _ := strings.Cut(rest, ".")
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// ending returns the path of a key of that name, in whatever section it is.
func ending(name string) string {
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if strings.HasSuffix(k, "."+name) {
			return k
		}
	}
	return ""
}

func float(lo, hi float64, of func(c *Config) *float64) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if v, ok := r.number(key, n, lo, hi); ok {
			*of(r.c) = v
		}
	}
}

func scaled(factor float64, of func(c *Config) *float64) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if v, ok := r.number(key, n, math.SmallestNonzeroFloat64, math.Inf(1)); ok {
			*of(r.c) = v * factor
		}
	}
}

// gap reads the distance between the plates in units of so many angstroms.
func gap(unit float64) reading {
	read := scaled(unit, func(c *Config) *float64 { return &c.Gap })
	return func(r *configReader, key string, n *yaml.Node) {
		r.c.GapFrom = key
		read(r, key, n)
	}
}

func count(lo, hi float64, of func(c *Config) *int) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if v, ok := r.whole(key, n, lo, hi); ok {
			*of(r.c) = v
		}
	}
}

func seed(of func(c *Config) *uint64) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if v, ok := r.whole(key, n, 0, 1<<53); ok {
			*of(r.c) = uint64(v)
		}
	}
}

func choice(of map[string]func(c *Config)) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if set := of[strings.ToLower(r.text(key, n))]; set != nil {
			set(r.c)
			return
		}
		r.wrong(n, key, "the value is %s; want one of %s", kindOf(n), strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	}
}

func folderOf(set func(r *configReader, s string)) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		if s := r.path(key, n); s != "" {
			set(r, s)
		}
	}
}

func sampler(main bool, what string, lo, hi float64, integer bool) reading {
	return func(r *configReader, key string, n *yaml.Node) {
		v, ok := r.number(key, n, lo, hi)
		if integer && v != math.Trunc(v) {
			r.wrong(n, key, "the value is %s; want a whole number", n.Value)
		}
		if !ok || !main && r.mainSampler[what] {
			return
		}
		if main {
			r.mainSampler[what] = true
		}
		s := &r.c.Sampler
		switch what {
		case "warmup":
			s.Warmup = int(v)
		case "draws":
			s.Draws = int(v)
		case "chains":
			s.Chains = int(v)
		case "depth":
			s.Depth = int(v)
		case "accept":
			s.Accept = v
		}
	}
}
