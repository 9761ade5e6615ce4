package probe

import (
	"context"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// Prober has what a probe needs to know of the pod.
type Prober struct {
	Place Place
	Names Names
	// Roots are the authorities whose certificates count as known; nil: nobody asks.
	Roots *Roots
	// Now is the time that certificates are held against.
	Now time.Time
}

// Run asks the endpoint one question after the other, as far as the answers allow. Untested says why no address was tried; "" if one was.
func (p Prober) Run(ctx context.Context, endpoint Endpoint) (parts []*rules.Part, untested string) {
	lookup, addresses := p.Names.Lookup(ctx, endpoint.Host, "endpoint_unknown")
	reach, first := connect(ctx, p.Place, addresses, endpoint.Port)
	parts = []*rules.Part{lookup, reach}
	if first.conn == nil {
		if reach.Section.State != report.NotLookedAt {
			first.untested = ""
		}
		return parts, first.untested
	}
	defer first.conn.Close()
	conn := first.conn
	if endpoint.secure() {
		secured, over := handshake(ctx, conn, endpoint, p.Roots, p.Now)
		parts = append(parts, secured)
		conn = over
	}
	if endpoint.web() && conn != nil {
		parts = append(parts, ask(conn, endpoint))
	}
	// Last, so that the connection above is not left waiting.
	again(ctx, reach, p.Place, first.to)
	return parts, ""
}

// Secure makes one TLS connection to an endpoint and says what is wrong with it, beginning with its name and address. Answered is false where there was
// no certificate.
func (p Prober) Secure(ctx context.Context, endpoint Endpoint) (part *rules.Part, answered bool) {
	part = rules.NewPart("tls")
	_, addresses := p.Names.Lookup(ctx, endpoint.Host, "endpoint_unknown")
	_, first := connect(ctx, p.Place, addresses[:min(len(addresses), 1)], endpoint.Port)
	if first.conn == nil {
		return part, false
	}
	defer first.conn.Close()
	secured, over := handshake(ctx, first.conn, endpoint, p.Roots, p.Now)
	return secured, over != nil
}
