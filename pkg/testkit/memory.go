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
