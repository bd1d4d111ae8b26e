package tooldef

// Kept is how many bytes a cache counts.
func Kept(c *Cache) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
