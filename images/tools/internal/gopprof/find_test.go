package gopprof

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// guarded serves pprof to one name, as Caddy's admin does, and 403 to each other.
func guarded(t *testing.T, known func(port string) string) netip.AddrPort {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		_, port, _ := strings.Cut(request.Context().Value(http.LocalAddrContextKey).(interface{ String() string }).String(), ":")
		if request.Host != known(port) {
			answer.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = answer.Write([]byte("shop\x00--serve\x00"))
	}))
	t.Cleanup(server.Close)
	return netip.MustParseAddrPort(server.Listener.Addr().String())
}

func TestAServerThatGuardsItsNameIsFound(t *testing.T) {
	for name, known := range map[string]func(port string) string{
		"its address":             func(port string) string { return "127.0.0.1:" + port },
		"localhost with the port": func(port string) string { return "localhost:" + port },
		"localhost":               func(string) string { return "localhost" },
	} {
		address := guarded(t, known)
		server, err := find(t.Context(), []netip.AddrPort{address}, "shop\x00--serve")
		if err != nil || server.address != address {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := server.Get(t.Context(), "cmdline", 100); err != nil {
			t.Errorf("%s, the next page: %v", name, err)
		}
	}
}

func TestARefusalIsNotTheLackOfAnAnswer(t *testing.T) {
	refuses := guarded(t, func(string) string { return "shop.example.com" })
	if _, err := find(t.Context(), []netip.AddrPort{refuses}, "shop"); err == nil || !strings.Contains(err.Error(), refuses.String()+" refuses /debug/pprof/ with 403") {
		t.Errorf("%v", err)
	}
	other := guarded(t, func(port string) string { return "127.0.0.1:" + port })
	if _, err := find(t.Context(), []netip.AddrPort{other}, "another program"); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
}
