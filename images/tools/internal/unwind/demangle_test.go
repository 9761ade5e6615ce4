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
		// The arguments of a template are left out, whatever they are.
		"_ZNSt6vectorIiSaIiEE9push_backERKi":           "std::vector<…>::push_back",
		"_ZN4shop4CartIiEC1Ev":                         "shop::Cart<…>::Cart",
		"_ZN4shop4CartIiED0Ev":                         "shop::Cart<…>::~Cart",
		"_ZNK4shop4Cart4sizeEv":                        "shop::Cart::size",
		"_ZN4shop12_GLOBAL__N_14growIN2os4PageELb1EEE": "shop::(anonymous)::grow<…>",
		"_ZN4shop4growILNS_4KindE29EhEEvi":             "shop::grow<…>",
		"_ZN4shop4growILi4ELln7EE3EndE":                "shop::grow<…>::End",
		// What is no path, or no such name at all, stays as it is.
		"_ZN4shop4growIXadL_Z3oneEEEEvi": "_ZN4shop4growIXadL_Z3oneEEEEvi",
		"_ZN4shop4growILi4":              "_ZN4shop4growILi4",
		"_ZN4shop4growIL":                "_ZN4shop4growIL",
		"_ZN4shop4growIS":                "_ZN4shop4growIS",
		"_ZNIiE3fooE":                    "_ZNIiE3fooE",
		"_ZN4shopaSERKS_":                "_ZN4shopaSERKS_",
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
