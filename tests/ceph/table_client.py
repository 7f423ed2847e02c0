# Owns: requests to a server of tables on this machine, as faults.py sends them.
# Must never: send a request twice.
import base64
import hashlib
import hmac
import http.client
import json
from email.utils import formatdate

ACCOUNT = "devstoreaccount1"
KEY = base64.b64decode(
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==")


def request(port, method, path, body=None, time_max=8):
    """Returns the status and the body of an answer. The status is 0 if there is none."""
    date = formatdate(usegmt=True)
    text = f"{date}\n/{ACCOUNT}/{ACCOUNT}/{path}"
    signature = base64.b64encode(hmac.new(KEY, text.encode(), hashlib.sha256).digest()).decode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=time_max)
    try:
        connection.request(method, f"/{ACCOUNT}/{path}", body=json.dumps(body) if body is not None else None, headers={
            "Date": date, "Authorization": f"SharedKeyLite {ACCOUNT}:{signature}", "x-ms-version": "2019-02-02",
            "Content-Type": "application/json", "Accept": "application/json;odata=nometadata"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def figure(port, name):
    """Returns a metric of a server, or None while it has none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        return next((float(line.split(" ")[1]) for line in lines if line.startswith(name + " ")), None)
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
