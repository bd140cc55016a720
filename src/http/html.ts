import { hash } from "node:crypto";
import { visibleText } from "../../domain/visible-text.ts";

/** Escapes text for elements and quoted attributes (HTML Living Standard, 13.1.2); invisible text becomes visible. */
export const escapeHtml = (text: string): string =>
  visibleText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

export const contentSecurityPolicy = (style: string, formAction: "'none'" | "'self'"): string => {
  const digest = hash("sha256", style, "base64");
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
};
