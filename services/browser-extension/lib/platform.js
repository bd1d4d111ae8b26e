const OS_NAMES = { mac: 'macOS', win: 'Windows', linux: 'Linux', cros: 'ChromeOS', android: 'Android', openbsd: 'OpenBSD' };

/**
 * What this browser runs on, for the register frame.
 *
 * @returns {Promise<{os: string, osVersion: string, browser: string, version: string}>} version is the extension's
 */
export async function readPlatform() {
  const { os } = await chrome.runtime.getPlatformInfo();
  const agent = navigator.userAgentData;
  const { platformVersion = '' } = (await agent?.getHighEntropyValues(['platformVersion'])) ?? {};
  return {
    os: OS_NAMES[os] ?? os,
    osVersion: platformVersion,
    browser: browserName(agent?.brands ?? []),
    version: chrome.runtime.getManifest().version,
  };
}

/** Browsers list the engine, themselves, and a made-up brand that keeps servers from relying on the list's form. */
function browserName(brands) {
  const real = brands.map(({ brand }) => brand).filter((brand) => !/not.*brand/i.test(brand));
  return real.find((brand) => brand !== 'Chromium') ?? real[0] ?? 'Browser';
}
