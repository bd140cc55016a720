import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROVIDER_TYPES, type ProviderType } from "../../../domain/source/events.ts";
import { answerDirectly } from "../../../src/providers/identify.ts";
import type { WebhookRequest } from "../../../src/providers/request.ts";
import { SIGNERS, type Signed, type Signer } from "../../support/signers.ts";
import { NOW_S, SOURCE_URL, verdict, webhook } from "../../support/webhook.ts";

const BODY = '{"id":"evt_1","type":"payment.succeeded","amount":1130,"note":"Grüße, 10 €"}';

const signed = (signer: Signer, over: { body?: string; at?: number; secret?: string } = {}): Promise<Signed> =>
  signer.sign({ secret: signer.secret, body: BODY, at: NOW_S, url: SOURCE_URL, ...over });

/** Both as sent, or one of them changed on the way. */
const judged = (
  type: ProviderType,
  sent: Signed,
  over: {
    headers?: Readonly<Record<string, string>>;
    body?: string | Buffer;
    secrets?: readonly string[];
    nowS?: number;
  } = {},
): string => {
  const signer = SIGNERS[type];
  const request = webhook(over.headers ?? sent.headers, over.body ?? sent.body);
  const more = over.nowS === undefined ? {} : { nowS: over.nowS };
  return verdict(type, request, over.secrets ?? [signer.secret], { auth: signer.auth ?? null, ...more });
};

/** The signature's header, changed. */
const withSignature = (signer: Signer, sent: Signed, change: (value: string) => string): Record<string, string> => {
  const name = signer.header ?? "";
  return { ...sent.headers, [name]: change(sent.headers[name] ?? "") };
};

const HEX_MAC = /[0-9a-f]{64}/;
const BASE64_MAC = /[A-Za-z0-9+/]{43}=/;
const changeMac = (signer: Signer, change: (mac: string) => string) => (text: string) =>
  text.replace(signer.encoding === "hex" ? HEX_MAC : BASE64_MAC, change);

const NOT_HEX = "z".repeat(64);

