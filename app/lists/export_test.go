// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

// What tests outside the package take from it.
const ManifestName = manifestName

type Job = job
type MergeDoc = mergeDoc

var KubernetesJob = kubernetesJob
var KubernetesName = kubernetesName
var SlurmJob = slurmJob
var ItemProcess = itemProcess
var BatchSlurm = batchSlurm
var BatchKubernetes = batchKubernetes
