import { DEPTH_MAX } from "../../../domain/ledger/loop.ts";
import { named } from "../../http/named-schemas.ts";
import type { Call, JsonSchema } from "../../http/route.ts";
import { type Problem, problem } from "../../streams/problems.ts";

// What requests for actions and requests for bundles have in common.

/** Shorter than the usual timeout of proxies. A client that wants to wait longer calls again. */
const WAIT_MS_MAX = 30_000;
export const WAIT_MS = 10_000;
/** Limited because the run's id is sent to the target in a header. */
const RUN_ID_LENGTH_MAX = 128;
const DEPTH = "countersign-depth";

const WAITING = { type: "integer", minimum: 0, maximum: WAIT_MS_MAX } as const satisfies JsonSchema;

/** The query of a read that may wait for the end of a request. */
export const WAIT_QUERY = {
  wait_ms: { ...WAITING, default: 0, description: "How long to wait for the end" },
} as const satisfies Record<string, JsonSchema>;

export const RUN_FIELDS = {
  run_id: {
    type: "string",
    minLength: 1,
    maxLength: RUN_ID_LENGTH_MAX,
    pattern: "^[\\x21-\\x7e]+$",
    description: "The run of the request: `max_per_run` counts by it, and it is sent to the target",
  },
  wait_ms: { ...WAITING, description: `How long to wait for the end; left out: ${WAIT_MS}` },
} as const satisfies Record<string, JsonSchema>;

export const DEPTH_HEADER: Readonly<Record<string, JsonSchema>> = {
  [DEPTH]: {
    type: "string",
    description:
      "The depth of the chain of agents that led to this request: the value with which this agent was called",
  },
};

export const RESULT: JsonSchema = named("TargetResult", {
  type: ["object", "null"],
  required: ["status_code", "body"],
  properties: {
    status_code: { type: "integer" },
    body: {
      description:
        "Parsed where the answer is JSON that parsing does not change, else text; null once the payload was erased",
    },
    truncated: { type: "boolean", const: true },
    encoding: { const: "base64", description: "The body is not text" },
  },
  description: "The target's response; null if there was none",
});

export const invalidField = (path: string, message: string): Problem =>
  problem("invalid-request", `${path} ${message}.`, { errors: [{ path, message }] });

export const depthOf = ({ headers }: Call): number | Problem => {
  const given = headers[DEPTH] ?? "0";
  return /^[0-9]{1,3}$/.test(given) && Number(given) <= DEPTH_MAX
    ? Number(given)
    : invalidField(DEPTH, `must be a whole number from 0 to ${DEPTH_MAX}`);
};
