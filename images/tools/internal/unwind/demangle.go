package unwind

import "strings"

// readable is the name that a programmer of Rust or C++ wrote, where it is a path: "shop::Ledger::grow". Of an instance of a template in C++ the arguments
// are left out: "std::vector<…>::push_back". Each other name, as that of an operator, stays as the compiler wrote it: a module that reads them all is as
// large as a sixth of the image.
func readable(name string) string {
	var parts []string
	var ok bool
	switch {
	case strings.HasPrefix(name, "_ZN"):
		parts, ok = nested(strings.TrimPrefix(name, "_ZN"))
	case strings.HasPrefix(name, "_R"):
		read := &rust{text: strings.TrimPrefix(name, "_R")}
		parts, ok = read.path(0), !read.bad
	}
	if !ok || len(parts) == 0 {
		return name
	}
	return strings.Join(parts, "::")
}

// nested reads "3foo3barE…": of C++, and of Rust before its own form, which ends in a hash.
func nested(text string) (parts []string, ok bool) {
	// Of a method that is const.
	text = strings.TrimPrefix(text, "K")
	if rest, isStd := strings.CutPrefix(text, "St"); isStd {
		parts, text = []string{"std"}, rest
	}
	for text != "" && text[0] != 'E' {
		if text[0] == 'I' && len(parts) > 0 {
			if text, ok = skipped(text); !ok {
				return nil, false
			}
			parts[len(parts)-1] += "<…>"
			continue
		}
		if len(text) > 1 && (text[0] == 'C' || text[0] == 'D') && text[1] >= '0' && text[1] <= '5' && len(parts) > 0 {
			name := strings.TrimSuffix(parts[len(parts)-1], "<…>")
			if text[0] == 'D' {
				name = "~" + name
			}
			parts, text = append(parts, name), text[2:]
			continue
		}
		part, rest, ok := counted(text)
		if !ok {
			return nil, false
		}
		if strings.HasPrefix(part, "_GLOBAL__N_") {
			part = "(anonymous)"
		}
		parts, text = append(parts, part), rest
	}
	if text == "" {
		return nil, false
	}
	if last := len(parts) - 1; last > 0 && isHash(parts[last]) {
		parts = parts[:last]
		for index := range parts {
			parts[index] = unescaped(parts[index])
		}
	}
	return parts, true
}

// skipped is what follows the arguments of a template or a nested name, from its "I" or "N" to its "E" (Itanium C++ ABI, section 5.1). Not ok: it has an expression or another rare form.
func skipped(text string) (rest string, ok bool) {
	depth := 0
	for text != "" {
		kind := text[0]
		switch {
		case kind >= '0' && kind <= '9':
			if _, text, ok = counted(text); !ok {
				return "", false
			}
			continue
		case kind == 'L':
			if text, ok = skippedLiteral(text[1:]); !ok {
				return "", false
			}
			continue
		case kind == 'S' || kind == 'T':
			text = skippedReference(text)
			continue
		case kind == 'X':
			return "", false
		case strings.IndexByte("INJF", kind) >= 0:
			depth++
		case kind == 'E':
			if depth--; depth == 0 {
				return text[1:], true
			}
		}
		text = text[1:]
	}
	return "", false
}

// skippedLiteral is what follows a value, behind its "L": its type, digits, "E".
func skippedLiteral(text string) (rest string, ok bool) {
	switch {
	case text == "" || text[0] == '_' || text[0] == 'A':
		return "", false
	case text[0] == 'N':
		if text, ok = skipped(text); !ok {
			return "", false
		}
	case text[0] == 'S' || text[0] == 'T':
		text = skippedReference(text)
	case text[0] >= '0' && text[0] <= '9':
		if _, text, ok = counted(text); !ok {
			return "", false
		}
	default:
		text = text[1:]
	}
	_, text = digits(strings.TrimPrefix(text, "n"))
	return strings.CutPrefix(text, "E")
}

// skippedReference is what follows "S_", "S1a_", "T0_", or the name of something in std, as "Sa".
func skippedReference(text string) string {
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return text[2:]
	}
	_, rest, _ := strings.Cut(text, "_")
	return rest
}

// isHash is "h" and 16 digits.
func isHash(part string) bool {
	return len(part) == 17 && part[0] == 'h' && strings.Trim(part[1:], "0123456789abcdef") == ""
}

// escapes are what Rust writes for characters that a name in a table may not have.
var escapes = strings.NewReplacer("$LT$", "<", "$GT$", ">", "$RF$", "&", "$BP$", "*", "$LP$", "(", "$RP$", ")", "$C$", ",", "$u20$", " ", "$u27$", "'", "$u5b$", "[", "$u5d$", "]",
	"$u7b$", "{", "$u7d$", "}", "$u3b$", ";", "$u2b$", "+", "$u22$", "\"", "..", "::")

func unescaped(part string) string { return escapes.Replace(strings.TrimPrefix(part, "_")) }

// counted reads a length and as many bytes.
func counted(text string) (part, rest string, ok bool) {
	size, text := digits(text)
	if size == 0 || size > len(text) {
		return "", "", false
	}
	return text[:size], text[size:], true
}

func digits(text string) (number int, rest string) {
	for text != "" && text[0] >= '0' && text[0] <= '9' && number < maxName {
		number, text = number*10+int(text[0]-'0'), text[1:]
	}
	return number, text
}

// rust reads Rust's own form (RFC 2603), of it paths without generics and back references.
type rust struct {
	text string
	bad  bool
}

// maxDepth bounds how deep a path may be nested.
const maxDepth = 64

func (r *rust) path(depth int) []string {
	switch kind := r.next(); {
	case r.bad || depth > maxDepth:
	case kind == 'C':
		return []string{r.name()}
	case kind == 'N':
		space := r.next()
		outer := r.path(depth + 1)
		name := r.name()
		if name == "" && space == 'C' {
			name = "{closure}"
		}
		return append(outer, name)
	}
	r.bad = true
	return nil
}

func (r *rust) next() byte {
	if r.text == "" {
		r.bad = true
		return 0
	}
	first := r.text[0]
	r.text = r.text[1:]
	return first
}

// name reads an identifier: "s", a number and "_" before it tell equal ones apart; "u" is one of other letters than English.
func (r *rust) name() string {
	if strings.HasPrefix(r.text, "s") {
		_, rest, ends := strings.Cut(r.text, "_")
		r.text, r.bad = rest, r.bad || !ends
	}
	if rest, empty := strings.CutPrefix(r.text, "0"); empty {
		r.text = rest
		return ""
	}
	size, rest := digits(r.text)
	// It stands before a name that begins with a digit or with it.
	rest = strings.TrimPrefix(rest, "_")
	if size == 0 || size > len(rest) {
		r.bad = true
		return ""
	}
	r.text = rest[size:]
	return rest[:size]
}
