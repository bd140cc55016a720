import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ConfigError, readConfig } from "../../src/config.ts";

/** What the environment may say of metrics and traces; the rest is walked through by `test/program/config.test.ts`. */
const test = suite("configuration of metrics and traces");

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
  for (const token of ["short-secret", "a secret with blanks in it", "secret".repeat(5).concat("é")]) {
    refuses({ METRICS_TOKEN: token }, /METRICS_TOKEN has to be at least 16 visible ASCII characters/);
  }
});

test.run();
