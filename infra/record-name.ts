import type { RecordName } from "../domain/ports/view-store.ts";

/** The name alone: callers may pass the whole record. */
export const nameOf = ({ stream, revision, id }: RecordName): RecordName => ({ stream, revision, id });
