import { suite } from "uvu";
import * as assert from "uvu/assert";
import { contentDigest, messageSignature } from "../../../infra/http/message-signatures.ts";

const test = suite("message signatures");

test("the example of RFC 9421, appendix B.2.5, comes out the same", () => {
  const key = Buffer.from(
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
    "base64",
  );
  const signed = messageSignature(
    [key],
    [
      ["date", "Tue, 20 Apr 2021 02:07:55 GMT"],
      ["@authority", "example.com"],
      ["content-type", "application/json"],
    ],
    { created: 1618884473, keyid: "test-shared-secret" },
  );
  assert.is(
    signed["signature-input"],
    'sig1=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
  );
  assert.is(signed.signature, "sig1=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:");
});

test("the digest of RFC 9530, appendix D, comes out the same", () => {
  assert.is(
    contentDigest(Buffer.from('{"hello": "world"}\n')),
    "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:",
  );
});

test("each key makes a signature under another label", () => {
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const both = messageSignature(keys, [["webhook-id", "evt_1"]], { created: 1, keyid: "end_1", alg: "hmac-sha256" });
  const input = '("webhook-id");created=1;keyid="end_1";alg="hmac-sha256"';
  assert.is(both["signature-input"], `sig1=${input}, sig2=${input}`);
  assert.match(both.signature, /^sig1=:[A-Za-z0-9+/]{43}=:, sig2=:[A-Za-z0-9+/]{43}=:$/);
});

test.run();
