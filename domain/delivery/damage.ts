import { accept, type Decider, reject } from "../decider.ts";
import type { Commitment } from "../evidence/commitment.ts";
import type { DeliveryEvent, PayloadRef } from "./events.ts";

export type PayloadName = Pick<PayloadRef, "revision" | "commitment"> & {
  readonly head?: Pick<Commitment, "commitment" | "size">;
};

/** `payload` is what the last decision names, `found` the last revision found damaged; null without one. */
export type Damage = { readonly payload: PayloadName | null; readonly found: number | null };

/** `subject`: the id of the event or bundle. */
export type FindDamage = {
  readonly type: "FindDamage";
  readonly subject: string;
  readonly payload: PayloadName;
  readonly at: string;
};

/** "not-decided": the stream names another payload. Only the stream tells the right hash: a view may be damaged. */
export type DamageRejection = "not-decided";

export const NO_DAMAGE: Damage = { payload: null, found: null };

export const decideDamage =
  <E>(eventOf: (found: { readonly subject: string; readonly revision: number; readonly at: string }) => E) =>
  ({ subject, payload: { revision, commitment }, at }: FindDamage, { payload, found }: Damage) => {
    if (payload?.revision !== revision || payload.commitment !== commitment)
      return reject<DamageRejection>("not-decided");
    return found === revision ? accept<E>() : accept<E>(eventOf({ subject, revision, at }));
  };

export const damage: Decider<Damage, FindDamage, DeliveryEvent, DamageRejection> = {
  initial: NO_DAMAGE,

  evolve(state, event) {
    switch (event.type) {
      case "EventAdmitted":
      case "EventBlocked":
      case "EventHeld":
        return { ...state, payload: event.data.payload };
      case "PayloadDamageFound":
        return { ...state, found: event.data.revision };
      default:
        return state;
    }
  },

  decide: decideDamage(({ subject: event_id, revision, at }) => ({
    type: "PayloadDamageFound",
    data: { event_id, revision, at },
  })),
};
