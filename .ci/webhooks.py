"""Verifies messages with the PyPI package `standardwebhooks`: see the script `webhooks`."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

tally = {True: 0, False: 0}
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        message = json.loads(line)
        try:
            Webhook(message["secret"]).verify(message["body"], message["headers"])
            is_taken = True
        except WebhookVerificationError:
            is_taken = False
        if is_taken == message["is_altered"]:
            sys.exit(f"{'accepted' if is_taken else 'rejected'}: {message['how']}: {line}")
        tally[is_taken] += 1
print(f"PyPI standardwebhooks: {tally[True]} messages accepted, {tally[False]} altered ones rejected")
