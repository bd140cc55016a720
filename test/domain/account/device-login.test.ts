import { suite } from "uvu";
import { deviceLogin } from "../../../domain/account/device-login.ts";
import { specFor } from "../../support/given.ts";

const test = suite("the login of a command line");

const at = "2026-03-01T12:00:00.000Z";
const expires_at = "2026-03-01T12:10:00.000Z";
const after = "2026-03-01T12:10:00.001Z";
const caller = { personal: "per_1", commitment: "00" };
const who = { account: "acc_1", member: "ana" };
const grant = { ...who, epoch: 2, mac: "ff" };

const logins = specFor(deviceLogin);
const asking = { type: "RequestDeviceLogin", mac: "00", caller, expires_at, at } as const;
const asked = { type: "DeviceLoginRequested", data: { mac: "00", caller, expires_at, at } } as const;
const approved = { type: "DeviceLoginApproved", data: { ...grant, at } } as const;
const denied = { type: "DeviceLoginDenied", data: { ...who, at } } as const;
const redeemed = { type: "DeviceLoginRedeemed", data: { ...who, at } } as const;
const approving = { type: "ApproveDeviceLogin", ...grant, at } as const;
const denying = { type: "DenyDeviceLogin", ...who, at } as const;
const redeeming = { type: "RedeemDeviceLogin", at } as const;

test("a request is approved and redeemed, each once", () => {
  logins().when(asking).then(asked);
  logins(asked).when(approving).then(approved);
  logins(asked, approved).when(redeeming).then(redeemed);
  logins(asked, approved).when(approving).rejects("code-gone");
  logins(asked, approved).when(denying).rejects("code-gone");
  logins(asked, approved, redeemed).when(redeeming).rejects("code-gone");
});

test("what was not approved is not redeemed, and the first decision stands", () => {
  logins().when(redeeming).rejects("code-gone");
  logins(asked).when(redeeming).rejects("code-gone");
  logins(asked).when(denying).then(denied);
  logins(asked, denied).when(redeeming).rejects("code-gone");
  logins(asked, denied).when(approving).rejects("code-gone");
  logins().when(approving).rejects("code-gone");
});

test("nothing is decided or redeemed after the end", () => {
  for (const late of [approving, denying, redeeming])
    for (const past of [[asked], [asked, approved]] as const)
      logins(...past)
        .when({ ...late, at: after })
        .rejects("code-gone");
});

test("a code is taken while its request is open, and free afterwards", () => {
  logins(asked).when(asking).rejects("code-taken");
  logins(asked, approved).when(asking).rejects("code-taken");
  logins(asked, approved, redeemed).when(asking).then(asked);
  const later = { ...asking, at: after } as const;
  logins(asked)
    .when(later)
    .then({ ...asked, data: { ...asked.data, at: after } });
});

test.run();
