module kdebug/tools

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
	github.com/grafana/jfr-parser v0.9.3
)

require github.com/vishvananda/netns v0.0.5 // indirect

require (
	github.com/gopacket/gopacket v1.7.7
	github.com/vishvananda/netlink v1.3.1
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d
	golang.org/x/image v0.36.0
	golang.org/x/net v0.57.0
	golang.org/x/sys v0.47.0
	golang.org/x/text v0.43.0 // indirect
)
