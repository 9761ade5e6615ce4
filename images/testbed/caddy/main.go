// Caddy with what a reverse proxy needs of its standard modules; pprof is at its admin port, as always.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

func main() {
	caddycmd.Main()
}
