package target

import (
	"net/url"
	"testing"
)

func TestAuthorities(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"dns://10.0.0.10/x:9090": "10.0.0.10:53", "dns://10.0.0.10:5353/x:9090": "10.0.0.10:5353", "dns://names.test/x:9090": "names.test:53",
		"dns://[fd00::a]/x:9090": "[fd00::a]:53", "dns://[fd00::a]:5353/x:9090": "[fd00::a]:5353",
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if got := authority(*u); got != want {
			t.Errorf("%s asks %s, want %s", target, got, want)
		}
	}
}
