// Package browser runs the reference extension (services/browser-extension) in a real headless Chromium, against
// whatever gateway a test names.
//
// Start gives a Chromium with the extension loaded and configured; Site serves pages to act on; TestTools is the contract
// of the extension's tools, run through any tooltest.Caller: the stub gateway of this package's own tests, or a cluster.
//
// A test that needs Chromium where there is none is skipped, and fails where TEST_REQUIRE_REAL=1.
package browser
