import { hash } from "node:crypto";
import type { Sha256 } from "../../domain/evidence/merkle.ts";

/** A copy, because Node's result may be a small part of a block that it would keep in memory. */
export const sha256: Sha256 = (bytes) => new Uint8Array(hash("sha256", bytes, "buffer"));
