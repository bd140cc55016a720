import type { Json, JsonObject } from "../../domain/json.ts";
import { BadExport, linesOf } from "./lines.ts";
import { isLeaf, type Leaf } from "./query/leaf.ts";
import { isObject } from "./query/reader.ts";

/** What the export's first line says. Whether it is true, the verifier says. */
export type ExportHeader = {
  readonly account: string;
  readonly origin: string;
  /** The verifier key that the operator names. */
  readonly key: string;
  readonly from_index: number;
  readonly to_index: number;
};

export type ExportEnd = {
  readonly records: number;
  /** The signed note of the checkpoint. */
  readonly checkpoint: string;
  /** How many lines of each other kind there are. */
  readonly lines: Readonly<Record<string, number>>;
};

/** Is given each record once, in the order of the indexes. */
export type LeafReader = (leaf: Leaf, bytes: Uint8Array) => void;

const objectIn = (line: string): JsonObject => {
  let value: Json;
  try {
    value = JSON.parse(line) as Json; // JSON.parse has no other results.
  } catch {
    throw new BadExport("a line of the export is not JSON");
  }
  if (!isObject(value) || typeof value.kind !== "string") throw new BadExport("a line of the export has no kind");
  return value;
};

const textIn = (line: JsonObject, name: string): string => {
  const value = line[name];
  if (typeof value !== "string") throw new BadExport(`a ${String(line.kind)} line of the export has no ${name}`);
  return value;
};

const indexIn = (line: JsonObject, name: string): number => {
  const value = line[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new BadExport(`a ${String(line.kind)} line of the export has no ${name}`);
  }
  return value;
};

const headerIn = (line: JsonObject): ExportHeader => {
  if (line.kind !== "header") throw new BadExport("the export does not begin with a header");
  if (line.filter !== null && line.filter !== undefined) {
    throw new BadExport("the export is filtered: what its filter leaves out, no query can count");
  }
  const [account, origin, key] = [textIn(line, "account"), textIn(line, "origin"), textIn(line, "key")];
  return { account, origin, key, from_index: indexIn(line, "from_index"), to_index: indexIn(line, "to_index") };
};

const leafIn = (bytes: Uint8Array, index: number, { account }: ExportHeader): Leaf => {
  const leaf = ((): Json => {
    try {
      return JSON.parse(Buffer.from(bytes).toString()) as Json; // JSON.parse has no other results.
    } catch {
      throw new BadExport(`the leaf of record ${index} is not JSON`);
    }
  })();
  if (!isLeaf(leaf)) throw new BadExport(`the leaf of record ${index} has not the form of a leaf`);
  if (leaf.index !== index || leaf.account !== account) {
    throw new BadExport(`the leaf of record ${index} is that of record ${leaf.index} of ${leaf.account}`);
  }
  return leaf;
};

/**
 * Reads an export line by line. It checks what the queries rest on: that the records are all from `from_index` to
 * `to_index`, and are the account's. What they are worth, the verifier says. Throws `BadExport`.
 */
export const readExport = async (
  chunks: AsyncIterable<Uint8Array>,
  begin: (header: ExportHeader) => LeafReader,
): Promise<ExportEnd> => {
  let header: ExportHeader | null = null;
  let read: LeafReader = () => undefined;
  let next = 0;
  let checkpoint: string | null = null;
  const lines: Record<string, number> = {};
  for await (const text of linesOf(chunks)) {
    const line = objectIn(text);
    if (checkpoint !== null) throw new BadExport("lines follow the export's checkpoint");
    if (header === null) {
      header = headerIn(line);
      next = header.from_index;
      read = begin(header);
    } else if (line.kind === "record") {
      if (line.index !== next) throw new BadExport(`record ${next} of the export is not there`);
      const bytes = Buffer.from(textIn(line, "leaf"), "base64");
      read(leafIn(bytes, next, header), bytes);
      next += 1;
    } else if (line.kind === "checkpoint") checkpoint = textIn(line, "text");
    else lines[String(line.kind)] = (lines[String(line.kind)] ?? 0) + 1;
  }
  if (header === null || checkpoint === null) throw new BadExport("the export ends without a checkpoint");
  if (next !== header.to_index) throw new BadExport(`record ${next} of the export is not there`);
  return { records: next - header.from_index, checkpoint, lines };
};
