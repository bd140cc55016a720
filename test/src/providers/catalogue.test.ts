import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROVIDER_TYPES } from "../../../domain/source/events.ts";
import { checkSecret, isProviderType, makeSecret, providerCatalogue } from "../../../src/providers/catalogue.ts";
import { SIGNERS } from "../../support/signers.ts";
import { NOW_S, SOURCE_URL, verdict, webhook } from "../../support/webhook.ts";

const test = suite("provider catalogue");
const RANDOM = Uint8Array.from({ length: 32 }, (_, at) => at * 7);

test("every provider type has an entry with a label", () => {
  assert.equal(
    providerCatalogue().map(({ type }) => type),
    [...PROVIDER_TYPES],
  );
  for (const { label, category, auth } of providerCatalogue()) assert.ok(label !== "" && category && auth);
  assert.ok(isProviderType("stripe"));
  for (const type of ["paypal", "", "toString", "Stripe"]) assert.not(isProviderType(type), type);
});

test("a generated secret is valid, depends on its random bytes only, and its signature holds", async () => {
  for (const type of PROVIDER_TYPES) {
    const secret = makeSecret(type, RANDOM);
    assert.is(checkSecret(type, secret), null, type);
    assert.is(makeSecret(type, RANDOM), secret, type);
    assert.is.not(
      makeSecret(
        type,
        RANDOM.map((byte) => byte ^ 1),
      ),
      secret,
      type,
    );
    const { sign, auth = null } = SIGNERS[type];
    const { headers, body } = await sign({ secret, body: "{}", at: NOW_S, url: SOURCE_URL });
    assert.is(verdict(type, webhook(headers, body), [secret], { auth }), "ok", type);
  }
});

test("secrets that the providers use are acceptable", () => {
  for (const type of PROVIDER_TYPES) {
    assert.is(checkSecret(type, SIGNERS[type].secret), null, type);
    assert.is(checkSecret(type, SIGNERS[type].otherSecret), null, type);
  }
  assert.is(checkSecret("gitlab", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), null);
  assert.is(checkSecret("woocommerce", "a&amp;b <c>"), null);
});

test("an invalid secret is refused with a reason that does not repeat it", () => {
  const refused = [
    ["stripe", "sk_live_123"],
    ["stripe", ""],
    ["stripe", " whsec_1"],
    ["github", "a\nb"],
    ["github", "x".repeat(513)],
    ["adyen", "not hex"],
    ["adyen", "ABC"],
    ["adyen", "AB"],
    ["standard-webhooks", "hunter2"],
    ["standard-webhooks", "whsec_c2hvcnQ="],
    ["standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"],
    ["gitlab", "whsec_c2hvcnQ="],
    ["gitlab", "gehört nicht in einen Header"],
    ["bearer", "two words"],
  ] as const;
  for (const [type, secret] of refused) {
    const fault = checkSecret(type, secret);
    assert.ok(fault !== null, `${type} ${secret}`);
    if (secret !== "") assert.not(fault?.includes(secret.trim()), fault ?? "");
  }
});

test.run();
