package main

import (
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	for _, each := range []struct {
		name, text string
		length     time.Duration
		isWrong    bool
	}{
		{"BLACKBOX_FOR", "", 25 * time.Minute, false},
		{"BLACKBOX_FOR", "90s", 90 * time.Second, false},
		{"BLACKBOX_FOR", "12h", 12 * time.Hour, false},
		{"BLACKBOX_FOR", "13h", 0, true},
		{"BLACKBOX_FOR", "0s", 0, true},
		{"BLACKBOX_FOR", "1h30m", 0, true},
		{"BLACKBOX_FOR", "soon", 0, true},
		{"BLACKBOX_PID", "7", 25 * time.Minute, false},
		{"BLACKBOX_PID", "0", 0, true},
	} {
		read, err := readSettings(func(name string) string {
			if name == each.name {
				return each.text
			}
			return ""
		})
		if (err != nil) != each.isWrong || err == nil && read.length != each.length {
			t.Errorf("%s=%s: %v %v", each.name, each.text, read, err)
		}
	}
}
