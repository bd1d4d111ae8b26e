package desktop

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// screen takes pictures of this machine's desktop. Its fields are what it needs to know of the machine.
type screen struct {
	goos     string
	getenv   func(string) string
	lookPath func(string) (string, error)
}

func hostScreen() screen { return screen{runtime.GOOS, os.Getenv, exec.LookPath} }

// captureProgram writes a PNG of the whole desktop into a file.
type captureProgram struct {
	name string
	// hint says where a program of another package comes from.
	hint string
	args func(file string) []string
	// path is where the program was found.
	path string
}

var (
	grim            = captureProgram{name: "grim", args: func(f string) []string { return []string{f} }}
	gnomeScreenshot = captureProgram{name: "gnome-screenshot", args: func(f string) []string { return []string{"-f", f} }}
	importProgram   = captureProgram{name: "import", hint: "ImageMagick", args: func(f string) []string { return []string{"-window", "root", "png:" + f} }}
	scrot           = captureProgram{name: "scrot", args: func(f string) []string { return []string{f} }}
	screencapture   = captureProgram{name: "screencapture", args: func(f string) []string { return []string{"-x", "-t", "png", f} }}
	powershell      = captureProgram{name: "powershell.exe", args: func(f string) []string {
		return []string{"-NoProfile", "-NonInteractive", "-Command", fmt.Sprintf(powershellScript, strings.ReplaceAll(f, "'", "''"))}
	}}
)

// powershellScript takes all monitors together, in pixels rather than in the units of a scaled display.
const powershellScript = `$ErrorActionPreference = 'Stop'
Add-Type -AssemblyName System.Windows.Forms, System.Drawing
Add-Type -Name Dpi -Namespace Hecaton -MemberDefinition '[DllImport("user32.dll")] public static extern bool SetProcessDPIAware();'
[void][Hecaton.Dpi]::SetProcessDPIAware()
$area = [System.Windows.Forms.SystemInformation]::VirtualScreen
$bitmap = New-Object System.Drawing.Bitmap $area.Width, $area.Height
[System.Drawing.Graphics]::FromImage($bitmap).CopyFromScreen($area.Location, [System.Drawing.Point]::Empty, $area.Size)
$bitmap.Save('%s', [System.Drawing.Imaging.ImageFormat]::Png)`

// programs returns the installed programs that work on the current desktop, the best one first.
func (s screen) programs() ([]captureProgram, error) {
	candidates, err := s.candidates()
	if err != nil {
		return nil, err
	}
	var found []captureProgram
	var missing []string
	for _, program := range candidates {
		path, err := s.lookPath(program.name)
		if err == nil {
			program.path = path
			found = append(found, program)
			continue
		}
		name := program.name
		if program.hint != "" {
			name += " (" + program.hint + ")"
		}
		missing = append(missing, name)
	}
	if found == nil {
		return nil, fmt.Errorf("no screenshot program is installed; install one of: %s", strings.Join(missing, ", "))
	}
	return found, nil
}

func (s screen) candidates() ([]captureProgram, error) {
	switch {
	case s.goos == "darwin":
		return []captureProgram{screencapture}, nil
	case s.goos == "windows":
		return []captureProgram{powershell}, nil
	case s.getenv("WAYLAND_DISPLAY") != "":
		// Programs for X11 see only the X11 windows of a Wayland desktop, the rest is black.
		return []captureProgram{grim, gnomeScreenshot}, nil
	case s.getenv("DISPLAY") != "":
		return []captureProgram{importProgram, scrot, gnomeScreenshot}, nil
	}
	return nil, errors.New("there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set; start the node inside a desktop session")
}

// environment returns what a program needs to find the desktop, beside the environment of every command.
func (s screen) environment() []string {
	var env []string
	for _, name := range []string{"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "DBUS_SESSION_BUS_ADDRESS"} {
		if value := s.getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
