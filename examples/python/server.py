"""A server of the Activist Data Exchange API for people, with the standard library of Python only.

Usage: python3 server.py --port 8088 --key K --other-key K2
"""

from __future__ import annotations

import argparse
import logging
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import urlsplit

from api import KEY_HEADER, Access, Api, Request, Response, failure
from errors import Problem
from store import People

MAX_BODY = 1024 * 1024
MAX_CONNECTIONS = 256
TIMEOUT_SECONDS = 30

log = logging.getLogger("people")


class Server(ThreadingHTTPServer):
    """Serves each connection with a thread. The number of threads is limited."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], api: Api) -> None:
        super().__init__(address, Handler)
        self.api = api
        self._free = BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a client that disconnects is not an error
            log.exception("a connection failed")


class Unreadable(Exception):
    """The request cannot be read completely. The server responds and closes the connection."""

    def __init__(self, status: int, code: str, description: str) -> None:
        super().__init__(description)
        self.response = failure(status, (Problem(code, description),))


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_SECONDS
    # Head and body are sent together and immediately; otherwise every response waits for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def answer(self) -> None:
        try:
            response = self.server.api.answer(self.read_request())
        except Unreadable as unreadable:
            self.close_connection = True
            response = unreadable.response
        except OSError:
            raise
        except Exception:
            reference = str(uuid.uuid4())
            log.exception("unexpected error %s", reference)
            text = "An unexpected error occurred. The log of the server contains the reference code."
            response = failure(500, (Problem("UNEXPECTED_ERROR", text, reference=reference),))
        self.send(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = answer

    def read_request(self) -> Request:
        if self.request_version >= "HTTP/1.1" and len(self.headers.get_all("Host", [])) != 1:
            raise Unreadable(400, "REQUEST_INVALID", "The request must have exactly one Host header.")
        body = self.read_body()
        try:
            target = urlsplit(self.path)
        except ValueError as error:
            raise Unreadable(400, "REQUEST_INVALID", "The URL is malformed.") from error
        return Request(
            method=self.command,
            path=target.path,
            query=target.query,
            keys=tuple(self.headers.get_all(KEY_HEADER, [])),
            content_type=self.headers.get("Content-Type", ""),
            body=body,
        )

    def read_body(self) -> bytes:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers:
            raise Unreadable(400, "LENGTH_REQUIRED", "The body must be sent with Content-Length, not in chunks.")
        if len(lengths) > 1 or not all(text.isascii() and text.isdigit() for text in lengths):
            raise Unreadable(400, "REQUEST_INVALID", "Content-Length must be one number.")
        length = int(lengths[0][:19]) if lengths else 0
        if length > MAX_BODY:
            # Read more of the body: closing a connection with unread bytes loses the response.
            self.rfile.read(min(length, 4 * MAX_BODY))
            raise Unreadable(413, "BODY_TOO_LARGE", f"The body must be at most {MAX_BODY} bytes.")
        body = self.rfile.read(length)
        if len(body) < length:
            raise Unreadable(400, "REQUEST_INVALID", "The body is shorter than its Content-Length.")
        return body

    def send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Length", str(len(response.content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Rejections by the standard library: an unknown method, or a malformed head."""
        self.close_connection = True
        self.request_version = self.protocol_version  # otherwise the response to a malformed head has no head
        if code == 501:
            self.send(failure(500, (Problem("NOT_IMPLEMENTED", "This method is not supported."),)))
        else:
            self.send(failure(400, (Problem("REQUEST_INVALID", message or "The request is malformed."),)))

    def version_string(self) -> str:
        return "people"

    def handle_expect_100(self) -> bool:
        answered = super().handle_expect_100()
        self.wfile.flush()
        return answered

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged, because they contain personal data and keys."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A server of the Activist Data Exchange API for people.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8088, help="port; 0 selects a free one (default: %(default)s)")
    parser.add_argument("--prefix", default="/api/v1", help="path of the entry point (default: %(default)s)")
    parser.add_argument("--key", required=True, help="key of the first tenant")
    parser.add_argument("--other-key", help="key of a second tenant with its own people")
    parser.add_argument("--read-only-key", help="read-only key of the first tenant")
    return parser.parse_args()


def main() -> None:
    logging.basicConfig(format="%(levelname)s %(message)s")
    options = arguments()
    namespace = "people_py"
    first = People(namespace)
    keys = {options.key: Access(first)}
    if options.other_key:
        keys[options.other_key] = Access(People(namespace))
    if options.read_only_key:
        keys[options.read_only_key] = Access(first, read_only=True)
    if len(keys) != 1 + bool(options.other_key) + bool(options.read_only_key):
        sys.exit("All keys must be different.")
    server = Server((options.host, options.port), Api(options.prefix, namespace, keys))
    print(f"http://{options.host}:{server.server_port}{options.prefix.rstrip('/')}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
