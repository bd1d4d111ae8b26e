// Package clients runs the two sample clients of docs/protocols/zeus-nodes.md#sample-clients, unchanged but for the host,
// against any gateway: the JavaScript one as a page in headless Chromium, the Python one in Debian's python3.
//
// testdata/extension.js and testdata/desktop.py are the samples to the byte. The samples call executeToolCall and
// execute_tool without defining them: prelude.js and prelude.py do.
//
// A test that needs Chromium or Python's websockets where there is none is skipped, and fails where
// TEST_REQUIRE_REAL=1.
package clients
