package jvm

import (
	"testing"

	"kdebug/tools/internal/stack"
)

func TestOwnFramesAndIdleThreadsAreKnown(t *testing.T) {
	const (
		park  = "jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)"
		take  = "java.util.concurrent.LinkedBlockingQueue.take(java.base@17.0.15/LinkedBlockingQueue.java:435)"
		get   = "java.util.concurrent.ThreadPoolExecutor.getTask(java.base@17.0.15/ThreadPoolExecutor.java:1062)"
		work  = "java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@17.0.15/ThreadPoolExecutor.java:1122)"
		run   = "java.lang.Thread.run(java.base@17.0.15/Thread.java:840)"
		serve = "org.apache.catalina.core.ApplicationFilterChain.doFilter(ApplicationFilterChain.java:107)"
		read  = "sun.nio.ch.SocketDispatcher.read0(java.base@17.0.15/Native Method)"
	)
	for name, each := range map[string]struct {
		frames []string
		own    string
		idle   bool
	}{
		"a worker of Tomcat":              {[]string{park, take, "org.apache.tomcat.util.threads.TaskQueue.take(TaskQueue.java:117)", get, work, run}, "", true},
		"a worker of an executor":         {[]string{park, take, get, work, run}, "", true},
		"a poller":                        {[]string{"sun.nio.ch.EPoll.wait(java.base@17.0.15/Native Method)", "sun.nio.ch.SelectorImpl.select(java.base@17.0.15/SelectorImpl.java:129)", "org.apache.tomcat.util.net.NioEndpoint$Poller.run(NioEndpoint.java:711)", run}, "", true},
		"an acceptor of the program":      {[]string{"sun.nio.ch.Net.accept(java.base@17.0.15/Native Method)", "java.net.ServerSocket.accept(java.base@17.0.15/ServerSocket.java:533)", "Shop.main(Shop.java:4)"}, "Shop.main(Shop.java:4)", true},
		"a worker of the program's queue": {[]string{park, take, "shop.Mailer.loop(Mailer.java:4)", run}, "shop.Mailer.loop(Mailer.java:4)", true},
		"a request that waits at a queue": {[]string{park, take, "shop.Cart.reserve(Cart.java:9)", serve, run}, "shop.Cart.reserve(Cart.java:9)", false},
		"a request that waits for a connection": {[]string{park, "java.util.concurrent.SynchronousQueue.poll(java.base@17.0.15/SynchronousQueue.java:903)", "com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:151)",
			"com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)", "shop.Orders.find(Orders.java:31)", serve}, "shop.Orders.find(Orders.java:31)", false},
		"a request that reads":        {[]string{read, "org.postgresql.core.PGStream.receiveChar(PGStream.java:455)", "shop.Orders.find(Orders.java:31)", serve}, "shop.Orders.find(Orders.java:31)", false},
		"a driver that reads":         {[]string{read, "org.postgresql.core.PGStream.receiveChar(PGStream.java:455)", run}, "", false},
		"the finalizer":               {[]string{"java.lang.Object.wait(java.base@17.0.15/Native Method)", "java.lang.ref.ReferenceQueue.remove(java.base@17.0.15/ReferenceQueue.java:155)"}, "", true},
		"a virtual thread's pool":     {[]string{park, "java.util.concurrent.ForkJoinPool.awaitWork(java.base@21/ForkJoinPool.java:2109)"}, "", true},
		"a poller of virtual threads": {[]string{"java.lang.VirtualThread.park(Unknown Source)", "sun.nio.ch.Poller.subPollerLoop(Unknown Source)"}, "", true},
		"no frame":                    {nil, "", false},
	} {
		if own, idle := Own(each.frames), Idle(each.frames); own != each.own || idle != each.idle {
			t.Errorf("%s: own %q, idle %v", name, own, idle)
		}
	}
}

func TestTheMachinesOwnThreadsAreIdle(t *testing.T) {
	for name, want := range map[string]bool{"C2 CompilerThread0": true, "Signal Dispatcher": true, "Thread-7": false} {
		each := stack.Thread{Name: name}
		if mark(&each); each.Idle != want {
			t.Errorf("%s: %v", name, each.Idle)
		}
	}
}
