import type { Clock, EventLog } from "../domain/ports.ts";
import { KeyUnusable } from "../infra/crypto/keyfile.ts";
import { subkey } from "../infra/crypto/subkey.ts";
import { NO_TRACE, toEvents } from "./envelope.ts";
import { appendKnown } from "./run-command.ts";

/** Not the account's, and not erased: copied with the log, as the key has to be. */
const STREAM = "checkpoint-key";

/** Whether a node has begun the log with a key. */
export const hasKey = async (log: Pick<EventLog, "last">): Promise<boolean> => (await log.last(STREAM)) !== null;

/**
 * The first node writes down which key the log's secrets are sealed with, and every later one compares: a node with
 * another key could open none of them, and would seal new ones that the others cannot open. Throws `KeyUnusable`.
 */
export const checkKey = async (log: EventLog, key: Uint8Array, clock: Clock): Promise<void> => {
  const fingerprint = Buffer.from(subkey(key, "fingerprint")).toString("hex");
  const envelope = {
    commandId: `${STREAM}/${fingerprint}`,
    account: "",
    actor: { kind: "system", id: "key" },
    trace: NO_TRACE,
    at: new Date(clock.now()).toISOString(),
  } as const;
  const [known] = await log.read(STREAM, null, 1);
  if (known === undefined) {
    const declared = toEvents([{ type: "KeyDeclared", data: { fingerprint } }], envelope);
    if ((await appendKnown(log, STREAM, "absent", declared)).outcome === "appended") return;
    // Another node was first.
    return checkKey(log, key, clock);
  }
  if (known.data.fingerprint === fingerprint) return;
  throw new KeyUnusable(
    "The event log was begun with another COUNTERSIGN_KEY: its secrets can only be opened with that one, so set it again.",
  );
};
