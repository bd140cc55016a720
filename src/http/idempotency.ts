import { createHmac } from "node:crypto";
import { eventOf } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent, Revision } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { derivedId, randomId } from "../../infra/crypto/ids.ts";
import { lengthPrefixed } from "../../infra/crypto/length-prefixed.ts";
import type { SecretBox } from "../../infra/crypto/secret-box.ts";
import { type Envelope, toEvents } from "../streams/envelope.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { appendKnown } from "../streams/run-command.ts";
import type { SentAnswer } from "./sent-answer.ts";
import { repeatedAnswer, storedText } from "./stored-answer.ts";

/** Records of the streams `payload-idem_…`, which can be erased, because answers contain secrets and personal data. */
export type IdempotencyEvent =
  | {
      readonly type: "RequestClaimed";
      readonly data: {
        readonly digest: string;
        /** A request that takes over an abandoned claim reuses this id, so the command takes effect once. */
        readonly command_id: string;
        /** Random bytes, sealed. The command derives its secrets from them, so a repeat derives the same secrets. */
        readonly seed: string;
        readonly node: string;
        readonly at: string;
      };
    }
  | {
      readonly type: "RequestAnswered";
      readonly data: {
        readonly digest: string;
        readonly command_id: string;
        readonly status: number;
        readonly answer: string;
        readonly at: string;
      };
    }
  /** The request ended without an answer to store: the next request with its key repeats the command at once. */
  | {
      readonly type: "RequestReleased";
      readonly data: {
        readonly digest: string;
        readonly command_id: string;
        readonly seed: string;
        readonly at: string;
      };
    };

/** What the first request with a key and all its repeats have in common; `seed` has 32 random bytes. */
export type Command = { readonly commandId: string; readonly seed: Uint8Array };

export type KeyedRequest = {
  readonly key: string;
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly envelope: Envelope;
};

export const IDEMPOTENCY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Twice as long as any call waits: after this time a claim without an answer counts as that of a dead process. */
const CLAIM_MS = 60_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** A try that loses the race learns the other request's claim, so two tries are nearly always enough. */
const CLAIM_ATTEMPTS_MAX = 5;

type Claimed = { readonly commandId: string; readonly sealed: string };
type Claim = Claimed & { readonly revision: Revision };
type Keyed = KeyedRequest & { readonly stream: string; readonly digest: string };
type Lookup = { readonly claimable: Claimed | null } | Problem | SentAnswer;

const SEED_BYTES = 32;

export const newCommand = (randomness: Randomness): Command => ({
  commandId: randomId("cmd_", randomness),
  seed: randomness.bytes(SEED_BYTES),
});

/** A temporary refusal (429) or a failure of the server is not stored, so that a repeat of the request may succeed. */
const worthKeeping = ({ status }: SentAnswer): boolean => status < 500 && status !== 429;

type IdempotencyDeps = {
  readonly log: EventLog;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The key of requests' digests: a plain hash of a body would let a reader of the log guess the password in it. */
  readonly digestKey: Uint8Array;
  readonly node: string;
  /** True if no other process answers calls: every claim of another node is then abandoned, however young it is. */
  readonly othersAreGone: boolean;
  readonly onLost: (error: unknown) => void;
};

