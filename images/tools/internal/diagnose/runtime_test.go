package diagnose

import (
	"slices"
	"testing"

	"kdebug/tools/internal/rules"
)

func TestSizesAreHeldAgainstTheLimits(t *testing.T) {
	for _, each := range []struct {
		what        string
		sizes       sizes
		memory, cpu int64
		text        string
		codes       []string
	}{
		{"nothing said", sizes{}, 100 * mib, 500, "no flag or variable that sizes a JVM, Node.js, Go or .NET", nil},
		{"all fit", sizes{jvmBytes: 75 * mib, nodeBytes: 90 * mib, goBytes: 95 * mib, goProcs: 1}, 100 * mib, 500,
			"JVM heap 75 MiB, 75% of the limit; Node.js heap 90 MiB, 90% of the limit; GOMEMLIMIT 95 MiB, 95% of the limit; GOMAXPROCS 1", nil},
		{"none fits", sizes{jvmBytes: 1024 * mib, nodeBytes: 95 * mib, goBytes: 98 * mib, goProcs: 8}, 100 * mib, 500,
			"JVM heap 1024 MiB, 1024% of the limit; Node.js heap 95 MiB, 95% of the limit; GOMEMLIMIT 98 MiB, 98% of the limit; GOMAXPROCS 8",
			[]string{"jvm_heap", "node_heap", "go_memory_limit", "go_max_procs"}},
		{"no limits", sizes{jvmBytes: 1024 * mib, jvmPercent: 95, goProcs: 8}, 0, 0, "JVM heap 1024 MiB, no memory limit known; JVM heap 95% of the limit; GOMAXPROCS 8", nil},
		{"a share", sizes{jvmPercent: 95}, 100 * mib, 0, "JVM heap 95% of the limit", []string{"jvm_heap"}},
		{"as many processors as the limit rounded up", sizes{goProcs: 2}, 0, 1500, "GOMAXPROCS 2", nil},
		{".NET", sizes{dotnetBytes: 50 * mib, dotnetPercent: 80}, 100 * mib, 0, ".NET heap 50 MiB, 50% of the limit; .NET heap 80% of the limit", nil},
		{"the largest that is read", sizes{jvmBytes: maxSize}, 1, 0, "JVM heap 9536743164 MiB, 1000000000000000000% of the limit", []string{"jvm_heap"}},
	} {
		part := rules.NewPart("runtime")
		if text := tellSizes(part, each.sizes, each.memory, each.cpu); text != each.text {
			t.Errorf("%s: %s", each.what, text)
		}
		var codes []string
		for _, finding := range part.Findings {
			codes = append(codes, finding.Code)
		}
		if !slices.Equal(codes, each.codes) {
			t.Errorf("%s: %v", each.what, codes)
		}
	}
}
