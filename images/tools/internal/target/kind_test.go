package target

import "testing"

func TestARuntimeIsToldByItsProgramAndLibraries(t *testing.T) {
	for name, test := range map[string]struct {
		exe, maps string
		want      Runtime
		kind      string
	}{
		"Ruby":                       {"/usr/bin/ruby3.1", "", Ruby, "Ruby 3.1"},
		"Ruby in a server":           {"/usr/lib/passenger/agent", "7f00-7f01 r-xp 0 0 0 /usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2\n", Ruby, "Ruby 3.1"},
		".NET":                       {"/usr/share/dotnet/dotnet", "7f00-7f01 r-xp 0 0 0 /usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so\n", DotNet, ".NET 8.0.4"},
		".NET that brings itself":    {"/app/Shop", "7f00-7f01 r-xp 0 0 0 /app/libcoreclr.so\n", DotNet, ".NET"},
		"something that is not seen": {"/nowhere/erl", "", Unknown, "Erlang"},
	} {
		fs := proc(t, one{pid: 7, name: "x", exe: test.exe, maps: test.maps, command: []string{test.exe}})
		runtime, version := fs.RuntimeOf(7)
		process := Process{Runtime: runtime, Version: version, Command: fs.Cmdline(7)}
		if runtime != test.want || process.Kind() != test.kind {
			t.Errorf("%s: %s, %s", name, runtime, process.Kind())
		}
	}
}

func TestAProgramWithoutAKnownRuntimeIsNamedFromItsBinary(t *testing.T) {
	for name, want := range map[string]string{"php-fpm8.2": "PHP", "perl": "Perl", "beam.smp": "Erlang", "bundle": "an unknown program (bundle)", "sh": "a shell or an init"} {
		if got := (Process{Runtime: Unknown, Command: []string{"/usr/bin/" + name}, Status: Status{Name: name}}).Kind(); got != want {
			t.Errorf("%q is %s", name, got)
		}
	}
	if got := (Process{Runtime: Native, Command: []string{"nginx: worker process"}, Status: Status{Name: "nginx"}}).Kind(); got != "a native program" {
		t.Error(got)
	}
}

func TestOnlyWhatAProgramWroteOverItsArgumentsIsATitle(t *testing.T) {
	for _, test := range []struct {
		command []string
		want    string
	}{
		{[]string{"postgres: shop shop 10.0.0.9(40312) UPDATE waiting ", "", ""}, "postgres: shop shop 10.0.0.9(40312) UPDATE waiting"},
		{[]string{"nginx: worker process"}, "nginx: worker process"},
		{[]string{"/app/with space"}, ""},
		{[]string{"server", "--password=hunter2"}, ""},
		{[]string{"redis-server"}, ""},
		{nil, ""},
	} {
		if got := (Process{Command: test.command}).Title(); got != test.want {
			t.Errorf("%q: %q", test.command, got)
		}
	}
}

func TestAVersionIsBelievedOnlyOfDigitsAndDots(t *testing.T) {
	for text, want := range map[string]bool{
		"20.20.2": true, "1.8.0_402": true, "": false, "20.1\x1b[2J": false, "20.1\n": false, "1.2.3.4.5.6.7.8.9.10.11": false, "17 (evil)": false,
	} {
		if IsVersion(text) != want {
			t.Errorf("%q", text)
		}
	}
}
