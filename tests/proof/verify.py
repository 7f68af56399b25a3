"""Verifies an envelope with securesystemslib alone: ENVELOPE KEYSET. Prints the statement, or fails."""

import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

with open(sys.argv[1], encoding="utf-8") as file:
    envelope = Envelope.from_dict(json.load(file))
with open(sys.argv[2], encoding="utf-8") as file:
    keyset = json.load(file)
keys = [
    SSlibKey.from_crypto(load_pem_public_key(key["public_key"].encode()), keyid=key["keyid"]) for key in keyset["keys"]
]
envelope.verify(keys, threshold=1)
json.dump({"type": envelope.payload_type, "statement": json.loads(envelope.payload)}, sys.stdout)
