import { setTimeout as pause } from "node:timers/promises";
import { formatAddCheckpoint } from "../../domain/evidence/add-checkpoint.ts";
import { fromBase64, utf8 } from "../../domain/evidence/bytes.ts";
import { parseCheckpoint } from "../../domain/evidence/checkpoint.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import type { Witness } from "../witness/witness.ts";
import type { Api } from "./api.ts";
import type { Terminal } from "./command.ts";

export type AccountWatchOptions = {
  /** With a key of the account that is watched. */
  readonly api: Pick<Api, "open">;
  readonly witness: Witness;
  readonly terminal: Pick<Terminal, "out" | "note">;
  readonly everyMs?: number;
};

const EVERY_MS = 60_000;
/** A checkpoint has less than a kilobyte, and a proof at most 63 hashes. */
const ANSWER_BYTES_MAX = 65_536;

const textOf = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new Error(`The service's answer has over ${ANSWER_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const proofIn = (text: string): readonly Uint8Array[] => {
  const { proof } = JSON.parse(text) as { readonly proof?: unknown };
  const hashes = Array.isArray(proof) ? proof.map((hash) => fromBase64(String(hash))) : [null];
  const found = hashes.filter((hash) => hash !== null);
  if (found.length < hashes.length) throw new Error("The service answered without a consistency proof.");
  return found;
};

/** Cosigns the account's newest checkpoint. Returns its origin and size; throws a sentence if that is impossible. */
const watchOnce = async ({ api, witness }: Pick<AccountWatchOptions, "api" | "witness">): Promise<string> => {
  const note = await textOf(await api.open("/v1/audit/checkpoint"));
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? "");
  if (checkpoint === null) throw new Error("The service answered without a checkpoint.");
  const { origin, size } = checkpoint;
  const oldSize = witness.seen(origin)?.size ?? 0;
  if (size < oldSize)
    throw new Error(`${origin} was taken back: it has ${size} records, and this witness cosigned it with ${oldSize}.`);
  const path = `/v1/audit/consistency?from=${oldSize}&to=${size}`;
  const proof = oldSize === 0 || oldSize === size ? [] : proofIn(await textOf(await api.open(path)));
  const { status, body } = await witness.add(utf8(formatAddCheckpoint({ oldSize, proof, note })));
  if (status === 200) return `${origin} with ${size} records`;
  throw new Error(`${origin} with ${size} records is not cosigned: ${body.trimEnd()}`);
};

/** Asks the service every minute, for ever; a failure is told once until something else happens. */
export const accountWatch = ({ api, witness, terminal, everyMs = EVERY_MS }: AccountWatchOptions) => {
  const stopping = new AbortController();
  const watching = (async () => {
    let told: string | null = null;
    while (!stopping.signal.aborted) {
      const problem = await watchOnce({ api, witness }).then(
        (cosigned) => {
          if (told === null) terminal.out(`cosigned ${cosigned}`);
          return "";
        },
        (error: Error) => error.message,
      );
      if (problem !== "" && problem !== told) terminal.note(problem);
      told = problem;
      await pause(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    stop(): Promise<void> {
      stopping.abort();
      return watching;
    },
  };
};
