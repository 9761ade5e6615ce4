package jvm

import (
	"fmt"
	"testing"
)

// As JDK 17 and 25 answer to GC.heap_info.
var heaps = map[string]string{
	"old generation 99 % of 30 MiB": ` def new generation   total 29504K, used 25247K [0x00000000fc000000, 0x00000000fe000000, 0x00000000fe000000)
  eden space 26240K,  96% used [0x00000000fc000000, 0x00000000fd8a7d28, 0x00000000fd9a0000)
 tenured generation   total 30720K, used 30500K [0x00000000fe000000, 0x00000000ffe00000, 0x00000000ffe00000)
   the space 30720K,  99% used [0x00000000fe000000, 0x00000000ffdc9110, 0x00000000ffdc9200, 0x00000000ffe00000)`,
	"old generation 50 % of 43 MiB": `DefNew     total 19648K, used 7329K [0x00000000fc000000, 0x00000000fd550000, 0x00000000fd550000)
Tenured    total 43712K, used 21641K [0x00000000fd550000, 0x0000000100000000, 0x0000000100000000)`,
	"old generation 10 % of 80 MiB": ` tenured generation   total 10944K, used 8192K [0x00000000fb000000, 0x00000000fbab0000, 0x0000000100000000)`,
	"old generation 53 % of 43 MiB": ` PSYoungGen      total 20992K, used 5320K [0x00000000feb00000, 0x0000000100000000, 0x0000000100000000)
 ParOldGen       total 44032K, used 23474K [0x00000000fc000000, 0x00000000feb00000, 0x00000000feb00000)
  object space 44032K, 53% used [0x00000000fc000000,0x00000000fd6ec9d0,0x00000000feb00000)`,
	"old generation 31 % of 64 MiB": ` garbage-first heap   total 65536K, used 41923K [0x00000000fc000000, 0x0000000100000000)
  region size 1024K, 21 young (21504K), 1 survivors (1024K)`,
	"old generation 32 % of 64 MiB": `garbage-first heap   total reserved 65536K, committed 20480K, used 38441K [0x00000000fc000000, 0x0000000100000000)
 region size 1024K, 17 young (17408K), 1 survivors (1024K)`,
	"heap 69 % of 64 MiB": `ZHeap            used 44M, capacity 64M, max capacity 64M
 Cache           20M (1)`,
	"heap 52 % of 64 MiB": `Shenandoah Heap
 65536K max, 65536K soft max, 65536K committed, 33921K used
 256 x 256K regions`,
}

func TestTheOldGenerationIsReadOfEachCollector(t *testing.T) {
	for want, text := range heaps {
		heap, known := ParseHeap(text)
		if got := heap.Words(); !known || got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	for _, text := range []string{"", "garbage-first heap total 1K", "ZHeap used 1M, capacity 0M, max capacity 0M", "0K max, 0K used", "java.lang.SecurityException"} {
		if heap, known := ParseHeap(text); known {
			t.Errorf("%q: %+v", text, heap)
		}
	}
}

func TestACollectorIsHeavyByTheTimeThatTheProgramWaitsForIt(t *testing.T) {
	for name, each := range map[string]struct {
		threads []Work
		want    string
	}{
		"Serial, under pressure":         {[]Work{{"VM Thread", 0.71, 0.05}, {"http-nio-8080-exec-1", 0.01, 0}}, "0.76 0.71"},
		"Parallel, under pressure":       {[]Work{{"GC Thread#0", 0.4, 0.2}, {"GC Thread#1", 0.4, 0.1}, {"VM Thread", 0.1, 0}}, "0.60 0.90"},
		"a pod with a tenth of a CPU":    {[]Work{{"VM Thread", 0.09, 0.8}}, "0.89 0.09"},
		"ZGC beside a busy program":      {[]Work{{"ZWorkerYoung#0", 0.4, 0}, {"main", 2, 0}}, "0.17 0.40"},
		"ZGC alone":                      {[]Work{{"ZWorkerOld#0", 0.9, 0}, {"main", 0.1, 0}}, "0.90 0.90"},
		"a healthy one under light load": {[]Work{{"GC Thread#0", 0.02, 0.1}, {"G1 Service", 0.01, 0}, {"main", 0.01, 0}}, "0.00 0.02"},
		"a full node, and little done":   {[]Work{{"VM Thread", 0.01, 0.4}, {"main", 0.05, 0.5}}, "0.00 0.01"},
		"a compiler":                     {[]Work{{"C2 CompilerThread0", 0.9, 0}}, "0.00 0.00"},
		"a program's own thread":         {[]Work{{"GC", 0.9, 0}}, "0.00 0.00"},
	} {
		if share, cores := Collecting(each.threads); fmt.Sprintf("%.2f %.2f", share, cores) != each.want {
			t.Errorf("%s: %.2f %.2f", name, share, cores)
		}
	}
}
