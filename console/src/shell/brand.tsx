import { HOME } from "./addresses.ts";

export const Brand = () => (
  <a class="brand" href={HOME}>
    <svg viewBox="0 0 22 22" aria-hidden="true">
      <path class="pen" stroke-width="2.2" d="M5 13.5 9 3.5M11 13.5l4-10" />
      <path stroke-width="1.6" d="M2 17h18M2 20h18" />
    </svg>
    <span>Countersign</span>
  </a>
);
