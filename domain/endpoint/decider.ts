import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { Sealed } from "../sealed.ts";
import { afterAttempt, type Circuit, circuitAfter, probing } from "./circuit.ts";
import type { EndpointCommand } from "./commands.ts";
import type { EndpointEvent, EndpointSettings, OwnHeader } from "./events.ts";

/** A signing secret; `until` is null for the newest. */
type SigningSecret = { readonly sealed: Sealed; readonly until: string | null };

export type PresentEndpoint = {
  readonly phase: "present";
  readonly endpointId: string;
  readonly account: string;
  readonly settings: EndpointSettings;
  /** Newest first. */
  readonly secrets: readonly SigningSecret[];
  readonly disabled: { readonly reason: string; readonly at: string } | null;
  readonly circuit: Circuit;
  /** Since when it takes deliveries again after it got none, open or disabled; null when it always has. */
  readonly wellAt: string | null;
  /** Since when its deliveries go to its url; null when they always have. */
  readonly urlSince: string | null;
  /** An approval was asked for that is bound to its secret headers by name. */
  readonly underApproval: boolean;
  readonly createdAt: string;
};

export type Endpoint =
  | { readonly phase: "absent" }
  | PresentEndpoint
  | { readonly phase: "deleted"; readonly account: string };

export type EndpointRejection = "not-found" | "conflict" | "too-many-secrets" | "person-required";

/** Rotating again and again must not grow the signature header without end. */
export const SECRETS_MAX = 5;

/** Times are ISO-8601 UTC with milliseconds, which compare as text. */
const isActive = ({ until }: SigningSecret, at: string): boolean => until === null || until > at;

/** The sealed secrets that a delivery at `at` is signed with, newest first. */
export const activeSecrets = (endpoint: Pick<PresentEndpoint, "secrets">, at: string): readonly Sealed[] =>
  endpoint.secrets.filter((secret) => isActive(secret, at)).map(({ sealed }) => sealed);

/** Neither disabled nor open: what waits for it may go. */
export const takesDeliveries = ({ disabled, circuit }: Pick<PresentEndpoint, "disabled" | "circuit">): boolean =>
  disabled === null && circuit.state !== "open";

/** An attempt that began before says nothing of where its deliveries go now. */
const wentElsewhere = ({ urlSince }: PresentEndpoint, startedAt: string): boolean =>
  urlSince !== null && startedAt < urlSince;

type Decided = Decision<EndpointEvent, EndpointRejection>;

const sameValue = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameValue(value, right.get(key)));
};

const isSecret = ({ digest }: OwnHeader): boolean => digest === null;

/** The secret headers that have no value yet which stays: each new one, and each that gets another value or becomes secret. */
const newSecrets = (changes: Partial<EndpointSettings>, { settings }: PresentEndpoint): readonly string[] =>
  Object.entries(changes.headers ?? {})
    .filter(([name, header]) => isSecret(header) && !sameValue(header, settings.headers[name]))
    .map(([name]) => name);

/**
 * Whether a value that nobody can read would go to another address than the one that it was given for. A kept value that is
 * no longer secret could go anywhere with the next change, so making it open counts as well.
 */
const exposesSecrets = ({ url, headers }: Partial<EndpointSettings>, { settings }: PresentEndpoint): boolean => {
  const isMoved = url !== undefined && url !== settings.url;
  const after = headers ?? settings.headers;
  return Object.entries(settings.headers).some(([name, before]) => {
    const now = after[name];
    if (!isSecret(before) || now === undefined || !sameValue(before.sealed, now.sealed)) return false;
    return isMoved || !isSecret(now);
  });
};

type Change = Extract<EndpointCommand, { type: "ChangeEndpoint" }>;

const change = ({ changes, byPerson, at }: Change, state: PresentEndpoint): Decided => {
  const before = new Map<string, unknown>(Object.entries(state.settings));
  const changed = Object.entries(changes).filter(([name, value]) => !sameValue(before.get(name), value));
  if (changed.length === 0) return accept();
  const secrets = newSecrets(changes, state);
  // Such a value is in no digest: who approves relies on it that no key alone can set it.
  const needsPerson = (state.underApproval && secrets.length > 0) || exposesSecrets(changes, state);
  if (needsPerson && byPerson !== true) return reject("person-required");
  const named = secrets.length === 0 ? {} : { secret_headers: secrets };
  return accept({
    type: "EndpointChanged",
    data: { endpoint_id: state.endpointId, changes: Object.fromEntries(changed), ...named, at },
  });
};

