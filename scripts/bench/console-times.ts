import { type Spread, spreadOf } from "./spread.ts";
import type { Subject } from "./subject.ts";

/** Response times of the console's requests, in milliseconds. */
export type ConsoleTimes = {
  readonly pageMs: Spread;
  readonly filteredMs: Spread;
  readonly searchMs: Spread;
  readonly detailMs: Spread;
};

const PAGES = 40;
const ROUNDS = 10;

const timed = async (subject: Subject, path: string): Promise<{ readonly ms: number; readonly body: unknown }> => {
  const from = performance.now();
  const { program, client } = subject;
  const response = await fetch(`${program.url}${path}`, { headers: { authorization: `Bearer ${client.key}` } });
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${JSON.stringify(body)}`);
  return { ms: performance.now() - from, body };
};

const repeated = async (subject: Subject, paths: readonly string[]): Promise<Spread> => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const path of paths) times.push((await timed(subject, path)).ms);
  }
  return spreadOf(times);
};

export const measureConsole = async (subject: Subject, eventId: string): Promise<ConsoleTimes> => {
  const pages: number[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page += 1) {
    const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { ms, body } = await timed(subject, `/v1/events?limit=50${at}`);
    pages.push(ms);
    cursor = (body as { next_cursor: string | null }).next_cursor;
  }
  const source = subject.deliverPath.split("/").at(-1);
  const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  const list = "/v1/events?limit=50";
  return {
    pageMs: spreadOf(pages),
    filteredMs: await repeated(subject, [
      `${list}&status=delivered`,
      `${list}&status=failed`,
      `${list}&source_id=${source}`,
      `${list}&endpoint_id=${subject.endpointId}`,
      `${list}&to=${hourAgo}`,
    ]),
    searchMs: await repeated(subject, [`${list}&q=${eventId}`, `${list}&q=seed-7`, `${list}&q=payment_intent`]),
    detailMs: await repeated(subject, [`/v1/events/${eventId}`]),
  };
};
