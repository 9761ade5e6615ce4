def application(environ, start_response):
    found = environ['PATH_INFO'] == '/ok'
    start_response('200 OK' if found else '404 Not Found', [('Content-Type', 'text/plain')])
    return [b'ok' if found else b'no such page']
