// Package testkit hands tests real servers and the few helpers that keep tests honest.
//
// Redis and NATS return the URL of a server shared by the whole test binary; keep tests apart with Prefix. OwnRedis and
// OwnNATS start one that a single test may stop, start again on the same port, and empty.
//
// A server comes from the first source that there is:
//
//  1. TEST_REDIS_URL or TEST_NATS_URL, for the shared servers only: nobody may stop somebody else's server;
//  2. redis-server on this machine; NATS always runs in the test's own process, from the same library as in production;
//  3. for Redis, miniredis in this process (package embedded): a stand-in, so that a machine with only Go can run every test.
//
// TEST_REQUIRE_REAL=1 forbids the third: a run that must prove something about Redis fails instead of proving it about a
// stand-in. Servers start empty, listen on loopback only and end with the test binary, however it ends (a killed binary
// takes its redis-server along on Linux).
//
// A package that uses testkit runs its tests through Main, which stops the shared servers, then looks for leaked
// goroutines, and says on standard error which sources served.
package testkit
