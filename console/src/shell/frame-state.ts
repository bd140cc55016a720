import { signal } from "@preact/signals";
import type { Place } from "./addresses.ts";

/** How many approvals wait for this member, null before they are counted; the number also stands in the document's title. */
export const waitingForMe = signal<number | null>(null);
/** True while a decision is open on a phone, which has a bar of its own at the bottom. */
export const isDeciding = signal(false);
/** The place at which a page has found nothing; another object is another visit. */
export const missingAt = signal<Place | null>(null);
/** The layer of the frame that is open. */
export const openLayer = signal<"palette" | "keys" | null>(null);
/** How many rows wait behind the bar of the list that is open, such as "12" or "50+"; empty if none do. */
export const waitingRows = signal("");