for (const type of PROVIDER_TYPES) {
  const signer = SIGNERS[type];
  const test = suite(`${type}: verification`);

  test("a request that the provider signed is accepted", async () => {
    assert.is(judged(type, await signed(signer)), "ok");
  });

  test("a body of no bytes is accepted when it is signed", async () => {
    assert.is(judged(type, await signed(signer, { body: "" })), "ok");
  });

  test("the body is parsed only once the signature holds, or if the signature is inside it", async () => {
    let parsed = 0;
    const parsing = ({ json, ...rest }: WebhookRequest): WebhookRequest => ({
      ...rest,
      json: () => {
        parsed += 1;
        return json();
      },
    });
    const sent = await signed(signer);
    const auth = { auth: signer.auth ?? null };
    const large = JSON.stringify({ id: "evt_1", t: "a".repeat(100_000) });
    for (const headers of [sent.headers, { ...sent.headers, HmacSignature: "A".repeat(43).concat("=") }, {}]) {
      const request = parsing(webhook(headers, large));
      // The token of these is no signature over the body.
      const isToken = type === "bearer" || type === "gitlab";
      if (!isToken || headers !== sent.headers) assert.is.not(verdict(type, request, [signer.otherSecret], auth), "ok");
      assert.is(answerDirectly(type, "unsigned", request), null);
    }
    assert.is(parsed, 0);
  });

  test("a signature by another secret is a mismatch, and a source without a secret is an unknown secret", async () => {
    const sent = await signed(signer);
    assert.is(judged(type, sent, { secrets: [signer.otherSecret] }), "mismatch");
    assert.is(judged(type, sent, { secrets: [] }), "unknown-secret");
  });

  test("every active secret is tried", async () => {
    const old = await signed(signer, { secret: signer.otherSecret });
    assert.is(judged(type, old, { secrets: [signer.secret, signer.otherSecret] }), "ok");
    assert.is(judged(type, await signed(signer), { secrets: [signer.secret, signer.otherSecret] }), "ok");
  });

  test("a request without a signature is missing one", async () => {
    const body = signer.header === null ? BODY : (await signed(signer)).body;
    assert.is(judged(type, { headers: {}, body }), "missing");
  });

  if (signer.header !== null) {
    const { header } = signer;
    test("an empty signature header is a missing one, a header sent twice is malformed", async () => {
      const sent = await signed(signer);
      assert.is(judged(type, sent, { headers: withSignature(signer, sent, () => "") }), "missing");
      const twice = webhook(
        [...Object.entries(sent.headers), [header.toLowerCase(), sent.headers[header] ?? ""]],
        BODY,
      );
      assert.is(verdict(type, twice, [signer.secret], { auth: signer.auth ?? null }), "malformed");
    });
  }

  if (signer.encoding !== null && signer.header !== null) {
    test("a changed byte, a byte order mark and other JSON of the same value are mismatches", async () => {
      const sent = await signed(signer);
      assert.is(judged(type, sent, { body: sent.body.replace("1130", "1131") }), "mismatch");
      assert.is(judged(type, sent, { body: `\ufeff${sent.body}` }), "mismatch");
      assert.is(judged(type, sent, { body: JSON.stringify(JSON.parse(sent.body), null, 1) }), "mismatch");
      assert.is(judged(type, sent, { body: `${sent.body}\n` }), "mismatch");
    });
  }

  if (signer.encoding !== null) {
    const altered = (sent: Signed, change: (mac: string) => string): Signed => {
      const changed = changeMac(signer, change);
      if (signer.header === null) return { ...sent, body: changed(sent.body) };
      return { ...sent, headers: withSignature(signer, sent, changed) };
    };

    test("a signature of the wrong length or spelling is malformed", async () => {
      const sent = await signed(signer);
      assert.is(
        judged(
          type,
          altered(sent, (mac) => mac.slice(4)),
        ),
        "malformed",
      );
      assert.is(
        judged(
          type,
          altered(sent, (mac) => mac + mac.slice(0, 4)),
        ),
        "malformed",
      );
      assert.is(
        judged(
          type,
          altered(sent, () => NOT_HEX),
        ),
        "malformed",
      );
      assert.is(
        judged(
          type,
          altered(sent, (mac) => `${mac.slice(0, -2)}%=`),
        ),
        "malformed",
      );
    });

    test("a signature with one character changed is a mismatch", async () => {
      const sent = await signed(signer);
      const other = (mac: string): string => (mac.startsWith("1") ? "2" : "1") + mac.slice(1);
      assert.is(judged(type, altered(sent, other)), "mismatch");
    });

    if (signer.encoding === "hex") {
      test("hex in upper case is malformed", async () => {
        assert.is(
          judged(
            type,
            altered(await signed(signer), (mac) => mac.toUpperCase()),
          ),
          "malformed",
        );
      });
    } else {
      test("base64 that is not canonical, unpadded or for URLs is malformed", async () => {
        const sent = await signed(signer);
        // The last character before "=" carries two bits that no byte uses: the next one decodes to the same bytes.
        const stray = (mac: string): string => {
          const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
          return `${mac.slice(0, -2)}${alphabet[alphabet.indexOf(mac.at(-2) ?? "") + 1]}=`;
        };
        assert.is(judged(type, altered(sent, stray)), "malformed");
        assert.is(
          judged(
            type,
            altered(sent, (mac) => mac.slice(0, -1)),
          ),
          "malformed",
        );
        assert.is(
          judged(
            type,
            altered(sent, (mac) => `${mac.slice(0, 10)}-${mac.slice(11)}`),
          ),
          "malformed",
        );
      });
    }
  }

  if (signer.isTimed) {
    test("timestamps up to 300 s off are accepted, 301 s are stale", async () => {
      for (const [age, expected] of [
        [299, "ok"],
        [300, "ok"],
        [301, "stale"],
        [-299, "ok"],
        [-300, "ok"],
        [-301, "stale"],
        [86_400, "stale"],
      ] as const) {
        assert.is(judged(type, await signed(signer, { at: NOW_S - age })), expected, `${age} s`);
      }
    });

    test("a timestamp that is no plain number of seconds is malformed", async () => {
      const sent = await signed(signer);
      for (const bad of ["-1", "1e9", "1772366400.5", "0x69a43b00", "soon", "1772366400000000", " 1772366400x"]) {
        const headers = Object.fromEntries(
          Object.entries(sent.headers).map(([name, value]) => [name, value.replaceAll(String(NOW_S), bad)]),
        );
        assert.is(judged(type, sent, { headers }), "malformed", bad);
      }
    });

    test("the time is part of what is signed", async () => {
      const sent = await signed(signer);
      const headers = Object.fromEntries(
        Object.entries(sent.headers).map(([name, value]) => [name, value.replaceAll(String(NOW_S), String(NOW_S + 1))]),
      );
      assert.is(judged(type, sent, { headers }), "mismatch");
    });
  }

  if (signer.prefix !== "") {
    test("a signature with another scheme's prefix, or none, is malformed", async () => {
      const sent = await signed(signer);
      const without = withSignature(signer, sent, (value) => value.slice(signer.prefix.length));
      const sha1 = withSignature(signer, sent, (value) => `sha1=${value.slice(signer.prefix.length, 40)}`);
      assert.is(judged(type, sent, { headers: without }), "malformed");
      assert.is(judged(type, sent, { headers: sha1 }), "malformed");
    });
  }

  test.run();
}
