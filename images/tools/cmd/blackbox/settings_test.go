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

func TestTheSettingsOfTripwires(t *testing.T) {
	for text, wrong := range map[string]string{
		"memory>92%":              "",
		"memory>500MiB, fds>1000": "",
		"fds>90%,threads>500":     "",
		"port:8080>2s,port:1>1ms": "",
		"queue>100,quiet>2m":      "",
		"memroy>92%":              `BLACKBOX_WHEN: "memroy" is not memory, fds, threads, queue, port:NUMBER or quiet`,
		"memory<92%":              `BLACKBOX_WHEN: "memory<92%" is no condition, as ` + whenForms,
		"memory>92":               `BLACKBOX_WHEN: "92" is no value of memory: a number with % or GiB or MiB`,
		"memory>0%":               `BLACKBOX_WHEN: "0%" is no value of memory: a number with % or GiB or MiB`,
		"memory>100%":             `BLACKBOX_WHEN: "memory>100%" is never passed: less than 100%`,
		"fds>5s":                  `BLACKBOX_WHEN: "5s" is no value of fds: a number alone or with %`,
		"threads>many":            `BLACKBOX_WHEN: "many" is no value of threads: a number alone`,
		"threads>1.2.3":           `BLACKBOX_WHEN: "1.2.3" is no value of threads: a number alone`,
		"threads>-3":              `BLACKBOX_WHEN: "-3" is no value of threads: a number alone`,
		"port>2s":                 `BLACKBOX_WHEN: "port" is not memory, fds, threads, queue, port:NUMBER or quiet`,
		"port:70000>2s":           `BLACKBOX_WHEN: "70000" is no port, as port:8080>2s`,
		"quiet>60":                `BLACKBOX_WHEN: "60" is no value of quiet: a number with m or s`,
		"fds>1,":                  `BLACKBOX_WHEN: "" is no condition, as ` + whenForms,
	} {
		_, err := readSettings(func(name string) string { return map[string]string{"BLACKBOX_WHEN": text}[name] })
		if (err != nil) != (wrong != "") || err != nil && err.Error() != wrong {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, values := range map[string]map[string]bool{
		"BLACKBOX_THEN":  {"stacks": true, "summary": true, "heap": false},
		"BLACKBOX_SHOTS": {"1": true, "3": true, "0": false, "4": false, "x": false},
	} {
		for value, isRight := range values {
			if _, err := readSettings(func(asked string) string { return map[string]string{name: value}[asked] }); (err == nil) != isRight {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}
