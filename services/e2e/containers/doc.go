// Package containers starts Redis, NATS and PostgreSQL in Docker containers, through testcontainers, for tests that want
// servers as they are deployed: other processes, other versions than elsewhere in the tests, stopped and started from
// outside.
//
// Everything but this file is built with the tag integration and needs a Docker engine; a test fails without one, it never
// skips. A container keeps its URL when it is stopped and started again. The images are redis:8.0, nats:2.15 and
// postgres:17; TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX redirects them to another registry or to images built on the machine
// (scripts/ci/images.sh).
package containers