export class Idempotency {
  readonly #deps: IdempotencyDeps;

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  /**
   * Answers a repeat from the stored answer. `allow` is asked only if the work would run: a problem is the answer, and
   * after "beyond" nothing is stored and null returned.
   */
  async run(
    request: KeyedRequest,
    allow: () => Promise<"counted" | "beyond" | Problem>,
    work: (command: Command) => Promise<SentAnswer>,
  ): Promise<SentAnswer | Problem | null> {
    const { box, log, onLost } = this.#deps;
    const { key, envelope } = request;
    const { account, actor } = envelope;
    const stream = derivedId("payload-idem_", account, actor.kind, actor.id, key);
    const keyed: Keyed = { ...request, stream, digest: this.#digestOf(request) };
    const last = await log.last(stream);
    const found = this.#look(last, keyed);
    if (!("claimable" in found)) return found;
    const allowed = await allow();
    if (allowed !== "counted") return allowed === "beyond" ? null : allowed;
    const claim = await this.#claim(keyed, last);
    if (!("commandId" in claim)) return claim;
    let answer: SentAnswer | null = null;
    try {
      const seed = box.open(claim.sealed, { account, stream, field: "seed" });
      answer = await work({ commandId: claim.commandId, seed: Buffer.from(seed, "base64") });
      return answer;
    } finally {
      await this.#finish(keyed, claim, answer).catch(onLost);
    }
  }

  async #claim(keyed: Keyed, newest: RecordedEvent | null): Promise<Claim | Problem | SentAnswer> {
    const { stream, digest, envelope } = keyed;
    const { log, node } = this.#deps;
    /** Where to append if the stream has no record: an erased stream goes on after its last erased revision. */
    let erasedUpTo: Revision | "absent" = "absent";
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS_MAX; attempt += 1) {
      const last = attempt === 0 ? newest : await log.last(stream);
      const lookup = this.#look(last, keyed);
      if (!("claimable" in lookup)) return lookup;
      const claimed = lookup.claimable ?? this.#newClaim(keyed);
      const data = { digest, command_id: claimed.commandId, seed: claimed.sealed, node, at: envelope.at };
      const appended = await this.#append(keyed, last?.revision ?? erasedUpTo, { type: "RequestClaimed", data });
      if (appended.outcome === "appended") return { ...claimed, revision: appended.revision };
      erasedUpTo = appended.actual;
    }
    return problem("in-progress", "Another request is using this Idempotency-Key at the moment.", { retryAfterS: 1 });
  }

  #look(last: RecordedEvent | null, { stream, digest, envelope: { account } }: Keyed): Lookup {
    const { box, clock, node, othersAreGone } = this.#deps;
    if (last === null) return { claimable: null };
    const { type, data } = eventOf<IdempotencyEvent>(last);
    const ageMs = clock.now() - Date.parse(data.at);
    if (ageMs >= IDEMPOTENCY_KEPT_MS) return { claimable: null };
    if (data.digest !== digest) {
      return problem("idempotency-key-reused", "This Idempotency-Key was used with a different call or body before.");
    }
    if (type === "RequestAnswered") {
      return repeatedAnswer({ status: data.status, text: box.open(data.answer, { account, stream, field: "answer" }) });
    }
    const mayRun = type === "RequestClaimed" && !(othersAreGone && data.node !== node);
    // A claim far in the future counts as abandoned too: the clock was set back since, and it would never grow old.
    if (mayRun && Math.abs(ageMs) < CLAIM_MS) {
      const detail = "The first request with this Idempotency-Key is still running.";
      return problem("in-progress", detail, { retryAfterS: 1 });
    }
    return { claimable: { commandId: data.command_id, sealed: data.seed } };
  }

  #newClaim({ stream, envelope: { account } }: Keyed): Claimed {
    const { commandId, seed } = newCommand(this.#deps.randomness);
    const sealed = this.#deps.box.seal(Buffer.from(seed).toString("base64"), { account, stream, field: "seed" });
    return { commandId, sealed };
  }

  async #finish(keyed: Keyed, claim: Claim, answer: SentAnswer | null): Promise<void> {
    // On a conflict nothing is left to do: another request has taken over the claim, and stores the answer.
    await this.#append(keyed, claim.revision, this.#endOf(keyed, claim, answer));
  }

  #endOf({ digest, stream, envelope: { account } }: Keyed, claim: Claim, answer: SentAnswer | null): IdempotencyEvent {
    const at = new Date(this.#deps.clock.now()).toISOString();
    const common = { digest, command_id: claim.commandId, at };
    const text = answer === null || !worthKeeping(answer) ? null : storedText(answer);
    if (answer === null || text === null || Buffer.byteLength(text) > ANSWER_BYTES_MAX) {
      return { type: "RequestReleased", data: { ...common, seed: claim.sealed } };
    }
    const sealed = this.#deps.box.seal(text, { account, stream, field: "answer" });
    return { type: "RequestAnswered", data: { ...common, status: answer.status, answer: sealed } };
  }

  #append({ stream, envelope }: Keyed, expected: Revision | "absent", fact: IdempotencyEvent) {
    const { log, randomness } = this.#deps;
    // Each append has a new command id, so that the log does not take the append of a racing request for a repeat.
    const commandId = randomId("idm_", randomness);
    return appendKnown(log, stream, expected, toEvents([fact], { ...envelope, commandId }));
  }

  #digestOf({ method, url, body }: KeyedRequest): string {
    return createHmac("sha256", this.#deps.digestKey)
      .update(lengthPrefixed([method, url, JSON.stringify(body) ?? ""]))
      .digest("base64");
  }
}
