//go:build !unix

package seclude

import "errors"

// Restart cannot be done here: it returns [errors.ErrUnsupported].
func Restart(string, []string, []string, string, string) error { return errors.ErrUnsupported }
