// Package mcp tests the front door for MCP clients from outside, over real pods: raw requests, row by row of what the
// specification demands, and the official SDK as a client.
package mcp
