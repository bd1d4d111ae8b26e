//go:build !linux

package main

import "os/exec"

// canPostgres: elsewhere the benchmark does without.
const canPostgres = false

func postgresCommand(string, string, ...string) (*exec.Cmd, error) { return nil, exec.ErrNotFound }
