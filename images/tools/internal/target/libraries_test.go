package target

import (
	"strings"
	"testing"
)

func TestARuntimeThatIsALibraryIsKnown(t *testing.T) {
	line := func(file string) string { return "7f0000000000-7f0000001000 r-xp 00000000 00:1f 123 " + file + "\n" }
	for _, each := range []struct {
		maps, version string
		runtime       Runtime
	}{
		{line("/usr/lib/jvm/17/lib/server/libjvm.so"), "", JVM},
		{line("/opt/j9/libj9vm29.so"), "", JVM},
		{line("/usr/lib/libpython3.11.so.1.0"), "3.11", Python},
		{line("/usr/lib/libpython3.13t.so.1.0"), "3.13", Python},
		// The stable interface, which others link too.
		{line("/usr/lib/libpython3.so"), "", Unknown},
		{line("/usr/lib/libnode.so.108"), "", Node},
		{line("/usr/lib/libruby-3.1.so.3.1"), "3.1", Ruby},
		{line("/usr/lib/libruby.so"), "", Ruby},
		{line("/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.11/libcoreclr.so"), "8.0.11", DotNet},
		{line("/usr/lib/libpython3.11.so.1.0") + line("/usr/lib/server/libjvm.so"), "", JVM},
		{line("/usr/lib/libcoreclr.so") + line("/usr/lib/libpython3.9.so"), "3.9", Python},
		{line("/usr/lib/libc.so.6") + "7f-80 rw-p 0 00:00 0 [heap]\n", "", Unknown},
		{"", "", Unknown},
	} {
		if runtime, version := libraryAmong(strings.NewReader(each.maps)); runtime != each.runtime || version != each.version {
			t.Errorf("%q: %s %q", each.maps, runtime, version)
		}
	}
}
