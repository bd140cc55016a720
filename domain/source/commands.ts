import type { Sealed } from "../sealed.ts";
import type { DedupeRule, HmacAuth, ProviderType, SourceSettings } from "./events.ts";

/** `account` is the caller's, so that a source of another account is not found. */
export type SourceCommand =
  | {
      readonly type: "RegisterSource";
      readonly sourceId: string;
      readonly account: string;
      readonly provider: ProviderType;
      readonly auth: HmacAuth | null;
      readonly dedupe: DedupeRule | null;
      readonly settings: SourceSettings;
      readonly secret: Sealed;
      readonly madeBy: string;
      readonly at: string;
    }
  | {
      readonly type: "ChangeSource";
      readonly account: string;
      readonly changes: Partial<SourceSettings>;
      readonly at: string;
    }
  | {
      readonly type: "RotateSourceSecret";
      readonly account: string;
      readonly secret: Sealed;
      readonly madeBy: string;
      /** The previous secret is accepted until this time. */
      readonly previousUntil: string;
      readonly at: string;
    }
  | { readonly type: "DeleteSource"; readonly account: string; readonly at: string };
