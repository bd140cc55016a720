import type { JsonObject } from "../../domain/json.ts";

export type ExportedRecord = {
  readonly type: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly data: JsonObject;
  readonly actor?: JsonObject;
  readonly recorded_at?: string;
};

const ACCOUNT = "acc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

export const PERIOD = { from: "2026-01-01T00:00:00.000Z", to: "2026-02-01T00:00:00.000Z" };

const leafOf = (record: ExportedRecord, index: number): JsonObject => {
  const { type, stream = `delivery-evt_${index}`, revision = 0, data } = record;
  const { actor = { kind: "system", id: "test" }, recorded_at = "2026-01-15T12:00:00.000Z" } = record;
  const subject = stream.slice(stream.indexOf("-") + 1);
  return {
    ...{ v: 1, account: ACCOUNT, index, stream, revision, id: `id-${index}`, type, recorded_at, actor, subject, data },
    ...{ meta: {}, keys: {} },
  };
};

/** The lines of an export whose records begin at `from`. Its checkpoint proves nothing. */
export const exportLines = (records: readonly ExportedRecord[], from = 0): readonly JsonObject[] => [
  {
    ...{ kind: "header", account: ACCOUNT, origin: `host/accounts/${ACCOUNT}`, key: "host/instance+00000000+AQ==" },
    ...{ from_index: from, to_index: from + records.length, filter: null },
  },
  ...records.map((record, n) => ({
    kind: "record",
    index: from + n,
    leaf: Buffer.from(JSON.stringify(leafOf(record, from + n))).toString("base64"),
  })),
  { kind: "checkpoint", text: `host/accounts/${ACCOUNT}\n${from + records.length}\nroot\n`, count: records.length },
];

export async function* chunksOf(lines: readonly JsonObject[], size = 1_000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
