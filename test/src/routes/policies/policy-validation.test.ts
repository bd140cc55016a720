import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { policyCompiler } from "../../../../src/gates/compiled-policy.ts";
import { definitionRate } from "../../../../src/gates/definition-rate.ts";
import { policyValidationRoutes } from "../../../../src/routes/policies/policy-validation.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { bearer, testApp, testClock } from "../../../support/http-app.ts";

const test = suite("validation of policies");

const started = async () => {
  const log = memoryEventLog();
  const clock = testClock();
  const deps = {
    aggregates: aggregates(log, clock),
    compile: policyCompiler(),
    validationRate: definitionRate(clock),
  };
  const app = await testApp(policyValidationRoutes(deps), { log, clock });
  const validate = async (payload: object, key = "csk_admin") => {
    const answer = await app.inject({ method: "POST", url: "/v1/policies/validate", headers: bearer(key), payload });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { validate, log, close: () => app.close() };
};

test("a definition that could be published has no errors, and nothing is recorded", async () => {
  const { validate, log, close } = await started();
  const before = await log.readAll(null, 100);
  const { status, body } = await validate({ name: "p", deny: [{ name: "large", when: "cost_eur > 5.0" }] });
  assert.equal([status, body], [200, { errors: [], warnings: [] }]);
  assert.equal(await log.readAll(null, 100), before);
  await close();
});

test("an unknown name in an expression or of a field is named, with what was most likely meant", async () => {
  const { validate, close } = await started();
  const expression = await validate({ name: "p", deny: [{ name: "large", when: "cost_eru > 5.0" }] });
  const [error] = expression.body.errors;
  assert.is(expression.status, 200);
  assert.match(error.message, /unknown name "cost_eru"/);
  assert.equal([error.path, error.name, error.proposal], ["/deny/0/when", "cost_eru", "cost_eur"]);
  const field = await validate({ name: "p", budget_eur_dy: 5, "a/b": 1 });
  assert.equal(field.body.errors, [
    { path: "/budget_eur_dy", message: "is not a known field", name: "budget_eur_dy", proposal: "budget_eur_day" },
    { path: "/a~1b", message: "is not a known field", name: "a/b" },
  ]);
  await close();
});

test("too few approvers are a warning", async () => {
  const { validate, close } = await started();
  const { body } = await validate({ name: "p", approval: { expires_after_s: 60 } });
  assert.equal(body.errors, []);
  assert.is(body.warnings[0].path, "/approval/min_approvals");
  await close();
});

test("only who may publish may ask, and an account's bytes of a minute are limited", async () => {
  const { validate, close } = await started();
  assert.is((await validate({ name: "p" }, "csk_viewer")).status, 403);
  const large = { name: "p", schema: { description: "x".repeat(140_000) } };
  const answers = [await validate(large), await validate(large), await validate(large)];
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  await close();
});

test.run();
