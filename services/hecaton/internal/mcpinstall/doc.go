// Package mcpinstall writes a gateway into the configuration of MCP clients.
//
// A file is changed only if all of it can be kept: what is no JSON stays as it is, and so do other entries, comments and the file's
// mode. It is replaced whole or not at all. Links are not followed: a directory that somebody else filled, such as a repository that was
// just cloned, must not choose which file is written.
package mcpinstall
