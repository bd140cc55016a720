import { effect } from "@preact/signals";
import { DAY_MS } from "../../design/format.ts";
import { keepOffsets, type ZoneOffsets } from "../../design/zone-offsets.ts";
import { me } from "../api/api.ts";

const KEPT = "countersign-zone-offsets";
/** After these, the offsets are worked out anew: rules of zones change with updates of the browser. */
const KEPT_MS = 30 * DAY_MS;

/** The page is drawn by then. */
const LATER_MS = 5_000;

type Kept = ZoneOffsets & { readonly madeAt: number };

/** What this browser worked out before; null if it is unreadable, of another zone or old. */
const readKept = (zone: string, now: number): Kept | null => {
  try {
    // It is what `make` wrote.
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null") as Kept | null;
    return kept?.zone === zone && Math.abs(now - kept.madeAt) < KEPT_MS ? kept : null;
  } catch {
    return null;
  }
};

const make = async (zone: string, now: number): Promise<void> => {
  const { offsetsAround } = await import("../../design/zone-changes.ts");
  const made: Kept = { ...offsetsAround(zone, now), madeAt: now };
  keepOffsets(made);
  localStorage.setItem(KEPT, JSON.stringify(made));
};

const follow = (zone: string): void => {
  const now = Date.now();
  const kept = readKept(zone, now);
  keepOffsets(kept);
  if (kept !== null || zone === "UTC") return;
  // A chunk that is not there is asked for with the next page.
  setTimeout(() => void make(zone, now).catch(() => undefined), LATER_MS);
};

/**
 * Times of the account's zone are written from what the browser keeps of it. What is not kept yet is worked out after a while.
 */
export const startZone = (): void => {
  let before = "";
  effect(() => {
    const zone = me.value?.account.time_zone ?? before;
    if (zone !== before) follow(zone);
    before = zone;
  });
};
