// Package devices has the tools of the user's devices for /mcp, the first source of package catalogue.
//
// A list reads the registry, so it shows what is there now, at any pod. A call needs only its name's binding (package names), which
// never changes; whether the device is there, the call itself finds out.
package devices
