"""Asks a simulated App Store the same by `switchyard api --json` and by Apple's own library (Python), and compares.

    interop_client.py SWITCHYARD DIRECTORY

DIRECTORY is what `switchyard simulate --port` was given as --out. What is signed is verified by each of both first;
then every field that either has must be in the other with the same value. What changes something is done by each of both,
and has to look the same to the other. At the end every method of Apple's client must have been compared, and everything
else that the library offers stands in a list with the reason why it is not compared here.
"""

import base64
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from enum import Enum
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import appstoreserverlibrary
import attr
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

SWITCHYARD, DIRECTORY = sys.argv[1], Path(sys.argv[2])
WORLD = json.loads((DIRECTORY / "world.json").read_text())
APP = WORLD["apps"][0]
PER_KIND = 12
# Each of both is answered by a signature of its own moment.
OWN = {"signedDate", "receiptCreationDate", "requestDate", "deviceVerification", "deviceVerificationNonce"}
counts = Counter()

# Every method of Apple's client, and under which names of `counts` its answers were compared with ours.
COMPARED = {
    "get_transaction_history": ["history", "history of version 1"],
    "get_transaction_info": ["transaction"],
    "get_app_transaction_info": ["app transaction"],
    "get_all_subscription_statuses": ["status", "status, transaction", "status, renewal"],
    "get_refund_history": ["refunds"],
    "look_up_order_id": ["order"],
    "get_notification_history": ["notification", "notification, data", "attempts"],
    "request_test_notification": ["request for a TEST"],
    "get_test_notification_status": ["test notification"],
    "send_consumption_information": ["consumption"],
    "send_consumption_data": ["consumption of version 1"],
    "set_app_account_token": ["account token"],
    "finish_transaction": ["finished"],
    "extend_subscription_renewal_date": ["extension"],
    "extend_renewal_date_for_all_active_subscribers": ["mass extension"],
    "get_status_of_subscription_renewal_date_extensions": ["status of a mass extension"],
}

# Retention Messaging is no part of a migration: `switchyard api` asks it by its row of endpoints.tsv, and nobody answers here.
NOT_SIMULATED = {
    "upload_image", "get_image_list", "delete_image", "upload_message", "get_message_list", "delete_message",
    "configure_default_message", "get_default_message", "delete_default_message", "configure_realtime_url",
    "get_realtime_url", "delete_realtime_url", "initiate_performance_test", "get_performance_test_results",
}

# What else the library offers, and why it is not compared here.
ELSEWHERE = {
    "AsyncAppStoreServerAPIClient": "the same methods over another HTTP library; held to be the same below",
    "BaseAppStoreServerAPIClient": "what the two clients share: no method of its own",
    "SignedDataVerifier": "compared by interop.py; verify_and_decode_realtime_request: neither side is ever asked, the "
    "simulated App Store shows no message to anybody",
    "ReceiptUtility": "compared by interop_receipts.py",
    "PromotionalOfferSignatureCreator": "signs offers for an app on a device; we have no counterpart",
    "PromotionalOfferV2SignatureCreator": "the same",
    "IntroductoryOfferEligibilitySignatureCreator": "the same",
    "AdvancedCommerceAPIInAppSignatureCreator": "the same",
    "AdvancedCommerceAPIInAppRequest": "the same",
    "JWSSignatureCreator": "what those share",
    "APIError": "the numbers of refusals, compared as they come: `refusal`",
    "APIException": "how the client says them",
    "GetTransactionHistoryVersion": "a value, both of which are asked for",
    "VerificationException": "how the verifier refuses: interop.py",
    "VerificationStatus": "its reasons",
}

theirs = AppStoreServerAPIClient(
    Path(WORLD["keyFile"]).read_bytes(), WORLD["keyId"], WORLD["issuerId"], APP["bundleId"], Environment.SANDBOX
)
theirs._base_url = WORLD["sandboxURL"]
verifier = SignedDataVerifier(
    [base64.b64decode(WORLD["rootDER"])], False, Environment.SANDBOX, APP["bundleId"], APP["appAppleId"]
)


