"""Asks a simulated App Store the same by `switchyard api --json` and by Apple's own library (Python), and compares.

    interop_client.py SWITCHYARD DIRECTORY

DIRECTORY is what `switchyard simulate --port` was given as --out. What is signed is verified by each of both first;
then every field that either has must be in the other with the same value.
"""

import base64
import json
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from enum import Enum
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import attr
from appstoreserverlibrary.api_client import AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

SWITCHYARD, DIRECTORY = sys.argv[1], Path(sys.argv[2])
WORLD = json.loads((DIRECTORY / "world.json").read_text())
APP = WORLD["apps"][0]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
PER_KIND = 12
# Each of both is answered by a signature of its own moment.
OWN = {"signedDate", "receiptCreationDate", "requestDate", "deviceVerification", "deviceVerificationNonce"}
counts = Counter()

theirs = AppStoreServerAPIClient(
    Path(WORLD["keyFile"]).read_bytes(), WORLD["keyId"], WORLD["issuerId"], APP["bundleId"], Environment.SANDBOX
)
theirs._base_url = WORLD["sandboxURL"]
verifier = SignedDataVerifier(
    [base64.b64decode(WORLD["rootDER"])], False, Environment.SANDBOX, APP["bundleId"], APP["appAppleId"]
)


def ours(*arguments):
    """The objects that our client prints, a line each."""
    done = subprocess.run(
        [
            SWITCHYARD, "api", *arguments, "--json", "--environment", "Sandbox", "--bundle", APP["bundleId"],
            "--issuer", WORLD["issuerId"], "--key-id", WORLD["keyId"], "--key-file", WORLD["keyFile"],
            "--base-url", WORLD["productionURL"], "--root", str(DIRECTORY / "root.der"),
        ],
        capture_output=True, text=True,
    )
    if done.returncode != 0:
        sys.exit(f"interop: switchyard api {' '.join(arguments)}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(value):
    """What the library decoded, as JSON would write it; `rawStatus` stands for `status`."""
    if attr.has(type(value)):
        fields = {field.name: plain(getattr(value, field.name)) for field in attr.fields(type(value))}
        for name in [name for name in fields if name.startswith("raw")]:
            raw = fields.pop(name)
            fields[name[3].lower() + name[4:]] = raw
        return {name: inner for name, inner in fields.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def same(what, ours, theirs, leaving=()):
    """Both have the same fields with the same values, but for the moments of signing."""
    def kept(fields):
        return {name: value for name, value in fields.items() if value is not None and name not in OWN | set(leaving)}

    a, b = kept(ours), kept(plain(theirs) if not isinstance(theirs, dict) else theirs)
    different = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
    counts[what] += 1
    if different:
        sys.exit(
            f"interop: {what} differs in "
            + ", ".join(f"{name}: ours {a.get(name)!r}, Apple's {b.get(name)!r}" for name in different)
        )


def same_rows(what, ours, theirs, key):
    if sorted(row[key] for row in ours) != sorted(getattr(row, key) for row in theirs):
        sys.exit(f"interop: {what}: not the same rows")
    found = {getattr(row, key): row for row in theirs}
    for row in ours:
        same(what, row, found[row[key]])


def truth(kind):
    lines = [json.loads(line) for line in (DIRECTORY / "truth.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind and line["app"] == APP["bundleId"]]


def history(identifier):
    rows, revision = [], None
    while True:
        page = theirs.get_transaction_history(
            identifier, revision, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        )
        rows += [verifier.verify_and_decode_signed_transaction(jws) for jws in page.signedTransactions]
        revision = page.revision
        if not page.hasMore:
            return rows


def purchases():
    lines = truth("purchase")
    customers = {line["customer"]: line for line in lines}
    for line in list(customers.values())[:PER_KIND]:
        identifier = line["transaction"]["transactionId"]
        same_rows("history", ours("history", identifier), history(identifier), "transactionId")
        info = theirs.get_transaction_info(identifier).signedTransactionInfo
        same("transaction", ours("transaction", identifier)[0], verifier.verify_and_decode_signed_transaction(info))
        info = theirs.get_app_transaction_info(identifier).signedAppTransactionInfo
        same("app transaction", ours("app-transaction", identifier)[0], verifier.verify_and_decode_app_transaction(info))
    for line in [line for line in lines if line["transaction"].get("revocationDate")][:PER_KIND]:
        identifier = line["transaction"]["transactionId"]
        page = theirs.get_refund_history(identifier, None)
        rows = [verifier.verify_and_decode_signed_transaction(jws) for jws in page.signedTransactions]
        if not page.hasMore:
            same_rows("refunds", ours("refunds", identifier), rows, "transactionId")


def subscriptions():
    for line in truth("subscription")[:PER_KIND]:
        answer = theirs.get_all_subscription_statuses(line["transactionId"])
        items = {item.originalTransactionId: item for group in answer.data for item in group.lastTransactions}
        rows = ours("status", line["transactionId"])
        if {row["originalTransactionId"] for row in rows} != items.keys():
            sys.exit("interop: statuses: not the same subscriptions")
        for row in rows:
            item = items[row["originalTransactionId"]]
            same("status", {"status": row["status"]}, {"status": item.rawStatus})
            decoded = verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
            same("status, transaction", row["transaction"], decoded)
            same("status, renewal", row["renewal"], verifier.verify_and_decode_renewal_info(item.signedRenewalInfo))


class Inbox(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def listen():
    """From here on the notifications of the app go somewhere."""
    inbox = HTTPServer(("127.0.0.1", 0), Inbox)
    threading.Thread(target=inbox.serve_forever, daemon=True).start()
    body = {
        "bundleId": APP["bundleId"], "environment": "Sandbox", "version": 2,
        "url": f"http://127.0.0.1:{inbox.server_port}/",
    }
    request = urllib.request.Request(
        f"{WORLD['controlURL']}/destinations", method="PUT", data=json.dumps(body).encode()
    )
    urllib.request.urlopen(request).read()


def notifications():
    listen()
    token = ours("test-notification")[0]["testNotificationToken"]
    status = theirs.get_test_notification_status(token)
    mine = ours("test-notification", "--status", token)[0]
    same("test notification", mine, status, leaving=["signedPayload"])
    request = NotificationHistoryRequest(
        startDate=WORLD["asOf"] - 150 * 86_400_000, endDate=WORLD["asOf"] + 86_400_000
    )
    sent, page = {}, None
    while page is None or page.hasMore:
        page = theirs.get_notification_history(page.paginationToken if page else None, request)
        for item in page.notificationHistory:
            decoded = verifier.verify_and_decode_notification(item.signedPayload)
            sent[decoded.notificationUUID] = (decoded, item.sendAttempts)
    for row in ours("notification-history", "--days", "150"):
        notification = row["notification"]
        decoded, attempts = sent[notification["notificationUUID"]]
        same(
            "notification", {name: value for name, value in notification.items() if name not in ("data", "summary")},
            decoded, leaving=["data", "summary"],
        )
        same("attempts", {"attempts": row["sendAttempts"]}, {"attempts": plain(attempts)})


def orders():
    for line in [line for line in truth("purchase") if line.get("orderId")][:PER_KIND]:
        answer = theirs.look_up_order_id(line["orderId"])
        rows = [verifier.verify_and_decode_signed_transaction(jws) for jws in answer.signedTransactions]
        same_rows("order", ours("order", line["orderId"]), rows, "transactionId")


def changes():
    """What changes something: ours is seen by Apple's client, or both are answered alike."""
    paid = [line["transaction"] for line in truth("purchase") if line["transaction"]["inAppOwnershipType"] == "PURCHASED"]
    identifier, token = paid[0]["originalTransactionId"], str(uuid4())
    ours("account-token", identifier, token)
    info = verifier.verify_and_decode_signed_transaction(theirs.get_transaction_info(identifier).signedTransactionInfo)
    same("account token", {"appAccountToken": token}, {"appAccountToken": info.appAccountToken})
    ours("finish", identifier)
    ours("consumption", identifier, "--consented", "--delivery", "DELIVERED", "--consumed", "50000")
    with urllib.request.urlopen(f"{WORLD['controlURL']}/consumption") as answer:
        told = json.loads(answer.read())["consumption"]
    if not any(identifier in json.dumps(report) and "50000" in json.dumps(report) for report in told):
        sys.exit("interop: Apple did not hear of the consumption")
    counts["consumption"] += 1
    owned = {transaction["originalTransactionId"] for transaction in paid}
    active = [line for line in truth("subscription") if line["status"] == 1 and line["originalTransactionId"] in owned]
    if len(active) > 1:
        one, other = (line["originalTransactionId"] for line in active[:2])
        mine = ours("extend", one, "--days", "3", "--reason", "1", "--request", "mine")[0]
        request = ExtendRenewalDateRequest(3, ExtendReasonCode.CUSTOMER_SATISFACTION, "theirs")
        answer = theirs.extend_subscription_renewal_date(other, request)
        own = ["effectiveDate", "originalTransactionId", "webOrderLineItemId"]
        same("extension", mine, answer, leaving=own)
        if {name for name in own if name in mine} != {name for name in own if name in plain(answer)}:
            sys.exit("interop: extension: not the same fields")


def messages():
    image = uuid4()
    theirs.upload_image(image, PNG)
    same("images", ours("message", "images")[0], theirs.get_image_list())
    same("messages", ours("message", "list")[0], theirs.get_message_list())
    theirs.delete_image(image)


def main():
    purchases()
    subscriptions()
    orders()
    notifications()
    messages()
    changes()
    print("interop: our client and Apple's agree: " + ", ".join(f"{n} {what}" for what, n in counts.items()))


main()
