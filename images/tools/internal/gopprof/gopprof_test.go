package gopprof

import "testing"

func TestListener(t *testing.T) {
	for line, want := range map[string]string{
		"   0: 0100007F:17AC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1":                                   "127.0.0.1:6060",
		"   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1":                                   "127.0.0.1:8080",
		"   2: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  0": "[::1]:8080",
		"   3: 0000000000000000FFFF00000100007F:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  0": "127.0.0.1:8080",
		"   4: 0100007F:17AC 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 1":                                   "",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":                               "",
		"   5: zz:17AC 0100007F:C350 0A": "",
	} {
		address, ok := listener(line)
		if ok != (want != "") || ok && address.String() != want {
			t.Errorf("%q: got %v, %v, want %q", line, address, ok, want)
		}
	}
}
