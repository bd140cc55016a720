import { toBase64 } from "../../../domain/evidence/bytes.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { EvidenceDamaged } from "../../../infra/evidence-errors.ts";
import { audit } from "../../../projections/audit.ts";
import { type AccountEvidence, recordProof } from "../../audit/account-evidence.ts";
import { indexOfRecord } from "../../audit/search.ts";
import { integer, object, text } from "../../http/json-schema.ts";
import { invalid } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type Answer, type Handler, type JsonSchema, type Route, route } from "../../http/route.ts";
import { NothingSigned } from "../../sealing/sealing.ts";
import { type Problem, problem } from "../../streams/problems.ts";

export type CheckpointsDeps = {
  /** Null on a node that folds no evidence. */
  readonly evidence: AccountEvidence | null;
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly log: Pick<EventLog, "read" | "last">;
};

const AUDITORS = { session: "auditor", key: "auditor" } as const;
const PLAIN = { "content-type": "text/plain; charset=utf-8" };
const plain = (body: string): Answer => ({ status: 200, headers: PLAIN, body: Buffer.from(body) });
const PLAIN_ANSWER = { produces: "text/plain" } as const;

export const notSealed = (what: string): Problem =>
  problem("not-sealed", `${what} Records are sealed within two seconds.`, { retryAfterS: 1 });
const notWitnessed = (): Problem =>
  problem("not-witnessed", "No checkpoint that a quorum of witnesses has cosigned covers it yet.", { retryAfterS: 5 });

/** Answers with a problem where this node signs nothing. */
export const signing = async <T>(
  evidence: AccountEvidence | null,
  work: (evidence: AccountEvidence) => Promise<T>,
): Promise<T | Problem> => {
  if (evidence === null) return problem("unavailable", "This node keeps no evidence. Ask another one.");
  try {
    return await work(evidence);
  } catch (error) {
    if (error instanceof EvidenceDamaged) await evidence.damaged();
    else if (!(error instanceof NothingSigned)) throw error;
    // The reason names other accounts, so it is for the operator alone, in the log and in `/ready`.
    return problem("unavailable", "Nothing is signed at the moment: the operator has to look why.", { retryAfterS: 5 });
  }
};

const key =
  ({ evidence }: CheckpointsDeps): Handler =>
  () =>
    signing(evidence, async (it) => {
      const vkey = await it.verifierKey();
      return vkey === null ? notSealed("Nothing was sealed yet.") : plain(`${vkey}\n`);
    });

const instanceCheckpoint =
  ({ evidence }: CheckpointsDeps): Handler =>
  () =>
    signing(evidence, async (it) => {
      const note = await it.instance();
      return note === null ? notSealed("Nothing was sealed yet.") : plain(note);
    });

const checkpoint =
  ({ evidence }: CheckpointsDeps): Handler =>
  ({ principal }) =>
    signing(evidence, async (it) => {
      const newest = await it.newest(principal.account);
      return newest === null ? notSealed("No record of the account was sealed yet.") : plain(newest.note);
    });

const INDEX_MAX = Number.MAX_SAFE_INTEGER;
const index = (description: string) =>
  ({ type: "integer", minimum: 0, maximum: INDEX_MAX, description }) as const satisfies JsonSchema;

const PROOF_QUERY = {
  index: index("The record's `index`"),
  id: { type: "string", format: "uuid", description: "The record's `id`, instead of its index; with its `subject`" },
  subject: { type: "string", minLength: 1, maxLength: 512, description: "With `id`: what the record is about" },
  witnessed: {
    enum: ["1"],
    description: "In the newest checkpoint that witnesses have cosigned, with its proof as extra",
  },
} as const satisfies Record<string, JsonSchema>;

