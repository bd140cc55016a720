import { denied, type GateName, type GateResult } from "../../domain/gate/verdict.ts";
import type { Json } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { scanJson } from "../streams/strict-json.ts";
import { AccountWork } from "./account-work.ts";
import type { CheckOrder } from "./check-protocol.ts";
import type { CheckThread } from "./check-thread.ts";
import type { CompiledAction } from "./compiled-action.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";
import { type PolicyCheck, type PolicyInput, schemaGate } from "./policy-gates.ts";

export type Question = Omit<PolicyInput, "payload" | "ambiguous"> & {
  readonly account: string;
  /** Undefined if the body is not JSON. */
  readonly payload: () => unknown;
  readonly body: () => Uint8Array;
  /** The body as UTF-8, if it was decoded already. */
  readonly text?: (() => string) | undefined;
  /** False if the JSON was not searched for duplicate names yet: a policy that reads the payload then does so first. */
  readonly isStrict: boolean;
};

type AskedPolicy = {
  readonly id: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
  readonly compiled: CompiledPolicy;
};

type AskedSchema = Pick<Question, "account" | "payload" | "body"> & {
  readonly compiled: Pick<CompiledAction, "schema" | "schemaText" | "work" | "isUncompiled">;
};

export type Checks = {
  policy(policy: AskedPolicy, question: Question): PolicyCheck | Promise<PolicyCheck>;
  schema(asked: AskedSchema): GateResult | Promise<GateResult>;
};

export const bytesOf = (payload: Json): Uint8Array => Buffer.from(JSON.stringify(payload));

/** Levels of nesting. A policy that reads the payload denies JSON that is nested deeper. */
const DEPTH_MAX = 64;

const textOf = ({ body, text }: Pick<Question, "body" | "text">): string => {
  if (text !== undefined) return text();
  const { buffer, byteOffset, length } = body();
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
};

const isAmbiguous = (question: Pick<Question, "body" | "text">): boolean => {
  const scanned = scanJson(textOf(question), DEPTH_MAX, true);
  return scanned.duplicate !== undefined || scanned.tooDeep === true;
};

export const checkDirectly = (compiled: CompiledPolicy, question: Omit<Question, "account">): PolicyCheck => {
  const { readsPayload } = compiled;
  return compiled.check({
    ambiguous: readsPayload && !question.isStrict && isAmbiguous(question),
    ...question,
    payload: readsPayload ? question.payload() : undefined,
  });
};

const checkSchema = ({ compiled: { schema, work }, payload }: AskedSchema): GateResult => {
  work.reset();
  if (schema === null) throw new Error("an action without a schema is not asked for one");
  return schemaGate(schema, payload());
};

export const directChecks: Checks = {
  policy: ({ compiled }, question) => checkDirectly(compiled, question),
  schema: checkSchema,
};

/** Units of the meter, about 5 ms. A check that takes more is made on another thread. */
export const DIRECT_WORK_MAX = 500_000;
/** A larger body is checked on another thread: parsing it and searching it for duplicate names takes 120 ns a byte. */
const DIRECT_BODY_BYTES_MAX = 32 * 1_024;
/** Units of the meter: an account may use a tenth of each second of the main thread. A rule takes some hundred. */
const DIRECT_WORK_PER_S = 10_000_000;
/** Units of the meter: an account may use 0.6 s of each second of the worker, or two of the most expensive checks. */
const THREAD_WORK_PER_S = 60_000_000;

const TOO_MUCH_AT_ONCE =
  "The conditions and schemas of this account take more work than one account may use in a second: send it again, or make them cheaper.";

const NOTHING_ELSE: CheckOrder["input"] = { headers: {}, source: null, agent: null, action: null };

const isTooCostly = ({ outcome, code }: GateResult): boolean => outcome === "deny" && code === "too-costly";

/**
 * Denies because the account has used up its work. A policy with an approval rule denies by that gate too, because the
 * check might have required a person.
 */
const deniedCheck = ({ definition: { approval } }: AskedPolicy): PolicyCheck => {
  const names: readonly GateName[] = approval === undefined ? ["rate"] : ["rate", "approval"];
  return { gates: names.map((gate) => denied(gate, "evaluation-rate", TOO_MUCH_AT_ONCE)), cost: null };
};

/**
 * Cheap checks run on the main thread, others on a worker. Definitions must be compiled with `DIRECT_WORK_MAX`, so that
 * the meter stops a check that is too expensive for the main thread.
 */
export const sharedChecks = (thread: CheckThread, clock: Clock): Checks => {
  const direct = new AccountWork(DIRECT_WORK_PER_S, clock);
  const elsewhere = new AccountWork(THREAD_WORK_PER_S, clock);

  const answered = async (account: string, order: CheckOrder, body: Uint8Array, denial: PolicyCheck) => {
    const answer = await thread.run(account, order, body);
    if (answer === "full") return denial;
    elsewhere.add(account, answer.work);
    return answer.check;
  };

  return {
    policy(policy, question) {
      const { account, body } = question;
      const { compiled } = policy;
      const isLarge = compiled.readsPayload && body().length > DIRECT_BODY_BYTES_MAX;
      if (!isLarge && compiled.isUncompiled !== true && direct.has(account)) {
        const check = checkDirectly(compiled, question);
        direct.add(account, compiled.work.used);
        if (!check.gates.some(isTooCostly)) return check;
      }
      if (!elsewhere.has(account)) return deniedCheck(policy);
      const { id, version, definition } = policy;
      const { isStrict, account: _whose, body: _bytes, text: _decoded, payload: _parsed, ...input } = question;
      const order = { account, key: `${id}/${version}`, definition, isStrict, input };
      return answered(account, order, body(), deniedCheck(policy));
    },
    async schema(asked) {
      const { account, compiled, body } = asked;
      const isLarge = body().length > DIRECT_BODY_BYTES_MAX;
      if (!isLarge && compiled.isUncompiled !== true && direct.has(account)) {
        const gate = checkSchema(asked);
        direct.add(account, compiled.work.used);
        if (!isTooCostly(gate)) return gate;
      }
      const { schemaText } = compiled;
      const denial = denied("rate", "evaluation-rate", TOO_MUCH_AT_ONCE);
      if (schemaText === null || !elsewhere.has(account)) return denial;
      const definition: PolicyDefinition = { name: "action", schema: schemaText };
      const order = { account, key: JSON.stringify(schemaText), definition, isStrict: true, input: NOTHING_ELSE };
      const { gates } = await answered(account, order, body(), { gates: [denial], cost: null });
      return gates[0] ?? denial;
    },
  };
};
