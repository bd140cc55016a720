/** No page of ours needs any of a browser's devices (Permissions Policy, W3C working draft). */
const DEVICES = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb"];

/**
 * What every answer says: it is what its type says (WHATWG Fetch, `nosniff`), no page of another origin embeds it
 * (`Cross-Origin-Resource-Policy`), and no page uses a device.
 */
export const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": DEVICES.map((name) => `${name}=()`).join(", "),
} as const;

/** A year (RFC 6797, section 6.1). Other hosts below this one may be somebody else's. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" } as const;

/** As of now: the address is known only once the port is listened on. */
export const safeHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith("https:") ? { ...SAFE_HEADERS, ...STRICT_TRANSPORT } : SAFE_HEADERS;