type Rotate = Extract<EndpointCommand, { type: "RotateEndpointSecret" }>;

const rotate = ({ secret, previousUntil, at }: Rotate, state: PresentEndpoint): Decided => {
  if (activeSecrets(state, at).length >= SECRETS_MAX) return reject("too-many-secrets");
  return accept({
    type: "EndpointSecretRotated",
    data: { endpoint_id: state.endpointId, secret, previous_until: previousUntil, at },
  });
};

const present = (state: PresentEndpoint, event: EndpointEvent): PresentEndpoint => {
  const circuit = circuitAfter(state.circuit, event);
  const after = circuit === state.circuit ? state : { ...state, circuit };
  switch (event.type) {
    case "EndpointChanged": {
      const { changes, at } = event.data;
      const urlSince = changes.url === undefined ? after.urlSince : at;
      return { ...after, settings: { ...after.settings, ...changes }, urlSince };
    }
    case "EndpointSecretRotated": {
      const { secret, previous_until, at } = event.data;
      const before = after.secrets
        .filter((old) => isActive(old, at))
        .map((old) => ({ sealed: old.sealed, until: old.until ?? previous_until }));
      return { ...after, secrets: [{ sealed: secret, until: null }, ...before] };
    }
    case "EndpointPutUnderApproval":
      return { ...after, underApproval: true };
    case "EndpointDisabled":
      return { ...after, disabled: { reason: event.data.reason, at: event.data.at } };
    case "EndpointEnabled":
    case "EndpointRecovered":
      return { ...after, disabled: null, wellAt: takesDeliveries(state) ? state.wellAt : event.data.at };
    default:
      return after;
  }
};

export const endpoint: Decider<Endpoint, EndpointCommand, EndpointEvent, EndpointRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "EndpointRegistered") {
      const { endpoint_id: endpointId, account, secret, at, ...settings } = event.data;
      const secrets = [{ sealed: secret, until: null }];
      const well = { disabled: null, circuit: { state: "healthy" }, wellAt: null, urlSince: null } as const;
      return { phase: "present", endpointId, account, settings, secrets, ...well, underApproval: false, createdAt: at };
    }
    if (state.phase !== "present") return state;
    if (event.type === "EndpointDeleted") return { phase: "deleted", account: state.account };
    return present(state, event);
  },

  decide(command, state) {
    if (command.type === "RegisterEndpoint") {
      // Its id comes from the command: one that is there was made by the same command.
      if (state.phase === "present" && state.account === command.account) return accept();
      if (state.phase !== "absent") return reject("conflict");
      const { endpointId: endpoint_id, account, secret, at } = command;
      return accept({ type: "EndpointRegistered", data: { ...command.settings, endpoint_id, account, secret, at } });
    }
    // Another account's endpoint is to the caller as one that never was.
    if (state.phase !== "present" || state.account !== command.account) return reject("not-found");
    const { at } = command;
    const { endpointId: endpoint_id } = state;
    switch (command.type) {
      case "ChangeEndpoint":
        return change(command, state);
      case "RotateEndpointSecret":
        return rotate(command, state);
      case "DisableEndpoint":
        if (state.disabled !== null || wentElsewhere(state, command.startedAt)) return accept();
        // Somebody has enabled it since, or another attempt has found it well.
        if (state.wellAt !== null && command.startedAt < state.wellAt) return accept();
        return accept({ type: "EndpointDisabled", data: { endpoint_id, reason: command.reason, at } });
      case "EnableEndpoint":
        // Also for one that is not disabled: it is what closes a circuit that has opened.
        return accept({ type: "EndpointEnabled", data: { endpoint_id, at } });
      case "ReportAttempt":
        if (state.disabled !== null || wentElsewhere(state, command.seen.startedAt)) return accept();
        return accept(...afterAttempt(endpoint_id, state.circuit, command.seen, command.counted, at));
      case "ProbeEndpoint":
        if (state.disabled !== null) return accept();
        return accept(...probing(endpoint_id, state.circuit, command.eventId, state.settings.timeout_ms, at));
      case "PutUnderApproval":
        if (state.underApproval) return accept();
        return accept({ type: "EndpointPutUnderApproval", data: { endpoint_id, at } });
      case "DeleteEndpoint":
        return accept({ type: "EndpointDeleted", data: { endpoint_id, at } });
    }
  },
};
