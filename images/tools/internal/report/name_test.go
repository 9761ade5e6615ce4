package report

import "testing"

func TestANameThatIsNoneIsQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"Ledger::pay": "Ledger::pay", "main.(*Server).serve": "main.(*Server).serve", "pool-1-thread-1": "pool-1-thread-1", "GC#0": "GC#0", "größe": "größe", "": "",
		"<!channel> *Healthy*":          "“<!channel> *Healthy*”",
		"<@U0BOB>":                      "“<@U0BOB>”",
		"app\n✅ Healthy":                "“app?✅ Healthy”",
		"evil” died. ✅ Healthy: “ready": "“evil' died. ✅ Healthy: 'ready”",
		`a "b"`:                         "“a 'b'”",
		"operator new(unsigned long)":   "“operator new(unsigned long)”", "parse (feed.py:3)": "parse (feed.py:3)",
		"a name that is longer than its room is": "“a name that is longer than its…”",
	} {
		if got := Name(name, 31); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
