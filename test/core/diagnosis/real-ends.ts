/** The ends of logs of programs that kdebug's people did not write, as they are printed, with the line that says why. Those with a number are of that public issue, shortened. */
export const REAL_ENDS: readonly (readonly [what: string, log: string, line: string])[] = [
  [
    'Prometheus: a volume of another user (prometheus/prometheus#5976)',
    `ts=2022-10-12T06:34:15.528Z caller=main.go:475 level=info msg="No time or size retention was set so using the default time retention" duration=15d
ts=2022-10-12T06:34:15.628Z caller=main.go:520 level=info vm_limits="(soft=unlimited, hard=unlimited)"
ts=2022-10-12T06:34:15.628Z caller=query_logger.go:86 level=error component=activeQueryTracker msg="Error opening query log file" file=/prometheus/queries.active err="open /prometheus/queries.active: permission denied"
panic: Unable to create mmap-ed active query log

goroutine 1 [running]:
github.com/prometheus/prometheus/promql.NewActiveQueryTracker({0x7ffd8c465e2c, 0xb}, 0x14, {0x35f6200, 0xc000180e60})
\t/build/prometheus/parts/prometheus/build/promql/query_logger.go:117 +0x3d7
main.main()
\t/app/cmd/prometheus/main.go:491 +0x6bbf
`,
    'Error opening query log file: open /prometheus/queries.active: permission denied',
  ],
  [
    'nginx: a port in use (lipku/LiveTalking#19)',
    `nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)
nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)
nginx: [emerg] still could not bind()
`,
    'bind() to 0.0.0.0:80 failed (98: Address already in use)',
  ],
  [
    'nginx with times (engintron/engintron#1333)',
    `2021/06/18 14:49:02 [emerg] 1379408#1379408: bind() to [::]:443 failed (98: Address already in use)
2021/06/18 14:49:02 [notice] 1379408#1379408: try again to bind() after 500ms
2021/06/18 14:49:02 [emerg] 1379408#1379408: still could not bind()
nginx: [emerg] still could not bind()
`,
    'bind() to [::]:443 failed (98: Address already in use)',
  ],
  [
    'Redis: a bad line of its configuration (redis/redis#10317)',
    `*** FATAL CONFIG FILE ERROR (Redis 6.2.6) ***
Reading the configuration file, at line 1377
>>> 'appenddirname "appendonlydir"'
Bad directive or wrong number of arguments
`,
    'Bad directive or wrong number of arguments: >>> \'appenddirname "appendonlydir"\'',
  ],
  [
    'Redis: a directive without its value (coollabsio/coolify#3892)',
    `*** FATAL CONFIG FILE ERROR (Redis 7.4.1) ***
Reading the configuration file, at line 4
>>> 'requirepass'
wrong number of arguments
`,
    "wrong number of arguments: >>> 'requirepass'",
  ],
  [
    'Rails: no bundler (ledermann/docker-rails-base#186)',
    `/usr/local/lib/ruby/2.6.0/rubygems.rb:283:in \`find_spec_for_exe': Could not find 'bundler' (2.1.4) required by your /app/Gemfile.lock. (Gem::GemNotFoundException)
To update to the latest version installed on your system, run \`bundle update --bundler\`.
To install the missing version, run \`gem install bundler:2.1.4\`
\tfrom /usr/local/lib/ruby/2.6.0/rubygems.rb:302:in \`activate_bin_path'
\tfrom /usr/local/bundle/bin/bundle:23:in \`<main>'
`,
    "Could not find 'bundler' (2.1.4) required by your /app/Gemfile.lock. (Gem::GemNotFoundException)",
  ],
  [
    'Ruby 2.6, whose traces are upside down (ruby/rubygems#4735)',
    `Traceback (most recent call last):
\t1: from /usr/local/bundle/bin/bundle:23:in \`<main>'
/usr/local/bundle/bin/bundle:23:in \`load': cannot load such file -- /usr/local/bundle/gems/bundler-2.2.22/exe/bundle (LoadError)
`,
    'cannot load such file -- /usr/local/bundle/gems/bundler-2.2.22/exe/bundle (LoadError)',
  ],
  [
    'Rails: the file of a server that is gone',
    `=> Booting Puma
=> Rails 7.0.4 application starting in development
=> Run \`bin/rails server --help\` for more startup options
A server is already running. Check /app/tmp/pids/server.pid.
Exiting
`,
    'A server is already running. Check /app/tmp/pids/server.pid.',
  ],
  [
    'ASP.NET Core: a port in use (dotnet/core#4038)',
    `warn: Microsoft.AspNetCore.Server.Kestrel[0]
      Overriding address(es) 'http://*:8080'. Binding to endpoints defined via IConfiguration and/or UseKestrel() instead.
fail: Microsoft.Extensions.Hosting.Internal.Host[11]
      Hosting failed to start
      System.IO.IOException: Failed to bind to address http://127.0.0.1:5010: address already in use.
       ---> Microsoft.AspNetCore.Connections.AddressInUseException: Address already in use
       ---> System.Net.Sockets.SocketException (98): Address already in use
         at System.Net.Sockets.Socket.DoBind(EndPoint endPointSnapshot, SocketAddress socketAddress)
         --- End of inner exception stack trace ---
         at Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.SocketConnectionListener.Bind()
Unhandled exception. System.IO.IOException: Failed to bind to address http://127.0.0.1:5010: address already in use.
 ---> Microsoft.AspNetCore.Connections.AddressInUseException: Address already in use
 ---> System.Net.Sockets.SocketException (98): Address already in use
   at System.Net.Sockets.Socket.UpdateStatusAfterSocketErrorAndThrowException(SocketError error, String callerName)
   --- End of inner exception stack trace ---
   at Program.<Main>$(String[] args) in /src/Program.cs:line 12
`,
    'System.IO.IOException: Failed to bind to address http://127.0.0.1:5010: address already in use.',
  ],
  [
    'ASP.NET Core: the same, from its log (dotnet/aspnetcore#55782)',
    `fail: Microsoft.Extensions.Hosting.Internal.Host[11]
      Hosting failed to start
      System.IO.IOException: Failed to bind to address http://127.0.0.1:5010: address already in use.
       ---> Microsoft.AspNetCore.Connections.AddressInUseException: Address already in use
         at System.Net.Sockets.Socket.DoBind(EndPoint endPointSnapshot, SocketAddress socketAddress)
`,
    'System.IO.IOException: Failed to bind to address http://127.0.0.1:5010: address already in use.',
  ],
  [
    'Kafka: a broker that is registered (graphql-hive/console#729)',
    `[2022-12-02 08:04:14,906] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)
org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists
      at org.apache.zookeeper.KeeperException.create(KeeperException.java:126)
      at kafka.Kafka.main(Kafka.scala)
[2022-12-02 08:04:14,907] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)
`,
    'org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists',
  ],
  [
    'MariaDB: its files in use (mailcow/mailcow-dockerized#3057)',
    `2019-10-19  7:51:18 0 [ERROR] InnoDB: Unable to lock ./ibdata1 error: 11
2019-10-19  7:51:18 0 [Note] InnoDB: Check that you do not already have another mysqld process using the same InnoDB data or log files.
2019-10-19  7:51:18 0 [Note] InnoDB: Unable to open the first data file
2019-10-19  7:51:18 0 [ERROR] InnoDB: Operating system error number 11 in a file operation.
2019-10-19  7:51:18 0 [Note] InnoDB: Error number 11 means 'Resource temporarily unavailable'
2019-10-19  7:51:18 0 [ERROR] InnoDB: Cannot open datafile './ibdata1'
2019-10-19  7:51:18 0 [ERROR] InnoDB: Could not open or create the system tablespace.
2019-10-19  7:51:18 0 [ERROR] InnoDB: Plugin initialization aborted with error Cannot open a file
2019-10-19  7:51:18 0 [Note] InnoDB: Starting shutdown...
2019-10-19  7:51:18 0 [ERROR] Plugin 'InnoDB' init function returned error.
2019-10-19  7:51:18 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.
2019-10-19  7:51:18 0 [ERROR] Unknown/unsupported storage engine: InnoDB
2019-10-19  7:51:18 0 [ERROR] Aborting
`,
    'InnoDB: Unable to lock ./ibdata1 error: 11',
  ],
  [
    'Elasticsearch: a setting of the node (asc-lab/micronaut-microservices-poc#23)',
    `[2018-11-06T17:01:53,510][INFO ][o.e.b.BootstrapChecks    ] [yHdqr9S] bound or publishing to a non-loopback address, enforcing bootstrap checks
ERROR: [1] bootstrap checks failed
[1]: max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]
[2018-11-06T17:01:53,556][INFO ][o.e.n.Node               ] [yHdqr9S] stopping ...
[2018-11-06T17:01:53,605][INFO ][o.e.n.Node               ] [yHdqr9S] closed
[2018-11-06T17:01:53,609][INFO ][o.e.x.m.j.p.NativeController] Native controller process has stopped - no new native processes can be started
`,
    '[1]: max virtual memory areas vm.max_map_count [65530] is too low, increase to at least [262144]',
  ],
  [
    'Django behind Gunicorn (benoitc/gunicorn#1789)',
    `[2018-05-21 03:56:30 +0000] [10] [INFO] Booting worker with pid: 10
[2018-05-21 03:56:30 +0000] [10] [ERROR] Exception in worker process
Traceback (most recent call last):
  File "/usr/local/lib/python3.6/site-packages/gunicorn/arbiter.py", line 583, in spawn_worker
    worker.init_process()
  File "/usr/local/lib/python3.6/site-packages/django/conf/__init__.py", line 126, in __init__
    raise ImproperlyConfigured("The SECRET_KEY setting must not be empty.")
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.
[2018-05-21 03:56:30 +0000] [10] [INFO] Worker exiting (pid: 10)
[2018-05-21 03:56:30 +0000] [1] [INFO] Shutting down: Master
[2018-05-21 03:56:30 +0000] [1] [INFO] Reason: Worker failed to boot.
`,
    'django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.',
  ],
  [
    'PostgreSQL: no password',
    `Error: Database is uninitialized and superuser password is not specified.
       You must specify POSTGRES_PASSWORD to a non-empty value for the
       superuser. For example, "-e POSTGRES_PASSWORD=password" on "docker run".

       You may also use "POSTGRES_HOST_AUTH_METHOD=trust" to allow all
       connections without a password. This is *not* recommended.

       See PostgreSQL documentation about "trust":
       https://www.postgresql.org/docs/current/auth-trust.html
`,
    'Error: Database is uninitialized and superuser password is not specified.',
  ],
  [
    'MySQL: no password',
    `2022-05-10 10:04:33+00:00 [Note] [Entrypoint]: Entrypoint script for MySQL Server 8.0.29-1debian10 started.
2022-05-10 10:04:33+00:00 [Note] [Entrypoint]: Switching to dedicated user 'mysql'
2022-05-10 10:04:33+00:00 [ERROR] [Entrypoint]: Database is uninitialized and password option is not specified
    You need to specify one of the following as an environment variable:
    - MYSQL_ROOT_PASSWORD
    - MYSQL_ALLOW_EMPTY_PASSWORD
    - MYSQL_RANDOM_ROOT_PASSWORD
`,
    'Database is uninitialized and password option is not specified',
  ],
  [
    'a program with a library that musl lacks',
    `Error loading shared library libstdc++.so.6: No such file or directory (needed by /usr/bin/node)
Error relocating /usr/bin/node: _ZNSt8ios_base4InitC1Ev: symbol not found
Error relocating /usr/bin/node: _ZSt4cout: symbol not found
`,
    'Error loading shared library libstdc++.so.6: No such file or directory (needed by /usr/bin/node)',
  ],
  [
    'a program for a newer C library',
    `/app/server: /lib/x86_64-linux-gnu/libc.so.6: version \`GLIBC_2.34' not found (required by /app/server)\n`,
    "/app/server: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /app/server)",
  ],
  [
    'Node.js behind npm',
    `> shop@1.0.0 start
> node server.js

node:internal/modules/cjs/loader:1080
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /app/server.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)
    at Module._load (node:internal/modules/cjs/loader:922:27) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/app/server.js' ]
}

Node.js v18.16.0
npm ERR! code ELIFECYCLE
npm ERR! errno 1
npm ERR! shop@1.0.0 start: \`node server.js\`
npm ERR! Exit status 1
npm ERR! 
npm ERR! Failed at the shop@1.0.0 start script.
npm ERR! This is probably not a problem with npm. There is likely additional logging output above.

npm ERR! A complete log of this run can be found in:
npm ERR!     /srv/.npm/_logs/2023-05-05T10_00_00_000Z-debug.log
`,
    "Error: Cannot find module 'express'",
  ],
  [
    'Spring Boot: a database that refuses',
    `2023-03-01 10:00:00.000 ERROR 1 --- [           main] o.s.boot.SpringApplication               : Application run failed

org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'entityManagerFactory' defined in class path resource [org/springframework/boot/autoconfigure/orm/jpa/HibernateJpaConfiguration.class]: Unable to build Hibernate SessionFactory
\tat org.springframework.beans.factory.support.AbstractAutowireCapableBeanFactory.initializeBean(AbstractAutowireCapableBeanFactory.java:1804)
\tat com.example.Application.main(Application.java:10)
Caused by: org.hibernate.exception.JDBCConnectionException: Unable to open JDBC Connection for DDL execution
\tat org.hibernate.exception.internal.SQLStateConversionDelegate.convert(SQLStateConversionDelegate.java:112)
\t... 16 common frames omitted
Caused by: org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections.
\tat org.postgresql.core.v3.ConnectionFactoryImpl.openConnectionImpl(ConnectionFactoryImpl.java:319)
\t... 30 common frames omitted
Caused by: java.net.ConnectException: Connection refused
\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)
\t... 50 common frames omitted
`,
    'org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the hostname and port are correct and that the postmaster is accepting TCP/IP conn…',
  ],
  [
    'Spring Boot: a name that does not resolve',
    `2023-03-01 10:00:00.000 ERROR 1 --- [           main] o.s.boot.SpringApplication               : Application run failed
org.springframework.beans.factory.BeanCreationException: Error creating bean with name 'x': nested
\tat com.example.Application.main(Application.java:10)
Caused by: org.postgresql.util.PSQLException: The connection attempt failed.
\tat org.postgresql.core.v3.ConnectionFactoryImpl.openConnectionImpl(ConnectionFactoryImpl.java:354)
Caused by: java.net.UnknownHostException: postgres-db
\tat java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:567)
\t... 30 more
`,
    'java.net.UnknownHostException: postgres-db',
  ],
  [
    'Java: a certificate that nobody knows',
    `Exception in thread "main" javax.net.ssl.SSLHandshakeException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target
\tat java.base/sun.security.ssl.Alert.createSSLException(Alert.java:131)
\tat App.main(App.java:5)
Caused by: sun.security.validator.ValidatorException: PKIX path building failed: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target
\tat java.base/sun.security.validator.PKIXValidator.doBuild(PKIXValidator.java:439)
\t... 12 more
Caused by: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target
\tat java.base/sun.security.provider.certpath.SunCertPathBuilder.build(SunCertPathBuilder.java:141)
\t... 18 more
`,
    'sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path to requested target',
  ],
  [
    'a JVM: an option that it has no longer',
    `Unrecognized VM option 'UseConcMarkSweepGC'
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
`,
    "Unrecognized VM option 'UseConcMarkSweepGC'",
  ],
  [
    'HAProxy: a bad line of its configuration',
    `[NOTICE]   (1) : haproxy version is 2.6.6
[ALERT]    (1) : config : parsing [/usr/local/etc/haproxy/haproxy.cfg:12] : unknown keyword 'bnd' in 'frontend' section
[ALERT]    (1) : config : Error(s) found in configuration file : /usr/local/etc/haproxy/haproxy.cfg
[ALERT]    (1) : config : Fatal errors found in configuration.
`,
    "config : parsing [/usr/local/etc/haproxy/haproxy.cfg:12] : unknown keyword 'bnd' in 'frontend' section",
  ],
  [
    'Apache: a port in use',
    `AH00558: apache2: Could not reliably determine the server's fully qualified domain name, using 10.244.0.9. Set the 'ServerName' directive globally to suppress this message
(98)Address already in use: AH00072: make_sock: could not bind to address 0.0.0.0:80
no listening sockets available, shutting down
AH00015: Unable to open logs
`,
    '(98)Address already in use: AH00072: make_sock: could not bind to address 0.0.0.0:80',
  ],
  [
    'etcd: a volume of another user',
    `{"level":"info","ts":"2023-01-01T10:00:00.000Z","caller":"etcdmain/etcd.go:73","msg":"Running: ","args":["etcd"]}
{"level":"fatal","ts":"2023-01-01T10:00:00.000Z","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"cannot access data directory: mkdir /var/lib/etcd: permission denied","stacktrace":"go.etcd.io/etcd/server/v3/etcdmain.startEtcdOrProxyV2\\n\\t/go/src/etcdmain/etcd.go:204\\nmain.main\\n\\t/go/src/main.go:31"}
`,
    'discovery failed: cannot access data directory: mkdir /var/lib/etcd: permission denied',
  ],
  [
    'Pydantic: a variable that is not set',
    `Traceback (most recent call last):
  File "/app/main.py", line 5, in <module>
    settings = Settings()
  File "/usr/local/lib/python3.11/site-packages/pydantic_settings/main.py", line 84, in __init__
    super().__init__(
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
database_url
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.5/v/missing
`,
    'pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings: database_url: Field required',
  ],
  [
    'Gunicorn: a port in use',
    `[2023-01-01 10:00:00 +0000] [1] [INFO] Starting gunicorn 20.1.0
[2023-01-01 10:00:00 +0000] [1] [ERROR] Connection in use: ('0.0.0.0', 8000)
[2023-01-01 10:00:00 +0000] [1] [ERROR] Retrying in 1 second.
[2023-01-01 10:00:01 +0000] [1] [ERROR] Connection in use: ('0.0.0.0', 8000)
[2023-01-01 10:00:01 +0000] [1] [ERROR] Retrying in 1 second.
[2023-01-01 10:00:02 +0000] [1] [ERROR] Can't connect to ('0.0.0.0', 8000)
`,
    "Connection in use: ('0.0.0.0', 8000)",
  ],
  [
    'Keycloak: no host name',
    `2023-01-01 10:00:00,000 ERROR [org.keycloak.quarkus.runtime.cli.ExecutionExceptionHandler] (main) ERROR: Failed to start server in (production) mode
2023-01-01 10:00:00,000 ERROR [org.keycloak.quarkus.runtime.cli.ExecutionExceptionHandler] (main) ERROR: Strict hostname resolution configured but no hostname setting provided
2023-01-01 10:00:00,000 ERROR [org.keycloak.quarkus.runtime.cli.ExecutionExceptionHandler] (main) For more details run the same command passing the '--verbose' option. Also you can use '--help' to see the details about the usage of the particular command.
`,
    'ERROR: Strict hostname resolution configured but no hostname setting provided',
  ],
  [
    'Rust: a port in use',
    `thread 'main' panicked at src/main.rs:14:40:
called \`Result::unwrap()\` on an \`Err\` value: Os { code: 98, kind: AddrInUse, message: "Address already in use" }
stack backtrace:
   0:     0x55d1c1f0c3cf - std::backtrace_rs::backtrace::libunwind::trace::h4e4a1c5d
                               at /rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/std/src/../../backtrace/src/backtrace/libunwind.rs:104:5
   1:     0x55d1c1f0c3cf - std::backtrace_rs::backtrace::trace_unsynchronized
`,
    'called `Result::unwrap()` on an `Err` value: Os { code: 98, kind: AddrInUse, message: "Address already in use" }',
  ],
];
