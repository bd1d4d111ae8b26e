// Package agentfaults tests what becomes of agents' runs on whole clusters when parts of them are killed, paused, restarted
// or gone, when models and nodes fail, and when requests race: every run comes to an end, its client's one stream has all of
// it, and no call of a tool runs twice.
package agentfaults
