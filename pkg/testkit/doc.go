// Package testkit hands tests real servers and the few helpers that keep tests honest.
//
// Redis and NATS return the URL of a server shared by the whole test binary; keep tests apart with Prefix. OwnRedis and
// OwnNATS start one that a single test may stop, start again on the same port, and empty. Postgres returns the URL of an
// empty database on a shared server, and OwnPostgres a server that may be stopped, killed and started again on its data.
//
// A server comes from the first source that there is:
//
//  1. TEST_REDIS_URL, TEST_NATS_URL or TEST_POSTGRES_URL (of a user who may create databases), for the shared servers only:
//     nobody may stop somebody else's server;
//  2. redis-server on this machine; postgres on this machine, in the directory TEST_POSTGRES_BIN, on the PATH, or where
//     Debian has it; NATS always runs in the test's own process, from the same library as in production;
//  3. for Redis, miniredis in this process (package embedded): a stand-in, so that a machine with only Go can run every test.
//
// Nothing stands in for PostgreSQL: without it a test that asks for it is skipped.
//
// TEST_REQUIRE_REAL=1 forbids the third, and the skip: a run that must prove something about a server fails instead of
// proving it about a stand-in, or nothing. Servers start empty, listen on loopback only and end with the test binary,
// however it ends (a killed binary takes its servers along on Linux, and leaves PostgreSQL's data under os.TempDir).
//
// A package that uses testkit runs its tests through Main, which stops the shared servers, then looks for leaked
// goroutines, and says on standard error which sources served.
package testkit
