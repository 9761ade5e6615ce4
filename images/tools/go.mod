module kdebug/tools

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/grafana/jfr-parser v0.9.3
)

require golang.org/x/text v0.43.0 // indirect