def ours(*arguments, status=0):
    """What our client prints of Apple's answers, a line each; it ends with `status`."""
    done = subprocess.run(
        [
            SWITCHYARD, "api", *arguments, "--json", "--environment", "Sandbox", "--app", APP["bundleId"],
            "--issuer", WORLD["issuerId"], "--key-id", WORLD["keyId"], "--key-file", WORLD["keyFile"],
            "--base-url", WORLD["productionURL"], "--trust-root", str(DIRECTORY / "root.der"),
        ],
        capture_output=True, text=True,
    )
    if done.returncode != status:
        sys.exit(f"interop: switchyard api {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def signed(*arguments):
    """The transactions of all pages of an answer."""
    return [row for page in ours(*arguments) for row in page["signedTransactions"]]


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
    if isinstance(value, dict):
        return {str(plain(name)): plain(inner) for name, inner in value.items()}
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


def same_refusal(what, arguments, call):
    """Both are refused, by the same number of Apple's."""
    error = ours(*arguments, status=1)[0]["error"]
    try:
        call()
    except APIException as refused:
        same("refusal", {"errorCode": error.get("errorCode")}, {"errorCode": refused.raw_api_error})
        return
    sys.exit(f"interop: {what} is refused to us and not to Apple's client")


def control(path, body=None, method=None):
    request = urllib.request.Request(
        f"{WORLD['controlURL']}/{path}", method=method, data=None if body is None else json.dumps(body).encode()
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def truth(kind, now=False):
    """What was true at the beginning, or is now."""
    text = control("truth") if now else (DIRECTORY / "truth.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if line["kind"] == kind and line["app"] == APP["bundleId"]]


def history(identifier, version):
    rows, revision = [], None
    while True:
        page = theirs.get_transaction_history(identifier, revision, TransactionHistoryRequest(), version)
        rows += [verifier.verify_and_decode_signed_transaction(jws) for jws in page.signedTransactions]
        revision = page.revision
        if not page.hasMore:
            return rows


def purchases():
    lines = truth("purchase")
    customers = {line["customer"]: line for line in lines}
    for line in list(customers.values())[:PER_KIND]:
        identifier = line["transaction"]["transactionId"]
        for what, word, version in [
            ("history", "history", GetTransactionHistoryVersion.V2), ("history of version 1", "history-v1", GetTransactionHistoryVersion.V1)
        ]:
            same_rows(what, signed(word, identifier), history(identifier, version), "transactionId")
        info = theirs.get_transaction_info(identifier).signedTransactionInfo
        same("transaction", ours("transaction", identifier)[0]["signedTransactionInfo"], verifier.verify_and_decode_signed_transaction(info))
        info = theirs.get_app_transaction_info(identifier).signedAppTransactionInfo
        mine = ours("app-transaction", identifier)[0]["signedAppTransactionInfo"]
        same("app transaction", mine, verifier.verify_and_decode_app_transaction(info))
    for line in [line for line in lines if line["transaction"].get("revocationDate")][:PER_KIND]:
        identifier = line["transaction"]["transactionId"]
        page = theirs.get_refund_history(identifier, None)
        rows = [verifier.verify_and_decode_signed_transaction(jws) for jws in page.signedTransactions]
        if not page.hasMore:
            same_rows("refunds", signed("refunds", identifier), rows, "transactionId")


def subscriptions():
    for line in truth("subscription")[:PER_KIND]:
        answer = theirs.get_all_subscription_statuses(line["transactionId"])
        items = {item.originalTransactionId: item for group in answer.data for item in group.lastTransactions}
        rows = [row for group in ours("status", line["transactionId"])[0]["data"] for row in group["lastTransactions"]]
        if {row["originalTransactionId"] for row in rows} != items.keys():
            sys.exit("interop: statuses: not the same subscriptions")
        for row in rows:
            item = items[row["originalTransactionId"]]
            same("status", {"status": row["status"]}, {"status": item.rawStatus})
            decoded = verifier.verify_and_decode_signed_transaction(item.signedTransactionInfo)
            same("status, transaction", row["signedTransactionInfo"], decoded)
            same("status, renewal", row["signedRenewalInfo"], verifier.verify_and_decode_renewal_info(item.signedRenewalInfo))


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
    control("destinations", {
        "bundleId": APP["bundleId"], "environment": "Sandbox", "version": 2,
        "url": f"http://127.0.0.1:{inbox.server_port}/",
    }, "PUT")


def sent_test(token):
    """What became of a TEST, once it was sent: that takes Apple a moment."""
    for _ in range(300):
        status = theirs.get_test_notification_status(token)
        if status.sendAttempts:
            return status
        time.sleep(0.1)
    sys.exit("interop: a TEST was not sent within half a minute")


def same_notification(notification, decoded):
    if decoded.data:
        signed = ["signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo"]
        same("notification, data", notification["data"], decoded.data, leaving=signed)
    same(
        "notification", {name: value for name, value in notification.items() if name not in ("data", "summary")},
        decoded, leaving=["data", "summary"],
    )


def notifications():
    same_refusal("a TEST without a URL", ["test-notification"], theirs.request_test_notification)
    listen()
    mine, answer = ours("test-notification")[0], theirs.request_test_notification()
    same("request for a TEST", mine, answer, leaving=["testNotificationToken"])
    for token in [mine["testNotificationToken"], answer.testNotificationToken]:
        status = sent_test(token)
        decoded = verifier.verify_and_decode_notification(status.signedPayload)
        if decoded.rawNotificationType != "TEST":
            sys.exit(f"interop: a TEST is {decoded.rawNotificationType}")
        # The signature is of the moment; what it says was compared by interop.py.
        mine = ours("test-notification-status", token)[0]
        same_notification(mine["signedPayload"], decoded)
        same("test notification", {"attempts": mine["sendAttempts"]}, {"attempts": plain(status.sendAttempts)})
    now = json.loads(control("advance", {"days": 10}))["now"]
    request = NotificationHistoryRequest(startDate=WORLD["asOf"] - 150 * 86_400_000, endDate=now)
    sent, page = {}, None
    while page is None or page.hasMore:
        page = theirs.get_notification_history(page.paginationToken if page else None, request)
        for item in page.notificationHistory:
            decoded = verifier.verify_and_decode_notification(item.signedPayload)
            sent[decoded.notificationUUID] = (decoded, item.sendAttempts)
    pages = ours("notification-history", f"startDate={request.startDate}", f"endDate={request.endDate}")
    rows = [row for page in pages for row in page["notificationHistory"]]
    if {row["signedPayload"]["notificationUUID"] for row in rows} != sent.keys():
        sys.exit("interop: notification history: not the same notifications")
    for row in rows:
        notification = row["signedPayload"]
        decoded, attempts = sent[notification["notificationUUID"]]
        same_notification(notification, decoded)
        same("attempts", {"attempts": row["sendAttempts"]}, {"attempts": plain(attempts)})


def orders():
    for line in [line for line in truth("purchase") if line.get("orderId")][:PER_KIND]:
        answer = theirs.look_up_order_id(line["orderId"])
        rows = [verifier.verify_and_decode_signed_transaction(jws) for jws in answer.signedTransactions]
        same_rows("order", signed("order", line["orderId"]), rows, "transactionId")


def account_tokens(identifier):
    """Each sets one, and the other reads it."""
    def read_by_theirs():
        info = theirs.get_transaction_info(identifier).signedTransactionInfo
        return verifier.verify_and_decode_signed_transaction(info).appAccountToken

    token = str(uuid4())
    ours("account-token", identifier, f"appAccountToken={token}")
    same("account token", {"appAccountToken": token}, {"appAccountToken": read_by_theirs()})
    token = str(uuid4())
    theirs.set_app_account_token(identifier, UpdateAppAccountTokenRequest(appAccountToken=token))
    mine = ours("transaction", identifier)[0]["signedTransactionInfo"]
    same("account token", {"appAccountToken": mine["appAccountToken"]}, {"appAccountToken": token})


def finished(paid):
    """What each has finished is finished, and nothing else has become so."""
    before = {line["transaction"]["transactionId"] for line in truth("purchase", now=True) if line["isFinished"]}
    one, other = [transaction["transactionId"] for transaction in paid if transaction["transactionId"] not in before][:2]
    ours("finish", one)
    theirs.finish_transaction(other)
    after = {line["transaction"]["transactionId"] for line in truth("purchase", now=True) if line["isFinished"]}
    same("finished", {"finished": sorted(after - before)}, {"finished": sorted([one, other])})


def consumption(paid):
    """Apple hears the same from both."""
    def told():
        return json.loads(control("consumption"))["consumption"]

    identifier = paid[0]["transactionId"]
    ours(
        "consumption", identifier, "customerConsented=true", "deliveryStatus=DELIVERED", "consumptionPercentage=50000",
        "sampleContentProvided=false")
    theirs.send_consumption_information(identifier, ConsumptionRequest(
        customerConsented=True, consumptionPercentage=50_000, deliveryStatus=DeliveryStatus.DELIVERED,
        sampleContentProvided=False))
    mine, answer = told()[-2:]
    same("consumption", mine, answer, leaving=["date"])
    identifier = next(transaction["transactionId"] for transaction in paid if transaction["type"] == "Consumable")
    file = DIRECTORY / "consumption.json"
    file.write_text(json.dumps({
        "customerConsented": True, "consumptionStatus": 2, "deliveryStatus": 1, "appAccountToken": ""}))
    ours("consumption-v1", identifier, "--body", str(file))
    theirs.send_consumption_data(identifier, ConsumptionRequestV1(
        customerConsented=True, consumptionStatus=ConsumptionStatus.PARTIALLY_CONSUMED,
        deliveryStatus=DeliveryStatusV1.DID_NOT_DELIVER_DUE_TO_QUALITY_ISSUE, appAccountToken=""))
    mine, answer = told()[-2:]
    same("consumption of version 1", mine, answer, leaving=["date"])


def extensions(paid):
    owned = {transaction["originalTransactionId"] for transaction in paid}
    active = [line for line in truth("subscription", now=True) if line["status"] == 1 and line["originalTransactionId"] in owned]
    one, other = (line["originalTransactionId"] for line in active[:2])
    mine = ours("extend", one, "extendByDays=3", "extendReasonCode=1", "requestIdentifier=mine")[0]
    request = ExtendRenewalDateRequest(3, ExtendReasonCode.CUSTOMER_SATISFACTION, "theirs")
    answer = theirs.extend_subscription_renewal_date(other, request)
    own = ["effectiveDate", "originalTransactionId", "webOrderLineItemId"]
    same("extension", mine, answer, leaving=own)
    if {name for name in own if name in mine} != {name for name in own if name in plain(answer)}:
        sys.exit("interop: extension: not the same fields")
    product = active[0]["renewal"]["productId"]
    mine = ours(
        "extend-all", f"productId={product}", "requestIdentifier=all-of-mine", "extendByDays=3", "extendReasonCode=2",
        'storefrontCountryCodes=["USA"]')[0]
    answer = theirs.extend_renewal_date_for_all_active_subscribers(
        MassExtendRenewalDateRequest(3, ExtendReasonCode.OTHER, "all-of-theirs", ["USA"], product))
    same("mass extension", mine, answer, leaving=["requestIdentifier"])
    for request in ["all-of-mine", "all-of-theirs"]:
        mine = ours("extend-status", product, request)[0]
        same("status of a mass extension", mine, theirs.get_status_of_subscription_renewal_date_extensions(request, product))


def refusals(paid):
    """What Apple refuses is refused to both, by the same number."""
    original = paid[0]["originalTransactionId"]
    same_refusal("an unknown id", ["transaction", "1"], lambda: theirs.get_transaction_info("1"))
    same_refusal("no id", ["transaction", "x"], lambda: theirs.get_transaction_info("x"))
    same_refusal("an unknown token", ["test-notification-status", "x"], lambda: theirs.get_test_notification_status("x"))
    same_refusal("no UUID", ["account-token", original, "appAccountToken=x"],
                 lambda: theirs.set_app_account_token(original, UpdateAppAccountTokenRequest(appAccountToken="x")))


def check_all_is_compared():
    """Fails when the library has what neither was compared nor stands in a list here."""
    def methods(of):
        return {name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")}

    offered = {}
    for module in pkgutil.iter_modules(appstoreserverlibrary.__path__):
        if not module.ispkg:
            module = importlib.import_module(f"appstoreserverlibrary.{module.name}")
            offered |= {
                name: value for name, value in inspect.getmembers(module, inspect.isclass)
                if value.__module__ == module.__name__ and not name.startswith("_")
            }
    problems = [f"{name} is new" for name in offered.keys() - ELSEWHERE.keys() - {"AppStoreServerAPIClient"}]
    problems += [f"{name} is gone" for name in ELSEWHERE.keys() - offered.keys()]
    problems += [f"{name} is not compared" for name in methods(AppStoreServerAPIClient) - COMPARED.keys() - NOT_SIMULATED]
    problems += [f"{name} is gone" for name in (COMPARED.keys() | NOT_SIMULATED) - methods(AppStoreServerAPIClient)]
    problems += [
        f"{name} is of the asynchronous client alone"
        for name in methods(offered["AsyncAppStoreServerAPIClient"]) - COMPARED.keys() - NOT_SIMULATED - {"async_close"}
    ]
    for name, places in COMPARED.items():
        problems += [f"{name}: no {what} was compared" for what in places if counts[what] == 0]
    if problems:
        sys.exit("interop: FAILED: " + "; ".join(sorted(problems)))


def main():
    purchases()
    subscriptions()
    orders()
    notifications()
    paid = [line["transaction"] for line in truth("purchase") if line["transaction"]["inAppOwnershipType"] == "PURCHASED"]
    account_tokens(paid[0]["originalTransactionId"])
    finished(paid)
    consumption(paid)
    extensions(paid)
    refusals(paid)
    check_all_is_compared()
    print(f"interop: our client and Apple's agree in {len(COMPARED)} methods of Apple's:")
    for what, count in counts.items():
        print(f"  {count:6} {what}")


main()
