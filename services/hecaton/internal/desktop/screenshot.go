package desktop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

const (
	captureTimeout = 20 * time.Second
	// maxImage bounds an image that is sent twice in base64, as content and as _screenshot: 2 × 4/3 × 3.5 MiB is 9.4 MiB.
	maxImage = 3<<20 + 512<<10
	// jpegQuality is that of a picture too large to be sent as it is.
	jpegQuality = 80
)

// screenshot takes a picture of the whole desktop. It is sent as content, for the agent, and as _screenshot, for people.
func (t *Tools) screenshot(ctx context.Context, _ node.Call) (node.Result, error) {
	picture, err := t.screen.capture(ctx)
	if ctx.Err() != nil {
		return node.Result{}, ctx.Err()
	}
	if err != nil {
		return node.Errorf("no screenshot: %v", err), nil
	}
	shot, err := fit(picture, maxImage)
	if err != nil {
		return node.Errorf("no screenshot: %v", err), nil
	}
	return node.Result{
		Content: []node.Content{
			node.TextContent{Text: fmt.Sprintf("Screenshot of the desktop, %d × %d pixels", shot.width, shot.height)},
			node.ImageContent{Data: shot.data, MimeType: shot.mimeType},
		},
		Screenshot: shot.data,
		Fields:     map[string]any{"width": shot.width, "height": shot.height},
	}, nil
}

// capture tries the machine's screenshot programs one after the other.
func (s screen) capture(ctx context.Context) ([]byte, error) {
	programs, err := s.programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hecaton-screenshot-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var failures []error
	for _, program := range programs {
		file := filepath.Join(dir, program.name+".png")
		if err := s.runCapture(ctx, program, dir, file); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", program.name, err))
			continue
		}
		return os.ReadFile(file)
	}
	return nil, errors.Join(failures...)
}

func (s screen) runCapture(ctx context.Context, program captureProgram, dir, file string) error {
	p := process{name: program.path, args: program.args(file), dir: dir, env: environment(s.environment()...), timeout: captureTimeout}
	out, err := p.run(ctx)
	switch {
	case err != nil:
		return err
	case out.timedOut:
		return fmt.Errorf("it did not end within %v", captureTimeout)
	case out.code != 0:
		return fmt.Errorf("it ended with %d: %s", out.code, strings.TrimSpace(out.stderr.text()))
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("it wrote no picture: %s", strings.TrimSpace(out.stderr.text()))
	}
	return nil
}

// picture is an image in a form that fits into an answer.
type picture struct {
	data          []byte
	mimeType      string
	width, height int
}

// fit returns a PNG as it is or, where it has more than limit bytes, as JPEG.
func fit(data []byte, limit int) (picture, error) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}, fmt.Errorf("the picture cannot be read: %w", err)
	}
	p := picture{data: data, mimeType: "image/png", width: config.Width, height: config.Height}
	if len(data) <= limit {
		return p, nil
	}
	pixels, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return picture{}, fmt.Errorf("the picture cannot be read: %w", err)
	}
	var smaller bytes.Buffer
	if err := jpeg.Encode(&smaller, pixels, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return picture{}, fmt.Errorf("the picture cannot be made smaller: %w", err)
	}
	if smaller.Len() > limit {
		return picture{}, fmt.Errorf("the picture of %d × %d pixels has %d bytes even as JPEG, at most %d can be sent", p.width, p.height, smaller.Len(), limit)
	}
	p.data, p.mimeType = smaller.Bytes(), "image/jpeg"
	return p, nil
}
