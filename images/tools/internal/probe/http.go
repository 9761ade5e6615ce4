package probe

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		result.Say("GET %s: the answer is not HTTP", endpoint.Path)
		result.Find("http_error", 0, "the answer is not HTTP")
		result.Section.Text = "not HTTP"
		return result
	}
	defer response.Body.Close()
	words := fmt.Sprintf("status %d, first byte after %s", response.StatusCode, milliseconds(took))
	result.Say("GET %s: %s", endpoint.Path, words)
	result.Section.Text = words
	if to := redirect(response); to != "" {
		result.Say("redirects to %s, which is not followed", to)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		result.Find("http_error", 0, "status %d", response.StatusCode)
	}
	result.Find("http_slow", float64(took.Milliseconds()), "the first byte comes after %s", milliseconds(took))
	return result
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
func redirect(response *http.Response) string {
	if response.StatusCode < 300 || response.StatusCode > 399 {
		return ""
	}
	to, err := url.Parse(response.Header.Get("Location"))
	if err != nil || to.String() == "" {
		return "nowhere"
	}
	if to.Host == "" {
		return "another path of the same host"
	}
	return to.Scheme + "://" + to.Host
}
