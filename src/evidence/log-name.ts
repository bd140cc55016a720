import { FIRST_GENERATION, type LogName, parseCheckpoint, parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import type { InstanceState } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

/** The generation after that of the last checkpoint before it. */
const generationAfter = (previous: string | null): number => {
  const checkpoint = previous === null ? null : parseCheckpoint(previous);
  const origin = checkpoint === null ? null : parseOrigin(checkpoint.origin);
  return origin === null ? FIRST_GENERATION : origin.generation + 1;
};

/** The first key names the host for ever, and what it follows tells the generation. Null before the first seal. */
export const logNameOf = ({ keys }: Pick<InstanceState, "keys">): LogName | null => {
  const [first] = keys;
  const key = first === undefined ? null : parseVerifierKey(sha256, first.vkey);
  const origin = key === null ? null : parseOrigin(key.name);
  if (first === undefined || origin === null) return null;
  return { host: origin.host, generation: generationAfter(first.previous) };
};
