import type { RecordName } from "../domain/ports/view-store.ts";

/** Callers may pass the whole record. */
export const nameOf = ({ stream, revision, id }: RecordName): RecordName => ({ stream, revision, id });
