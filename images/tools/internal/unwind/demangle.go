package unwind

import "strings"

// readable is the name that a programmer of Rust or C++ wrote, where it is a plain path: "shop::Ledger::grow". Each other name, as that of an instance of
// a template, stays as the compiler wrote it: a module that reads them all is as large as a sixth of the image.
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
	for text != "" && text[0] != 'E' {
		part, rest, ok := counted(text)
		if !ok {
			return nil, false
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
