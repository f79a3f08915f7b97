// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "github.com/euryale-dev/euryale/kernels/cuda/drv"

// Info describes a device.
type Info struct {
	Ordinal         int     `json:"device_id"`
	Name            string  `json:"name"`
	Capability      [2]int  `json:"compute_capability"`
	MemoryGB        float64 `json:"memory_total_gb"` // memory in units of 2^30 bytes
	Multiprocessors int     `json:"multiprocessor_count"`
	MaxThreads      int     `json:"max_threads_per_block"`
	WarpSize        int     `json:"warp_size"`
	ClockMHz        float64 `json:"clock_rate_mhz"`
	MemoryClockMHz  float64 `json:"memory_clock_rate_mhz"`
	MemoryBusBits   int     `json:"memory_bus_width"`
	MemoryBytes     uint64  `json:"memory_total_bytes"`
	MaxBlock        [3]int  `json:"max_block_dim"`
	MaxGrid         [3]int  `json:"max_grid_dim"`
	SharedPerBlock  int     `json:"shared_memory_per_block"`       // shared memory per block without opting in, in bytes
	SharedOptin     int     `json:"shared_memory_per_block_optin"` // shared memory per block for kernels that opt in, in bytes
	SharedPerMP     int     `json:"shared_memory_per_multiprocessor"`
	RegistersPerMP  int     `json:"registers_per_multiprocessor"`
	ThreadsPerMP    int     `json:"threads_per_multiprocessor"`
	L2Bytes         int     `json:"l2_cache_bytes"`
	CopyEngines     int     `json:"copy_engines"`
	SupportsPools   bool    `json:"memory_pools"`
	UUID            string  `json:"uuid"`
	Bus             string  `json:"pci_bus_id"`
	DriverVersion   int     `json:"driver_version"` // newest CUDA version that the driver supports, as 1000*major + 10*minor
	DriverPath      string  `json:"driver_path"`
}

// describe asks the driver about a device. It makes no context.
func describe(d drv.Provider, ordinal int) (Info, int32, error) {
	i := Info{Ordinal: ordinal, DriverVersion: d.Version(), DriverPath: d.Path()}
	dev, err := d.Device(ordinal)
	if err != nil {
		return i, 0, err
	}
	if i.Name, err = d.DeviceName(dev); err != nil {
		return i, 0, err
	}
	if i.MemoryBytes, err = d.DeviceMemory(dev); err != nil {
		return i, 0, err
	}
	i.MemoryGB = float64(i.MemoryBytes) / (1 << 30)
	var clock, memoryClock, pools int
	for a, to := range map[drv.Attribute]*int{
		drv.CapabilityMajor: &i.Capability[0], drv.CapabilityMinor: &i.Capability[1],
		drv.Multiprocessors: &i.Multiprocessors, drv.MaxThreadsPerBlock: &i.MaxThreads, drv.WarpSize: &i.WarpSize,
		drv.ClockKHz: &clock, drv.MemoryClockKHz: &memoryClock, drv.MemoryBusBits: &i.MemoryBusBits,
		drv.MaxBlockX: &i.MaxBlock[0], drv.MaxBlockY: &i.MaxBlock[1], drv.MaxBlockZ: &i.MaxBlock[2],
		drv.MaxGridX: &i.MaxGrid[0], drv.MaxGridY: &i.MaxGrid[1], drv.MaxGridZ: &i.MaxGrid[2],
		drv.SharedPerBlock: &i.SharedPerBlock, drv.SharedPerBlockOptin: &i.SharedOptin, drv.SharedPerMP: &i.SharedPerMP,
		drv.RegistersPerMP: &i.RegistersPerMP, drv.ThreadsPerMP: &i.ThreadsPerMP, drv.L2Bytes: &i.L2Bytes,
		drv.CopyEngines: &i.CopyEngines, drv.MemoryPoolsSupported: &pools,
	} {
		if *to, err = d.DeviceAttribute(a, dev); err != nil {
			return i, 0, err
		}
	}
	i.ClockMHz, i.MemoryClockMHz = float64(clock)/1000, float64(memoryClock)/1000
	i.SharedOptin = max(i.SharedOptin, i.SharedPerBlock)
	i.SupportsPools = pools != 0 && d.Has(drv.FeaturePools)
	// Identity and place are for people; a driver that does not tell them works nevertheless.
	if d.Has(drv.FeatureUUID) {
		i.UUID, _ = d.DeviceUUID(dev)
	}
	i.Bus, _ = d.DeviceBus(dev)
	return i, dev, nil
}
