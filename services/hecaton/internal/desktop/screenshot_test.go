package desktop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// machine is a screen of a machine with these variables and programs.
func machine(goos string, env map[string]string, programs ...string) screen {
	return screen{
		goos:   goos,
		getenv: func(name string) string { return env[name] },
		lookPath: func(name string) (string, error) {
			for _, p := range programs {
				if p == name {
					return "/bin/" + name, nil
				}
			}
			return "", exec.ErrNotFound
		},
	}
}

func TestScreenshotPrograms(t *testing.T) {
	t.Parallel()
	x11 := map[string]string{"DISPLAY": ":0"}
	wayland := map[string]string{"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
	for want, s := range map[string]screen{
		"/bin/import -window root png:f":           machine("linux", x11, "import", "grim"),
		"/bin/scrot f, /bin/gnome-screenshot -f f": machine("linux", x11, "gnome-screenshot", "scrot"),
		"/bin/grim f, /bin/gnome-screenshot -f f ": machine("linux", wayland, "gnome-screenshot", "import", "scrot", "grim"),
		"/bin/screencapture -x -t png f":           machine("darwin", nil, "screencapture"),
		"there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set; start the node inside a desktop session": machine("linux", nil, "import"),
		"no screenshot program is installed; install one of: import (ImageMagick), scrot, gnome-screenshot":        machine("linux", x11, "grim"),
		"no screenshot program is installed; install one of: grim, gnome-screenshot":                               machine("freebsd", wayland, "import"),
		"no screenshot program is installed; install one of: screencapture":                                        machine("darwin", nil),
		"no screenshot program is installed; install one of: powershell.exe":                                       machine("windows", nil),
	} {
		programs, err := s.programs()
		var lines []string
		for _, p := range programs {
			lines = append(lines, p.path+" "+strings.Join(p.args("f"), " "))
		}
		if err != nil {
			lines = append(lines, err.Error())
		}
		if got := strings.Join(lines, ", "); got != strings.TrimSpace(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	programs, err := machine("windows", nil, "powershell.exe").programs()
	if err != nil || !strings.Contains(strings.Join(programs[0].args(`C:\Ana's\f.png`), " "), `$bitmap.Save('C:\Ana''s\f.png', `) {
		t.Errorf("%v %v", programs, err)
	}
}

func TestScreenshotWithoutADesktopSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	tools.screen = machine("linux", nil)
	bad(t, tools.screenshot, `{}`, "no screenshot: there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set")
	tools.screen = machine("linux", map[string]string{"DISPLAY": ":0"})
	bad(t, tools.screenshot, `{}`, "no screenshot: no screenshot program is installed; install one of: import (ImageMagick), scrot, gnome-screenshot")
}

// TestScreenshotProgramsThatFail runs real programs that are no screenshot programs.
func TestScreenshotProgramsThatFail(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	tools.screen = machine("linux", map[string]string{"DISPLAY": ":0"}, "import", "scrot")
	tools.screen.lookPath = func(name string) (string, error) {
		if name == "gnome-screenshot" {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(map[string]string{"import": "false", "scrot": "true"}[name])
	}
	bad(t, tools.screenshot, `{}`, "import: it ended with 1")
	bad(t, tools.screenshot, `{}`, "scrot: it wrote no picture")
	tools.screen.lookPath = func(string) (string, error) { return exec.LookPath("touch") }
	bad(t, tools.screenshot, `{}`, "the picture cannot be read")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tools.screenshot(ctx, node.Call{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// noise returns a picture that no encoding makes much smaller.
func noise(t *testing.T, width, height int) []byte {
	t.Helper()
	source := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(source.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 0xff
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPictureIsMadeToFit(t *testing.T) {
	t.Parallel()
	shot := noise(t, 200, 100)
	p, err := fit(shot, len(shot))
	if err != nil || !bytes.Equal(p.data, shot) || p.mimeType != "image/png" || p.width != 200 || p.height != 100 {
		t.Errorf("%s %v", p.mimeType, err)
	}
	p, err = fit(shot, len(shot)-1)
	if err != nil || p.mimeType != "image/jpeg" || len(p.data) >= len(shot) || p.width != 200 || p.height != 100 {
		t.Errorf("%s, %d bytes, %v", p.mimeType, len(p.data), err)
	}
	if again, err := jpeg.Decode(bytes.NewReader(p.data)); err != nil || again.Bounds().Dx() != 200 {
		t.Error(err)
	}
	if _, err = fit(shot, 1000); err == nil || !strings.Contains(err.Error(), "the picture of 200 × 100 pixels has") {
		t.Error(err)
	}
	for _, broken := range [][]byte{nil, []byte("no picture"), shot[:len(shot)/2]} {
		if _, err = fit(broken, 1000); err == nil || !strings.Contains(err.Error(), "the picture cannot be read") {
			t.Error(err)
		}
	}
	if frame := 2*base64.StdEncoding.EncodedLen(maxImage) + 1024; frame > node.MaxFrameBytes {
		t.Errorf("a picture of maxImage makes a frame of %d bytes", frame)
	}
}

// TestScreenshotOfARealDesktop takes a picture of a real X server, if this machine has one and a screenshot program.
// Elsewhere it checks the error.
func TestScreenshotOfARealDesktop(t *testing.T) {
	t.Parallel()
	tools, _ := open(t)
	server, err := exec.LookPath("Xvfb")
	env := map[string]string{"DISPLAY": ":65000"} // nobody has that many
	if err == nil {
		env["DISPLAY"] = startX(t, server)
	}
	tools.screen = hostScreen()
	tools.screen.getenv = func(name string) string { return env[name] }
	if _, missing := tools.screen.programs(); err != nil || missing != nil {
		bad(t, tools.screenshot, `{}`, "no screenshot: ")
		return
	}
	r := good(t, tools.screenshot, `{}`)
	if text(r) != "Screenshot of the desktop, 640 × 480 pixels" || r.Fields["width"] != 640 || r.Fields["height"] != 480 || len(r.Content) != 2 {
		t.Errorf("%q %v", text(r), r.Fields)
	}
	content := r.Content[1].(node.ImageContent)
	shot, err := png.Decode(bytes.NewReader(content.Data))
	if err != nil || content.MimeType != "image/png" || !bytes.Equal(content.Data, r.Screenshot) {
		t.Fatalf("%s %v", content.MimeType, err)
	}
	if red, green, blue, _ := shot.At(320, 240).RGBA(); shot.Bounds().Dx() != 640 || (color.RGBA{uint8(red), uint8(green), uint8(blue), 0}) != (color.RGBA{}) {
		t.Errorf("%v, %d %d %d: an empty X server is black", shot.Bounds(), red, green, blue)
	}
}

// startX starts an X server without a screen, on a display that it chooses, and returns the display.
func startX(t *testing.T, server string) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(server, "-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	if err := read.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v\n%s", err, log.String())
	}
	return ":" + strings.TrimSpace(number)
}
