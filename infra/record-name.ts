import type { RecordName } from "../domain/ports/view-store.ts";

export const nameOf = ({ stream, revision, id }: RecordName): RecordName => ({ stream, revision, id });
