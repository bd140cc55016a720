/** No page here needs these (Permissions Policy, W3C working draft). */
const DEVICES = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb"];

/** Sent with every answer: browsers trust its type (WHATWG Fetch, `nosniff`), and other origins cannot embed it. */
export const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": DEVICES.map((name) => `${name}=()`).join(", "),
} as const;

/** A year (RFC 6797, section 6.1), without subdomains: those may belong to other operators. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" } as const;

/** As of now: the address is known only once the port is listened on. */
export const safeHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith("https:") ? { ...SAFE_HEADERS, ...STRICT_TRANSPORT } : SAFE_HEADERS;
