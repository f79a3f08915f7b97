// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/lists"
	"github.com/euryale-dev/euryale/batch"
)

// hostileFolders are names of folders that mean something to shells, to YAML, to Slurm, to Kubernetes or to terminals.
var hostileFolders = []string{"plain", "it's", `say "a"`, "$(touch touched)", "`touch touched`", "a; touch touched; #", "-rf", "a: b #", ": #", "a\n#SBATCH --uid=0\ntouch touched #", "a'\ntouch touched\n'", `back\slash`, "x\x1b[31m",
	"\u202ereversed", "日本", "$(EURYALE_SHARDS)", "$$(X)", "{{.Items}}", "0x10", "null", "~", "[a, b]", strings.Repeat("long-", 40)}

// Whatever a folder is called, job files work on it, and do nothing else.
func TestJobsOfHostileNames(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	root := t.TempDir()
	program := filepath.Join(root, "bin", "euryale")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Dir(program), 0o755))
	must(os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\" >> \"$CALLED\"\n"), 0o755))
	for _, name := range hostileFolders {
		work := t.TempDir()
		t.Chdir(work) // where the shell would touch what it must not
		dir := filepath.Join(root, name)
		must(os.Mkdir(dir, 0o755))
		_, err := batch.Create(filepath.Join(dir, "manifest.txt"), batch.Header{Command: "sweep", Block: 1, Settings: []byte(`{"command": ["a"]}`)}, func(add func(string, int64, int64) error) error { return add("grid", 0, 3) })
		must(err)
		for _, command := range []string{"sbatch", "k8s"} {
			code, out, stderr := apptest.Do(t, "batch", command, dir, "--shards", "3", "--path", root)
			if command == "sbatch" {
				code, out, stderr = apptest.Do(t, "batch", command, dir, "--shards", "3")
			}
			if code != 0 {
				t.Fatalf("%q: %s", name, stderr)
			}
			if command == "sbatch" {
				begun := false
				for line := range strings.SplitSeq(out, "\n") {
					if begun = begun || !strings.HasPrefix(line, "#"); !begun && strings.Contains(line, "uid") && !strings.HasPrefix(line, "#SBATCH --job-name=") && !strings.HasPrefix(line, "#SBATCH --output=") {
						t.Errorf("%q: %s", name, line)
					}
				}
				called := filepath.Join(work, "called")
				cmd := exec.Command(bash)
				cmd.Stdin, cmd.Dir = strings.NewReader(out), work
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "SLURM_CPUS_PER_TASK=2", "CALLED="+called)
				if said, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%q: %v: %s\n%s", name, err, said, out)
				}
				b, _ := os.ReadFile(called)
				want := strings.Join([]string{"batch", "run", dir, "--threads", "2", "batch", "status", dir, "--this-shard", "--quiet"}, "\x00") + "\x00"
				if string(b) != want {
					t.Errorf("%q: the job calls %q, want %q", name, b, want)
				}
				continue
			}
			var job struct {
				Metadata struct{ Name string }
				Spec     struct {
					Template struct {
						Spec struct {
							Containers []struct {
								Image        string
								Args         []string
								VolumeMounts []struct {
									MountPath string `yaml:"mountPath"`
								} `yaml:"volumeMounts"`
							}
							Volumes []struct {
								Claim struct {
									Name string `yaml:"claimName"`
								} `yaml:"persistentVolumeClaim"`
							}
						}
					}
				}
			}
			if err := yaml.Unmarshal([]byte(out), &job); err != nil {
				t.Fatalf("%q: %v\n%s", name, err, out)
			}
			s := job.Spec.Template.Spec
			if n := job.Metadata.Name; !lists.KubernetesName.MatchString(n) || len(n) > 50 {
				t.Errorf("%q: the job is called %q", name, n)
			}
			// What Kubernetes makes of the arguments: two dollar signs are one, and $( begins a variable.
			if args := s.Containers[0].Args; len(args) != 5 || strings.Contains(strings.ReplaceAll(args[2], "$$", ""), "$") || strings.ReplaceAll(args[2], "$$", "$") != dir {
				t.Errorf("%q: arguments %q", name, args)
			}
			if s.Containers[0].Image != "euryale:latest" || s.Containers[0].VolumeMounts[0].MountPath != root || s.Volumes[0].Claim.Name != "work" {
				t.Errorf("%q: %+v", name, s)
			}
		}
		if list, _ := os.ReadDir(work); slices.ContainsFunc(list, func(e os.DirEntry) bool { return e.Name() != "called" }) {
			t.Errorf("%q: the shell made %v", name, list)
		}
	}
}

