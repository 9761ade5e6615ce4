package unwind

import "testing"

func TestANameOfRustOrCIsThePathThatAProgrammerWrote(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4shop6Ledger4grow17h0123456789abcdefE":                                            "shop::Ledger::grow",
		"_ZN53_$LT$wtw..shop..Ledger$u20$as$u20$wtw..shop..Grow$GT$4grow17h1359e84b9aeec5d6E": "<wtw::shop::Ledger as wtw::shop::Grow>::grow",
		"_ZN4shop4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE":                     "shop::main::{{closure}}",
		"_ZN2os4exitEi":                  "os::exit",
		"_RNvCs1234_7mycrate3foo":        "mycrate::foo",
		"_RNvNtCs1234_7mycrate3foo3bar":  "mycrate::foo::bar",
		"_RNCNvCs1234_7mycrate4main0B3_": "mycrate::main::{closure}",
		"_RNvCs1234_7mycrate5_4code":     "mycrate::4code",
		// What is no plain path, or no such name at all, stays as it is.
		"_ZNSt6vectorIiSaIiEE9push_backERKi":                        "_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_RNvXNtCs5ysOCHoGjfV_3wtw4shopNtB2_6LedgerNtB2_4Grow4grow": "_RNvXNtCs5ysOCHoGjfV_3wtw4shopNtB2_6LedgerNtB2_4Grow4grow",
		"_RINvCs1234_7mycrate3fooiE":                                "_RINvCs1234_7mycrate3fooiE",
		"_ZN4shop":                                                  "_ZN4shop",
		"_ZN99shopE":                                                "_ZN99shopE",
		"_ZNE":                                                      "_ZNE",
		"_Z7vm_exiti":                                               "_Z7vm_exiti",
		"_R":                                                        "_R",
		"_RNNNN":                                                    "_RNNNN",
		"_ReadMemory":                                               "_ReadMemory",
		"main.main":                                                 "main.main",
		"":                                                          "",
	} {
		if got := readable(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