const proof =
  (deps: CheckpointsDeps): Handler<{ query: typeof PROOF_QUERY }> =>
  ({ principal: { account }, query }) =>
    signing(deps.evidence, async (it): Promise<Answer | Problem> => {
      const { id, subject, witnessed } = query;
      if ((query.index === undefined) === (id === undefined))
        return invalid("index", "or id must be given, and not both");
      if (id !== undefined && subject === undefined) return invalid("subject", "must be given with id");
      const at = query.index ?? (await indexOfRecord(deps, { account, id: id ?? "", subject: subject ?? "" }));
      const records = await it.folded(account);
      if (at === null) return problem("not-found", "The account has no record with this id about this subject.");
      if (at >= records) return problem("not-found", `The account has ${records} records, so an index is below that.`);
      const end = witnessed === undefined ? await it.newest(account) : await it.newestWitnessed(account);
      if (end === null || end.size <= at)
        return witnessed === undefined ? notSealed("The record was not sealed yet.") : notWitnessed();
      const cosigned = "proof" in end && typeof end.proof === "string" ? end.proof : null;
      return plain(await recordProof(it, account, { index: at, end, cosigned }));
    });

const CONSISTENCY_QUERY = {
  from: index("The size of the earlier checkpoint"),
  to: index("The size of the later one; left out: that of the newest"),
} as const satisfies Record<string, JsonSchema>;

const consistency =
  ({ evidence }: CheckpointsDeps): Handler<{ query: typeof CONSISTENCY_QUERY }> =>
  ({ principal: { account }, query }) =>
    signing(evidence, async (it): Promise<Answer | Problem> => {
      const newest = await it.newest(account);
      if (newest === null) return notSealed("No record of the account was sealed yet.");
      const { from = 0, to = newest.size } = query;
      if (to > newest.size) return invalid("to", `must be at most ${newest.size}, the size of the newest checkpoint`);
      if (from > to) return invalid("from", "must be at most `to`");
      const hashes = await it.consistency(account, from, to);
      return { status: 200, body: { from, to, proof: hashes.map(toBase64) } };
    });

export const checkpointRoutes = (deps: CheckpointsDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/audit/key",
    who: "anyone",
    summary: "The verifier key of this installation's checkpoints (C2SP signed-note)",
    tag: "audit",
    answers: { 200: text },
    ...PLAIN_ANSWER,
    problems: ["not-sealed", "unavailable"],
    handle: key(deps),
  }),
  route({
    method: "GET",
    path: "/v1/audit/instance/checkpoint",
    who: "anyone",
    summary: "The newest checkpoint over the checkpoints of all accounts, with cosignatures (C2SP tlog-checkpoint)",
    tag: "audit",
    answers: { 200: text },
    ...PLAIN_ANSWER,
    problems: ["not-sealed", "unavailable"],
    handle: instanceCheckpoint(deps),
  }),
  route({
    method: "GET",
    path: "/v1/audit/checkpoint",
    who: AUDITORS,
    summary: "The newest signed checkpoint over the account's records (C2SP tlog-checkpoint)",
    tag: "audit",
    answers: { 200: text },
    ...PLAIN_ANSWER,
    problems: ["not-sealed", "unavailable"],
    handle: checkpoint(deps),
  }),
  route({
    method: "GET",
    path: "/v1/audit/proof",
    who: AUDITORS,
    summary: "A proof that a record is sealed (C2SP tlog-proof)",
    tag: "audit",
    query: PROOF_QUERY,
    answers: { 200: text },
    ...PLAIN_ANSWER,
    problems: ["not-found", "not-sealed", "not-witnessed", "unavailable"],
    reads: [audit.schema.name],
    handle: proof(deps),
  }),
  route({
    method: "GET",
    path: "/v1/audit/consistency",
    who: AUDITORS,
    summary: "A proof that a later checkpoint only adds to an earlier one (RFC 6962)",
    tag: "audit",
    query: CONSISTENCY_QUERY,
    queryRequired: ["from"],
    answers: {
      200: named("ConsistencyProof", object({ from: integer, to: integer, proof: { type: "array", items: text } })),
    },
    problems: ["not-sealed", "unavailable"],
    handle: consistency(deps),
  }),
];
