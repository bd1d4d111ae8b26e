package agent

// MaxHeadStarts is for tests.
const MaxHeadStarts = maxHeadStarts
