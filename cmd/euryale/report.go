package main

import (
	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/g2"
)

func (a *app) saveReport(dir rundir, law g2.Law, c g2.Curve, point g2.Fit, fit *infer.Fit) error { return nil }
func (a *app) saveFits(doc fitDoc, fits []g2.Fit) error                                          { return nil }
func (a *app) plot() *cobra.Command                                                              { return &cobra.Command{Use: "plot"} }
func (a *app) demo() *cobra.Command                                                              { return &cobra.Command{Use: "demo"} }
