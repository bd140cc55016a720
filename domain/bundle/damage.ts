import type { Decider } from "../decider.ts";
import { type Damage, type DamageRejection, decideDamage, type FindDamage, NO_DAMAGE } from "../delivery/damage.ts";
import type { BundleEvent } from "./events.ts";

export const bundleDamage: Decider<Damage, FindDamage, BundleEvent, DamageRejection> = {
  initial: NO_DAMAGE,

  evolve(state, event) {
    switch (event.type) {
      case "BundleAdmitted":
      case "BundleBlocked":
      case "BundleHeld":
        return { ...state, payload: event.data.payload };
      case "BundlePayloadDamageFound":
        return { ...state, found: event.data.revision };
      default:
        return state;
    }
  },

  decide: decideDamage(({ subject: bundle_id, revision, at }) => ({
    type: "BundlePayloadDamageFound",
    data: { bundle_id, revision, at },
  })),
};
