package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"kdebug/tools/internal/capture"
	"kdebug/tools/internal/probe"
)

// settings are what people may ask for by --env.
type settings struct {
	// endpoint is nil where none was given.
	endpoint *probe.Endpoint
	// filter is "" where nothing is captured.
	filter  string
	packets int
	capture time.Duration
	// apiServer is not valid where the cluster does not say where it is.
	apiServer netip.AddrPort
	// inCluster: the kubelet names the API server to each container, whatever its DNS.
	inCluster bool
}

const (
	defaultPackets = 1000
	defaultSeconds = 10
)

func readSettings(variable func(string) string) (settings, error) {
	read := settings{filter: variable("NET_FILTER"), inCluster: variable("KUBERNETES_SERVICE_HOST") != ""}
	if text := variable("NET_ENDPOINT"); text != "" {
		endpoint, err := probe.Parse(text)
		if err != nil {
			return settings{}, err
		}
		read.endpoint = &endpoint
	}
	var err error
	if read.packets, err = number(variable, "NET_PACKETS", defaultPackets, capture.MaxPackets); err != nil {
		return settings{}, err
	}
	seconds, err := number(variable, "NET_SECONDS", defaultSeconds, capture.MaxSeconds)
	if err != nil {
		return settings{}, err
	}
	read.capture = time.Duration(seconds) * time.Second
	if address, err := netip.ParseAddr(variable("KUBERNETES_SERVICE_HOST")); err == nil {
		if port, err := strconv.ParseUint(variable("KUBERNETES_SERVICE_PORT"), 10, 16); err == nil {
			read.apiServer = netip.AddrPortFrom(address, uint16(port))
		}
	}
	return read, nil
}

func number(variable func(string) string, name string, otherwise, most int) (int, error) {
	text := variable(name)
	if text == "" {
		return otherwise, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > most {
		return 0, fmt.Errorf("%s must be a number from 1 to %d", name, most)
	}
	return value, nil
}
