#!/bin/bash
# Runs a command beside a Slurm cluster of one node on this machine's loopback, which ends with it:
#
#   scripts/slurm.sh sbatch job.sh
#
# It needs munged, slurmctld and slurmd (on Debian: slurm-wlm and munge), and leaves nothing behind. The
# node pretends to have CPUS processors (default 8).
set -u
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sinfo; do
  command -v "$tool" >/dev/null || { echo "slurm.sh: lacks $tool (on Debian: apt-get install slurm-wlm munge)" >&2; exit 69; }
done
dir=$(mktemp -d /tmp/slurm.XXXXXX) && chmod 755 "$dir" && mkdir "$dir/state" "$dir/spool" "$dir/log"
trap 'kill $(cat "$dir"/*.pid 2>/dev/null) 2>/dev/null; sleep 0.5; rm -rf "$dir"' EXIT
free() { # a port that nobody listens on
  local port
  while port=$((20000 + RANDOM % 20000)); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }; done
}
host=$(hostname -s) user=$(id -un)
memory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo) # MB; a node without any refuses jobs that ask for some
dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 2>/dev/null; chmod 600 "$dir/munge.key"
munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
  --log-file="$dir/log/munged" --seed-file="$dir/munge.seed" || exit 69
cat >"$dir/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free)
SlurmdPort=$(free)
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=${CPUS:-8} RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$dir/slurm.conf
slurmctld -c && slurmd || { tail -n 5 "$dir"/log/* >&2; exit 69; }
for _ in $(seq 100); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.1
done
sinfo -h -o %t | grep -q idle || { echo "slurm.sh: the node does not come up" >&2; tail -n 5 "$dir"/log/* >&2; exit 69; }
"$@"
code=$?
[ "$code" -eq 0 ] || tail -n 20 "$dir"/log/slurm* >&2
exit "$code"
