package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func nul(words ...string) []byte {
	if len(words) == 0 {
		return nil
	}
	return []byte(strings.Join(words, "\x00") + "\x00")
}

func TestARuntimeHasTheLastSizeThatItWasGiven(t *testing.T) {
	const big = "-Xmx2g"
	for _, each := range []struct {
		what      string
		arguments []string
		variables []string
		want      sizes
	}{
		{"nothing said", []string{"java", "-jar", "a.jar"}, []string{"A=b"}, sizes{}},
		{"a flag", []string{"/usr/bin/java", "-Xmx96m"}, nil, sizes{jvmBytes: 96 * mib}},
		{"its long form", []string{"java", "-XX:MaxHeapSize=1g"}, nil, sizes{jvmBytes: 1 << 30}},
		{"a flag over JAVA_TOOL_OPTIONS", []string{"java", "-Xmx96m"}, []string{"JAVA_TOOL_OPTIONS=" + big}, sizes{jvmBytes: 96 * mib}},
		{"JDK_JAVA_OPTIONS over JAVA_TOOL_OPTIONS", []string{"java"}, []string{"JDK_JAVA_OPTIONS=-Xss1m -Xmx97m", "JAVA_TOOL_OPTIONS=" + big}, sizes{jvmBytes: 97 * mib}},
		{"_JAVA_OPTIONS over all", []string{"java", "-Xmx50m"}, []string{"JDK_JAVA_OPTIONS=" + big, "_JAVA_OPTIONS=-Xmx98m"}, sizes{jvmBytes: 98 * mib}},
		{"a percentage beside a size", []string{"java", "-Xmx50m", "-XX:MaxRAMPercentage=95"}, nil, sizes{jvmBytes: 50 * mib}},
		{"a percentage", []string{"java", "-XX:MaxRAMPercentage=95.5"}, nil, sizes{jvmPercent: 95}},
		{"a heap of nothing", []string{"java", "-Xmx0"}, nil, sizes{}},
		{"no number", []string{"java", "-Xmxlarge", "-Xmx"}, nil, sizes{}},
		{"Node.js", []string{"node", "--max_old_space_size=95", "a.js"}, nil, sizes{nodeBytes: 95 * mib}},
		{"Node.js by its variable", []string{"node"}, []string{"NODE_OPTIONS=--enable-source-maps --max-old-space-size=64"}, sizes{nodeBytes: 64 * mib}},
		{"Go", []string{"app"}, []string{"GOMAXPROCS=8", "GOMEMLIMIT=98MiB"}, sizes{goProcs: 8, goBytes: 98 * mib}},
		{"Go without limits", []string{"app"}, []string{"GOMAXPROCS=all", "GOMEMLIMIT=off"}, sizes{}},
		{".NET, whose numbers are of base 16", []string{"dotnet", "a.dll"}, []string{"DOTNET_GCHeapHardLimit=0x10000000", "COMPlus_GCHeapHardLimitPercent=5A"}, sizes{dotnetBytes: 256 * mib, dotnetPercent: 90}},
		{"more than there are numbers for", []string{"java", "-Xmx" + strings.Repeat("9", 40) + "t"}, []string{"GOMEMLIMIT=" + strings.Repeat("9", 400)}, sizes{jvmBytes: maxSize}},
	} {
		var of environment
		of.add(nul(each.arguments...), nul(each.variables...))
		if of.sizes != each.want {
			t.Errorf("%s: %+v", each.what, of.sizes)
		}
	}
}

func TestWhatStartsAJVMDoesNotSayWhatThatOneUses(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		processes := [][]byte{nul("sh", "-c", "java"), nul("java", "-Xmx96m")}
		var of environment
		for _, index := range order {
			of.add(processes[index], nul("JAVA_TOOL_OPTIONS=-Xmx2g"))
		}
		if of.sizes.jvmBytes != 96*mib {
			t.Errorf("%v: %+v", order, of.sizes)
		}
	}
	var two environment
	two.add(nul("java", "-Xmx96m"), nil)
	two.add(nul("java", "-Xmx97m"), nil)
	if two.sizes.jvmBytes != 97*mib {
		t.Errorf("of two JVMs: %+v", two.sizes)
	}
}

func TestVariablesAreNamedOnceAndThoseOfServicesCounted(t *testing.T) {
	var of environment
	of.add(nul("a"), nul("PATH=/bin", "MANY=one\nLINES=two", "WEB_SERVICE_HOST=10.0.0.1", "WEB_PORT_80_TCP_ADDR=x", "1X=y", "NO", "=", "A-B=c"))
	of.add(nul("a"), nul("PATH=/bin", "Z=1"))
	if want := []string{"PATH", "MANY", "Z"}; !slices.Equal(of.named, want) || of.count != 3 || of.services != 2 {
		t.Errorf("%q, %d and %d", of.named, of.count, of.services)
	}
}

func TestVeryManyAndVeryLongNamesCostLittle(t *testing.T) {
	var pairs []string
	for number := range 10_000 {
		pairs = append(pairs, fmt.Sprintf("%s%d=x", strings.Repeat("A", 100), number))
	}
	var of environment
	of.add(nil, nul(pairs...))
	if len(of.named) != maxNames || len(of.named[0]) != maxNameShown || len(of.seen) != maxSeen {
		t.Errorf("%d names, %d remembered", len(of.named), len(of.seen))
	}
}

func TestVariablesOfServicesAreKnownByTheirNames(t *testing.T) {
	for name, is := range map[string]bool{
		"SHOP_SERVICE_HOST": true, "SHOP_SERVICE_PORT_HTTP": true, "SHOP_PORT": true, "SHOP_PORT_80_TCP": true, "SHOP_PORT_80_TCP_ADDR": true,
		"A_PORT_B_PORT_53_UDP_PROTO": true, "SHOP_PORT_80_ICMP": false, "SHOP_PORTS": false, "PORT": false, "SERVICE_HOST": false, "SHOP_PORT_X_TCP": false, "": false,
	} {
		if got := isOfService(name); got != is {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNamesOfVariablesHaveLettersAndDigits(t *testing.T) {
	for name, is := range map[string]bool{"PATH": true, "_x1": true, "1x": false, "a.b": false, "": false, "a b": false} {
		if got := isVariable(name); got != is {
			t.Errorf("%q: %v", name, got)
		}
	}
	for name, is := range map[string]bool{"PATH": true, "a.b-c": true, ".b": false, "": false, strings.Repeat("x", 81): false} {
		if got := isCompared(name); got != is {
			t.Errorf("%q: %v", name, got)
		}
	}
}
