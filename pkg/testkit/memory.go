package testkit

import "runtime"

// Allocated returns how many bytes f allocates, whether it keeps them or not. Nothing else may run meanwhile.
func Allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// MemoryLimit returns how many bytes may be allocated in this build where n may be in a program that is deployed. The race
// detector's programs allocate more: what holds under it tells of gross waste only.
func MemoryLimit(n int) int { return memoryFactor * n }
