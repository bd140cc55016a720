import { offsetIn } from "./zone-offsets.ts";

/** Between a moment and what a clock in a zone shows, as date fields write it. Pure. */

const SHOWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/** `2026-11-17T14:02:11`: what a clock in the zone shows at this moment; empty for a text that is no time. */
export const localOf = (iso: string, zone: string): string => {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return "";
  return new Date(at + offsetIn(zone, at)).toISOString().slice(0, "2026-11-17T14:02:11".length);
};

/**
 * The moment at which a clock in the zone shows this; null for a text that is no time. Of an hour that the clock shows
 * twice it is one of both, and an hour that it leaves out is moved by an hour.
 */
export const momentOf = (local: string, zone: string): string | null => {
  const wanted = SHOWN.test(local) ? Date.parse(`${local}Z`) : Number.NaN;
  if (Number.isNaN(wanted)) return null;
  let at = wanted;
  // The offset is that of the moment found; the second look is for a change of the clock between both.
  for (let look = 0; look < 2; look += 1) at += wanted - Date.parse(`${localOf(new Date(at).toISOString(), zone)}Z`);
  return new Date(at).toISOString();
};
