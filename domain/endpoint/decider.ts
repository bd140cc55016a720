import { accept, type Decider, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import { sameJson } from "../same-json.ts";
import type { Sealed } from "../sealed.ts";
import { afterAttempt, type Circuit, claimProbe, evolveCircuit } from "./circuit.ts";
import type { EndpointCommand } from "./commands.ts";
import type { EndpointEvent, EndpointSettings, OwnHeader } from "./events.ts";

/** `until` is null for the newest secret, which has no end. */
type SigningSecret = { readonly sealed: Sealed; readonly until: string | null };

export type PresentEndpoint = {
  readonly phase: "present";
  readonly endpointId: string;
  readonly account: string;
  readonly settings: EndpointSettings;
  readonly secrets: readonly SigningSecret[];
  readonly disabled: { readonly reason: string; readonly at: string } | null;
  readonly circuit: Circuit;
  /** When the endpoint last took up deliveries again, after its circuit was open or it was disabled; null if never. */
  readonly wellAt: string | null;
  readonly urlSince: string | null;
  readonly underApproval: boolean;
  readonly createdAt: string;
};

export type Endpoint =
  | { readonly phase: "absent" }
  | PresentEndpoint
  | { readonly phase: "deleted"; readonly account: string };

export type EndpointRejection = "not-found" | "conflict" | "too-many-secrets" | "person-required";

/** Each active secret adds a signature to the header, so their number is bounded. */
export const SECRETS_MAX = 5;

const isActive = ({ until }: SigningSecret, at: string): boolean => until === null || until > at;

export const activeSecrets = (endpoint: Pick<PresentEndpoint, "secrets">, at: string): readonly Sealed[] =>
  endpoint.secrets.filter((secret) => isActive(secret, at)).map(({ sealed }) => sealed);

export const takesDeliveries = ({ disabled, circuit }: Pick<PresentEndpoint, "disabled" | "circuit">): boolean =>
  disabled === null && circuit.state !== "open";

/** An attempt that began before the URL changed says nothing about the new URL. */
const wentElsewhere = ({ urlSince }: PresentEndpoint, startedAt: string): boolean =>
  urlSince !== null && startedAt < urlSince;

type Decided = Decision<EndpointEvent, EndpointRejection>;

const isSecret = ({ digest }: OwnHeader): boolean => digest === null;

/** Names of the secret headers that get another value, or that were not secret before. */
const newSecrets = (changes: Partial<EndpointSettings>, { settings }: PresentEndpoint): readonly string[] =>
  Object.entries(changes.headers ?? {})
    .filter(([name, header]) => isSecret(header) && !sameJson(header, settings.headers[name]))
    .map(([name]) => name);

/**
 * True if a secret header would be sent to another address than it was given for, or become readable, so that the next
 * change could send it anywhere.
 */
const exposesSecrets = ({ url, headers }: Partial<EndpointSettings>, { settings }: PresentEndpoint): boolean => {
  const isMoved = url !== undefined && url !== settings.url;
  const after = headers ?? settings.headers;
  return Object.entries(settings.headers).some(([name, before]) => {
    const now = after[name];
    if (!isSecret(before) || now === undefined || !sameJson(before.sealed, now.sealed)) return false;
    return isMoved || !isSecret(now);
  });
};

type Change = Extract<EndpointCommand, { type: "ChangeEndpoint" }>;

const change = ({ changes, byPerson, at }: Change, state: PresentEndpoint): Decided => {
  const before = new Map<string, unknown>(Object.entries(state.settings));
  const changed = Object.entries(changes).filter(([name, value]) => !sameJson(before.get(name), value));
  if (changed.length === 0) return accept();
  const secrets = newSecrets(changes, state);
  // An approval's digest does not cover secret values: approvers rely on a key alone being unable to set them.
  const needsPerson = (state.underApproval && secrets.length > 0) || exposesSecrets(changes, state);
  if (needsPerson && byPerson !== true) return reject("person-required");
  const secret_headers = secrets.length === 0 ? undefined : secrets;
  const data = { endpoint_id: state.endpointId, changes: Object.fromEntries(changed), secret_headers, at };
  return accept({ type: "EndpointChanged", data: defined(data) });
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
  const circuit = evolveCircuit(state.circuit, event);
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
      // The id is derived from the command, so an existing endpoint was made by the same command.
      if (state.phase === "present" && state.account === command.account) return accept();
      if (state.phase !== "absent") return reject("conflict");
      const { endpointId: endpoint_id, account, secret, at } = command;
      return accept({ type: "EndpointRegistered", data: { ...command.settings, endpoint_id, account, secret, at } });
    }
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
        if (state.wellAt !== null && command.startedAt < state.wellAt) return accept();
        return accept({ type: "EndpointDisabled", data: { endpoint_id, reason: command.reason, at } });
      case "EnableEndpoint":
        return accept({ type: "EndpointEnabled", data: { endpoint_id, at } });
      case "ReportAttempt":
        if (state.disabled !== null || wentElsewhere(state, command.attempt.startedAt)) return accept();
        return accept(...afterAttempt(endpoint_id, state.circuit, command, at));
      case "ProbeEndpoint":
        if (state.disabled !== null) return accept();
        return accept(
          ...claimProbe(
            endpoint_id,
            state.circuit,
            { eventId: command.eventId, timeoutMs: state.settings.timeout_ms },
            at,
          ),
        );
      case "PutUnderApproval":
        if (state.underApproval) return accept();
        return accept({ type: "EndpointPutUnderApproval", data: { endpoint_id, at } });
      case "DeleteEndpoint":
        return accept({ type: "EndpointDeleted", data: { endpoint_id, at } });
    }
  },
};
