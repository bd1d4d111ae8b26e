package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// The pictures of the repository are those that its pages call for. What "make run" prints is checked where it is run.
func TestPicturesAreUpToDate(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"cluster.svg": {"cluster"},
		"bench.svg":   {"bench", "../../../docs/performance.md"},
	} {
		want, err := draw(args)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile("../../../docs/pictures/" + name)
		if err != nil || string(got) != want {
			t.Errorf("%s is out of date, run make pictures (%v)", name, err)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	t.Parallel()
	page := firstCell + ", c=1 | x |\n|---|--:|--:|\n" +
		"| across pods: p50 | 0.95 (≤ 1.15) | **0.70** |\n| across pods: CPU per call | 1.0 | 2.0 |\n| across pods: calls per second | 1.5 | 0.5 |\n\nMore."
	chart, err := bench(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">0.95<", ">0.70<", ">200 B, c=1<"} {
		if !strings.Contains(chart, want) {
			t.Errorf("the chart has no %s", want)
		}
	}
	said := terminal("make <run>", "data /tmp/hecaton-123\n"+strings.Repeat("wide ", 50)+"\n | a & b\n\nTry it:\nno more")
	for _, want := range []string{"/tmp/hecaton<", "a &amp; b", "…<", "make &lt;run&gt;"} {
		if !strings.Contains(said, want) {
			t.Errorf("the terminal has no %s", want)
		}
	}
	if strings.Contains(said, "no more") {
		t.Error("the terminal goes on after the call")
	}
	for _, picture := range []string{chart, said, cluster()} {
		d := xml.NewDecoder(strings.NewReader(picture))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBenchSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", firstCell + " |\n|---|\n", firstCell + " |\n| across pods: p50 | none |\n"} {
		if _, err := bench(page); err == nil {
			t.Errorf("%q makes a chart", page)
		}
	}
}
