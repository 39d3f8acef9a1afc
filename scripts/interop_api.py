"""Drives Apple's own library (Python) against a simulated App Store that serves.

    interop_api.py DIRECTORY

DIRECTORY is what `switchyard simulate --port` was given as --out. Every method of Apple's client but Retention Messaging's gets an
answer that it decodes; Apple's verifier, with online checks by our OCSP responder, accepts what is signed and refuses what is made to
be refused.
"""

import base64
import json
import sys
import threading
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

from appstoreserverlibrary.api_client import APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus

DIRECTORY = Path(sys.argv[1])
WORLD = json.loads((DIRECTORY / "world.json").read_text())
APP = WORLD["apps"][0]
ROOT = base64.b64decode(WORLD["rootDER"])
counts = Counter()


def client(bundle=APP["bundleId"], key_id=WORLD["keyId"], url=WORLD["baseURL"]):
    made = AppStoreServerAPIClient(
        Path(WORLD["keyFile"]).read_bytes(), key_id, WORLD["issuerId"], bundle, Environment.SANDBOX
    )
    made._base_url = url
    return made


def control(method, path, body=None):
    request = urllib.request.Request(
        f"{WORLD['controlURL']}/{path}", method=method, data=json.dumps(body).encode() if body is not None else None
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def verifier(online=False, root=ROOT):
    return SignedDataVerifier([root], online, Environment.SANDBOX, APP["bundleId"], APP["appAppleId"])


def check(condition, what):
    counts["checks"] += 1
    if not condition:
        sys.exit(f"interop: {what}")


def refused(expected, what, call):
    counts["refusals"] += 1
    try:
        call()
    except APIException as error:
        got = error.api_error if isinstance(expected, APIError) else error.http_status_code
        check(got == expected, f"{what}: {error.http_status_code} {error.raw_api_error}, expected {expected}")
        return error
    sys.exit(f"interop: {what} was not refused")


def unverified(call, *statuses):
    try:
        call()
    except VerificationException as error:
        check(error.status in statuses, f"refused as {error.status}, expected one of {statuses}")
        return
    sys.exit("interop: Apple's verifier accepted what it should refuse")


def lines(kind):
    for line in (DIRECTORY / "truth.jsonl").read_text().splitlines():
        item = json.loads(line)
        if item["kind"] == kind and item["app"] == APP["bundleId"]:
            yield item


def purchases_of_customers():
    """The histories of all customers, read page by page, are what the truth says."""
    api, check_signature = client(), verifier()
    purchases = {}
    for line in lines("purchase"):
        purchases.setdefault(line["customer"], {})[line["transaction"]["transactionId"]] = line
    for customer, known in purchases.items():
        first, revision, seen = next(iter(known)), None, {}
        while True:
            page = api.get_transaction_history(
                first, revision, TransactionHistoryRequest(sort=Order.ASCENDING), GetTransactionHistoryVersion.V2
            )
            check(len(page.signedTransactions) <= 20, "a page of more than 20")
            for jws in page.signedTransactions:
                transaction = check_signature.verify_and_decode_signed_transaction(jws)
                seen[transaction.transactionId] = transaction
            revision = page.revision
            if not page.hasMore:
                break
        check(seen.keys() == known.keys(), f"the history of customer {customer} is not what is true")
        for name, transaction in seen.items():
            truth = known[name]["transaction"]
            check(transaction.purchaseDate == truth["purchaseDate"], "purchaseDate")
            check(transaction.expiresDate == truth.get("expiresDate"), "expiresDate")
            check(transaction.revocationDate == truth.get("revocationDate"), "revocationDate")
            check(transaction.price == truth["price"], "price")
            counts["transactions"] += 1
        counts["customers"] += 1
    return purchases


def subscriptions_of_customers():
    api, check_signature = client(), verifier()
    for line in lines("subscription"):
        answer = api.get_all_subscription_statuses(line["transactionId"])
        items = [item for group in answer.data for item in group.lastTransactions]
        item = next(item for item in items if item.originalTransactionId == line["originalTransactionId"])
        check(item.status == Status(line["status"]), "status")
        renewal = check_signature.verify_and_decode_renewal_info(item.signedRenewalInfo)
        check(renewal.autoRenewProductId == line["renewal"]["autoRenewProductId"], "autoRenewProductId")
        counts["subscriptions"] += 1
    only = api.get_all_subscription_statuses(line["transactionId"], [Status.REVOKED])
    check(all(item.status == Status.REVOKED for group in only.data for item in group.lastTransactions), "filter")


def everything_else(purchases):
    api, check_signature = client(), verifier()
    everything = [line for known in purchases.values() for line in known.values()]
    some = everything[0]["transaction"]
    name = some["transactionId"]
    info = api.get_transaction_info(name)
    check(check_signature.verify_and_decode_signed_transaction(info.signedTransactionInfo).productId == some["productId"], "info")
    app_transaction = api.get_app_transaction_info(name).signedAppTransactionInfo
    check(check_signature.verify_and_decode_app_transaction(app_transaction).bundleId == APP["bundleId"], "app transaction")
    check(len(api.look_up_order_id(everything[0]["orderId"]).signedTransactions) == 1, "order")
    check(api.look_up_order_id("MNOSUCHORDER").status == 1, "an order of nobody")
    refunds = [line for line in everything if line["transaction"].get("revocationType", "").startswith("REFUND")]
    for line in refunds:
        answer = api.get_refund_history(line["transaction"]["transactionId"], None)
        ids = [check_signature.verify_and_decode_signed_transaction(jws).transactionId for jws in answer.signedTransactions]
        check(line["transaction"]["transactionId"] in ids, "refund history")
    old = api.get_transaction_history(name, None, TransactionHistoryRequest(productTypes=[ProductType.CONSUMABLE]))
    check(old.bundleId == APP["bundleId"], "history of version 1")

    paid = [line["transaction"] for line in everything if line["transaction"]["inAppOwnershipType"] == "PURCHASED"]
    consumable = next(transaction for transaction in paid if transaction["type"] == "Consumable")
    api.send_consumption_information(
        name, ConsumptionRequest(customerConsented=True, deliveryStatus=DeliveryStatus.DELIVERED, sampleContentProvided=False)
    )
    api.send_consumption_data(consumable["transactionId"], ConsumptionRequestV1(customerConsented=True, appAccountToken=None))
    api.finish_transaction(consumable["transactionId"])
    token = uuid4()
    api.set_app_account_token(paid[0]["originalTransactionId"], UpdateAppAccountTokenRequest(appAccountToken=str(token)))
    changed = api.get_transaction_info(paid[0]["originalTransactionId"]).signedTransactionInfo
    check(check_signature.verify_and_decode_signed_transaction(changed).appAccountToken == str(token), "account token")

    active = [line for line in lines("subscription") if line["status"] == 1]
    paid_for = next(line for line in active if line["originalTransactionId"] in {t["originalTransactionId"] for t in paid})
    extension = ExtendRenewalDateRequest(7, ExtendReasonCode.CUSTOMER_SATISFACTION, "one")
    extended = api.extend_subscription_renewal_date(paid_for["originalTransactionId"], extension)
    check(extended.success and extended.effectiveDate, "extension")
    mass = MassExtendRenewalDateRequest(3, ExtendReasonCode.OTHER, "all", ["USA"], paid_for["renewal"]["productId"])
    api.extend_renewal_date_for_all_active_subscribers(mass)
    status = api.get_status_of_subscription_renewal_date_extensions("all", paid_for["renewal"]["productId"])
    check(status.complete, "mass extension")

    refused(APIError.TRANSACTION_ID_NOT_FOUND, "an unknown id", lambda: api.get_transaction_info("1"))
    refused(APIError.INVALID_TRANSACTION_ID, "no id", lambda: api.get_transaction_info("x"))
    refused(APIError.INVALID_EXTEND_BY_DAYS, "a year", lambda: api.extend_subscription_renewal_date(
        paid_for["originalTransactionId"], ExtendRenewalDateRequest(365, ExtendReasonCode.OTHER, "x")))
    refused(401, "another key", lambda: client(key_id="OTHERKEY01").get_transaction_info(name))
    production = client(url=WORLD["productionURL"])
    refused(APIError.TRANSACTION_ID_NOT_FOUND, "the other environment", lambda: production.get_transaction_info(name))
    if len(WORLD["apps"]) > 1:
        other = client(bundle=WORLD["apps"][1]["bundleId"])
        page = other.get_transaction_history(name, None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)
        check(page.signedTransactions == [], "the history of another app's customer")
    return name


def faults(name):
    api = client()
    control("POST", "faults", {"fault": "rateLimited", "on": "api", "value": 5000})
    error = refused(APIError.RATE_LIMIT_EXCEEDED, "a rate limit", lambda: api.get_transaction_info(name))
    retry_after = getattr(error, "retry_after", None)
    check(retry_after is None or int(retry_after) > 1_600_000_000_000, "Retry-After is in milliseconds")
    control("POST", "faults", {"fault": "serverError", "on": "api"})
    refused(APIError.GENERAL_INTERNAL_RETRYABLE, "a server error", lambda: api.get_transaction_info(name))
    control("POST", "faults", {"fault": "unauthorized", "on": "api"})
    refused(401, "401", lambda: api.get_transaction_info(name))
    control("POST", "faults", {"fault": "unknownFields", "on": "api"})
    info = api.get_transaction_info(name).signedTransactionInfo
    check(verifier().verify_and_decode_signed_transaction(info).transactionId, "unknown fields")

    online = lambda: verifier(online=True).verify_and_decode_signed_transaction(api.get_transaction_info(name).signedTransactionInfo)
    check(online().transactionId, "online checks by OCSP")
    control("POST", "faults", {"fault": "newChain", "on": "api"})
    check(online().transactionId, "a new chain")
    failure, retryable = VerificationStatus.VERIFICATION_FAILURE, VerificationStatus.RETRYABLE_VERIFICATION_FAILURE
    for fault in ["expiredChain", "foreignChain", "badSignature"]:
        control("POST", "faults", {"fault": fault, "on": "api"})
        unverified(online, failure)
    for fault in ["revoked", "unknown", "stale", "foreignSigner", "tryLater"]:
        control("POST", "faults", {"fault": fault, "on": "ocsp"})
        unverified(online, failure)
        control("DELETE", "faults")
    control("POST", "faults", {"fault": "serverError", "on": "ocsp", "value": 503})
    unverified(online, retryable)
    control("DELETE", "faults")


class Receiver(BaseHTTPRequestHandler):
    received = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.received.append(json.loads(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def notifications():
    api, check_signature = client(), verifier()
    refused(APIError.SERVER_NOTIFICATION_URL_NOT_FOUND, "no URL", lambda: api.request_test_notification())
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for app in WORLD["apps"]:
        control("PUT", "destinations", {
            "bundleId": app["bundleId"], "environment": "Sandbox", "url": f"http://127.0.0.1:{server.server_port}/"})
    token = api.request_test_notification().testNotificationToken
    advanced = control("POST", "advance", {"days": 40})
    status = api.get_test_notification_status(token)
    check(check_signature.verify_and_decode_notification(status.signedPayload).rawNotificationType == "TEST", "TEST")
    check(len(status.sendAttempts) == 1, "one attempt")
    told = []
    for body in Receiver.received:
        claims = json.loads(base64.urlsafe_b64decode(body["signedPayload"].split(".")[1] + "=="))
        if (claims.get("data") or claims.get("summary"))["bundleId"] == APP["bundleId"]:
            told.append(body["signedPayload"])
    for jws in told:
        notification = check_signature.verify_and_decode_notification(jws)
        data = notification.data
        if data and data.signedTransactionInfo:
            check_signature.verify_and_decode_signed_transaction(data.signedTransactionInfo)
        if data and data.signedRenewalInfo:
            check_signature.verify_and_decode_renewal_info(data.signedRenewalInfo)
        counts["notifications"] += 1
    check(len(told) > 10, f"{len(told)} notifications in forty days: {advanced}")
    history, page = [], None
    request = NotificationHistoryRequest(startDate=advanced["now"] - 60 * 86_400_000, endDate=advanced["now"] + 1)
    while True:
        answer = api.get_notification_history(page, request)
        history += [item.signedPayload for item in answer.notificationHistory]
        if not answer.hasMore:
            break
        page = answer.paginationToken
    check(sorted(history) == sorted(told), f"the history has {len(history)}, {len(told)} were received")
    server.shutdown()


def main():
    purchases = purchases_of_customers()
    subscriptions_of_customers()
    name = everything_else(purchases)
    faults(name)
    notifications()
    print("interop: Apple's library and the simulated App Store agree:")
    for what, count in counts.items():
        print(f"  {count:6} {what}")


if __name__ == "__main__":
    main()
