import { textOf } from "../../domain/evidence/bytes.ts";
import { parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { readLeaf } from "../../domain/evidence/leaf.ts";
import { leafHash, verifyInclusion } from "../../domain/evidence/merkle.ts";
import { isKnownType } from "../../domain/evidence/record-types.ts";
import { formatVerifierKey } from "../../domain/evidence/signed-note.ts";
import { parseTlogProof } from "../../domain/evidence/tlog-proof.ts";
import { startingKeys, type VerifyOptions } from "./export.ts";
import { wrongKeys } from "./links.ts";
import type { Platform } from "./platform.ts";
import { comparePrevious } from "./previous.ts";
import { leafFault } from "./record-line.ts";
import { concluded, EMPTY_REPORT, fault, type Report } from "./report.ts";
import {
  absentWitnesses,
  headOf,
  type Keys,
  type KnownHead,
  type NotSigned,
  readCosigned,
  readSigned,
  type SignedCheckpoint,
  witnessesOf,
  witnessTimes,
} from "./trust.ts";

const broken = (reason: string, index: number | null = null): Report =>
  concluded({ ...EMPTY_REPORT, fault: fault(reason, index) });

/** The checkpoint's own cosignatures, and those of the instance checkpoint whose proof is `extra`. */
const cosignatures = async (
  platform: Platform,
  signed: SignedCheckpoint,
  extra: Uint8Array | null,
  keys: Keys,
): Promise<readonly KnownHead[] | string> => {
  const { size, root } = signed.checkpoint;
  const own = await witnessesOf(platform, signed.note, keys.witnesses);
  if (typeof own === "string") return own;
  const heads: readonly KnownHead[] = own.map((witness) => ({ size, root, witness, what: "the checkpoint" }));
  if (extra === null) return heads;
  const proof = textOf(extra);
  if (proof === null) return "the proof of its checkpoint is not text";
  const read = await readCosigned(platform, { text: signed.note.text, proof }, keys);
  return typeof read === "string" ? read : [...heads, ...read.heads];
};

const about = (signed: SignedCheckpoint, keys: Keys): Pick<Report, "head" | "key"> => ({
  head: headOf(signed),
  key: keys.isOutside ? formatVerifierKey(signed.key) : null,
});

/** The key of a proof or a checkpoint may have been rotated, and nothing beside them proves it. */
const notSigned = (signed: NotSigned): Report =>
  "reason" in signed
    ? broken(`the checkpoint: ${signed.reason}`)
    : concluded({ ...EMPTY_REPORT, missing: [`a key for the checkpoint: ${signed.unknown}`] });

const NO_KEY = "a proof names no key: one has to be given";

/** Verifies the proof of one record (`GET /v1/audit/proof`): that these bytes are a leaf of a signed tree. */
export const verifyProof = async (
  proofText: string,
  leafBytes: Uint8Array | null,
  options: VerifyOptions,
  platform: Platform,
): Promise<Report> => {
  const proof = parseTlogProof(proofText);
  if (proof === null) return broken("it is no tlog-proof");
  const keys = startingKeys(platform, options, null);
  if (typeof keys === "string")
    return options.keys.length === 0 ? concluded({ ...EMPTY_REPORT, missing: [NO_KEY] }) : broken(keys);
  const signed = await readSigned(platform, proof.checkpoint, keys.current);
  if (!("note" in signed)) return notSigned(signed);
  const heads = await cosignatures(platform, signed, proof.extra, keys);
  if (typeof heads === "string") return broken(heads);
  if (leafBytes === null)
    return concluded({ ...EMPTY_REPORT, ...about(signed, keys), missing: ["the leaf that the proof is about"] });
  const { index, path } = proof;
  const { size, root, origin } = signed.checkpoint;
  const leaf = readLeaf(leafBytes);
  if (typeof leaf === "string") return broken(leafFault(leaf), index);
  if (leaf.index !== index || leaf.account !== parseOrigin(origin)?.account)
    return broken(`the leaf is that of the record ${leaf.index} of ${leaf.account}`, index);
  const wrong = wrongKeys(leaf);
  if (wrong !== null) return broken(wrong, index);
  const { sha256 } = platform;
  if (!verifyInclusion(sha256, { index, size, leafHash: leafHash(sha256, leafBytes), path }, root))
    return broken("its proof does not lead to the checkpoint", index);
  const previous = await comparePrevious(platform, signed, { keys, options, covers: () => false, reopened: null });
  const types = { [leaf.type]: 1 };
  return concluded({
    ...EMPTY_REPORT,
    ...about(signed, keys),
    fault: previous.fault,
    isReplaced: previous.isReplaced,
    missing: [...previous.missing, ...absentWitnesses(keys, [...heads, ...previous.witnessed])],
    records: 1,
    range: { from: index, to: index + 1 },
    witnesses: witnessTimes([...heads, ...previous.witnessed]),
    types,
    unknownTypes: isKnownType(leaf.type) ? {} : types,
  });
};

/** Verifies a checkpoint alone, and that the tree has only grown since earlier ones. */
export const verifyCheckpoint = async (text: string, options: VerifyOptions, platform: Platform): Promise<Report> => {
  const keys = startingKeys(platform, options, null);
  if (typeof keys === "string")
    return options.keys.length === 0 ? concluded({ ...EMPTY_REPORT, missing: [NO_KEY] }) : broken(keys);
  const signed = await readSigned(platform, text, keys.current);
  if (!("note" in signed)) return notSigned(signed);
  const heads = await cosignatures(platform, signed, null, keys);
  if (typeof heads === "string") return broken(heads);
  const previous = await comparePrevious(platform, signed, { keys, options, covers: () => false, reopened: null });
  return concluded({
    ...EMPTY_REPORT,
    ...about(signed, keys),
    fault: previous.fault,
    isReplaced: previous.isReplaced,
    missing: [...previous.missing, ...absentWitnesses(keys, [...heads, ...previous.witnessed])],
    witnesses: witnessTimes([...heads, ...previous.witnessed]),
  });
};
