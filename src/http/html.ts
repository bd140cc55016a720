import { hash } from "node:crypto";
import { visibleText } from "../../domain/visible-text.ts";

/**
 * Text as it may stand between tags and in quoted attributes (HTML Living Standard, section 13.1.2), with everything that
 * a reader could not see as its escape.
 */
export const escapeHtml = (text: string): string =>
  visibleText(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");

/** Of a page without scripts: its style by its hash (CSP level 3, section 2.3.1), and nothing else is loaded. */
export const contentSecurityPolicy = (style: string, formAction: "'none'" | "'self'"): string => {
  const digest = hash("sha256", style, "base64");
  return `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
};
