# receiver.py, run with: COUNTERSIGN_SECRETS="whsec_…" python3 receiver.py 3000
import base64, hashlib, hmac, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# After a rotation two secrets sign for a while: separate them by a space.
TEXTS = os.environ.get("COUNTERSIGN_SECRETS", "").split()
SECRETS = [key for it in TEXTS if (key := base64.b64decode(it.removeprefix("whsec_")))]
# Anybody can sign with an empty key.
if not SECRETS:
    sys.exit("COUNTERSIGN_SECRETS holds no secret.")
# The action that undoes a step: write the name of your own compensation here.
COMPENSATION = "order.cancel"
TOLERANCE_S = 300
BODY_BYTES_MAX = 1_048_576


def is_genuine(headers, body):
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not webhook_id or not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    signed = f"{webhook_id}.{timestamp}.".encode("latin-1") + body
    expected = [b"v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)) for secret in SECRETS]
    given = headers.get("webhook-signature", "").encode("latin-1").split(b" ")
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


# In an application these are rows of its database, written in the transaction that does the work.
done, undone = set(), set()
lock = threading.Lock()


def process(headers, body):
    webhook_id = headers["webhook-id"]
    if headers.get("countersign-sample") == "true":
        return "sample"
    if webhook_id in done:
        return "repeated"
    if headers.get("countersign-action") == COMPENSATION:
        undo = json.loads(body)
        forward = undo.get("forward_webhook_id") if isinstance(undo, dict) else None
        if not isinstance(forward, str):
            raise ValueError("not an undo")
        done.add(webhook_id)
        # What is undone before it has arrived must not be done later.
        undone.add(forward)
        return "undone"
    done.add(webhook_id)
    return "skipped" if webhook_id in undone else "done"


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > BODY_BYTES_MAX:
            return self.answer(413, "too large")
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.answer(401, "refused")
        try:
            with lock:
                outcome = process(self.headers, body)
        except ValueError:
            return self.answer(400, "not an undo")
        self.answer(200, outcome)

    def answer(self, status, outcome):
        text = json.dumps({"outcome": outcome}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
