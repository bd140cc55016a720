import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { Sealed } from "../sealed.ts";
import type { SourceCommand } from "./commands.ts";
import type { DedupeRule, HmacAuth, ProviderType, SourceEvent, SourceSettings } from "./events.ts";

/** `until` is null for the newest secret, which has no end. */
type SourceSecret = { readonly sealed: Sealed; readonly madeBy: string; readonly until: string | null };

export type PresentSource = {
  readonly phase: "present";
  readonly sourceId: string;
  readonly account: string;
  readonly type: ProviderType;
  readonly auth: HmacAuth | null;
  readonly dedupe: DedupeRule | null;
  readonly settings: SourceSettings;
  readonly secrets: readonly SourceSecret[];
  readonly createdAt: string;
};

export type Source =
  | { readonly phase: "absent" }
  | PresentSource
  | { readonly phase: "deleted"; readonly account: string };

export type SourceRejection = "not-found" | "conflict" | "too-many-secrets";

/** A forged request costs one HMAC for each active secret, so their number is bounded. */
export const SECRETS_MAX = 5;

const isActive = ({ until }: SourceSecret, at: string): boolean => until === null || until > at;

/** A request may be signed with any of the active secrets, of which the newest comes first. */
export const activeSecrets = (source: Pick<PresentSource, "secrets">, at: string): readonly Sealed[] =>
  source.secrets.filter((secret) => isActive(secret, at)).map(({ sealed }) => sealed);

export const activeMakers = (source: Pick<PresentSource, "secrets">, at: string): readonly string[] =>
  source.secrets.filter((secret) => isActive(secret, at)).map(({ madeBy }) => madeBy);

type Decided = Decision<SourceEvent, SourceRejection>;

const SETTINGS = ["name", "policy_id", "endpoint_id", "status"] as const satisfies readonly (keyof SourceSettings)[];

const change = (changes: Partial<SourceSettings>, at: string, state: PresentSource): Decided => {
  const changed = SETTINGS.filter((name) => changes[name] !== undefined && changes[name] !== state.settings[name]);
  if (changed.length === 0) return accept();
  const entries = changed.map((name) => [name, changes[name]]);
  return accept({
    type: "SourceChanged",
    data: { source_id: state.sourceId, changes: Object.fromEntries(entries), at },
  });
};

export const source: Decider<Source, SourceCommand, SourceEvent, SourceRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "SourceRegistered") {
      const { source_id: sourceId, account, type, auth, dedupe, secret, made_by: madeBy, ...rest } = event.data;
      const { at: createdAt, ...settings } = rest;
      const secrets = [{ sealed: secret, madeBy, until: null }];
      return { phase: "present", sourceId, account, type, auth, dedupe, settings, secrets, createdAt };
    }
    if (state.phase !== "present") return state;
    switch (event.type) {
      case "SourceChanged":
        return { ...state, settings: { ...state.settings, ...event.data.changes } };
      case "SourceSecretRotated": {
        const { secret, made_by: madeBy, previous_until, at } = event.data;
        // A second rotation must not cut off a sender that still uses the first secret, so each keeps its end.
        const before = state.secrets
          .filter((old) => isActive(old, at))
          .map(({ until, ...old }) => ({ ...old, until: until ?? previous_until }));
        return { ...state, secrets: [{ sealed: secret, madeBy, until: null }, ...before] };
      }
      case "SourceRejectsCounted":
        return state;
      case "SourceDeleted":
        return { phase: "deleted", account: state.account };
    }
  },

  decide(command, state) {
    if (command.type === "RegisterSource") {
      // The id is derived from the command, so an existing source was made by the same command.
      if (state.phase === "present" && state.account === command.account) return accept();
      if (state.phase !== "absent") return reject("conflict");
      const { sourceId: source_id, account, provider: type, auth, dedupe, settings, secret, madeBy, at } = command;
      return accept({
        type: "SourceRegistered",
        data: { ...settings, source_id, account, type, auth, dedupe, secret, made_by: madeBy, at },
      });
    }
    if (state.phase !== "present" || state.account !== command.account) return reject("not-found");
    const { at } = command;
    const { sourceId: source_id } = state;
    switch (command.type) {
      case "ChangeSource":
        return change(command.changes, at, state);
      case "RotateSourceSecret": {
        if (activeSecrets(state, at).length >= SECRETS_MAX) return reject("too-many-secrets");
        const { secret, madeBy: made_by, previousUntil: previous_until } = command;
        return accept({ type: "SourceSecretRotated", data: { source_id, secret, made_by, previous_until, at } });
      }
      case "DeleteSource":
        return accept({ type: "SourceDeleted", data: { source_id, at } });
    }
  },
};
