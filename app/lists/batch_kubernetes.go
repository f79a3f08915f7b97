// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/foreign"
)

func init() {
	schedulers = append(schedulers, scheduler{
		use:   "k8s FOLDER|CONFIG.yaml",
		short: "Print a Kubernetes job for a batch",
		long: `Print a Kubernetes Indexed Job (Kubernetes 1.31 or newer) that works on a batch.
The folder of the batch and its files must be on a volume that all pods mount at
--path, and the same path must hold them on this machine. The image can be built
from examples/cluster/Containerfile.

  euryale batch k8s fits --image registry.example/euryale:1 --claim data \
      --path /data | kubectl apply -f -
`,
		add:  addKubernetes,
		file: kubernetesJob,
	})
}

var (
	// imageName is the name of a container image: a registry with its port, a path, a tag and a digest.
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$`)
	// kubernetesName is what Kubernetes calls a DNS subdomain.
	kubernetesName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// kubernetesOwn is what only the jobs of Kubernetes say.
type kubernetesOwn struct{ Image, Claim, Path string }

func addKubernetes(c *cobra.Command) (any, func(j *job) error) {
	var own kubernetesOwn
	c.Flags().StringVar(&own.Image, "image", "euryale:latest", "container image")
	c.Flags().StringVar(&own.Claim, "claim", "work", "name of the PersistentVolumeClaim")
	c.Flags().StringVar(&own.Path, "path", "", "folder where the volume is mounted; required, and not /")
	return &own, func(j *job) error {
		if own.Path == "" || filepath.Clean(own.Path) == "/" { // a volume at / would hide the image
			return exit.Usage("--path %q: name the folder at which pods mount the volume, such as --path %s: the folder of the batch lies below it, here and in the pods", own.Path, filepath.Dir(j.Folder))
		}
		if rel, err := filepath.Rel(own.Path, j.Folder); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return exit.Usage("--path %s: the folder of the batch, %s, is not below it: name the folder at which pods mount the volume, which must be the same here", own.Path, j.Folder)
		}
		if strings.Contains(own.Path, ":") {
			return exit.Usage("--path %s: Kubernetes mounts no volume at a path with a colon: use another one", own.Path)
		}
		if !imageName.MatchString(own.Image) {
			return exit.Usage("--image %q: want the name of a container image, such as registry.example/euryale:1, which begins with a letter or a digit and goes on with these and ._/:@+-", foreign.Short(own.Image, 80))
		}
		if !kubernetesName.MatchString(own.Claim) || len(own.Claim) > 253 {
			return exit.Usage("--claim %q: want the name of a PersistentVolumeClaim, of lower-case letters, digits, - and .", own.Claim)
		}
		return nil
	}
}

var kubernetesJob = jobTemplate("k8s", `# {{.Items}} items of {{line .Work}}, manifest {{.Hash}}, in {{.Shards}} shards.
# The volume claim {{line .Own.Claim}} holds the folder of the batch and its files, at {{line .Own.Path}} in the container.
apiVersion: batch/v1
kind: Job
metadata:
  name: {{yaml .Name}}
spec:
  completionMode: Indexed
  completions: {{.Shards}}
  parallelism: {{.Limit}}
  backoffLimitPerIndex: 10
  maxFailedIndexes: {{.Shards}}
  podFailurePolicy:
    rules:
      - action: Ignore  # a pod that was moved has not failed
        onPodConditions:
          - type: DisruptionTarget
      - action: FailIndex  # a mistake in the list or the settings stays one
        onExitCodes:
          containerName: euryale
          operator: In
          values: [64, 65, 78]
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 60
      containers:
        - name: euryale
          image: {{yaml .Own.Image}}
          args: ["batch", "run", {{argument .Folder}}, "--threads", "{{.CPUs}}"]
          env:
            - name: EURYALE_SHARDS
              value: "{{.Shards}}"
          resources:
            requests: {cpu: "{{.CPUs}}", memory: {{printf "%si" .Memory | yaml}}}
            limits: {cpu: "{{.CPUs}}", memory: {{printf "%si" .Memory | yaml}}{{if .GPUs}}, nvidia.com/gpu: {{.GPUs}}{{end}}}
          volumeMounts:
            - {name: work, mountPath: {{yaml .Own.Path}}}
      volumes:
        - name: work
          persistentVolumeClaim: {claimName: {{yaml .Own.Claim}}}
`)
