"""A pod whose services are wrong on purpose, each in one way; and a name server that knows them.

8080 answers, 8081 is slow, 8082 fails, 8083 redirects to the cloud's credentials, 8084 loses connections, 8443 has a certificate of
another name that has expired (CERT and KEY, in PEM), 8444 speaks no TLS. Nothing listens at 8090. At 8085 a backlog is full: no answer.
"""

import os
import socket
import ssl
import struct
import tempfile
import threading
import time

OWN = socket.gethostbyname(socket.gethostname())
NAMES = {b"good.shop.test": OWN, b"cloud.shop.test": "169.254.169.254"}


def serve(port, answer, wait=0.0, wrap=None):
    listener = socket.create_server(("", port), backlog=64)

    def one(client):
        try:
            if wrap:
                client = wrap.wrap_socket(client, server_side=True)
            if client.recv(4096):
                time.sleep(wait)
                client.sendall(answer)
        except OSError:
            pass
        client.close()

    def all_of_them():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=all_of_them, daemon=True).start()


def lossy(port):
    """One connection fits into the queue: the kernel drops the packets of the next, which come again a second later."""
    listener = socket.create_server(("", port), backlog=0)
    while True:
        client, _ = listener.accept()
        time.sleep(0.5)
        client.close()


def full(port):
    listener = socket.create_server(("", port), backlog=0)
    waiting = [socket.create_connection(("127.0.0.1", port), timeout=5)]
    for _ in range(3):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
        waiting.append(client)
    return listener, waiting


def names():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    while True:
        question, client = server.recvfrom(512)
        place, labels = 12, []
        while question[place]:
            labels.append(question[place + 1 : place + 1 + question[place]].lower())
            place += question[place] + 1
        asked = question[12 : place + 5]
        address = NAMES.get(b".".join(labels))
        is_a = question[place + 1 : place + 3] == b"\x00\x01"
        code = 0x8180 if address else 0x8183
        head = question[:2] + struct.pack(">HHHHH", code, 1, 1 if address and is_a else 0, 0, 0)
        record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04"
        server.sendto(head + asked + (record + socket.inet_aton(address) if address and is_a else b""), client)


def certified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(os.environ["KEY"] + "\n" + os.environ["CERT"])
        file.flush()
        context.load_cert_chain(file.name)
    return context


HEAD = b"\r\nContent-Length: 4\r\nConnection: close\r\n"
serve(8080, b"HTTP/1.1 200 OK" + HEAD + b"\r\nbody")
serve(8081, b"HTTP/1.1 200 OK" + HEAD + b"\r\nbody", wait=1.5)
serve(8082, b"HTTP/1.1 503 Service Unavailable" + HEAD + b"\r\nbody")
serve(8083, b"HTTP/1.1 302 Found" + HEAD + b"Location: http://169.254.169.254/latest/?token=s3cret\r\n\r\nbody")
serve(8443, b"HTTP/1.1 200 OK" + HEAD + b"\r\nbody", wrap=certified())
serve(8444, b"HTTP/1.1 400 Bad Request" + HEAD + b"\r\nbody")
threading.Thread(target=lossy, args=(8084,), daemon=True).start()
threading.Thread(target=names, daemon=True).start()
KEPT = full(8085)
print("ready", flush=True)
while True:
    time.sleep(3600)
