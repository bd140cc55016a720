import { accept, type Decider, reject } from "../decider.ts";

/**
 * Who asks for the login, for the person who decides. It is named without its commitment's form, so that the retention
 * erases it after a day, when the request is long over.
 */
type DeviceCaller = { readonly personal: string; readonly commitment: string };

/** Stream `device-<keyed hash of the user code>`: one login of a command line that a member lets in (RFC 8628). */
export type DeviceLoginEvent =
  | {
      readonly type: "DeviceLoginRequested";
      readonly data: { mac: string; caller: DeviceCaller; expires_at: string; at: string };
    }
  | {
      readonly type: "DeviceLoginApproved";
      readonly data: { account: string; member: string; epoch: number; mac: string; at: string };
    }
  | { readonly type: "DeviceLoginDenied"; readonly data: { account: string; member: string; at: string } }
  | { readonly type: "DeviceLoginRedeemed"; readonly data: { account: string; member: string; at: string } };

type Request = { readonly mac: string; readonly caller: DeviceCaller; readonly expires_at: string };

export type DeviceGrant = {
  readonly account: string;
  readonly member: string;
  /** The member's epoch at the approval: if the password changes meanwhile, the session is never valid. */
  readonly epoch: number;
  readonly mac: string;
};

export type DeviceLogin =
  | { readonly phase: "absent" }
  | { readonly phase: "requested"; readonly request: Request }
  | { readonly phase: "approved"; readonly request: Request; readonly grant: DeviceGrant }
  | { readonly phase: "denied"; readonly request: Request }
  | { readonly phase: "redeemed" };

export type DeviceLoginCommand =
  | {
      readonly type: "RequestDeviceLogin";
      readonly mac: string;
      readonly caller: DeviceCaller;
      readonly expires_at: string;
      readonly at: string;
    }
  | ({ readonly type: "ApproveDeviceLogin"; readonly at: string } & DeviceGrant)
  | { readonly type: "DenyDeviceLogin"; readonly account: string; readonly member: string; readonly at: string }
  | { readonly type: "RedeemDeviceLogin"; readonly at: string };

export type DeviceLoginRejection = "code-taken" | "code-gone";

/** A code is used once: the first decision stands, and what was approved is redeemed once. */
export const deviceLogin: Decider<DeviceLogin, DeviceLoginCommand, DeviceLoginEvent, DeviceLoginRejection> = {
  initial: { phase: "absent" },

  evolve(state, { type, data }) {
    if (type === "DeviceLoginRequested") {
      const { mac, caller, expires_at } = data;
      return { phase: "requested", request: { mac, caller, expires_at } };
    }
    if (type === "DeviceLoginRedeemed") return { phase: "redeemed" };
    if (state.phase !== "requested") return state;
    if (type === "DeviceLoginDenied") return { phase: "denied", request: state.request };
    const { account, member, epoch, mac } = data;
    return { phase: "approved", request: state.request, grant: { account, member, epoch, mac } };
  },

  decide(command, state) {
    const isOpen = "request" in state && state.request.expires_at > command.at;
    switch (command.type) {
      case "RequestDeviceLogin": {
        // The same code may come again by chance, after its first request is over.
        if (isOpen) return reject("code-taken");
        const { mac, caller, expires_at, at } = command;
        return accept({ type: "DeviceLoginRequested", data: { mac, caller, expires_at, at } });
      }
      case "ApproveDeviceLogin": {
        if (!isOpen || state.phase !== "requested") return reject("code-gone");
        const { account, member, epoch, mac, at } = command;
        return accept({ type: "DeviceLoginApproved", data: { account, member, epoch, mac, at } });
      }
      case "DenyDeviceLogin": {
        if (!isOpen || state.phase !== "requested") return reject("code-gone");
        const { account, member, at } = command;
        return accept({ type: "DeviceLoginDenied", data: { account, member, at } });
      }
      case "RedeemDeviceLogin": {
        if (!isOpen || state.phase !== "approved") return reject("code-gone");
        const { account, member } = state.grant;
        return accept({ type: "DeviceLoginRedeemed", data: { account, member, at: command.at } });
      }
    }
  },
};
