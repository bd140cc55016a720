import { suite } from "uvu";
import * as assert from "uvu/assert";
import { defineAction } from "../../support/agent.ts";
import { signUp } from "../../support/client.ts";
import { testClock } from "../../support/http-app.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";

const test = suite("how much an account publishes");

/** Below the 32 KiB of a schema. */
const SCHEMA = { enum: Array.from({ length: 400 }, (_, n) => `${n}`.padStart(70, "x")) };
/** More of them than any account publishes in a minute. */
const TRIES = 40;

test("an account that publishes too many bytes is rate-limited, valid or not, and others are not", async () => {
  const running = await serviceInProcess({}, { clock: testClock() });
  try {
    const attacker = await signUp(running.base);
    const victim = await signUp(running.base);
    const endpoint = await attacker.make("/v1/endpoints", { name: "app", url: "http://127.0.0.1:9/" });
    const statuses = new Set<number>();
    for (let n = 0; n < TRIES; n += 1) {
      const schema = { ...SCHEMA, type: "no type" };
      const { status, headers, body } = await attacker.call("POST", "/v1/policies", { name: "p", schema });
      statuses.add(status);
      if (status !== 429) continue;
      assert.is(body.code, "rate-limited");
      assert.ok(Number(headers.get("retry-after")) >= 1 && Number(headers.get("retry-after")) <= 60);
      const action = { endpoint_id: endpoint.id, reversibility: "irreversible", schema: SCHEMA };
      assert.is((await attacker.session("PUT", "/v1/actions/a.b", action)).status, 429, "actions count as well");
      break;
    }
    assert.equal([...statuses], [422, 429]);
    await victim.make("/v1/policies", { name: "p", schema: { type: "object" } });
    const { id } = await victim.make("/v1/endpoints", { name: "app", url: "http://127.0.0.1:9/" });
    await defineAction(victim, "refund.create", id);
  } finally {
    await running.stop();
  }
});

test.run();