// A list of somebody else gets nothing into a job but its folder, and a kind of work that does not exist is refused.
func TestJobsOfForeignLists(t *testing.T) {
	dir := t.TempDir()
	if _, err := batch.Create(filepath.Join(dir, "manifest.txt"), batch.Header{Command: "fit g2\ntouch touched\n#", Settings: []byte(`{}`)}, func(add func(string, int64, int64) error) error { return add("x", 0, 3) }); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"batch", "sbatch", dir}, {"batch", "k8s", dir, "--path", filepath.Dir(dir)}} {
		if code, out, stderr := apptest.Do(t, args...); code != exit.Data || out != "" || !strings.Contains(stderr, "there is no kind of work") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
	}
	files, err := lists.JobFiles(lists.Job{Work: "fit g2\ntouch touched\n#"})
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, text := range files {
		if strings.Contains(text, "\ntouch") {
			t.Error(text)
		}
	}
}

// Names that get into job files are refused with characters that they cannot have, and if they would be taken for flags. All flags of
// the commands are walked that take a text, so that a new one is looked at here.
func TestNamesOfJobs(t *testing.T) {
	config := apptest.Decays(t, 3, "")
	dir := strings.TrimSuffix(config, ".yaml")
	if code, _, stderr := apptest.Do(t, "batch", config); code != 0 {
		t.Fatal(stderr)
	}
	cleaned := []string{"name"} // made into a name, whatever it was
	a := &frame.App{}
	for _, c := range lists.JobCommands(a) {
		command := []string{"batch", c.Name(), dir}
		if c.Name() == "k8s" {
			command = append(command, "--path", filepath.Dir(dir))
		}
		names := 0
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "string" {
				return
			}
			names++
			for _, bad := range []string{"-x", "--uid=0", "-", "a b", "a\nb", "a;b", "$(id)", "a'b", "a\u00a0b", "a\rb", "#", "é\x1b", "a\xff", "=x", ",", " ", "a #\n x: y"} {
				code, out, stderr := apptest.Do(t, append(command, "--"+f.Name+"="+bad)...)
				if slices.Contains(cleaned, f.Name) {
					if code != 0 || !strings.Contains(out, "name: \"") && !strings.Contains(out, "#SBATCH --job-name=") || strings.Contains(out, "name="+bad) || strings.Contains(out, "name: \""+bad) {
						t.Errorf("--%s=%q: exit %d: %s%s", f.Name, bad, code, out, stderr)
					}
				} else if code != exit.WrongUsage || out != "" || !strings.Contains(stderr, "--"+f.Name+" ") {
					t.Errorf("--%s=%q: exit %d: %s%s", f.Name, bad, code, out, stderr)
				}
			}
		})
		if names < 5 {
			t.Errorf("batch %s has %d flags with texts: they are not found any more", c.Name(), names)
		}
	}
	for _, good := range [][]string{{"sbatch", dir, "--partition", "short,long"}, {"sbatch", dir, "--account", "_m1234@gpu/a"}, {"k8s", dir, "--path", filepath.Dir(dir), "--image", "r.example:5000/a@sha256:0"}} {
		if code, out, stderr := apptest.Do(t, append([]string{"batch"}, good...)...); code != 0 || !strings.Contains(out, good[len(good)-1]) {
			t.Errorf("%v: exit %d: %s", good, code, stderr)
		}
	}
}

// The process that does one item of a batch works on the folder, also if that is called like a flag.
func TestItemsOfFoldersLikeFlags(t *testing.T) {
	config := apptest.Decays(t, 3, "")
	dir := strings.TrimSuffix(config, ".yaml")
	if code, _, stderr := apptest.Do(t, "batch", config); code != 0 {
		t.Fatal(stderr)
	}
	t.Chdir(filepath.Dir(dir))
	for _, name := range []string{"-x", "--help"} {
		if err := os.Rename(dir, filepath.Join(filepath.Dir(dir), name)); err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(filepath.Dir(dir), name)
		args := lists.ItemProcess(name)(t.Context(), batch.Range{Item: 1, Count: 1}).Args
		if code, out, stderr := apptest.Do(t, args[1:]...); code != 0 || out == "" || strings.Contains(out, "Usage") {
			t.Errorf("%q: exit %d: %s%s", args[1:], code, out, stderr)
		}
	}
}
