const DEVICES = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb"];

/** Browsers must not guess another content type (WHATWG Fetch, `nosniff`), and other origins cannot embed an answer. */
export const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": DEVICES.map((name) => `${name}=()`).join(", "),
} as const;

/** Holds for a year (RFC 6797, section 6.1), and not for subdomains, which may belong to other operators. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" } as const;
const SAFE_HTTPS_HEADERS = { ...SAFE_HEADERS, ...STRICT_TRANSPORT } as const;

/** To be called for each answer, because the public address is known only once the server listens. */
export const safeHeaders = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith("https:") ? SAFE_HTTPS_HEADERS : SAFE_HEADERS;
