import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readConfig } from "../../src/config.ts";
import { ConfigError } from "../../src/config-error.ts";

/** What the environment may say of metrics, traces and Stripe; the rest is walked through by `test/program/config.test.ts`. */
const test = suite("configuration of metrics, traces and Stripe");

const refuses = (env: Record<string, string>, says: RegExp): void => {
  try {
    readConfig(env);
  } catch (error) {
    assert.instance(error, ConfigError);
    assert.match(String(error), says);
    for (const value of Object.values(env)) {
      if (value.includes("secret")) assert.not.ok(String(error).includes(value), "a credential is not repeated");
    }
    return;
  }
  throw new Error(`${JSON.stringify(env)} is not refused`);
};

test("nothing said: no traces are sent, and nobody scrapes from elsewhere", () => {
  const { otlp, serviceName, metricsToken } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "", METRICS_TOKEN: "" });
  assert.equal([otlp, serviceName, metricsToken], [null, "countersign", null]);
});

test("an endpoint, headers as the specification encodes them, and a name", () => {
  const { otlp, serviceName } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://otlp.example:4318/base",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YTpi, x-scope = a%3Db ,x-raw=a=b",
    OTEL_SERVICE_NAME: "governed",
  });
  assert.equal(otlp, {
    endpoint: "https://otlp.example:4318/base",
    headers: { authorization: "Basic YTpi", "x-scope": "a=b", "x-raw": "a=b" },
  });
  assert.is(serviceName, "governed");
});

test("what cannot be used is refused with a sentence, without the value where it may be a credential", () => {
  for (const endpoint of ["localhost:4318", "grpc://localhost:4317", "http://collector/v1?key=secret", "http://c/#x"]) {
    refuses(
      { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
      /OTEL_EXPORTER_OTLP_ENDPOINT has to be an http or https address/,
    );
  }
  const at = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };
  for (const headers of ["secret", "a b=secret", "=secret", "a=", "a=secret%zz", "a=secret%0D%0Ab", "a=secret%FF"]) {
    refuses({ ...at, OTEL_EXPORTER_OTLP_HEADERS: headers }, /OTEL_EXPORTER_OTLP_HEADERS has to be like/);
  }
  for (const name of ["content-length", "Host", "connection", "Transfer-Encoding", "content-type"]) {
    refuses(
      { ...at, OTEL_EXPORTER_OTLP_HEADERS: `x-a=1,${name}=secret` },
      new RegExp(`OTEL_EXPORTER_OTLP_HEADERS sets ${name}, which`),
    );
  }
  refuses({ OTEL_EXPORTER_OTLP_HEADERS: "a=secret" }, /HEADERS is set without OTEL_EXPORTER_OTLP_ENDPOINT: /);
  for (const token of ["short-secret", "a secret with blanks in it", "secret".repeat(5).concat("é")]) {
    refuses({ METRICS_TOKEN: token }, /METRICS_TOKEN has to be at least 16 visible ASCII characters/);
  }
});

const STRIPE = {
  STRIPE_SECRET_KEY: "rk_live_secret1",
  STRIPE_WEBHOOK_SECRET: "whsec_secret1",
  STRIPE_PRICE_STARTER: "price_1",
  STRIPE_PRICE_CORE: "price_2",
  STRIPE_PRICE_SCALE: "price_3",
};

test("Stripe is configured as a whole or not at all, each value by what Stripe's own look like", () => {
  assert.is(readConfig({ STRIPE_PRICE_CORE: "", STRIPE_SECRET_KEY: "" }).stripe, null);
  assert.is(readConfig(STRIPE).stripe?.prices.core, "price_2");
  for (const [name, value] of Object.entries({ ...STRIPE, STRIPE_API_URL: "http://127.0.0.1:1", STRIPE_TYPO: "1" })) {
    if (name !== "STRIPE_SECRET_KEY")
      refuses({ [name]: value }, new RegExp(`STRIPE_SECRET_KEY is missing, but ${name} is set: `));
  }
  refuses({ ...STRIPE, STRIPE_SECRET_KEY: "pk_live_secret" }, /STRIPE_SECRET_KEY has to be a secret or restricted key/);
  refuses({ ...STRIPE, STRIPE_WEBHOOK_SECRET: "sk_secret" }, /STRIPE_WEBHOOK_SECRET has to be .* like whsec_/);
  for (const name of ["STRIPE_PRICE_STARTER", "STRIPE_PRICE_CORE", "STRIPE_PRICE_SCALE", "STRIPE_PRICE_OVERAGE"]) {
    refuses({ ...STRIPE, [name]: "prod_secret" }, new RegExp(`${name} has to be the id of a price, like price_`));
  }
});

test("strangers may sign up to a service on this machine, and elsewhere only if that is said", () => {
  const signupAt = (PUBLIC_URL: string, SIGNUP = ""): string => readConfig({ PUBLIC_URL, SIGNUP }).signup;
  for (const local of [
    "",
    "http://localhost:8080",
    "http://LOCALHOST",
    "http://127.1",
    "https://127.9.9.9/x",
    "http://[::1]:1",
  ])
    assert.is(signupAt(local), "open", local);
  for (const public_ of [
    "https://hooks.example.com",
    "http://localhost.example.com",
    "http://128.0.0.1",
    "http://[::2]",
  ])
    assert.is(signupAt(public_), "closed", public_);
  assert.is(signupAt("https://hooks.example.com", "open"), "open");
  assert.is(signupAt("http://localhost", "closed"), "closed");
});

test.run();
