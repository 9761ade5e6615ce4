package diagnose

import (
	"testing"
	"time"
)

func TestSettingsAreSmallWholeNumbers(t *testing.T) {
	for _, each := range []struct {
		name, value string
		wrong       bool
	}{
		{"AUTODIAGNOSE_SAMPLE", "0", false}, {"AUTODIAGNOSE_SAMPLE", "9999", false}, {"AUTODIAGNOSE_SAMPLE", "", false},
		{"AUTODIAGNOSE_SAMPLE", "03", true}, {"AUTODIAGNOSE_PEERS", "10000", true}, {"AUTODIAGNOSE_GRACE", "-1", true},
		{"AUTODIAGNOSE_GRACE", "1.5", true}, {"AUTODIAGNOSE_MESSAGE", "3; id", true}, {"AUTODIAGNOSE_PEERS", "٣", true},
	} {
		read, err := ReadSettings(func(name string) string {
			if name == each.name {
				return each.value
			}
			return ""
		})
		if (err != nil) != each.wrong || (err != nil && (read.Sample != 0 || read.Message != minMessage)) {
			t.Errorf("%s=%q: %+v, %v", each.name, each.value, read, err)
		}
	}
}

func TestTheMessageStaysWithinItsShare(t *testing.T) {
	for text, bytes := range map[string]int{"": 1024, "1": 1024, "2048": 2048, "9999": 3072} {
		read, err := ReadSettings(func(name string) string { return map[string]string{"AUTODIAGNOSE_MESSAGE": text}[name] })
		if err != nil || read.Message != bytes || read.Sample != 3*time.Second || read.Peers != 5 {
			t.Errorf("%q: %+v, %v", text, read, err)
		}
	}
}
