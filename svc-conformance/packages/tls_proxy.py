"""A TLS proxy for a server without TLS, for tests: `tls_proxy.py PORT TARGET_PORT CERTIFICATE KEY`."""

import socket
import ssl
import sys
import threading


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client, context, port):
    try:
        client = context.wrap_socket(client, server_side=True)
        server = socket.create_connection(("127.0.0.1", port))
    except OSError:
        client.close()
        return
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)


def main():
    port, target, certificate, key = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, context, target), daemon=True).start()


main()
