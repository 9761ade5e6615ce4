# Made from src/core/diagnosis/images/image-findings.ts by npm run gen.

# Sets r_section, r_rank, r_threshold (nothing: being there is the finding), r_below and r_next of a finding.
rule() {
    case $1 in
        zombies) r_section=processes r_rank=2 r_threshold=5 r_below=false
            r_next='Put a small init (tini) in front of the first process, which must wait for its children.' ;;
        uninterruptible) r_section=processes r_rank=2 r_threshold=5 r_below=false
            r_next='Check the node'\''s disks and the pod'\''s network volumes.' ;;
        pids_near_limit) r_section=processes r_rank=2 r_threshold=80 r_below=false
            r_next='Look for a leak of threads or children; new ones will soon fail.' ;;
        oom_kill) r_section=memory r_rank=1 r_threshold=0 r_below=false
            r_next='Raise the memory limit or find what grows; the log of the previous container may name it.' ;;
        memory_near_limit) r_section=memory r_rank=2 r_threshold=90 r_below=false
            r_next='Raise the memory limit or look for a leak; at the limit the kernel kills the container.' ;;
        memory_held_back) r_section=memory r_rank=2 r_threshold=0 r_below=false
            r_next='Raise the memory limit; until then every allocation waits for memory to be reclaimed.' ;;
        memory_pressure) r_section=memory r_rank=2 r_threshold=10 r_below=false
            r_next='Raise the memory limit, or take cache and temporary files out of memory.' ;;
        cpu_throttled) r_section=cpu r_rank=2 r_threshold=10 r_below=false
            r_next='Raise or remove the CPU limit, or give the process fewer threads than it has CPU.' ;;
        cpu_throttled_before) r_section=cpu r_rank=3 r_threshold=25 r_below=false
            r_next='Check it again under load, and compare the CPU limit with what it needs then.' ;;
        cpu_near_limit) r_section=cpu r_rank=2 r_threshold=90 r_below=false
            r_next='Find what computes; or raise the CPU limit, where that work is wanted.' ;;
        cpu_pressure) r_section=cpu r_rank=3 r_threshold=60 r_below=false
            r_next='Raise the CPU request, or check what else runs on the node.' ;;
        io_pressure) r_section=io r_rank=2 r_threshold=20 r_below=false
            r_next='Check the node'\''s disks and what this container reads and writes.' ;;
        disk_full) r_section=io r_rank=2 r_threshold=90 r_below=false
            r_next='Remove what is not needed, or make the volume larger.' ;;
        disk_inodes) r_section=io r_rank=2 r_threshold=90 r_below=false
            r_next='Look for a directory with very many small files.' ;;
        disk_read_only) r_section=io r_rank=1 r_threshold='' r_below=false
            r_next='Check the node'\''s kernel log for disk errors.' ;;
        disk_silent) r_section=io r_rank=1 r_threshold='' r_below=false
            r_next='Check the volume'\''s server or driver, and the node'\''s kernel log.' ;;
        deleted_open) r_section=io r_rank=2 r_threshold=100 r_below=false
            r_next='Restart the process or let it open its files again (log rotation); only then the space is free.' ;;
        files_near_limit) r_section=files r_rank=2 r_threshold=80 r_below=false
            r_next='Look for sockets or files that are never closed; at the limit every open fails.' ;;
        targeting_off) r_section=context r_rank=3 r_threshold='' r_below=false
            r_next='Name the container to look at (--target); if it was named, the container runtime ignored it.' ;;
        target_unclear) r_section=context r_rank=3 r_threshold=1 r_below=false
            r_next='Name the container to look at (--target).' ;;
        close_wait) r_section=sockets r_rank=2 r_threshold=100 r_below=false
            r_next='Look for connections that are not closed after an error or an end of stream.' ;;
        syn_sent) r_section=sockets r_rank=1 r_threshold=20 r_below=false
            r_next='Check network policies, and whether the peer is up.' ;;
        accept_queue) r_section=sockets r_rank=1 r_threshold=16 r_below=false
            r_next='Check what the process waits for (a lock, a full pool, one busy thread); take a stack trace.' ;;
        listen_overflow) r_section=sockets r_rank=1 r_threshold=0 r_below=false
            r_next='Find out why the process does not accept fast enough; a larger backlog (somaxconn) only hides it.' ;;
        answer_missing) r_section=sockets r_rank=1 r_threshold=5 r_below=false
            r_next='Look at that peer: it took the requests and does not answer. Whoever waits for news on purpose (a queue, a subscription) looks the same.' ;;
        connects_refused) r_section=sockets r_rank=2 r_threshold=2 r_below=false
            r_next='Look at what the pod connects to: nothing listens there, or its queue is full.' ;;
        connections_reset) r_section=sockets r_rank=3 r_threshold=9 r_below=false
            r_next='Compare the idle timeouts of both sides, and look for a restart or a crash at that time.' ;;
        retransmits) r_section=sockets r_rank=2 r_threshold=5 r_below=false
            r_next='Check the node'\''s network and the peers that are slow.' ;;
        ports_near_limit) r_section=sockets r_rank=2 r_threshold=80 r_below=false
            r_next='Reuse connections (keep-alive, a pool) instead of opening one for every request.' ;;
        conntrack_near_limit) r_section=sockets r_rank=2 r_threshold=80 r_below=false
            r_next='Raise nf_conntrack_max on the node, or find who opens so many connections.' ;;
        dns_no_server) r_section=dns r_rank=1 r_threshold='' r_below=false
            r_next='Check the pod'\''s dnsPolicy and dnsConfig.' ;;
        dns_many_servers) r_section=dns r_rank=3 r_threshold=3 r_below=false
            r_next='Take servers out of the pod'\''s dnsConfig or the node'\''s resolv.conf; the ones beyond three are ignored.' ;;
        dns_unanswered) r_section=dns r_rank=1 r_threshold='' r_below=false
            r_next='Check the cluster'\''s DNS pods and network policies that keep port 53 from this pod.' ;;
        dns_refused) r_section=dns r_rank=1 r_threshold='' r_below=false
            r_next='Check that the cluster'\''s DNS pods are up and ready, and the address in the pod'\''s dnsPolicy and dnsConfig.' ;;
        dns_loopback) r_section=dns r_rank=1 r_threshold='' r_below=false
            r_next='Take the loopback address out of the pod'\''s dnsConfig, or start the DNS program of this pod; a node'\''s own resolver (127.0.0.53) is not reached from a pod.' ;;
        dns_unknown_name) r_section=dns r_rank=1 r_threshold='' r_below=false
            r_next='Check the cluster'\''s DNS (CoreDNS) and the search domains of the pod.' ;;
        dns_slow) r_section=dns r_rank=2 r_threshold=1000 r_below=false
            r_next='Check the load of the cluster'\''s DNS pods and lost packets to port 53.' ;;
        dns_no_tcp) r_section=dns r_rank=3 r_threshold='' r_below=false
            r_next='Let TCP to port 53 through in the network policies, as well as UDP.' ;;
        peer_refused) r_section=peers r_rank=1 r_threshold='' r_below=false
            r_next='Check the pods behind that address, whether they are up, ready and listening.' ;;
        peer_timeout) r_section=peers r_rank=1 r_threshold='' r_below=false
            r_next='Check network policies and the peer'\''s node.' ;;
        tls_expiring) r_section=tls r_rank=2 r_threshold=14 r_below=true
            r_next='Renew the certificate, and find out why the renewal failed.' ;;
        tls_expired) r_section=tls r_rank=1 r_threshold='' r_below=false
            r_next='Renew the certificate now, and find out why the renewal failed.' ;;
        tls_mismatch) r_section=tls r_rank=1 r_threshold='' r_below=false
            r_next='Compare the certificate'\''s names with the name that clients use.' ;;
        core_dump) r_section=filesystem r_rank=2 r_threshold=0 r_below=false
            r_next='Keep the core file for the developers, then remove it; it may hold secrets.' ;;
        temporary_files) r_section=filesystem r_rank=3 r_threshold=1024 r_below=false
            r_next='Remove temporary files after use, log to standard output, and set an ephemeral-storage limit.' ;;
        token_old) r_section=filesystem r_rank=2 r_threshold=25 r_below=false
            r_next='Check the kubelet of the pod'\''s node and its connection to the API server.' ;;
        jvm_heap) r_section=runtime r_rank=2 r_threshold=90 r_below=false
            r_next='Use -XX:MaxRAMPercentage=75 instead of -Xmx, or raise the memory limit.' ;;
        node_heap) r_section=runtime r_rank=2 r_threshold=90 r_below=false
            r_next='Set --max-old-space-size to about three quarters of the memory limit.' ;;
        go_memory_limit) r_section=runtime r_rank=3 r_threshold=95 r_below=false
            r_next='Set GOMEMLIMIT to about 90% of the memory limit.' ;;
        go_max_procs) r_section=runtime r_rank=3 r_threshold=100 r_below=false
            r_next='Set GOMAXPROCS to the CPU limit, rounded up (Go 1.25 and newer do this on their own).' ;;
        *) r_section=context r_rank=3 r_threshold='' r_below=false r_next='' ;;
    esac
}
