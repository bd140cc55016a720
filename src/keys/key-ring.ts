import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { isSameHash } from "../../infra/crypto/keyed-hash.ts";
import { KeyUnusable } from "../../infra/crypto/keyfile.ts";
import { SealBroken, type SecretBox, secretBox } from "../../infra/crypto/secret-box.ts";
import { KEY_BYTES, subkey } from "../../infra/crypto/subkey.ts";
import { type Fact, systemEnvelope, toEvents } from "../streams/envelope.ts";
import { appendKnown } from "../streams/run-command.ts";

/**
 * One random data key protects secrets, credentials, links and digests. The log holds it sealed under the server's key,
 * so that the server's key can change without touching what the data key protects.
 */

/** The stream is erasable, so that a rotation can remove the records which the old server key opens. */
const RING = "payload-keyring";
/** This stream cannot be erased. Its fingerprint of the data key prevents that a new ring replaces a lost one. */
const MARK = "checkpoint-keyring";
const PLACE = { account: "", stream: RING, field: "data-key" };
const OLDER_MAX = 100;
const ATTEMPTS_MAX = 5;

type Deps = { readonly clock: Clock; readonly randomness: Randomness };

const OTHER_KEY =
  "The keys in the event log are sealed under another COUNTERSIGN_KEY: set that one, as nothing opens without it.";
const LOST =
  "The keys in the event log are missing, and without them nothing that they protect can be opened: restore the log from a backup.";

const boxOf = (serverKey: Uint8Array, randomness: Randomness): SecretBox =>
  secretBox(subkey(serverKey, "key-ring"), randomness);

const fingerprintOf = (dataKey: Uint8Array): string => Buffer.from(subkey(dataKey, "fingerprint")).toString("hex");

export const hasRing = async (log: Pick<EventLog, "last">): Promise<boolean> =>
  (await log.last(MARK)) !== null || (await log.last(RING)) !== null;

export const keyRing = (log: EventLog, { clock, randomness }: Deps) => {
  const append = (stream: string, expected: "absent" | number, fact: Fact) => {
    const envelope = systemEnvelope({
      actor: "key-ring",
      commandId: randomId("cmd_", randomness),
      at: new Date(clock.now()).toISOString(),
    });
    return appendKnown(log, stream, expected, toEvents([fact], envelope));
  };

  const seal = (dataKey: Uint8Array, serverKey: Uint8Array): Fact => {
    const sealed = boxOf(serverKey, randomness).seal(Buffer.from(dataKey).toString("base64"), PLACE);
    return { type: "DataKeySealed", data: { sealed } };
  };

  const opened = ({ data }: RecordedEvent, serverKey: Uint8Array): Uint8Array | null => {
    try {
      const bytes = Buffer.from(boxOf(serverKey, randomness).open(String(data.sealed), PLACE), "base64");
      return bytes.length === KEY_BYTES ? new Uint8Array(bytes) : null;
    } catch (error) {
      if (error instanceof SealBroken) return null;
      throw error;
    }
  };

  const records = async (): Promise<readonly RecordedEvent[]> => {
    const newest = await log.last(RING);
    if (newest === null && (await log.last(MARK)) !== null) throw new KeyUnusable(LOST);
    if (newest === null) return [];
    const all = await log.read(RING, null, OLDER_MAX);
    return [newest, ...all.filter(({ revision }) => revision < newest.revision).reverse()];
  };

  const checkMark = async (dataKey: Uint8Array): Promise<void> => {
    const fingerprint = fingerprintOf(dataKey);
    if ((await log.last(MARK)) === null) await append(MARK, "absent", { type: "KeyRingBegun", data: { fingerprint } });
    const marked = (await log.last(MARK))?.data.fingerprint;
    if (typeof marked !== "string" || !isSameHash(marked, fingerprint)) throw new KeyUnusable(LOST);
  };

  const isSealedUnder = async (serverKey: Uint8Array): Promise<boolean> => {
    const [newest] = await records();
    return newest !== undefined && opened(newest, serverKey) !== null;
  };

  const open = async (serverKey: Uint8Array, attempts = ATTEMPTS_MAX): Promise<Uint8Array> => {
    const [newest] = await records();
    if (newest === undefined) {
      if (attempts === 0) throw new Error("the key ring could not be begun");
      await append(RING, "absent", seal(randomness.bytes(KEY_BYTES), serverKey));
      return open(serverKey, attempts - 1);
    }
    const dataKey = opened(newest, serverKey);
    if (dataKey === null) throw new KeyUnusable(OTHER_KEY);
    await checkMark(dataKey);
    return dataKey;
  };

  return {
    open: (serverKey: Uint8Array): Promise<Uint8Array> => open(serverKey),

    isSealedUnder,

    /**
     * `from` may open an older record than the newest, so that a new server key that was lost before any node used it
     * can be replaced.
     */
    async sealAnew(from: Uint8Array, to: Uint8Array): Promise<void> {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        if (await isSealedUnder(to)) return;
        const all = await records();
        const [newest] = all;
        if (newest === undefined) throw new KeyUnusable("The event log has no keys yet: start the service once.");
        const dataKey = all.map((record) => opened(record, from)).find((key) => key !== null) ?? null;
        if (dataKey === null) throw new KeyUnusable(OTHER_KEY);
        await checkMark(dataKey);
        await append(RING, newest.revision, seal(dataKey, to));
      }
      throw new Error("the keys were sealed anew by others at the same time: run the command again");
    },

    /**
     * Older records open with a replaced server key. They stay while the newest is sealed under another key than
     * `serverKey`, because that key may still get lost.
     */
    async forgetOlder(serverKey: Uint8Array): Promise<void> {
      const [newest, ...older] = await records();
      if (newest === undefined || older.length === 0 || opened(newest, serverKey) === null) return;
      await log.erase(RING, newest.revision - 1);
    },
  };
};

export type KeyRing = ReturnType<typeof keyRing>;
