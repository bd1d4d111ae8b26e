package redisclient

import "testing"

func TestURLsOfClusters(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"redis://a:1/2?read_timeout=1s":                                   "redis://a:1/2?read_timeout=1s",
		"redis+cluster://a:1,b:2,c:3":                                     "redis://a:1?addr=b%3A2&addr=c%3A3",
		"rediss+cluster://user:p%40ss@a:1,[::1]:2/?read_timeout=1s":       "rediss://user:p%40ss@a:1/?read_timeout=1s&addr=%5B%3A%3A1%5D%3A2",
		"redis+cluster://one:6379":                                        "redis://one:6379?addr=one%3A6379",
		"redis+cluster://user:password@one:6379,two:6379?max_redirects=3": "redis://user:password@one:6379?max_redirects=3&addr=two%3A6379",
	} {
		if got := expand(raw); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}
