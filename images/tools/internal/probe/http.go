package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
)

const (
	httpTimeout = 10 * time.Second
	// maxHead is how much of an answer's head is read.
	maxHead = 64 << 10
)

// ask sends one GET with no header but Host and Connection, and reads the status and where a redirect leads. The body is not read.
func ask(conn net.Conn, endpoint Endpoint) *rules.Part {
	result := rules.NewPart("http")
	_ = conn.SetDeadline(time.Now().Add(httpTimeout))
	began := time.Now()
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", endpoint.Path, hostHeader(endpoint))
	if _, err := io.WriteString(conn, request); err != nil {
		result.Find("http_error", 0, "the request cannot be sent: %s", why(err))
		return result
	}
	reader := bufio.NewReader(io.LimitReader(conn, maxHead))
	_, err := reader.Peek(1)
	took := time.Since(began)
	if err != nil {
		result.Say("no answer to GET %s: %s after %s", endpoint.Path, why(err), milliseconds(took))
		result.Find("http_error", 0, "no answer to a request: %s after %s", why(err), milliseconds(took))
		result.Section.Text = "no answer"
		return result
	}
	status, location, ok := readHead(reader)
	if !ok {
		result.Say("GET %s: the answer is not HTTP", endpoint.Path)
		result.Find("http_error", 0, "the answer is not HTTP")
		result.Section.Text = "not HTTP"
		return result
	}
	words := fmt.Sprintf("status %d, first byte after %s", status, milliseconds(took))
	result.Say("GET %s: %s", endpoint.Path, words)
	result.Section.Text = words
	if to := redirect(status, location); to != "" {
		result.Say("redirects to %s, which is not followed", to)
	}
	if status >= 500 {
		result.Find("http_error", 0, "status %d", status)
	}
	result.Find("http_slow", float64(took.Milliseconds()), "the first byte comes after %s", milliseconds(took))
	return result
}

// readHead reads the first lines of an answer. Not by net/http, which autodiagnose would link for it.
func readHead(reader *bufio.Reader) (status int, location string, ok bool) {
	lines := textproto.NewReader(reader)
	first, err := lines.ReadLine()
	if err != nil {
		return 0, "", false
	}
	version, rest, _ := strings.Cut(first, " ")
	number, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err = strconv.Atoi(number)
	if !strings.HasPrefix(version, "HTTP/1.") || err != nil || len(number) != 3 {
		return 0, "", false
	}
	head, err := lines.ReadMIMEHeader()
	return status, head.Get("Location"), err == nil
}

func hostHeader(endpoint Endpoint) string {
	if endpoint.Port == defaultPorts[endpoint.Scheme] {
		if address := net.ParseIP(endpoint.Host); address != nil && address.To4() == nil {
			return "[" + endpoint.Host + "]"
		}
		return endpoint.Host
	}
	return net.JoinHostPort(endpoint.Host, fmt.Sprint(endpoint.Port))
}

// redirect is where an answer sends the client: the host alone, since the rest may hold a token.
func redirect(status int, location string) string {
	if status < 300 || status > 399 {
		return ""
	}
	to, err := url.Parse(location)
	if err != nil || to.String() == "" {
		return "nowhere"
	}
	if to.Host == "" {
		return "another path of the same host"
	}
	return to.Scheme + "://" + to.Host
}
