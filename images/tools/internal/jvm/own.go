package jvm

import (
	"slices"
	"strings"

	"kdebug/tools/internal/stack"
)

// libraries are the packages of the JDK, of servers and of drivers: the beginnings of frames that are not the program's own.
var libraries = strings.Fields(`java. javax. jdk. sun. com.sun. jakarta. kotlin. kotlinx. scala. groovy. clojure. akka. reactor. rx.
	org.apache. org.eclipse. org.jboss. org.wildfly. org.glassfish. org.xnio. io.undertow. io.netty. io.vertx. io.quarkus. io.micronaut. io.helidon.
	org.springframework. org.hibernate. org.aspectj. net.bytebuddy. net.sf.cglib. org.mybatis. org.jooq. org.slf4j. ch.qos.logback.
	com.zaxxer.hikari. com.mchange. com.alibaba.druid. org.postgresql. com.mysql. org.mariadb. oracle. com.microsoft.sqlserver. org.h2. org.hsqldb.
	com.mongodb. redis.clients. io.lettuce. org.redisson. com.datastax. com.rabbitmq. org.elasticsearch. org.opensearch. io.nats. io.grpc.
	okhttp3. okio. feign. retrofit2. com.google. com.fasterxml. com.netflix. com.amazonaws. software.amazon. com.azure. io.reactivex. io.micrometer.
	io.opentelemetry. io.prometheus. io.github.resilience4j. org.quartz. com.ibm. openj9. $Proxy com.sun.proxy.`)

// jdk are the beginnings of the JDK's own frames.
var jdk = []string{"java.", "javax.", "jdk.", "sun.", "com.sun."}

// Own is the innermost frame of the program's own code, as it stands in frames; "" where all belong to the JDK, a server or a library.
func Own(frames []string) string {
	for _, frame := range frames {
		if isOwn(frame) {
			return frame
		}
	}
	return ""
}

func isOwn(frame string) bool { return !begins(frame, libraries) }

func begins(frame string, packages []string) bool {
	return slices.ContainsFunc(packages, func(name string) bool { return strings.HasPrefix(frame, name) })
}

// servers are the packages whose frames around the program's own say that it has a request in its hands.
var servers = strings.Fields(`org.apache.catalina. org.apache.coyote. org.eclipse.jetty. io.undertow. io.netty. io.vertx. org.springframework.web. org.glassfish.grizzly.
	com.sun.net.httpserver. sun.net.httpserver. io.grpc. io.micronaut.http. io.helidon.webserver. jakarta.servlet. javax.servlet.`)

// machine are the threads of the JVM itself among those with a Java state; what they compute the kernel says.
var machine = []string{"Signal Dispatcher", "Service Thread", "Monitor Deflation Thread", "Notification Thread", "Attach Listener", "Sweeper thread", "C1 CompilerThread", "C2 CompilerThread"}

// mark sets what the frames of a thread say.
func mark(each *stack.Thread) {
	each.Own, each.Idle, each.Serves = Own(each.Frames), Idle(each.Frames), false
	// The machine's own threads have no Java frame.
	if len(each.Frames) == 0 {
		each.Idle = begins(each.Name, machine)
	}
	if at := slices.Index(each.Frames, each.Own); at >= 0 {
		each.Serves = slices.ContainsFunc(each.Frames[at:], func(frame string) bool { return begins(frame, servers) })
	}
}

// idle are the functions in which a worker of a pool, an acceptor or an event loop waits for work.
var idle = strings.Fields(`ThreadPoolExecutor.getTask( ForkJoinPool.awaitWork( EPoll.wait( EPollArrayWrapper.epollWait( KQueue.poll( Native.epollWait( Native.epollWait0(
	Net.poll( Net.accept( ServerSocketChannelImpl.accept( ServerSocketChannelImpl.accept0( ServerSocketImpl.accept( PlainSocketImpl.socketAccept( NioSocketImpl.accept(
	ServerSocket.implAccept( ReferenceQueue.remove( Reference.waitForReferencePendingList( TimerThread.mainLoop( StandardServer.await( DelayScheduler.loop(
	QueuedThreadPool.idleJobPoll( ReservedThreadExecutor$ReservedThread.reservedWait( VirtualThread.takeVirtualThreadListToUnblock(
	EnhancedQueueExecutor$ThreadBody.run( QueuedThreadPool$Runner.idleJobPoll( Poller.pollerLoop( Poller.subPollerLoop( EPollPort$EventHandlerTask.poll( EPoll$EventHandlerTask.poll(`)

// queues are the ends of classes whose take and poll wait for work; a program may call them itself.
var queues = []string{"Queue.take(", "Queue.poll(", "Deque.take(", "Deque.takeFirst(", "Deque.poll(", "Deque.pollFirst("}

// Idle is whether these frames, the innermost first, are those of a worker that has nothing to do. A queue that the program's own code waits at
// counts only in a thread without a server around it: there it is a request that waits.
func Idle(frames []string) bool {
	for index, frame := range frames {
		if isOwn(frame) {
			return false
		}
		queue := contains(frame, queues)
		if !queue && !contains(frame, idle) {
			continue
		}
		outside := frames[index+1:]
		if Own(outside) == "" || isAccepting(frame) {
			return true
		}
		return queue && !slices.ContainsFunc(outside, func(frame string) bool { return !isOwn(frame) && !begins(frame, jdk) })
	}
	return false
}

func isAccepting(frame string) bool {
	return strings.Contains(frame, "ccept(") || strings.Contains(frame, "accept0(")
}

func contains(frame string, functions []string) bool {
	return slices.ContainsFunc(functions, func(function string) bool { return strings.Contains(frame, function) })
}
