import { definition } from './definition.js';

/**
 * Where to connect: docs/protocols/zeus-nodes.md#endpoints.
 *
 * @param {import('./settings.js').Settings} settings
 * @returns {{url: string, protocols: string[]}|null} null while the server or the user is not set
 */
export function socketTarget({ server, user_id: user, node_id: node, token }) {
  if (!server || !user) return null;
  const base = server.replace(/^http/i, 'ws').replace(/\/+$/, '');
  const url = `${base}/ws/extension?client_id=${encodeURIComponent(`user_${user}`)}&node_id=${encodeURIComponent(node)}`;
  // A browser's WebSocket sends no Authorization header; the subprotocol list, unlike the URL, stays out of access logs.
  // A server must choose from a list that it is offered: with the first it need not send the token back.
  return { url, protocols: token ? ['zeus', `bearer.${token}`] : [] };
}

/**
 * The register frame: docs/protocols/zeus-nodes.md#register.
 *
 * @param {import('./settings.js').Settings} settings
 * @param {{os: string, osVersion: string, browser: string, version: string}} platform
 * @param {import('./calls.js').Tool[]} tools
 * @param {number} limit max_concurrent_tasks
 */
export function registerFrame(settings, platform, tools, limit) {
  return {
    type: 'register',
    node_id: settings.node_id,
    node_name: settings.node_name || `${platform.browser} on ${platform.os}`,
    node_type: 'extension',
    os: platform.os,
    os_version: platform.osVersion,
    app_version: platform.version,
    capabilities: ['browser_control', 'screenshot'],
    available_tools: tools.map((tool) => tool.name),
    tools: tools.map(definition),
    max_concurrent_tasks: limit,
  };
}
