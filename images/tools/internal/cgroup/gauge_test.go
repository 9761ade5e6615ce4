package cgroup

import "testing"

func TestAGaugeReadsTheMemoryOfBothVersions(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"1": {"memory/memory.usage_in_bytes": "900\n", "memory/memory.limit_in_bytes": "1000\n", "memory/memory.stat": "inactive_file 7\ntotal_inactive_file 50\n", "cpu/x": ""},
		"2": {"memory.current": "900\n", "memory.max": "1000\n", "memory.stat": "anon 1\ninactive_file 50\n"},
	} {
		gauge := At(folderWith(t, files)).Gauge()
		if gauge == nil || gauge.Used() != 900 || gauge.Limit() != 1000 || gauge.Inactive() != 50 {
			t.Errorf("version %s: %+v", name, gauge)
			continue
		}
		if allocated := testing.AllocsPerRun(100, func() { gauge.Used(); gauge.Limit(); gauge.Inactive() }); allocated > 0 {
			t.Errorf("version %s allocates %f times", name, allocated)
		}
		gauge.Close()
	}
}

func TestAGroupWithoutALimitHasNone(t *testing.T) {
	for _, limit := range []string{"max\n", "9223372036854771712\n", "-1\n", ""} {
		gauge := At(folderWith(t, map[string]string{"memory.current": "9\n", "memory.max": limit})).Gauge()
		if gauge.Limit() != -1 {
			t.Errorf("%q is %d", limit, gauge.Limit())
		}
	}
	if At(t.TempDir()).Gauge() != nil {
		t.Error("a folder without numbers has a gauge")
	}
}
